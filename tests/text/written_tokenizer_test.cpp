// Readers of tokenizer.json number added tokens that the vocabulary lacks from its end on: what is written must not
// depend on that.
#include "text/hf_tokenizer.hpp"

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "io/temporary_folder.hpp"

namespace maxplus {
namespace {

// Bytes, then tokens of the given texts; those in angle brackets are added ones, an empty one is a gap.
BpeDescription described(const std::vector<std::string>& more) {
  BpeDescription description;
  description.tokens = byte_alphabet();
  for (const std::string& text : more) {
    if (text.starts_with('<'))
      description.added.push_back({.id = static_cast<std::int32_t>(description.tokens.size()), .content = text});
    description.tokens.push_back(text);
  }
  return description;
}

nlohmann::json written_vocabulary(const BpeDescription& description) {
  const TemporaryFolder folder;
  write_hf_tokenizer(description, folder.path());
  std::ifstream in(folder.path() + "/tokenizer.json");
  return nlohmann::json::parse(in)["model"]["vocab"];
}

TEST(WrittenTokenizer, ListsAddedTokensThatDoNotStandAtTheEnd) {
  const nlohmann::json inside = written_vocabulary(described({"<a>", "<b>", "ab"}));
  EXPECT_EQ(inside.value("<a>", -1), 256);
  EXPECT_EQ(inside.value("<b>", -1), 257);
  const nlohmann::json gap = written_vocabulary(described({"ab", "", "<a>"}));
  EXPECT_EQ(gap.value("<a>", -1), 258);
}

TEST(WrittenTokenizer, LeavesAddedTokensAtTheEndOutOfTheVocabulary) {
  const nlohmann::json end = written_vocabulary(described({"ab", "<a>", "<b>", "", ""}));
  EXPECT_EQ(end.size(), 257u);
  EXPECT_FALSE(end.contains("<a>"));
}

}  // namespace
}  // namespace maxplus
