#include "run/report/rollout_panel.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/strings.hpp"
#include "run/report/chart.hpp"
#include "text/utf8.hpp"

namespace maxplus {

namespace {

// What is known of a token, or in the mean of a few.
struct TokenFacts {
  std::optional<double> log_prob, advantage;
  bool trainable = true;
};

const Json* list_of(const Json& record, const char* key, std::size_t length) {
  const auto found = record.find(key);
  return found != record.end() && found->is_array() && found->size() == length ? &*found : nullptr;
}

std::optional<double> number_in(const Json& value) {
  return value.is_number() && std::isfinite(value.get<double>()) ? std::optional(value.get<double>()) : std::nullopt;
}

// A token each; a shared advantage belongs to all that are trainable.
std::vector<TokenFacts> facts_of(const Json& record, std::size_t tokens) {
  std::vector<TokenFacts> facts(tokens);
  const Json* log_prob = list_of(record, "log_prob", tokens);
  const Json* trainable = list_of(record, "trainable", tokens);
  const Json* advantages = list_of(record, "advantage", tokens);
  const auto shared = record.find("advantage");
  for (std::size_t t = 0; t < tokens; ++t) {
    if (trainable != nullptr && (*trainable)[t] == 0) facts[t].trainable = false;
    if (!facts[t].trainable) continue;
    if (log_prob != nullptr) facts[t].log_prob = number_in((*log_prob)[t]);
    if (advantages != nullptr) {
      facts[t].advantage = number_in((*advantages)[t]);
    } else if (shared != record.end()) {
      facts[t].advantage = number_in(*shared);
    }
  }
  return facts;
}

TokenFacts mean_of_facts(const std::vector<TokenFacts>& facts) {
  double log_prob = 0, advantage = 0, n_log_prob = 0, n_advantage = 0;
  for (const TokenFacts& fact : facts) {
    if (fact.log_prob) log_prob += *fact.log_prob, n_log_prob += 1;
    if (fact.advantage) advantage += *fact.advantage, n_advantage += 1;
  }
  TokenFacts mean;
  if (n_log_prob > 0) mean.log_prob = log_prob / n_log_prob;
  if (n_advantage > 0) mean.advantage = advantage / n_advantage;
  return mean;
}

// p1 to p4: the less likely, the higher; u and d, 1 to 3: for and against, in thirds of the largest of the iteration.
std::string classes_of(const TokenFacts& fact, double largest_advantage) {
  std::string classes = fact.trainable ? "" : "n";
  if (fact.log_prob) {
    const double p = std::exp(*fact.log_prob);
    const int level = p >= 0.9 ? 0 : p >= 0.5 ? 1 : p >= 0.2 ? 2 : p >= 0.05 ? 3 : 4;
    if (level > 0) classes += fmt::format("{}p{}", classes.empty() ? "" : " ", level);
  }
  if (fact.advantage && *fact.advantage != 0 && largest_advantage > 0) {
    const double third = std::ceil(3 * std::min(1.0, std::abs(*fact.advantage) / largest_advantage) - 1e-9);
    classes += fmt::format("{}{}{:.0f}", classes.empty() ? "" : " ", *fact.advantage > 0 ? 'u' : 'd', third);
  }
  return classes;
}

std::string facts_text(const TokenFacts& fact) {
  if (!fact.trainable) return "not drawn by the policy";
  std::string text;
  if (fact.log_prob) text = fmt::format("p {:.3g}", std::exp(*fact.log_prob));
  if (fact.advantage) text += fmt::format("{}advantage {:+.3g}", text.empty() ? "" : ", ", *fact.advantage);
  return text;
}

std::string piece_html(const std::string& text, const TokenFacts& fact, double largest_advantage) {
  const std::string classes = classes_of(fact, largest_advantage), numbers = facts_text(fact);
  return fmt::format("<i{}{}>{}</i>", classes.empty() ? "" : fmt::format(" class='{}'", classes),
                     numbers.empty() ? "" : fmt::format(" title='{}'", numbers), escape(text));
}

// What stands between the texts of tokens: a blank for tokenizers of words.
std::string separator_of(const Tokenizer& tokenizer) {
  const std::string one = tokenizer.bytes(0);
  const std::int32_t twice[] = {0, 0};
  return tokenizer.decode(twice) == one + " " + one ? " " : "";
}

// Tokens that make a character only together are one piece. Bytes that are no UTF-8 are shown as such.
std::string tokens_html(const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids,
                        const std::vector<TokenFacts>& facts, std::size_t first, std::size_t last, double largest) {
  const std::string separator = separator_of(tokenizer);
  std::string html, bytes;
  std::vector<std::int32_t> pending;
  for (std::size_t t = first; t < last; ++t) {
    bytes += tokenizer.bytes(ids[t]);
    pending.push_back(ids[t]);
    if (pending.size() < 4 && t + 1 < last && complete_prefix(bytes).size() < bytes.size()) continue;
    const bool alone = pending.size() == 1;
    html += piece_html(alone ? tokenizer.piece(ids[t]) : tokenizer.decode(pending), facts[t], largest) + separator;
    bytes.clear();
    pending.clear();
  }
  return html;
}

// Nothing if the ids do not fit the tokenizer.
std::optional<std::vector<std::int32_t>> ids_of(const Json& record, const Tokenizer& tokenizer) {
  std::vector<std::int32_t> ids;
  for (const Json& id : record["response_ids"]) {
    if (!id.is_number_integer() || id.get<std::int64_t>() < 0 || id.get<std::int64_t>() >= tokenizer.vocabulary_size())
      return std::nullopt;
    ids.push_back(id.get<std::int32_t>());
  }
  return ids;
}

std::string text_of_key(const Json& record, const char* key) {
  const auto found = record.find(key);
  if (found == record.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::size_t token_count(const Json& record) {
  const auto found = record.find("response_ids");
  return found != record.end() && found->is_array() ? found->size() : 0;
}

std::string response_html(const Json& record, const RunRecord& run, std::size_t most, double largest,
                          const PanelLimits& limits) {
  const std::size_t tokens = token_count(record);
  const std::vector<TokenFacts> facts = facts_of(record, tokens);
  const auto ids = run.tokenizer && tokens > 0 ? ids_of(record, *run.tokenizer) : std::nullopt;
  if (!ids)
    return piece_html(shorten(text_of_key(record, "response"), limits.text_bytes), mean_of_facts(facts), largest);
  if (tokens <= most) return tokens_html(*run.tokenizer, *ids, facts, 0, tokens, largest);
  const std::size_t head = most * 2 / 3, tail = most - head;
  return tokens_html(*run.tokenizer, *ids, facts, 0, head, largest) +
         fmt::format("<b class='cut'> … {} tokens left out … </b>", tokens - most) +
         tokens_html(*run.tokenizer, *ids, facts, tokens - tail, tokens, largest);
}

std::string rollout_html(const Example& example, const RunRecord& run, std::size_t most, double largest,
                         const PanelLimits& limits) {
  const Json& r = example.record;
  const std::string verdict = text_of_key(r, "verdict");
  std::string html = fmt::format(
      "<article class='rollout {}'>\n<p class='head'><b>reward {}</b> · {} · {} tokens · <span class='quiet'>{}, "
      "{}</span></p>\n",
      verdict == "correct" ? "right" : "not-right", escape(text_of_key(r, "reward")), escape(verdict), token_count(r),
      example.why, escape(text_of_key(r, "rollout_id")));
  return html + fmt::format("<pre class='prompt'>{}</pre>\n<pre>{}</pre>\n</article>\n",
                            escape(shorten(text_of_key(r, "prompt"), limits.text_bytes)),
                            response_html(r, run, most, largest, limits));
}

double largest_advantage_of(const IterationExamples& iteration) {
  double largest = 0;
  for (const Example& example : iteration.examples) {
    for (const TokenFacts& fact : facts_of(example.record, std::max<std::size_t>(1, token_count(example.record))))
      largest = std::max(largest, std::abs(fact.advantage.value_or(0)));
  }
  return largest;
}

std::string choice_html(const std::string& legend, const std::string& name, const std::vector<std::string>& classes,
                        const std::vector<std::string>& labels, std::size_t checked) {
  std::string html = fmt::format("<fieldset><legend>{}</legend>\n", legend);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    html += fmt::format("<label><input type='radio' name='{}' class='{}'{}>{}</label>\n", name, classes[i],
                        i == checked ? " checked" : "", labels[i]);
  }
  return html + "</fieldset>\n";
}

constexpr const char* kKeys =
    "<p class='key by-p'>Probability when drawn: <i>above 0.9</i> <i class='p1'>above 0.5</i> <i class='p2'>above "
    "0.2</i> <i class='p3'>above 0.05</i> <i class='p4'>less</i></p>\n"
    "<p class='key by-a'>Advantage, in thirds of the largest shown: <i class='d3'>against</i> <i class='d2'>&nbsp;</i> "
    "<i class='d1'>&nbsp;</i> <i>none</i> <i class='u1'>&nbsp;</i> <i class='u2'>&nbsp;</i> <i "
    "class='u3'>for</i></p>\n";

}  // namespace

std::string rollout_panel(const RunRecord& run, std::size_t number, const std::string& heading,
                          const PanelLimits& limits) {
  if (run.rollouts.empty()) return "";
  std::size_t shown = 0;
  std::vector<std::string> classes, labels;
  for (const IterationExamples& iteration : run.rollouts) {
    shown += iteration.examples.size();
    classes.push_back(fmt::format("pick-{}", labels.size()));
    labels.push_back(fmt::format("{}", iteration.iteration));
  }
  const std::size_t most =
      std::max<std::size_t>(30, std::min(limits.rollout_tokens, limits.tokens / std::max<std::size_t>(1, shown)));
  std::string html = fmt::format(
      "<section class='panel'>\n<h2>{}</h2>\n<p class='quiet'>The rollout with the largest reward of its iteration, "
      "the "
      "one with the smallest, and two by place. The prompt in grey, below it the response; rest the pointer on a token "
      "for its numbers.{}</p>\n",
      escape(heading),
      run.tokenizer
          ? ""
          : escape(fmt::format(" A response has one colour, of its means, because its tokens are unknown: {}.",
                               one_line(run.no_tokenizer))));
  html += "<div class='choices'>\n" +
          choice_html("Iteration", fmt::format("iteration-{}", number), classes, labels, labels.size() - 1);
  html += choice_html("Colour by", fmt::format("colour-{}", number), {"pick-p", "pick-a", "pick-no"},
                      {"probability", "advantage", "nothing"}, 0);
  html += fmt::format("</div>\n{}", kKeys);
  for (std::size_t i = 0; i < run.rollouts.size(); ++i) {
    const IterationExamples& iteration = run.rollouts[i];
    html +=
        fmt::format("<div class='iteration it-{}'>\n<h3>Iteration {}: {} of {} rollouts</h3>\n<div class='rollouts'>\n",
                    i, iteration.iteration, iteration.examples.size(), iteration.rollouts);
    const double largest = largest_advantage_of(iteration);
    for (const Example& example : iteration.examples) html += rollout_html(example, run, most, largest, limits);
    html += "</div>\n</div>\n";
  }
  return html + "</section>\n";
}

}  // namespace maxplus
