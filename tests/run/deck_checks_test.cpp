// Checks across keys: what is said, literally; and that one slip is told once.
#include "run/deck_checks.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "deck/deck.hpp"
#include "run/inputs.hpp"

namespace maxplus {
namespace {

// Good on its own; --set makes it bad.
const char* const kGood = R"([model]
width = 64
layers = 2
heads = 4
kv_heads = 2
ffn_width = 192
context = 128
[data]
task = "operators"
[generation]
max_new_tokens = 64
problems_per_iteration = 6
[algorithm]
name = "grpo"
[optimizer]
)";

std::vector<std::string> faults_of(const std::string& text, const std::vector<std::string>& set, DeckUse use, int ranks) {
  DeckReading reading = deck_of_text(text, "deck.toml", set);
  check_deck(reading.deck, use, ranks, reading.faults);
  std::vector<std::string> lines;
  for (const Fault& fault : reading.faults) {
    EXPECT_FALSE(fault.expected.empty()) << fault.found;
    lines.push_back(fault.where + ": " + fault.found);
  }
  return lines;
}

std::vector<std::string> faults_of(const std::vector<std::string>& set) { return faults_of(kGood, set, DeckUse::train, 2); }

using Lines = std::vector<std::string>;

TEST(DeckChecks, PassAGoodDeck) {
  EXPECT_EQ(faults_of({}), Lines{});
  EXPECT_EQ(faults_of({"algorithm.kl=k3", "reference.path=policy", "algorithm.kl_where=reward"}), Lines{});
  EXPECT_EQ(faults_of({"warm_start.task=operators", "warm_start.steps=5"}), Lines{});
  EXPECT_EQ(faults_of({"algorithm.name=ppo", "critic.path=policy"}), Lines{});
  EXPECT_EQ(faults_of({"algorithm.name=ppo", "critic.shared=true", "algorithm.value_coefficient=0.1"}), Lines{});
  EXPECT_EQ(faults_of({"algorithm.name=vapo", "critic.learning_rate=1e-3"}), Lines{});
  EXPECT_EQ(faults_of({"run.watchdog_s=5"}), Lines{}) << "the other side is a default";
  EXPECT_EQ(faults_of("", {"model.path=m"}, DeckUse::model, 1), Lines{});
  EXPECT_EQ(faults_of("", {"model.path=m", "data.eval=e"}, DeckUse::evaluate, 64), Lines{});
  EXPECT_EQ(faults_of("", {"model.path=m"}, DeckUse::replay, 8), Lines{}) << "recorded rollouts need no data and no judge";
}

TEST(DeckChecks, NameWhatContradicts) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> rows = {
      {{"algorithm.name=ppo"}, "--set algorithm.name=ppo: [algorithm] name = \"ppo\" needs a critic, and there is no [critic]"},
      {{"critic.learning_rate=1e-3"}, "--set critic.learning_rate=1e-3: [critic] has no effect: algorithm 'grpo' has no values"},
      {{"algorithm.name=vapo", "critic.shared=true"},
       "--set critic.shared=true: [critic] shared = true, but the critic is to learn alone for 50 iterations"},
      {{"algorithm.name=ppo", "critic.shared=true", "critic.learning_rate=1e-3"},
       "--set critic.learning_rate=1e-3: [critic] learning_rate has no effect with shared = true"},
      {{"algorithm.name=ppo", "critic.path=policy", "algorithm.value_coefficient=1"},
       "--set algorithm.value_coefficient=1: [algorithm] value_coefficient has no effect: the critic has a network of its own"},
      {{"generation.group_size=1"}, "--set generation.group_size=1: [generation] group_size = 1 is too small for algorithm 'grpo'"},
      {{"generation.max_new_tokens=128"}, "--set generation.max_new_tokens=128: [generation] max_new_tokens = 128 leaves no room for a prompt in the context of 128 tokens"},
      {{"eval.max_new_tokens=500"}, "--set eval.max_new_tokens=500: [eval] max_new_tokens = 500 leaves no room for a prompt in the context of 128 tokens"},
      {{"algorithm.kl=k3"}, "--set algorithm.kl=k3: [algorithm] kl = \"k3\" needs a reference, and there is no [reference]"},
      {{"generation.temperature=0"}, "--set generation.temperature=0: [generation] temperature = 0 draws the same answer each time"},
      {{"generation.top_p=0.9"}, "--set generation.top_p=0.9: [generation] top_p = 0.9 cannot be used in training"},
      {{"generation.top_k=40"}, "--set generation.top_k=40: [generation] top_k = 40 cannot be used in training"},
      {{"optimizer.gradient_slices=6"}, "--set optimizer.gradient_slices=6: [optimizer] gradient_slices = 6 is not a power of two"},
      {{"optimizer.gradient_slices=1"}, "--set optimizer.gradient_slices=1: [optimizer] gradient_slices = 1 is less than the 2 ranks"},
      {{"model.kv_heads=3"}, "--set model.kv_heads=3: [model] kv_heads = 3 does not divide heads = 4"},
      {{"model.width=66"}, "deck.toml:4: [model] heads = 4 does not divide width = 66"},
      {{"model.width=12"}, "deck.toml:4: [model] width / heads = 3 is odd"},
      {{"model.head_width=15"}, "--set model.head_width=15: [model] head_width = 15 is odd"},
      {{"tokenizer.kind=words"}, "--set tokenizer.kind=words: [tokenizer] kind = \"words\" has no words"},
      {{"tokenizer.kind=characters"}, "--set tokenizer.kind=characters: [tokenizer] kind = \"characters\" has no alphabet"},
      {{"tokenizer.words=a b"}, "--set tokenizer.words=a b: [tokenizer] words are given, but the kind is not \"words\""},
      {{"tokenizer.kind=words", "tokenizer.words=a b", "tokenizer.path=t"}, "--set tokenizer.path=t: [tokenizer] kind and path are both given"},
      {{"tokenizer.end_token=x"}, "--set tokenizer.end_token=x: [tokenizer] end_token is given without path"},
      {{"tokenizer.kind=words", "tokenizer.words=a b", "tokenizer.chat_template=chatml"}, "--set tokenizer.chat_template=chatml: [tokenizer] chat_template = \"chatml\" does not go with kind = \"words\""},
      {{"tokenizer.chat_user=[\"a\", \"b\"]"}, "--set tokenizer.chat_user=[\"a\", \"b\"]: [tokenizer] chat_user is given, but chat_template is not \"literal\""},
      {{"tokenizer.chat_template=literal", "tokenizer.chat_user=[\"a\", \"b\"]", "tokenizer.chat_assistant=[\"c\"]"}, "--set tokenizer.chat_assistant=[\"c\"]: [tokenizer] chat_assistant has 1 texts"},
      {{"data.train=p.jsonl"}, "deck.toml:9: [data] train and task are both given"},
      {{"data.task=\"\"", "reward.verifier=exact"}, "deck.toml:8: [data] has neither train nor task"},
      {{"data.task=\"\"", "data.train=p.jsonl"}, "--set data.train=p.jsonl: the problems have no judge: there is no [reward]"},
      {{"data.task=\"\"", "data.train=p.jsonl", "reward.verifier=exact", "eval.every=5"}, "--set eval.every=5: [eval] every = 5, but [data] has no held-out problems"},
      {{"eval.samples=4", "eval.temperature=0"}, "--set eval.temperature=0: [eval] temperature = 0 with samples = 4"},
      {{"generation.force_length=65"}, "--set generation.force_length=65: [generation] force_length = 65 is more than max_new_tokens = 64"},
      {{"generation.force_length_sigma=1"}, "--set generation.force_length_sigma=1: [generation] force_length_sigma = 1 is given without force_length"},
      {{"algorithm.dynamic_sampling=true", "generation.zero_spread=drop"}, "--set algorithm.dynamic_sampling=true: [algorithm] dynamic_sampling = true contradicts [generation] zero_spread = \"drop\""},
      {{"algorithm.dynamic_sampling=false", "generation.zero_spread=resample"}, "--set algorithm.dynamic_sampling=false: [algorithm] dynamic_sampling = false contradicts [generation] zero_spread = \"resample\""},
      {{"algorithm.kl_where=loss"}, "--set algorithm.kl_where=loss: [algorithm] kl_where = \"loss\" has no effect: kl = \"none\""},
      {{"algorithm.kl_coefficient=0.1"}, "--set algorithm.kl_coefficient=0.1: [algorithm] kl_coefficient = 0.1 has no effect: kl = \"none\""},
      {{"optimizer.mini_batches=7"}, "--set optimizer.mini_batches=7: [optimizer] mini_batches = 7 is more than the 6 groups of an iteration"},
      {{"warm_start.task=operators", "warm_start.train=d", "warm_start.steps=1"}, "--set warm_start.task=operators: [warm_start] train and task are both given"},
      {{"warm_start.steps=3"}, "--set warm_start.steps=3: [warm_start] has neither train nor task"},
      {{"warm_start.task=operators"}, "--set warm_start.task=operators: [warm_start] has no steps"},
      {{"run.watchdog_s=5", "reward.timeout_s=30"}, "--set run.watchdog_s=5: [run] watchdog_s = 5 is not longer than [reward] timeout_s = 30"},
  };
  for (const auto& [set, line] : rows) EXPECT_EQ(faults_of(set), Lines{line});
  const Lines unknown = faults_of({"algorithm.name=grop"});
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_EQ(unknown[0].rfind("--set algorithm.name=grop: [algorithm] name = \"grop\" is unknown; did you mean 'grpo'?", 0), 0u) << unknown[0];
}

