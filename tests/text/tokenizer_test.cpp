// Tokenizers for models from scratch, and the strict reading of UTF-8 and JSON lines.
#include "text/tokenizer.hpp"

#include <functional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "text/json_line.hpp"
#include "text/key_reader.hpp"
#include "text/utf8.hpp"

namespace maxplus {
namespace {

using Ids = std::vector<std::int32_t>;

std::string fault_of(const std::function<void()>& call, ExitCode code) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code));
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST(WordTokenizer, NumbersWordsFromZeroAndEndsWithEos) {
  const auto tokenizer = make_word_tokenizer("0 1 2\n+ ->");
  EXPECT_EQ(tokenizer->vocabulary_size(), 6);
  EXPECT_EQ(tokenizer->end_token(), 5);
  EXPECT_EQ(tokenizer->piece(5), "<eos>");
  EXPECT_EQ(tokenizer->encode("  2 +\t-> \n", SpecialText::as_text), (Ids{2, 3, 4}));
  EXPECT_EQ(tokenizer->decode(Ids{2, 3, 4, 5}), "2 + -> <eos>");
  EXPECT_TRUE(tokenizer->encode("", SpecialText::as_text).empty());
  EXPECT_EQ(tokenizer->id_of("+"), 3);
  EXPECT_FALSE(tokenizer->id_of("x").has_value());
}

TEST(WordTokenizer, TakesTheEndTokenFromTextOnlyWhereSpecialTokensAreMeant) {
  const auto tokenizer = make_word_tokenizer("a b");
  EXPECT_EQ(tokenizer->encode("a <eos>", SpecialText::as_tokens), (Ids{0, 2}));
  EXPECT_NE(
      fault_of([&] { tokenizer->encode("a <eos>", SpecialText::as_text); }, ExitCode::data).find("'<eos>' at byte 2"),
      std::string::npos);
  EXPECT_NE(fault_of([&] { tokenizer->encode("a c", SpecialText::as_text); }, ExitCode::data).find("'c'"),
            std::string::npos);
}

TEST(CharacterTokenizer, TakesCodePointsOfAnyLength) {
  const auto tokenizer = make_character_tokenizer("aé€😀 ");
  EXPECT_EQ(tokenizer->vocabulary_size(), 6);
  EXPECT_EQ(tokenizer->encode("😀€ éa", SpecialText::as_text), (Ids{3, 2, 4, 1, 0}));
  EXPECT_EQ(tokenizer->decode(Ids{3, 2, 4, 1, 0}), "😀€ éa");
  EXPECT_EQ(tokenizer->encode("a<eos>é", SpecialText::as_tokens), (Ids{0, 5, 1}));
  EXPECT_NE(fault_of([&] { tokenizer->encode("a<eos>", SpecialText::as_text); }, ExitCode::data).find("'<' at byte 1"),
            std::string::npos);
  EXPECT_NE(fault_of([&] { tokenizer->encode("a\xff", SpecialText::as_text); }, ExitCode::data).find("byte 1"),
            std::string::npos);
}

TEST(Tokenizer, RefusesIdsOutsideTheVocabulary) {
  const auto tokenizer = make_character_tokenizer("ab");
  for (const std::int32_t id : {-1, 3, 1 << 30}) {
    fault_of([&] { tokenizer->decode(Ids{id}); }, ExitCode::data);
  }
}

TEST(Tokenizer, SurvivesJsonWithTheSameHash) {
  for (const auto& tokenizer : {make_character_tokenizer("xyz é"), make_word_tokenizer("x yz é")}) {
    const auto again = tokenizer_from_json(Json::parse(tokenizer->to_json().dump()));
    EXPECT_EQ(again->hash(), tokenizer->hash());
    EXPECT_EQ(again->hash().size(), 32U);
    EXPECT_EQ(again->vocabulary_size(), tokenizer->vocabulary_size());
    for (std::int32_t id = 0; id < tokenizer->vocabulary_size(); ++id)
      EXPECT_EQ(again->piece(id), tokenizer->piece(id));
  }
  EXPECT_NE(make_word_tokenizer("a b")->hash(), make_word_tokenizer("b a")->hash());
  fault_of([] { tokenizer_from_json(Json{{"kind", "words"}}); }, ExitCode::data);
}

