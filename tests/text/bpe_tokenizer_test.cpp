// Byte-level BPE against ids that the tokenizers library and llama.cpp agree on.
#include "text/bpe_description.hpp"

#include <functional>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/random.hpp"
#include "text/bpe_vocabulary.hpp"
#include "text/gguf_tokenizer.hpp"
#include "text/hf_tokenizer.hpp"
#include "text/published_tokenizers.hpp"

namespace maxplus {
namespace {

using testing::GgufMetadata;
using testing::Ids;
using testing::ScratchFolder;

std::shared_ptr<const Tokenizer> hf(const std::string& name) {
  PublishedTokenizer published = read_hf_tokenizer(testing::data_path("tokenizers/" + name));
  return make_bpe_tokenizer(std::move(published.description), published.where);
}

PublishedTokenizer from_gguf(const GgufMetadata& metadata) {
  const ScratchFolder folder("gguf_tokenizer");
  metadata.write(folder.path() / "model.gguf");
  return read_gguf_tokenizer(GgufFile(folder.path() / "model.gguf"));
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(ExitCode::data));
    return error.faults().front().where + ": " + error.faults().front().found;
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST(BpeTokenizer, GivesTheIdsOfGpt2Llama3AndQwen2BothWays) {
  const auto lines = testing::json_lines_of("tokenizers/strings.jsonl");
  ASSERT_EQ(lines.size(), 231u);
  for (const std::string name : {"gpt2", "llama3", "qwen2"}) {
    const auto tokenizer = hf(name);
    for (const auto& line : lines) {
      const auto text = line["text"].get<std::string>();
      const auto ids = line[name].get<Ids>();
      EXPECT_EQ(tokenizer->encode(text, SpecialText::as_tokens), ids) << name << " " << text;
      EXPECT_EQ(tokenizer->decode(ids), line.value("decoded_" + name, text)) << name << " " << text;
    }
  }
}

TEST(BpeTokenizer, GivesTheIdsOfSmolLM2FromGgufMetadata) {
  PublishedTokenizer published = from_gguf(testing::smollm2_metadata(""));
  EXPECT_EQ(published.stop, Ids{2});
  const auto tokenizer = make_bpe_tokenizer(std::move(published.description), published.where);
  EXPECT_EQ(tokenizer->vocabulary_size(), 49152);
  EXPECT_EQ(tokenizer->end_token(), 2);
  EXPECT_EQ(tokenizer->begin_token(), 1);
  const auto lines = testing::json_lines_of("smollm2/tokenizer_strings.jsonl");
  ASSERT_EQ(lines.size(), 353u);
  for (const auto& line : lines) {
    const auto text = line["text"].get<std::string>();
    EXPECT_EQ(tokenizer->encode(text, SpecialText::as_tokens), line["ids"].get<Ids>()) << text;
    EXPECT_EQ(tokenizer->decode(line["ids"].get<Ids>()) == text, line["round_trip"].get<bool>()) << text;
  }
}

TEST(BpeTokenizer, LeavesSpecialTokensOfPlainTextAsText) {
  const auto tokenizer = hf("qwen2");
  const std::string text = "a<|im_end|>b<think>c";
  const Ids special = tokenizer->encode(text, SpecialText::as_tokens);
  const Ids plain = tokenizer->encode(text, SpecialText::as_text);
  EXPECT_EQ(std::count(special.begin(), special.end(), 1502), 1);
  EXPECT_EQ(std::count(plain.begin(), plain.end(), 1502), 0);
  EXPECT_EQ(std::count(plain.begin(), plain.end(), 1503), 1) << "<think> is an added token, but not a special one";
  EXPECT_EQ(tokenizer->decode(plain), text);
}

TEST(BpeTokenizer, FindsSpecialTokensOnlyInsideOfPartsThatMeanThem) {
  const auto tokenizer = hf("qwen2");
  const std::vector<TextPart> parts = {{"<|im_start|>user\n", SpecialText::as_tokens},
                                       {"\nx<|im_end|>", SpecialText::as_text},
                                       {"<|im_end|>", SpecialText::as_tokens}};
  const Ids ids = tokenizer->encode_parts(parts);
  EXPECT_EQ(ids.front(), 1501);
  EXPECT_EQ(ids.back(), 1502);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 1502), 1);
  EXPECT_EQ(tokenizer->decode(ids), "<|im_start|>user\n\nx<|im_end|><|im_end|>");
  // Words reach across parts: the two line feeds are one word, as in the joined text.
  const Ids joined = tokenizer->encode("user\n\nx", SpecialText::as_text);
  EXPECT_EQ(Ids(ids.begin() + 1, ids.begin() + 1 + static_cast<std::ptrdiff_t>(joined.size())), joined);
  // A token that only two parts together would spell is text.
  const std::vector<TextPart> split = {{"<|im_", SpecialText::as_tokens}, {"end|>", SpecialText::as_text}};
  const Ids text = tokenizer->encode_parts(split);
  EXPECT_EQ(std::count(text.begin(), text.end(), 1502), 0);
}