TEST(DeckChecks, NameAShapeThatIsMissingOrDoubled) {
  const std::string rest = "[data]\ntask = \"operators\"\n";
  EXPECT_EQ(faults_of(rest, {}, DeckUse::train, 1), Lines{"deck.toml: [model] has neither a path nor a shape"});
  EXPECT_EQ(faults_of(rest, {"model.width=8"}, DeckUse::train, 1), Lines{"--set model.width=8: [model] lacks layers, heads, ffn_width"});
  EXPECT_EQ(faults_of(kGood, {"model.path=m"}, DeckUse::train, 1),
            (Lines{"deck.toml:2: [model] width is given together with path", "deck.toml:3: [model] layers is given together with path",
                   "deck.toml:4: [model] heads is given together with path", "deck.toml:5: [model] kv_heads is given together with path",
                   "deck.toml:6: [model] ffn_width is given together with path"}));
  const Deck with_path = deck_of_text(rest, "deck.toml", {"model.path=m"}).deck;
  EXPECT_EQ(faults_of(effective_deck(with_path), {}, DeckUse::train, 1), Lines{}) << "an effective deck passes its own checks";
}

TEST(DeckChecks, NamePartsOfTheRewardThatAreIncomplete) {
  EXPECT_EQ(faults_of(std::string(kGood) + "[reward]\nverifier = \"exact\"\n[[reward.part]]\nweight = 2\n", {}, DeckUse::train, 1),
            (Lines{"deck.toml:17: [reward] verifier and [[reward.part]] are both given", "deck.toml:18: [[reward.part]] has no verifier"}));
  EXPECT_EQ(faults_of(std::string(kGood) + "[reward]\n", {"data.task=\"\"", "data.train=p"}, DeckUse::train, 1), Lines{})
      << "an empty [reward]: each problem names its own";
}