TEST(Tokenizer, ListsAllFaultsOfTheDeckAtOnce) {
  try {
    tokenizer_from_keys("words", "abc", "a b a <eos>", "deck.toml:7");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::config);
    ASSERT_EQ(error.faults().size(), 3U);  // an alphabet with words, a twice, <eos>
    for (const Fault& fault : error.faults()) EXPECT_EQ(fault.where, "deck.toml:7");
  }
  fault_of([] { tokenizer_from_keys("bytes", "", "", ""); }, ExitCode::config);
  fault_of([] { tokenizer_from_keys("words", "", " ", ""); }, ExitCode::config);
  fault_of([] { tokenizer_from_keys("characters", "", "", ""); }, ExitCode::config);
}

TEST(Utf8, FindsEveryKindOfInvalidByte) {
  EXPECT_FALSE(first_invalid_utf8("aé€😀\u202e").has_value());
  for (const char* bad : {"\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xe2\x82", "\xc3("}) {
    EXPECT_EQ(first_invalid_utf8(std::string("ab") + bad), 2U) << in_quotes(bad);
  }
}

TEST(Utf8, HoldsBackACodePointThatIsNotThereYet) {
  EXPECT_EQ(complete_prefix("a\xf0\x9f\x98"), "a");
  EXPECT_EQ(complete_prefix("a\xe2"), "a");
  EXPECT_EQ(complete_prefix("a€"), "a€");
  EXPECT_EQ(complete_prefix("\xff"), "\xff");
  EXPECT_EQ(printable_bytes("a\xe2\x82"), "a<0xE2><0x82>");
}

TEST(JsonLine, NamesWhatIsWrong) {
  const struct {
    std::string text;
    const char* word;
  } cases[] = {{"{\"a\": 1", "ends too early"},
               {"{\"a\": 1, \"a\": 2}", "twice"},
               {"{\"b\": {\"a\": 1, \"a\": 2}}", "twice"},
               {"{\"a\": 1e400}", "overflow"},
               {"{\"a\": NaN}", "not JSON"},
               {"{\"a\": \"\\ud800\"}", "not JSON"},
               {"{\"a\": \"\\u\"}", "not JSON"},
               {"[1]", "array"},
               {"null", "null"},
               {std::string("{\"a\":\0 1}", 9), "NUL"},
               {"{\"a\": \"\xff\"}", "UTF-8"},
               {"{\"a\": ∞}", "not JSON"},
               {"{\"a\": " + std::string(10000, '[') + std::string(10000, ']') + "}", "nested"},
               {std::string(10000, '['), "nested"},
               {std::string("{'a': 1}"), "not JSON"}};
  for (const auto& c : cases) {
    try {
      parse_json_object(c.text, "f.jsonl:3");
      ADD_FAILURE() << c.word;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data);
      EXPECT_EQ(error.faults()[0].where, "f.jsonl:3");
      EXPECT_NE((error.faults()[0].found + error.faults()[0].advice).find(c.word), std::string::npos)
          << error.faults()[0].found;
      EXPECT_EQ(error.faults()[0].found.find('\n'), std::string::npos);
    }
  }
  EXPECT_EQ(parse_json_object("{\"a\": \"[[[[\\\"{{{\"}", "")["a"], "[[[[\"{{{");
}

TEST(KeyReader, CollectsAllFaultsWithTheirPlaces) {
  const nlohmann::json keys = {{"count", 0}, {"share", "much"}, {"mode", "of"}, {"coutn", 3}};
  KeyReader reader(keys, "[task]", [](std::string_view key) { return "d.toml:" + std::string(key); });
  EXPECT_EQ(reader.integer("count", 5, 1, 9, "m"), 5);
  EXPECT_EQ(reader.number("share", 0.5, 0, 1, "m"), 0.5);
  EXPECT_EQ(reader.choice("mode", "off", {"off", "on"}, "m"), "off");
  EXPECT_EQ(reader.text("name", "x", "m"), "x");
  reader.refuse_unknown();
  ASSERT_EQ(reader.faults().size(), 4U);
  EXPECT_EQ(reader.faults()[0].where, "d.toml:count");
  EXPECT_NE(reader.faults()[3].found.find("did you mean 'count'"), std::string::npos);
  EXPECT_EQ(reader.descriptions().size(), 4U);
}

}  // namespace
}  // namespace maxplus
