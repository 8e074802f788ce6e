// Only whole turns are decoded: a text that a tokenizer joins from words is not the sum of its tokens.
#include "roles/turns.hpp"

#include <span>

#include <fmt/format.h>

#include "base/error.hpp"
#include "text/utf8.hpp"

namespace maxplus {

Turns::Turns(const Environment& environment, const Tokenizer& tokenizer, std::size_t rollouts)
    : environment_(environment), tokenizer_(tokenizer), state_(rollouts) {}

Turns::Found Turns::look(std::size_t index, const Problem& problem, const Rollout& rollout) {
  State& state = state_[index];
  if (rollout.token.size() <= state.begin) return Found::nothing;
  const EnvironmentRules& rules = environment_.rules();
  // The newest token must have ended the mark; this spares most of the decoding.
  if (tokenizer_.bytes(rollout.token.back()).find(rules.call_end.back()) == std::string::npos) return Found::nothing;
  const std::string text = tokenizer_.decode(std::span(rollout.token).subspan(state.begin));
  const std::size_t end = text.find(rules.call_end);
  if (end == std::string::npos) return Found::nothing;
  state.begin = rollout.token.size();
  const std::size_t begin = text.substr(0, end).rfind(rules.call_begin);
  if (begin == std::string::npos) return Found::nothing;
  if (static_cast<std::int64_t>(state.turn.size()) == rules.max_turns) return Found::one_too_many;
  const std::size_t first = begin + rules.call_begin.size();
  const std::string call(trimmed(std::string_view(text).substr(first, end - first)));
  state.answer = environment_.ask(problem, rollout.id, state.turn, call);
  state.turn.push_back({call, ""});
  return Found::call;
}

std::optional<Turns::Continuation> Turns::take(std::size_t index, const Rollout& rollout) {
  State& state = state_[index];
  if (state.answer.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return std::nullopt;
  Environment::Answer answer = Environment::read_answer(state.answer.get());
  Continuation more;
  more.ends = answer.end;
  more.fault = std::move(answer.failure);
  if (!more.fault.empty()) return more;
  try {
    more.token = tokenizer_.encode(answer.text, SpecialText::as_text);
  } catch (const Error& error) {
    more.fault = fmt::format("the environment's answer: {}", error.faults()[0].found);
    return more;
  }
  const auto most = static_cast<std::size_t>(environment_.rules().max_answer_tokens);
  if (more.token.size() > most) more.token.resize(most);
  state.turn.back().text = std::move(answer.text);
  state.begin = rollout.token.size() + more.token.size();
  return more;
}

void Turns::wait(std::size_t index, std::chrono::milliseconds longest) const { state_[index].answer.wait_for(longest); }

}  // namespace maxplus
