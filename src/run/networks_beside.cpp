#include "run/networks_beside.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "model/weight_source.hpp"

namespace maxplus {

namespace {

// Files of one model may call a few special tokens otherwise; more is another vocabulary.
constexpr double kMostDiffering = 0.01;

bool has_other_tokens(const Tokenizer& a, const Tokenizer& b) {
  const std::int64_t size = std::min(a.vocabulary_size(), b.vocabulary_size());
  std::int64_t differing = 0;
  for (std::int64_t id = 0; id < size; ++id) {
    if (a.bytes(static_cast<std::int32_t>(id)) != b.bytes(static_cast<std::int32_t>(id))) ++differing;
  }
  return static_cast<double>(differing) > kMostDiffering * static_cast<double>(size);
}

OpenedModel open_beside(const Deck& deck, const std::string& table, const std::string& path, const OpenedModel& policy,
                        const std::string& advice) {
  OpenedModel network = open_model(path);
  const auto refuse = [&](std::string found, std::string expected) {
    throw Error(ExitCode::config, Fault{deck.where(table + ".path"), std::move(found), std::move(expected), advice});
  };
  if (network.config.vocabulary != policy.config.vocabulary || network.config.context < policy.config.context) {
    refuse(fmt::format("[{}] path has a vocabulary of {} and a context of {} tokens", table, network.config.vocabulary,
                       network.config.context),
           fmt::format("the policy's vocabulary of {} tokens, a context of at least {}", policy.config.vocabulary,
                       policy.config.context));
  }
  if (network.tokenizer && policy.tokenizer && has_other_tokens(*network.tokenizer, *policy.tokenizer)) {
    refuse(fmt::format("[{}] path has other tokens than the policy under the same numbers", table),
           "a network of the policy's tokenizer");
  }
  return network;
}

}  // namespace

OpenedModel open_critic(const Deck& deck, const OpenedModel& policy) {
  return open_beside(deck, "critic", deck.critic->path, policy,
                     "a network of the same tokenizer, or path = \"policy\"");
}

OpenedModel open_reference(const Deck& deck, const OpenedModel& policy) {
  OpenedModel model = open_beside(deck, "reference", deck.reference->path, policy,
                                  "a model of the same tokenizer, or path = \"policy\"");
  if (model.config.token_head) return model;
  throw Error(ExitCode::config,
              Fault{deck.where("reference.path"),
                    fmt::format("[reference] path: {} is a classifier, it gives no probabilities", model.description),
                    "a language model", "as [reward_model] path a classifier is welcome"});
}

OpenedModel open_reward_model(const Deck& deck, const OpenedModel& policy) {
  OpenedModel model =
      open_beside(deck, "reward_model", deck.reward_model->path, policy, "a classifier of the same tokenizer");
  if (deck.reward_model->at == "steps" && !policy.tokenizer) {
    throw Error(ExitCode::config,
                Fault{deck.where("reward_model.at"), "[reward_model] at = \"steps\", but the policy has no tokenizer",
                      "text, in which steps end", "at = \"answer\", or [tokenizer]"});
  }
  if (model.config.value_head && !model.config.token_head) return model;
  throw Error(ExitCode::config,
              Fault{deck.where("reward_model.path"),
                    fmt::format("[reward_model] path: {} is a language model, it scores no answers", model.description),
                    "a classifier with one label, as algorithm 'reward_model' trains it",
                    "train one on pairs: [algorithm] name = \"reward_model\""});
}

std::string weights_hash_of(const OpenedModel& model) {
  const std::shared_ptr<const WeightSource> source = model.open_weights();
  const WeightPlan plan(model.config, *source);
  return hash_of_weights(CheckedWeights(source, plan.weights()), plan.weights());
}

}  // namespace maxplus
