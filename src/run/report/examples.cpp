#include "run/report/examples.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "io/file.hpp"

namespace maxplus {

namespace {

constexpr std::string_view kIterationFirst = "{\"iteration\":";
// Inside of a text the quotes would be escaped: where this stands, it is the key.
constexpr std::string_view kRewardKey = ",\"reward\":";

std::string_view line_at(std::string_view text, std::size_t begin) {
  return text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
}

template <class Number>
std::optional<Number> number_after(std::string_view line, std::size_t at) {
  Number number{};
  const auto [end, error] = std::from_chars(line.data() + at, line.data() + line.size(), number);
  return error == std::errc() ? std::optional<Number>(number) : std::nullopt;
}

std::optional<double> number_of_key(std::string_view line, const char* key) {
  const Json record = Json::parse(line, nullptr, false);
  if (!record.is_object()) return std::nullopt;
  const auto found = record.find(key);
  return found != record.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

// Without reading the whole line where we wrote it.
std::optional<std::int64_t> iteration_of_line(std::string_view line) {
  if (!line.ends_with('}')) return std::nullopt;
  if (line.starts_with(kIterationFirst)) return number_after<std::int64_t>(line, kIterationFirst.size());
  const std::optional<double> number = number_of_key(line, "iteration");
  return number && std::abs(*number) < 1e15 ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

double reward_of_line(std::string_view line) {
  const std::size_t at = line.find(kRewardKey);
  const std::optional<double> reward =
      at == std::string_view::npos ? number_of_key(line, "reward") : number_after<double>(line, at + kRewardKey.size());
  return reward.value_or(0.0);
}

struct Line {
  std::size_t begin = 0;
  std::int64_t iteration = 0;
};

// The first line from `begin` on, where a line begins, that tells its iteration.
std::optional<Line> next_line(std::string_view text, std::size_t begin) {
  while (begin < text.size()) {
    const std::string_view line = line_at(text, begin);
    if (const std::optional<std::int64_t> iteration = iteration_of_line(line)) return Line{begin, *iteration};
    begin += line.size() + 1;
  }
  return std::nullopt;
}

// The first line whose iteration is at least `iteration`.
std::optional<Line> first_from(std::string_view text, std::int64_t iteration) {
  std::size_t low = 0, high = text.size();  // lines that begin before `low` are too early, from `high` on late enough
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    const std::size_t line_end = middle == low ? std::string_view::npos : text.rfind('\n', middle - 1);
    const std::size_t begin = line_end == std::string_view::npos ? low : std::max(low, line_end + 1);
    const std::optional<Line> line = next_line(text, begin);
    if (!line || line->iteration >= iteration) {
      high = begin;
    } else {
      low = line->begin + line_at(text, line->begin).size() + 1;
    }
  }
  return next_line(text, low);
}

// Of the last line that tells one.
std::int64_t last_iteration(std::string_view text) {
  for (std::size_t end = text.size(); end > 0;) {
    const std::size_t before = end == 1 ? std::string_view::npos : text.rfind('\n', end - 2);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    if (const auto iteration = iteration_of_line(line_at(text, begin))) return *iteration;
    end = begin;
  }
  return 0;
}

IterationExamples examples_from(std::string_view text, const Line& first) {
  IterationExamples found;
  found.iteration = first.iteration;
  std::vector<double> rewards;
  std::vector<std::string_view> lines;
  std::optional<Line> line = first;
  while (line && line->iteration == first.iteration) {
    lines.push_back(line_at(text, line->begin));
    rewards.push_back(reward_of_line(lines.back()));
    line = next_line(text, line->begin + lines.back().size() + 1);
  }
  found.rollouts = static_cast<std::int64_t>(lines.size());
  for (const Choice& choice : choose_examples(rewards)) {
    Json record = Json::parse(lines[choice.index], nullptr, false);
    if (record.is_object()) found.examples.push_back({choice.why, std::move(record)});
  }
  return found;
}

}  // namespace

std::vector<Choice> choose_examples(const std::vector<double>& rewards) {
  std::vector<Choice> chosen;
  if (rewards.empty()) return chosen;
  // The one at a place, or the next that was not taken yet.
  const auto add = [&](const char* why, std::size_t place) {
    for (std::size_t i = 0; i < rewards.size(); ++i) {
      const std::size_t index = (place + i) % rewards.size();
      const bool there = std::any_of(chosen.begin(), chosen.end(), [&](const Choice& c) { return c.index == index; });
      if (there) continue;
      chosen.push_back({why, index});
      return;
    }
  };
  const auto place_of = [&](auto found) { return static_cast<std::size_t>(found - rewards.begin()); };
  add("best", place_of(std::max_element(rewards.begin(), rewards.end())));
  add("worst", place_of(std::min_element(rewards.begin(), rewards.end())));
  add("another", rewards.size() / 3);
  add("another", 2 * rewards.size() / 3);
  return chosen;
}

std::vector<IterationExamples> read_examples(const std::filesystem::path& path, int iterations) {
  std::vector<IterationExamples> found;
  std::error_code error;
  if (iterations < 1 || !std::filesystem::is_regular_file(path, error)) return found;
  const MappedFile file(path);
  const std::string_view text = file.text();
  const std::optional<Line> first = next_line(text, 0);
  if (!first) return found;
  const std::int64_t last = std::max(last_iteration(text), first->iteration);
  for (int k = 0; k < iterations; ++k) {
    const double share = iterations == 1 ? 1.0 : static_cast<double>(k) / (iterations - 1);
    const auto wanted = first->iteration + std::llround(share * static_cast<double>(last - first->iteration));
    const std::optional<Line> line = first_from(text, wanted);
    if (line && (found.empty() || line->iteration > found.back().iteration))
      found.push_back(examples_from(text, *line));
  }
  return found;
}

}  // namespace maxplus