TEST(DeckChecks, AreListedTogetherWithTheFaultsOfReading) {
  const Lines lines = faults_of({"run.sede=1", "generation.max_new_tokens=4000", "algorithm.kl=k2", "optimizer.gradient_slices=3"});
  EXPECT_EQ(lines.size(), 4u);
}

TEST(DeckChecks, TellOneSlipOnce) {
  EXPECT_EQ(faults_of({"generation.max_new_tokens=x", "model.context=16"}).size(), 1u);
  EXPECT_EQ(faults_of({"data.task=5"}).size(), 1u);
  EXPECT_EQ(faults_of("[modle]\nwidth = 1\n[data]\ntask = \"operators\"", {}, DeckUse::train, 1).size(), 1u);
  EXPECT_EQ(faults_of("[model]\npaht = \"m\"\n[data]\ntask = \"operators\"", {}, DeckUse::train, 1).size(), 1u);
  EXPECT_EQ(faults_of("[model\n", {}, DeckUse::train, 1).size(), 1u) << "no TOML: nothing else can be said";
  EXPECT_EQ(faults_of("", {"model.path=m", "data.train"}, DeckUse::train, 1).size(), 2u)
      << "a setting without a value names no key, so the problems are missing too";
}

TEST(DeckChecks, PassTheDeckOfThePublishedModel) {
  const std::string file = std::string(MAXPLUS_TEST_DATA) + "/../../inputs/smollm2/smollm2.toml";
  DeckReading reading = read_deck_and_faults(file, {});
  check_deck(reading.deck, DeckUse::train, 2, reading.faults);
  check_named(reading.deck, InputsFor::training, reading.faults);
  for (const Fault& fault : reading.faults) ADD_FAILURE() << fault.where << ": " << fault.found;
  EXPECT_EQ(reading.deck.data.task, "word_problems");
}