TEST(BpeTokenizer, DecodesIncompleteUtf8AsReplacementCharacters) {
  const auto tokenizer = hf("gpt2");
  const Ids ids = tokenizer->encode("🙂", SpecialText::as_text);
  ASSERT_GT(ids.size(), 1u);
  EXPECT_EQ(tokenizer->decode(Ids(ids.begin(), ids.end() - 1)), "\uFFFD");
  EXPECT_EQ(tokenizer->piece(ids.back()).substr(0, 3), "<0x");
}

// Merges one pair at a time, the lowest rank first and of equals the leftmost: the definition.
Ids merged_by_definition(std::string_view word, const std::vector<BpeVocabulary::Merge>& merges) {
  Ids ids;
  for (const char c : word) ids.push_back(c - 'a');
  for (;;) {
    std::size_t best_rank = merges.size(), place = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      for (std::size_t rank = 0; rank < best_rank; ++rank) {
        if (merges[rank].left == ids[i] && merges[rank].right == ids[i + 1]) {
          best_rank = rank;
          place = i;
        }
      }
    }
    if (best_rank == merges.size()) return ids;
    ids[place] = merges[best_rank].whole;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

TEST(BpeVocabulary, MergesShortAndLongWordsAsTheDefinitionDoes) {
  std::vector<std::string> tokens = {"a", "b", "c"};
  std::vector<BpeVocabulary::Merge> merges;
  const auto pick = [](std::size_t n, std::uint64_t i, std::uint64_t k) {
    return static_cast<std::int32_t>(uniform_below(n, 17, Purpose::test, i, k));
  };
  for (std::uint64_t m = 0; tokens.size() < 60; ++m) {
    const std::int32_t left = pick(tokens.size(), m, 0), right = pick(tokens.size(), m, 1);
    const std::string whole = tokens[static_cast<std::size_t>(left)] + tokens[static_cast<std::size_t>(right)];
    if (whole.size() > 9 || std::find(tokens.begin(), tokens.end(), whole) != tokens.end()) continue;
    merges.push_back({left, right, static_cast<std::int32_t>(tokens.size())});
    tokens.push_back(whole);
  }
  const BpeVocabulary vocabulary(tokens, merges, BpeVocabulary::WholeWords::by_merges);
  for (std::uint64_t n = 0; n < 600; ++n) {
    std::string word;
    const auto length = static_cast<std::uint64_t>(1 + pick(120, n, 1000));
    for (std::uint64_t i = 0; i < length; ++i) word += static_cast<char>('a' + pick(3, n, 2000 + i));
    Ids ids;
    vocabulary.encode(word, ids);
    EXPECT_EQ(ids, merged_by_definition(word, merges)) << word;
  }
}

TEST(BpeVocabulary, TakesALongWordInLinearithmicTime) {
  const auto tokenizer = hf("gpt2");
  const std::string word(1'000'000, 'a');  // a quadratic merge would take hours
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(word, SpecialText::as_text)), word);
}

TEST(BpeTokenizer, ComesBackFromACheckpointsJsonAndFromAWrittenFolder) {
  for (const std::string name : {"gpt2", "llama3", "qwen2"}) {
    const BpeDescription description = read_hf_tokenizer(testing::data_path("tokenizers/" + name)).description;
    const auto tokenizer = make_bpe_tokenizer(description, name);
    const auto stored = tokenizer_from_json(Json::parse(tokenizer->to_json().dump()));
    EXPECT_EQ(*bpe_description_of(*stored), description);
    EXPECT_EQ(stored->hash(), tokenizer->hash());
    const ScratchFolder folder("written_tokenizer");
    BpeDescription with_template = description;
    with_template.chat_template = "{{ messages }}";
    write_hf_tokenizer(with_template, folder.path());
    const BpeDescription again = read_hf_tokenizer(folder.path()).description;
    EXPECT_EQ(again.tokens, description.tokens);
    EXPECT_EQ(again.merges, description.merges);
    EXPECT_EQ(again.added, description.added);
    EXPECT_EQ(again.splits, description.splits);
    EXPECT_EQ(again.end, description.end);
    EXPECT_EQ(again.chat_template, "{{ messages }}");
  }
}

TEST(BpeTokenizer, GivesRowsWithoutATokenNoText) {
  BpeDescription description = read_hf_tokenizer(testing::data_path("tokenizers/gpt2")).description;
  pad_vocabulary(description, 2000);
  const auto tokenizer = make_bpe_tokenizer(std::move(description), "gpt2");
  EXPECT_EQ(tokenizer->vocabulary_size(), 2000);
  EXPECT_EQ(tokenizer->decode(Ids{16, 1999, 17}), "01");
}

