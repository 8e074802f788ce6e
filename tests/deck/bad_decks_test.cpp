// Bad decks: what is said, literally, and at which line. A row is a deck and all of its faults.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "deck/deck.hpp"

namespace maxplus {
namespace {

struct Row {
  std::string deck;
  std::vector<std::string> set;
  std::vector<std::string> faults;  // "deck.toml:2: text"
};

std::vector<std::string> lines(const std::vector<Fault>& faults) {
  std::vector<std::string> texts;
  for (const Fault& fault : faults) texts.push_back(fault.where + ": " + fault.found);
  return texts;
}

void expect_faults(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const DeckReading reading = deck_of_text(row.deck, "deck.toml", row.set);
    EXPECT_EQ(lines(reading.faults), row.faults) << row.deck;
    for (const Fault& fault : reading.faults) {
      EXPECT_EQ(fault.found.find('\n'), std::string::npos) << "one line a fault";
    }
  }
}

TEST(BadDecks, NameUnknownKeysAndTablesWithTheNearestKnownOne) {
  expect_faults({
      {"[optimizer]\nlerning_rate = 1", {}, {"deck.toml:2: unknown key 'lerning_rate' in [optimizer]; did you mean 'learning_rate'?"}},
      {"[run]\nsede = 1", {}, {"deck.toml:2: unknown key 'sede' in [run]; did you mean 'seed'?"}},
      {"[run]\nSeed = 1", {}, {"deck.toml:2: unknown key 'Seed' in [run]; did you mean 'seed'?"}},
      {"[run]\nxyzzy_plugh = 1", {}, {"deck.toml:2: unknown key 'xyzzy_plugh' in [run]"}},
      {"[run]\n\"\" = 1", {}, {"deck.toml:2: unknown key '' in [run]"}},
      {"[optimizr]\nx = 1", {}, {"deck.toml:1: unknown table [optimizr]; did you mean 'optimizer'?"}},
      {"[generations]", {}, {"deck.toml:1: unknown table [generations]; did you mean 'generation'?"}},
      {"[[qqqqqqqqqq]]", {}, {"deck.toml:1: unknown table [qqqqqqqqqq]"}},
      {"titel = \"x\"", {}, {"deck.toml:1: unknown key 'titel' above the first table; did you mean 'title'?"}},
      {"titel = [1]", {}, {"deck.toml:1: unknown key 'titel' above the first table; did you mean 'title'?"}},
      {"zzzzzzzz = 3", {}, {"deck.toml:1: unknown key 'zzzzzzzz' above the first table"}},
      {"[algorithm]\ngroup_size = 8", {}, {"deck.toml:2: unknown key 'group_size' in [algorithm]; it belongs in [generation]"}},
      {"iterations = 8", {}, {"deck.toml:1: unknown key 'iterations' above the first table; it belongs in [run]"}},
      {"[warm_start]\nsteps = 1\n[[warm_start.stage]]\nshar = 0.5", {}, {"deck.toml:4: unknown key 'shar' in [[warm_start.stage]]; did you mean 'share'?"}},
      {"[[reward.part]]\nwieght = 2", {}, {"deck.toml:2: unknown key 'wieght' in [[reward.part]]; did you mean 'weight'?"}},
      {"[data]\non_bad_lines = \"skip\"", {}, {"deck.toml:2: unknown key 'on_bad_lines' in [data]; did you mean 'on_bad_line'?"}},
      {"[placement]\ngenerators = 2", {}, {"deck.toml:2: unknown key 'generators' in [placement]; did you mean 'generator'?"}},
      {"[schedule]\ntoken_budgets = 2", {}, {"deck.toml:2: unknown key 'token_budgets' in [schedule]; did you mean 'token_budget'?"}},
      {"\n[parallel.actor]\ntensor = 2", {}, {"deck.toml:2: table [parallel] is not supported by this version"}},
  });
}

TEST(BadDecks, NameWrongTypes) {
  expect_faults({
      {"[run]\nseed = \"a\"", {}, {"deck.toml:2: [run] seed = \"a\" is a string"}},
      {"[run]\nseed = 1.5", {}, {"deck.toml:2: [run] seed = 1.5 is a number with a point"}},
      {"[run]\nseed = true", {}, {"deck.toml:2: [run] seed = true is true or false"}},
      {"[run]\nseed = [1, 2]", {}, {"deck.toml:2: [run] seed = [1, 2] is a list"}},
      {"[run]\nseed = {a = 1}", {}, {"deck.toml:2: [run] seed = { a = 1 } is a table"}},
      {"[run]\nseed = 2024-01-02", {}, {"deck.toml:2: [run] seed = 2024-01-02 is a date or time"}},
      {"[generation]\ngroup_size = 8.0", {}, {"deck.toml:2: [generation] group_size = 8.0 is a number with a point"}},
      {"[generation]\ngroup_size = 1e30", {}, {"deck.toml:2: [generation] group_size = 1e+30 is a number with a point"}},
      {"[optimizer]\nlearning_rate = \"1e-3\"", {}, {"deck.toml:2: [optimizer] learning_rate = \"1e-3\" is a string"}},
      {"[model]\ntie_embeddings = 1", {}, {"deck.toml:2: [model] tie_embeddings = 1 is a whole number"}},
      {"[model]\ntie_embeddings = \"yes\"", {}, {"deck.toml:2: [model] tie_embeddings = \"yes\" is a string"}},
      {"[algorithm]\ndynamic_sampling = \"on\"", {}, {"deck.toml:2: [algorithm] dynamic_sampling = \"on\" is a string"}},
      {"[algorithm]\nclip_low = \"x\"", {}, {"deck.toml:2: [algorithm] clip_low = \"x\" is a string"}},
      {"[run]\nout = 3", {}, {"deck.toml:2: [run] out = 3 is a whole number, not a string"}},
      {"[generation]\nstop = \"x\"", {}, {"deck.toml:2: [generation] stop = \"x\" is a string, not a list"}},
      {"[generation]\nstop = [1]", {}, {"deck.toml:2: [generation] stop = [1] holds a whole number"}},
      {"[generation]\nstop = [\"\"]", {}, {"deck.toml:2: [generation] stop = [\"\"] holds an empty string"}},
      {"run = 5", {}, {"deck.toml:1: run = 5 is a whole number"}},
      {"[[run]]\nseed = 1", {}, {"deck.toml:1: [[run]] is a list of tables"}},
      {"[[warm_start]]\nsteps = 1", {}, {"deck.toml:1: [[warm_start]] is a list of tables"}},
      {"reference = \"policy\"", {}, {"deck.toml:1: reference = \"policy\" is a string"}},
      {"[reward.part]\nverifier = \"exact\"", {}, {"deck.toml:1: [reward.part] is a table"}},
      {"[reward]\npart = [1]", {}, {"deck.toml:2: [[reward.part]] holds a whole number"}},
      {"[title]", {}, {"deck.toml:1: title = {} is a table"}},
  });
}

TEST(BadDecks, NameValuesOutOfRange) {
  expect_faults({
      {"[run]\nseed = -1", {}, {"deck.toml:2: [run] seed = -1 is out of range"}},
      {"[run]\niterations = -2", {}, {"deck.toml:2: [run] iterations = -2 is out of range"}},
      {"[run]\nkeep_checkpoints = 0", {}, {"deck.toml:2: [run] keep_checkpoints = 0 is out of range"}},
      {"[run]\nwatchdog_s = 0", {}, {"deck.toml:2: [run] watchdog_s = 0 is out of range"}},
      {"[run]\nwall_limit_min = -0.5", {}, {"deck.toml:2: [run] wall_limit_min = -0.5 is out of range"}},
      {"[run]\nthreads = 5000", {}, {"deck.toml:2: [run] threads = 5000 is out of range"}},
      {"[model]\nwidth = 0", {}, {"deck.toml:2: [model] width = 0 is out of range"}},
      {"[model]\nlayers = -4", {}, {"deck.toml:2: [model] layers = -4 is out of range"}},
      {"[model]\ncontext = 9223372036854775807", {}, {"deck.toml:2: [model] context = 9223372036854775807 is out of range"}},
      {"[model]\nnorm_epsilon = 0.0", {}, {"deck.toml:2: [model] norm_epsilon = 0.0 is out of range"}},
      {"[generation]\ngroup_size = 0", {}, {"deck.toml:2: [generation] group_size = 0 is out of range"}},
      {"[generation]\ntemperature = nan", {}, {"deck.toml:2: [generation] temperature = nan is not a finite number"}},
      {"[generation]\ntemperature = -1", {}, {"deck.toml:2: [generation] temperature = -1 is out of range"}},
      {"[generation]\ntop_p = 0", {}, {"deck.toml:2: [generation] top_p = 0 is out of range"}},
      {"[generation]\ntop_p = 1.5", {}, {"deck.toml:2: [generation] top_p = 1.5 is out of range"}},
      {"[optimizer]\nlearning_rate = inf", {}, {"deck.toml:2: [optimizer] learning_rate = inf is not a finite number"}},
      {"[optimizer]\nlearning_rate = 1e30", {}, {"deck.toml:2: [optimizer] learning_rate = 1e+30 is out of range"}},
      {"[optimizer]\nbeta2 = 1.0", {}, {"deck.toml:2: [optimizer] beta2 = 1.0 is out of range"}},
      {"[algorithm]\ndual_clip = 1", {}, {"deck.toml:2: [algorithm] dual_clip = 1 is out of range"}},
      {"[algorithm]\noverlong_limit = -3", {}, {"deck.toml:2: [algorithm] overlong_limit = -3 is out of range"}},
      {"[warm_start]\nsteps = 1\n[[warm_start.stage]]\nshare = 0", {}, {"deck.toml:4: [[warm_start.stage]] share = 0 is out of range"}},
      {"[eval]\nsamples = -inf", {}, {"deck.toml:2: [eval] samples = -inf is a number with a point"}},
  });
}

TEST(BadDecks, NameChoicesAndEmptyStrings) {
  expect_faults({
      {"[generation]\nzero_spread = \"dropp\"", {}, {"deck.toml:2: [generation] zero_spread = \"dropp\" is not known; did you mean 'drop'?"}},
      {"[algorithm]\nkl = \"k4\"", {}, {"deck.toml:2: [algorithm] kl = \"k4\" is not known; did you mean 'k1'?"}},
      {"[algorithm]\nstd = \"n-2\"", {}, {"deck.toml:2: [algorithm] std = \"n-2\" is not known; did you mean 'n-1'?"}},
      {"[run]\nlog_rollouts = \"every 0\"", {}, {"deck.toml:2: [run] log_rollouts = \"every 0\" is not known"}},
      {"[run]\nlog_rollouts = \"sometimes\"", {}, {"deck.toml:2: [run] log_rollouts = \"sometimes\" is not known"}},
      {"[run]\nout = \"\"", {}, {"deck.toml:2: [run] out = \"\" is empty"}},
      {"[algorithm]\nname = \"\"", {}, {"deck.toml:2: [algorithm] name = \"\" is empty"}},
      {"[algorithm]\nscope = \"\"", {}, {"deck.toml:2: [algorithm] scope = \"\" is empty"}},
      {"[model]\ncompute = \"f16\"", {}, {"deck.toml:2: [model] compute = \"f16\" is not known; did you mean 'bf16'?"}},
  });
  const DeckReading reading = deck_of_text("[generation]\nzero_spread = \"dropp\"", "deck.toml", {});
  EXPECT_EQ(format_faults(reading.faults),
            "maxplus: error: deck.toml:2: [generation] zero_spread = \"dropp\" is not known; did you mean 'drop'?\n"
            "  expected: \"keep\", \"drop\" or \"resample\"\n"
            "  try: zero_spread = \"drop\"\n");
}

TEST(BadDecks, NameTheLineOfWhatIsNoToml) {
  expect_faults({
      {"[run]\nseed = 1\nseed = 2", {}, {"deck.toml:3: key 'seed' stands twice"}},
      {"[run]\nseed = 1\n\n[run]\nthreads = 2", {}, {"deck.toml:4: table 'run' stands twice"}},
      {"[run]\nseed = 9223372036854775808", {}, {"deck.toml:2: this is not TOML: in a decimal integer: '9223372036854775808' is not representable in 64 bits (column 27)"}},
      {"[run\nseed = 1", {}, {"deck.toml:1: this is not TOML: in a table header: expected ']', saw '\\n' (column 5)"}},
      {"[run]\nseed", {}, {"deck.toml:2: this is not TOML: in a key-value pair: encountered end-of-file (column 5)"}},
      {"[run]\nseed = ", {}, {"deck.toml:2: this is not TOML: in a key-value pair: encountered end-of-file (column 8)"}},
      {"title = \"\xff\xfe\"", {}, {"deck.toml:1: a byte that is not UTF-8"}},
      {"# \xed\xa0\x80", {}, {"deck.toml:1: a byte that is not UTF-8"}},
  });
  EXPECT_EQ(deck_of_text(std::string("[run]\nseed = 1\0", 15), "deck.toml", {}).faults.size(), 1u);
  EXPECT_EQ(deck_of_text("\xff\xfe[\0r\0u\0", "deck.toml", {}).faults.size(), 1u) << "UTF-16";
  EXPECT_EQ(deck_of_text("x = " + std::string(10000, '['), "deck.toml", {}).faults.size(), 1u) << "10000 levels";
}

TEST(BadDecks, NameTheSetArgument) {
  expect_faults({
      {"", {"run.seed=abc"}, {"--set run.seed=abc: [run] seed = \"abc\" is a string"}},
      {"", {"run.sede=1"}, {"--set run.sede=1: unknown key 'sede' in [run]; did you mean 'seed'?"}},
      {"", {"rum.seed=1"}, {"--set rum.seed=1: unknown table [rum]; did you mean 'run'?"}},
      {"", {"seed=1"}, {"--set seed=1: unknown key 'seed' above the first table; it belongs in [run]"}},
      {"", {"run.seed"}, {"--set run.seed: there is no '='"}},
      {"", {"=1"}, {"--set =1: the key is not of the form table.key"}},
      {"", {"run..seed=1"}, {"--set run..seed=1: the key is not of the form table.key"}},
      {"", {"run.seed="}, {"--set run.seed=: there is no value"}},
      {"", {"title=\"open"}, {"--set title=\"open: the value is neither TOML nor a bare word"}},
      {"", {"run.seed=1\nrun.threads=2"}, {"--set run.seed=1 run.threads=2: the value is neither TOML nor a bare word"}},
      {"", {"run.seed.x=1"}, {"--set run.seed.x=1: [run] seed = { x = 1 } is a table"}},
      {"[run]\nseed = 4", {"run.seed.x=1"}, {"--set run.seed.x=1: 'seed' is no table"}},
      {"[[reward.part]]\nverifier = \"exact\"", {"reward.part.weight=2"}, {"--set reward.part.weight=2: 'part' is a list of tables, which --set cannot change"}},
      {"", {"reward.part.weight=2"}, {"--set reward.part.weight=2: 'part' is a list of tables, which --set cannot change"}},
      {"", {"optimizer.learning_rate=nan"}, {"--set optimizer.learning_rate=nan: [optimizer] learning_rate = nan is not a finite number"}},
      {"", {"placement.actor=0"}, {"--set placement.actor=0: [placement] actor = 0 is out of range"}},
      {"", {"placement.actor=true"}, {"--set placement.actor=true: [placement] actor = true is true or false"}},
      {"", {"placement.actor=\"\""}, {"--set placement.actor=\"\": [placement] actor = \"\" is empty"}},
      {"", {"schedule.max_staleness=-1"}, {"--set schedule.max_staleness=-1: [schedule] max_staleness = -1 is out of range"}},
      {"", {"schedule.staleness=loose"}, {"--set schedule.staleness=loose: [schedule] staleness = \"loose\" is not known"}},
  });
}

TEST(BadDecks, ListAllFaultsAtOnceInTheirOrderWithExitCode78) {
  const std::string text =
      "title = 3\n[generation]\ngroup_size = -1\ntop_pp = 1\nzero_spread = \"x\"\n[rum]\nseed = 1\n[optimizer]\nbeta1 = nan\n";
  try {
    DeckReading reading = deck_of_text(text, "deck.toml", {"run.seed=x", "eval.evry=2"});
    EXPECT_EQ(lines(reading.faults),
              (std::vector<std::string>{
                  "deck.toml:1: title = 3 is a whole number, not a string",
                  "deck.toml:3: [generation] group_size = -1 is out of range",
                  "deck.toml:4: unknown key 'top_pp' in [generation]; did you mean 'top_p'?",
                  "deck.toml:5: [generation] zero_spread = \"x\" is not known",
                  "deck.toml:6: unknown table [rum]; did you mean 'run'?",
                  "deck.toml:9: [optimizer] beta1 = nan is not a finite number",
                  "--set run.seed=x: [run] seed = \"x\" is a string",
                  "--set eval.evry=2: unknown key 'evry' in [eval]; did you mean 'every'?",
              }));
    empty_deck_with({"run.seed=x", "eval.evry=2"});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::config);
    EXPECT_EQ(error.faults().size(), 2u);
  }
}

TEST(BadDecks, CountWhatIsTooMuchToList) {
  std::string text = "[run]\n";
  for (int i = 0; i < 1000; ++i) text += "unheard_of_" + std::to_string(i) + " = 1\n";
  const DeckReading reading = deck_of_text(text, "deck.toml", {});
  ASSERT_EQ(reading.faults.size(), 201u);
  EXPECT_EQ(reading.faults.back().found, "800 more faults are not listed");
}

TEST(BadDecks, TellASlipOfATaskNameOnlyOnce) {
  // Without a task its keys are unknown; where the task itself could not be read, they prove nothing.
  expect_faults({
      {"[data]\ntask = 5\nlargest_target = 3", {}, {"deck.toml:2: [data] task = 5 is a whole number, not a string"}},
      {"[data]\nlargest_target = 3", {}, {"deck.toml:2: unknown key 'largest_target' in [data]"}},
      {"[data]\ntask = \"operators\"\nwhen = 2024-01-01", {}, {"deck.toml:3: [data] when = 2024-01-01 is a date or time"}},
      {"[data]\ntask = \"operators\"\nshare = nan", {}, {"deck.toml:3: [data] share = nan is not finite"}},
  });
}

}  // namespace
}  // namespace maxplus