TEST(DeckChecks, NameWhatIsWrongWithAPlacement) {
  const auto with = [](const std::vector<std::string>& set, int ranks) { return faults_of(kGood, set, DeckUse::train, ranks); };
  EXPECT_EQ(with({"placement.generator=1", "placement.actor=1"}, 2), Lines{});
  EXPECT_EQ(with({"placement.generator=1", "placement.actor=2", "reference.path=policy", "placement.reference=1-2"}, 3), Lines{});
  EXPECT_EQ(with({"placement.generator=1"}, 1), Lines{"--set placement.generator=1: [placement] no rank is left for the actor"});
  EXPECT_EQ(with({"placement.generator=0", "placement.actor=7"}, 2),
            (Lines{"--set placement.generator=0: [placement] generator = 0 is out of range"}))
      << "one slip is told once";
  EXPECT_EQ(with({"placement.generator=\"0\"", "placement.actor=7"}, 2),
            (Lines{"--set placement.actor=7: [placement] actor = 7 asks for 7 ranks, and 1 of 2 are free"}));
  EXPECT_EQ(with({"placement.generator=1", "placement.actor=1", "placement.critic=1"}, 2),
            (Lines{"--set placement.critic=1: [placement] critic is given, and there is no [critic] with a network of its own"}));
  EXPECT_EQ(with({"placement.generator=1", "placement.actor=1", "reference.path=policy", "placement.reference=\"0\""}, 2), Lines{});
  EXPECT_EQ(with({"placement.generator=1", "placement.actor=1", "placement.reference=1", "placement.reward=\"5\""}, 2),
            (Lines{"--set placement.reference=1: [placement] reference is given, and there is no [reference] with a network of its own",
                   "--set placement.reward=\"5\": [placement] reward is given, and there is no [reward_model] with a network of its own"}));
  EXPECT_EQ(with({"algorithm.name=ppo", "critic.shared=true", "placement.generator=1", "placement.actor=1", "placement.critic=\"1\""}, 2),
            (Lines{"--set placement.critic=\"1\": [placement] critic is given, and there is no [critic] with a network of its own"}));
  EXPECT_EQ(with({"algorithm.name=ppo", "critic.path=policy", "placement.generator=1", "placement.actor=1", "placement.critic=5",
                  "optimizer.gradient_slices=4"},
                 7),
            (Lines{"--set optimizer.gradient_slices=4: [optimizer] gradient_slices = 4 is less than the 5 ranks"}));
  EXPECT_EQ(with({"placement.generator=1", "placement.actor=4", "optimizer.gradient_slices=4"}, 5), Lines{}) << "a slice a rank that trains";
  EXPECT_EQ(with({"placement.generator=1", "placement.actor=5", "optimizer.gradient_slices=4"}, 6),
            (Lines{"--set optimizer.gradient_slices=4: [optimizer] gradient_slices = 4 is less than the 5 ranks"}));
}

TEST(DeckChecks, LetReplayBeOnAnyRanks) {
  EXPECT_EQ(faults_of("", {"model.path=m", "placement.generator=4", "placement.actor=4", "schedule.max_staleness=2"}, DeckUse::replay, 1), Lines{});
}

}  // namespace
}  // namespace maxplus
