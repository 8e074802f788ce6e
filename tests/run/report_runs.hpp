#pragma once
// Run folders made up for tests of the report.

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "run/json_lines.hpp"

namespace maxplus::report_runs {

namespace fs = std::filesystem;

inline std::string text_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

inline fs::path empty_folder(const std::string& name) {
  const fs::path folder = fs::path(::testing::TempDir()) / "maxplus_report" / name;
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

inline Json rollout(int iteration, int index, double reward, const std::string& response) {
  return {{"iteration", iteration}, {"rollout_id", "00000" + std::to_string(iteration) + "-00-000000-000" + std::to_string(index)},
          {"prompt", "9 3 6 = 12 :"}, {"response", response}, {"reward", reward}, {"verdict", reward > 0 ? "correct" : "wrong"},
          {"advantage", reward - 0.1}, {"response_ids", {1, 2, 3}}, {"trainable", {1, 0, 1}}, {"log_prob", {-0.01, nullptr, -4.0}}};
}

// What a run of a healthy kind records in iteration k of n, after a warm start.
inline Json healthy_row(int k, int n) {
  const double x = static_cast<double>(k) / n;
  Json row = {{"schema", 1}, {"iteration", k}, {"ranks", 2}, {"nodes", 1}, {"elapsed_s", 30.0 + 3 * k}, {"time_unix", 1700000000.0 + 3 * k},
              {"weights_hash", "00ff"}, {"memory_peak_bytes", 72000000 + 1000 * k}};
  if (k % 5 == 0) {
    row.update({{"eval_accuracy", 0.3 + 0.6 * x}, {"eval_accuracy_low", 0.28 + 0.6 * x}, {"eval_accuracy_high", 0.32 + 0.6 * x},
                {"eval_accuracy_sampled", 0.28 + 0.6 * x}, {"eval_truncated_share", 0.02}, {"seconds_evaluation", 0.8}});
  }
  if (k == 0) return row;
  row.update({{"reward_mean", 0.35 + 0.55 * x}, {"reward_std", 0.4}, {"reward_min", 0.0}, {"reward_max", 1.0}, {"accuracy", 0.35 + 0.55 * x},
              {"rollouts", 512}, {"verdict_correct", std::floor(512 * (0.35 + 0.55 * x))}, {"verdict_wrong", 512 - 8 - std::floor(512 * (0.35 + 0.55 * x))},
              {"verdict_no_answer", 8}, {"verdict_gold_unusable", 0}, {"verdict_timed_out", 0}, {"verdict_crashed", 0},
              {"response_length_mean", 18 + 24 * x}, {"response_length_correct_mean", 17 + 20 * x}, {"response_length_wrong_mean", 20 + 60 * x},
              {"entropy_mean", 0.5 - 0.3 * x}, {"ratio_min", 0.6 - 0.1 * x}, {"ratio_mean", 1.0}, {"ratio_max", 1.6 + 0.2 * std::sin(9 * x)},
              {"first_ratio_min", 1.0}, {"first_ratio_max", 1.0}, {"log_prob_gap_max", 0.0}, {"clip_share_low", 0.01 * x}, {"clip_share_high", 0.02 * x},
              {"kl_old", 1e-4 * x}, {"kl_reference", 0.05 * x}, {"effective_sample_share", 0.99}, {"gradient_norm", 0.9 - 0.5 * x}, {"steps_skipped", 0},
              {"groups_zero_spread_share", 0.2 + 0.5 * x}, {"truncated_share", 0.05}, {"explained_variance", 0.5 * x}, {"value_loss", 0.2},
              {"loss", 0.01}, {"learning_rate", 1e-3}, {"tail_share", 0.2}, {"seconds_generation", 1.0 + x}, {"seconds_assessment", 0.1},
              {"seconds_training", 1.5}, {"generation_tokens_per_s", 21000 - 3000 * x}, {"training_tokens_per_s", 12000.0}});
  return row;
}

// A folder with that of every iteration, seven rollouts each, and a manifest.
inline fs::path healthy_run(const std::string& name, int iterations) {
  const fs::path folder = empty_folder(name);
  JsonLinesWriter metrics(folder / "metrics.jsonl"), rollouts(folder / "rollouts.jsonl");
  for (int k = 0; k <= iterations; ++k) {
    metrics.write(healthy_row(k, iterations));
    for (int i = 0; k > 0 && i < 7; ++i)
      rollouts.write(rollout(k, i, i == 4 ? 1 : i == 2 ? -0.5 : 0, "9 - 3 = 6 <b>&" + std::to_string(i) + "</b> it " + std::to_string(k)));
  }
  std::ofstream(folder / "manifest.json") << R"({"title": "fill in <the> operators", "processor": "An AMD thing", "threads": 1, "exit": "finished"})";
  return folder;
}

// The deck of such a run, with a tokenizer of four words.
inline void write_deck(const fs::path& folder, int seed, const std::string& learning_rate) {
  std::ofstream(folder / "deck.toml") << "[run]\nseed = " << seed << "\nout = \"" << folder.string() << R"("
[model]
family = "llama"
width = 32
layers = 2
heads = 4
kv_heads = 2
ffn_width = 48
context = 96
[tokenizer]
kind = "words"
words = "9 - <b> 3"
[data]
task = "operators"
[reward]
verifier = "operators"
[algorithm]
name = "grpo"
[optimizer]
learning_rate = )" << learning_rate << "\n";
}

}  // namespace maxplus::report_runs
