// The commands and the words of their help.
#include "run/command_table.hpp"

#include <fmt/format.h>

#include "run/build_info.hpp"

namespace maxplus {

const std::vector<CommandEntry>& command_table() {
  static const std::vector<CommandEntry> entries = {
      {Command::train, "train", "DECK", "train a policy by reinforcement learning with verifiers",
       "Reads a deck, a TOML file that says what to train, on which problems, judged by whom, and how.\n"
       "Writes a run folder ([run] out): metrics.jsonl, updates.jsonl, rollouts.jsonl, checkpoints, log.txt.\n"
       "Started again on the same folder, it goes on from the newest checkpoint.",
       "mpirun -n 2 maxplus train inputs/quickstart/quickstart.toml --set run.seed=2 --out runs/second"},
      {Command::eval, "eval", "DECK", "accuracy of a model on held-out problems",
       "Evaluates as [eval] says, greedy and sampled. The model is the deck's, or --model: a published folder or a "
       "checkpoint.",
       "maxplus eval deck.toml --model runs/first/checkpoints/iteration-000200.h5 --json"},
      {Command::generate, "generate", "MODEL PROMPTS", "answers to prompts",
       "PROMPTS holds a problem a line: {\"prompt\": \"...\"} or {\"prompt_ids\": [...]}. Writes a recorded rollout a "
       "line.",
       "maxplus generate models/small prompts.jsonl --samples 4 --temperature 0.7"},
      {Command::logprob, "logprob", "MODEL FILE", "log-probability and entropy of each token",
       "FILE holds {\"ids\": [...]} or {\"text\": \"...\"} a line. Writes {\"ids\", \"log_prob\", \"entropy\"} a line; "
       "of\n"
       "a classifier with one label (a critic) {\"ids\", \"value\"}, its score after each token.",
       "maxplus logprob models/small lines.jsonl --temperature 1"},
      {Command::tokenize, "tokenize", "MODEL FILE", "text to token ids and back",
       "FILE holds {\"text\": \"...\"}, {\"messages\": [...]} or {\"ids\": [...]} a line. MODEL may be a bare "
       "tokenizer.json.",
       "maxplus tokenize models/small lines.jsonl --no-special"},
      {Command::score, "score", "FILE", "try a verifier on answers",
       "FILE holds {\"id\", \"response\", \"answer\"} a line. Writes the line with reward, verdict and extracted "
       "added.\n"
       "With --help and --verifier NAME: what that verifier accepts.",
       "maxplus score answers.jsonl --verifier countdown"},
      {Command::advantage, "advantage", "FILE", "try an advantage estimator on rewards",
       "FILE holds {\"group\", \"reward\"} a line, and where the estimator needs them \"length\", \"trainable\", "
       "\"log_prob\",\n"
       "\"reference_log_prob\", \"value\", \"finish\". Writes the line with advantage added: a number, or a list a "
       "token.\n"
       "Estimators: grpo, dr_grpo, rloo, reinforce_pp, reinforce_pp_baseline, maxrl, opmd, gae. Of gae: \"reward\" "
       "may be a\n"
       "list a token; \"value\" may hold one more, that of the state after the last token, from which a rollout that "
       "was\n"
       "cut (\"finish\" other than \"stopped\") goes on; without it the last token's value. KL in the reward: --set "
       "algorithm.kl=k1.",
       "maxplus advantage rewards.jsonl --estimator grpo --std n"},
      {Command::replay, "replay", "DECK FILE", "train on recorded rollouts",
       "As train, with rollouts and rewards taken from FILE instead of being drawn and judged.",
       "maxplus replay deck.toml runs/first/rollouts.jsonl --gradients gradients.safetensors"},
      {Command::inspect, "inspect", "FILE", "what a checkpoint, safetensors file, GGUF file or model folder holds",
       "Lists tensors with dtype, extents and hash, the metadata, and the weights_hash.",
       "maxplus inspect runs/first/checkpoints/iteration-000200.h5 --json"},
      {Command::convert, "convert", "IN OUT", "a model from one kind of file to another",
       "IN is a published folder, a GGUF file, a checkpoint or a safetensors file that carries its configuration.\n"
       "OUT is new: NAME.safetensors, NAME.h5 (a checkpoint), or else a folder as transformers and vLLM open it. "
       "Weights\n"
       "are f32 afterwards; tokenizer and chat template travel along. A checkpoint gives the policy, or with --critic "
       "the\n"
       "network that gave its values: a sequence classifier with one label, whose score every token has.",
       "maxplus convert runs/first/checkpoints/iteration-000200.h5 models/first"},
      {Command::report, "report", "RUN...", "a page with the curves of one or more runs",
       "Reads run folders and writes report/index.html, one file that needs no network, and its figures. Prints a line "
       "an\n"
       "alarm (what is wrong in the metrics, and what helps: docs/report.md), then the path of the page. Runs whose "
       "decks\n"
       "differ in the seed alone are drawn as their mean with a band.",
       "maxplus report runs/first runs/second"},
  };
  return entries;
}

std::string general_help() {
  std::string text = "maxplus " + version_text() +
                     ": reinforcement learning of reasoning language models with verifiers, on MPI ranks\n\nusage: "
                     "maxplus COMMAND ARGUMENTS [options]\n\n";
  for (const CommandEntry& entry : command_table()) {
    text += fmt::format("  {:<24} {}\n", fmt::format("{} {}", entry.name, entry.arguments), entry.summary);
  }
  text +=
      "\n  maxplus COMMAND --help    what a command reads and writes, its options, an example\n"
      "  maxplus train --describe  every table and key of a deck\n"
      "  maxplus --version         version and commit\n"
      "  maxplus --build-info      compiler, libraries, flags\n\n"
      "A first run:\n  mpirun -n 2 maxplus train inputs/quickstart/quickstart.toml\n\n"
      "Exit codes: 0 done, 64 command line, 65 content of a file, 66 file missing, 69 something unavailable, 70 a "
      "bug,\n"
      "71 memory, 73 output folder, 74 disk, 75 start again from the newest checkpoint, 76 ranks disagree, 78 deck,\n"
      "79 a number that is not finite, 80 replicas differ.\n";
  return text;
}

}  // namespace maxplus
