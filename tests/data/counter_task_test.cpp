// The tasks that are drawn from counters: arithmetic, sorting, letter_counting, graph_paths.
#include "data/counter_task.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "text/tokenizer.hpp"

namespace maxplus {
namespace {

constexpr const char* kCounterTasks[] = {"arithmetic", "sorting", "letter_counting", "graph_paths"};

std::shared_ptr<const Task> counter_task(const std::string& name, nlohmann::json keys) {
  if (!keys.contains("problems")) keys["problems"] = 1500;
  return make_task(name, keys, nullptr, Locate());
}

std::vector<Fault> faults_of_task(const std::string& name, const nlohmann::json& keys) {
  try {
    make_task(name, keys, nullptr, Locate());
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::config);
    return error.faults();
  }
  return {};
}

// What is asked, in a form that does not depend on the order in which it is written; read from the prompt alone.
std::string asked(const std::string& task, const std::string& prompt) {
  std::string text = prompt.substr(0, prompt.size() - 1);
  if (task == "letter_counting") return text.substr(text.rfind(' ') + 1);
  std::vector<std::string> parts;
  std::istringstream words(text);
  for (std::string word; words >> word;) parts.push_back(word);
  if (task == "graph_paths") {
    for (std::string& part : parts) {
      if (part.back() == ':') part.pop_back();
      if (part.size() == 3 && part[2] < part[0]) std::swap(part[0], part[2]);
    }
  }
  std::sort(parts.begin(), parts.end());
  std::string joined;
  for (const std::string& part : parts) joined += part + " ";
  return joined;
}

TEST(CounterTasks, KeepTrainAndHeldOutApart) {
  const std::map<std::string, nlohmann::json> small = {
      {"arithmetic", {{"min_steps", 1}, {"max_steps", 2}, {"max_number", 5}}},
      {"sorting", {{"min_length", 2}, {"max_length", 3}, {"max_number", 9}}},
      {"letter_counting", {{"min_length", 3}, {"max_length", 5}, {"letters", 3}}},
      {"graph_paths", {{"min_nodes", 3}, {"max_nodes", 5}, {"extra_edges", 1}}}};
  for (const auto& [name, keys] : small) {
    const auto task = counter_task(name, keys);
    std::set<std::string> trained, held;
    for (std::int64_t i = 0; i < task->train()->size(); ++i)
      trained.insert(asked(name, task->train()->at(i).prompt_text));
    for (std::int64_t i = 0; i < task->held_out()->size(); ++i)
      held.insert(asked(name, task->held_out()->at(i).prompt_text));
    EXPECT_GT(held.size(), 10u) << name;
    EXPECT_GT(trained.size(), 2 * held.size()) << name << ": a space small enough for every problem to be met";
    for (const std::string& one : held) EXPECT_FALSE(trained.contains(one)) << name << ": " << one;
  }
}

TEST(CounterTasks, AreFunctionsOfSeedAndNumber) {
  for (const char* name : kCounterTasks) {
    const auto a = counter_task(name, {}), b = counter_task(name, {}),
               other = counter_task(name, {{"problem_seed", 2}});
    int same = 0;
    for (const std::int64_t i : {0, 17, 1499}) {
      EXPECT_EQ(a->train()->at(i).prompt, b->train()->at(i).prompt);
      EXPECT_EQ(a->demonstrations()->at(i).response, b->demonstrations()->at(i).response);
      same += a->train()->at(i).prompt_text == other->train()->at(i).prompt_text ? 1 : 0;
    }
    EXPECT_LT(same, 3) << name;
    EXPECT_EQ(a->train()->hash(), b->train()->hash());
    std::set<std::string> hashes = {a->train()->hash(), a->held_out()->hash(), a->demonstrations()->hash(),
                                    other->train()->hash()};
    EXPECT_EQ(hashes.size(), 4u) << name;
    EXPECT_EQ(a->train()->at(5).id, 5);
    EXPECT_EQ(a->held_out()->at(5).id, 1505);
    EXPECT_EQ(a->name(), name);
    EXPECT_EQ(a->verifier(), name);
  }
}

TEST(CounterTasks, SpeakOneAlphabet) {
  const auto tokenizer = counter_task("arithmetic", {})->tokenizer();
  for (const char* name : kCounterTasks) {
    EXPECT_EQ(counter_task(name, {})->tokenizer()->hash(), tokenizer->hash());
    const auto task = make_task(name, {{"problems", 100}}, tokenizer, Locate());
    const Problem p = task->train()->at(3);
    EXPECT_EQ(tokenizer->decode(p.prompt), p.prompt_text);
    const std::string answer = tokenizer->decode(task->demonstrations()->at(3).response);
    EXPECT_TRUE(answer.ends_with("</answer><eos>")) << answer;
  }
  EXPECT_EQ(make_task("countdown", {{"problems", 100}}, tokenizer, Locate())->tokenizer(), tokenizer)
      << "they can be mixed with it";
}

TEST(CounterTasks, SayHowDifficultTheyAre) {
  const std::map<std::string, std::pair<nlohmann::json, std::set<int>>> ranges = {
      {"arithmetic", {{{"min_steps", 2}, {"max_steps", 4}}, {2, 3, 4}}},
      {"sorting", {{{"min_length", 5}, {"max_length", 6}}, {5, 6}}},
      {"letter_counting", {{{"min_length", 7}, {"max_length", 7}}, {7}}},
      {"graph_paths", {{{"min_nodes", 4}, {"max_nodes", 5}}, {4, 5}}}};
  for (const auto& [name, range] : ranges) {
    const auto task = counter_task(name, range.first);
    std::set<int> found;
    for (std::int64_t i = 0; i < 200; ++i) found.insert(task->train()->at(i).extra["difficulty"].get<int>());
    EXPECT_EQ(found, range.second) << name;
  }
}

TEST(CounterTasks, PutTheirInstructionBeforeEveryProblem) {
  const auto task = counter_task("sorting", {{"instruction", "give the answer in <answer> tags. "}});
  const Problem p = task->train()->at(0);
  EXPECT_TRUE(p.prompt_text.starts_with("give the answer in <answer> tags. sort "));
  EXPECT_EQ(task->tokenizer()->decode(p.prompt), p.prompt_text);
  EXPECT_EQ(faults_of_task("sorting", {{"instruction", "\u00dc"}}).size(), 1u)
      << "the task's own characters do not hold it";
}

TEST(CounterTasks, ListAllFaultsOfTheirKeysAtOnce) {
  EXPECT_EQ(faults_of_task("arithmetic", {{"min_steps", 4}, {"max_steps", 2}}).size(), 1u);
  EXPECT_EQ(faults_of_task("arithmetic", {{"max_number", 50}, {"max_value", 20}}).size(), 1u);
  EXPECT_EQ(faults_of_task("sorting", {{"max_number", 0}, {"slip", 2}, {"lenght", 3}}).size(), 3u);
  EXPECT_EQ(faults_of_task("letter_counting", {{"letters", 1}}).size(), 1u);
  EXPECT_EQ(faults_of_task("graph_paths", {{"ask", "longest"}, {"max_nodes", 27}}).size(), 2u);
  EXPECT_EQ(
      faults_of_task("sorting", {{"min_length", 2}, {"max_length", 2}, {"max_number", 1}, {"problems", 10}}).size(), 1u)
      << "three lists in all, none of them held out";
  EXPECT_EQ(counter_task("sorting", {{"min_length", 9}})->train()->at(0).extra["difficulty"], 9) << "max follows min";
}

TEST(Arithmetic, AsksForTheValueOfItsChain) {
  const auto task =
      counter_task("arithmetic", {{"min_steps", 1}, {"max_steps", 5}, {"max_number", 12}, {"max_value", 60}});
  for (std::int64_t i = 0; i < 300; ++i) {
    const Problem p = task->train()->at(i);
    // Every step closes a parenthesis, so left to right is what is written.
    std::string text;
    for (const char c : p.prompt_text)
      if (c != '(' && c != ')' && c != '=') text += c;
    std::istringstream chain(text);
    std::int64_t value = 0, number = 0;
    chain >> value;
    for (char op = ' '; chain >> op >> number;) {
      value = op == '+' ? value + number : op == '-' ? value - number : value * number;
      EXPECT_LE(std::abs(value), 60) << p.prompt_text;
      EXPECT_GE(number, 1);
      EXPECT_LE(number, 12);
    }
    EXPECT_EQ(p.answer, value) << p.prompt_text;
    EXPECT_EQ(static_cast<std::int64_t>(std::count_if(p.prompt_text.begin() + 1, p.prompt_text.end(),
                                                      [](char c) { return c == '+' || c == '-' || c == '*'; })),
              p.extra["difficulty"].get<std::int64_t>());
  }
}

TEST(LetterCounting, AsksForALetterOfItsWords) {
  const auto task = counter_task("letter_counting", {{"letters", 3}});
  std::set<std::int64_t> counts;
  for (std::int64_t i = 0; i < 300; ++i) {
    const Problem p = task->train()->at(i);
    const char letter = p.prompt_text[6];
    const std::string word = p.prompt_text.substr(11, p.prompt_text.size() - 12);
    EXPECT_EQ(p.prompt_text, "count " + std::string(1, letter) + " in " + word + ":");
    EXPECT_EQ(word.find_first_not_of("abc"), std::string::npos);
    EXPECT_EQ(p.answer, std::count(word.begin(), word.end(), letter));
    counts.insert(p.answer.get<std::int64_t>());
  }
  EXPECT_GT(counts.size(), 5u);
}

TEST(GraphPaths, AreConnected) {
  const auto task = counter_task("graph_paths", {{"min_nodes", 5}, {"max_nodes", 8}, {"extra_edges", 3}});
  for (std::int64_t i = 0; i < 300; ++i) {
    const Problem p = task->train()->at(i);
    std::set<std::string> nodes, reached = {p.answer["from"].get<std::string>()}, edges;
    for (const Json& edge : p.answer["edges"]) {
      EXPECT_NE(edge[0], edge[1]);
      const auto a = edge[0].get<std::string>(), b = edge[1].get<std::string>();
      nodes.insert({a, b});
      EXPECT_TRUE(edges.insert(std::min(a, b) + std::max(a, b)).second) << "no edge twice: " << p.prompt_text;
    }
    for (std::size_t round = 0; round < nodes.size(); ++round) {
      for (const Json& edge : p.answer["edges"])
        if (reached.contains(edge[0].get<std::string>()) || reached.contains(edge[1].get<std::string>()))
          reached.insert({edge[0].get<std::string>(), edge[1].get<std::string>()});
    }
    EXPECT_EQ(reached, nodes) << p.prompt_text;
    EXPECT_EQ(static_cast<std::int64_t>(nodes.size()), p.extra["difficulty"].get<std::int64_t>());
    EXPECT_NE(p.answer["from"], p.answer["to"]);
    EXPECT_TRUE(p.prompt_text.ends_with(": path " + p.answer["from"].get<std::string>() + " " +
                                        p.answer["to"].get<std::string>() + "="));
  }
  EXPECT_EQ(counter_task("graph_paths", {{"ask", "shortest"}})->train()->at(0).answer["shortest"], true);
}

}  // namespace
}  // namespace maxplus