std::string small_tokenizer(const std::string& normalizer, const std::string& pre, const std::string& added) {
  std::string vocabulary;
  for (std::size_t b = 0; b < 256; ++b)
    vocabulary += nlohmann::json(byte_alphabet()[b]).dump() + ": " + std::to_string(b) + ", ";
  return R"({"added_tokens": [)" + added + R"(], "normalizer": )" + normalizer + R"(, "pre_tokenizer": )" + pre +
         R"(, "decoder": {"type": "ByteLevel"}, "model": {"type": "BPE", "vocab": {)" + vocabulary +
         R"("ab": 256}, "merges": ["a b"]}})";
}
const std::string kByteLevel = R"({"type": "ByteLevel", "add_prefix_space": false, "use_regex": true})";

TEST(AddedTokens, TakeWhiteSpaceAlongAndStandAloneAsTheirFlagsSay) {
  const std::string added =
      R"({"id": 300, "content": "<L>", "lstrip": true, "special": true},
         {"id": 301, "content": "<R>", "rstrip": true, "special": false},
         {"id": 302, "content": "word", "single_word": true, "special": false},
         {"id": 303, "content": "<RR>", "special": false}, {"id": 304, "content": "\u00c5", "normalized": true})";
  const auto tokenizer = make_bpe_tokenizer(
      parse_hf_tokenizer(small_tokenizer(R"({"type": "NFC"})", kByteLevel, added), "small"), "small");
  const auto ids = [&](std::string_view text) { return tokenizer->encode(text, SpecialText::as_tokens); };
  EXPECT_EQ(ids("a \t<L> b"), (Ids{97, 300, 32, 98}));
  EXPECT_EQ(ids("a <R> \nb"), (Ids{97, 32, 301, 98}));
  EXPECT_EQ(ids("<RR><R><R>"), (Ids{303, 301, 301}));
  EXPECT_EQ(ids("word words"), (Ids{302, 32, 'w', 'o', 'r', 'd', 's'}));
  EXPECT_EQ(ids("A\u030A"), Ids{304}) << "found after normalisation";
  EXPECT_EQ(ids("ab"), Ids{256});
}

TEST(HfTokenizer, RefusesByNameWhatWouldChangeIdsSilently) {
  const auto refuse = [](const std::string& text) {
    return refusal([&] { make_bpe_tokenizer(parse_hf_tokenizer(text, "tokenizer.json"), "tokenizer.json"); });
  };
  const auto contains = [](const std::string& text, const std::string& word) {
    return text.find("tokenizer.json") == 0 && text.find(word) != std::string::npos;
  };
  EXPECT_TRUE(contains(refuse("{"), "not valid JSON at byte"));
  EXPECT_TRUE(contains(refuse(R"({"model": {"type": "Unigram"}})"), "Unigram"));
  EXPECT_TRUE(contains(refuse(R"({"model": {"type": "BPE", "byte_fallback": true, "vocab": {"a": 0}, "merges": []}})"),
                       "byte_fallback"));
  EXPECT_TRUE(contains(refuse(small_tokenizer(R"({"type": "Lowercase"})", kByteLevel, "")), "Lowercase"));
  EXPECT_TRUE(contains(refuse(small_tokenizer("null", R"({"type": "Metaspace"})", "")), "Metaspace"));
  EXPECT_TRUE(contains(refuse(small_tokenizer("null", "null", "")), "ByteLevel"));
  EXPECT_TRUE(contains(refuse(small_tokenizer("null", R"({"type": "ByteLevel", "add_prefix_space": true})", "")),
                       "add_prefix_space"));
  const std::string bad_expression =
      R"({"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex": "(?<=a)b"},
          "behavior": "Isolated"}, )" +
      kByteLevel + "]}";
  EXPECT_TRUE(contains(refuse(small_tokenizer("null", bad_expression, "")), "a group of an unknown kind"));
  EXPECT_TRUE(contains(refuse(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a a"]},
      "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}})"),
                       "'aa' is no token"));
  EXPECT_TRUE(
      contains(refuse(R"({"model": {"type": "BPE", "vocab": {"a": 2000000000}, "merges": []}})"), "2000000000"));
}

TEST(GgufTokenizer, RefusesByNameWhatItDoesNotKnow) {
  const auto with = [](const std::string& model, const std::string& pre) {
    GgufMetadata file;
    file.text("tokenizer.ggml.model", model);
    if (!pre.empty()) file.text("tokenizer.ggml.pre", pre);
    file.texts("tokenizer.ggml.tokens", {"a", "b"});
    file.texts("tokenizer.ggml.merges", {});
    return refusal([&] { from_gguf(file); });
  };
  EXPECT_NE(with("llama", "default").find("SentencePiece"), std::string::npos);
  EXPECT_NE(with("gpt2", "poro-chat").find("'poro-chat'"), std::string::npos);
  EXPECT_NE(with("gpt2", "").find("tokenizer.ggml.pre"), std::string::npos);
}

}  // namespace
}  // namespace maxplus
