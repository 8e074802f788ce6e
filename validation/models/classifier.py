#!/usr/bin/env python3
"""Do critics written here score equally in transformers, and transformers' classifiers here?

    PYTHON validation/models/classifier.py

PYTHON has torch and transformers. For each golden model of tests/data: a sequence classifier with one label on the model's layers, its score
drawn anew, is written by transformers; `maxplus logprob` says its values; `maxplus convert` writes it again; transformers opens that.
A checkpoint of a short ppo run gives its critic (`convert --critic`) and its policy, which transformers opens too.

Expectations, written before the run:
- values of ours after every token against those of transformers' score on its hidden states: 1e-4, for both directions
- what is written again has the same numbers as the original: 0
- the policy of a run with a critic: log-probabilities 1e-4 from those of transformers
- a classifier with two labels is refused, exit 65, with `num_labels` in the text

Writes classifier.md beside this file.
"""
import json
import os
import subprocess
import sys
import tempfile

import torch
import transformers
from safetensors import safe_open

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = os.path.join(ROOT, "tests", "data")
PROGRAM = os.environ.get("MAXPLUS") or os.path.join(ROOT, "build", "maxplus")
TOLERANCE = 1e-4
DECK = """
[run]
iterations = 3
checkpoint_every = 0
[model]
width = 32
layers = 2
heads = 4
kv_heads = 2
ffn_width = 48
context = 96
[data]
task = "operators"
[reward]
verifier = "random"
probability = 0.5
[generation]
problems_per_iteration = 4
group_size = 4
max_new_tokens = 16
[algorithm]
name = "ppo"
[critic]
learning_rate = 3e-3
[optimizer]
learning_rate = 1e-3
[eval]
every = 0
"""


def attempt(*arguments):
    command = ["timeout", "-k", "10", "600", PROGRAM] + [str(a) for a in arguments]
    return subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, OMP_NUM_THREADS="1"), check=False)


def run(*arguments):
    done = attempt(*arguments)
    if done.returncode != 0:
        sys.exit(f"{arguments}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def classifier_of(folder, labels):
    torch.manual_seed(labels)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, num_labels=labels, dtype=torch.float32,
                                                                            attn_implementation="eager").eval()
    torch.nn.init.normal_(model.score.weight, std=0.3)
    return model


def opened(folder):
    return transformers.AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()


def values_of(model, ids):
    with torch.no_grad():
        hidden = model.base_model(torch.tensor([ids])).last_hidden_state
        return model.score(hidden)[0, :, 0].tolist()


def lines_of(model, folder, sequences):
    path = os.path.join(folder, "ids.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"ids": ids}) + "\n" for ids in sequences)
    return [json.loads(line) for line in run("logprob", model, path).splitlines()]


def worst_value(model, folder, path, sequences):
    ours = [line["value"] for line in lines_of(path, folder, sequences)]
    return max(abs(a - b) for ids, values in zip(sequences, ours) for a, b in zip(values_of(model, ids), values, strict=True))


def worst_log_prob(path, folder, sequences):
    model = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32, attn_implementation="eager").eval()
    worst = 0.0
    for ids, line in zip(sequences, lines_of(path, folder, sequences)):
        with torch.no_grad():
            log_probs = torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), -1)
        worst = max(worst, max(abs(float(log_probs[t - 1, ids[t]]) - line["log_prob"][t]) for t in range(1, len(ids))))
    return worst


def golden_sequences(path):
    with safe_open(path, "pt") as file:
        return [file.get_tensor(f"tokens.{i}").tolist() for i in range(3)]


def main():
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted(os.listdir(os.path.join(DATA, "models"))):
            source = os.path.join(DATA, "models", name)
            sequences = golden_sequences(os.path.join(source, "reference.safetensors"))
            original, written, two = (os.path.join(folder, name + end) for end in ("", "-written", "-two"))
            model = classifier_of(source, 1)
            model.save_pretrained(original)
            run("convert", original, written)
            again = opened(written)
            here = worst_value(model, folder, original, sequences)
            there = worst_value(again, folder, written, sequences)
            moved = max(float((a - b).abs().max()) for a, b in zip(model.state_dict().values(), again.state_dict().values(), strict=True))
            classifier_of(source, 2).save_pretrained(two)
            refused = attempt("inspect", two)
            told = refused.returncode == 65 and "num_labels" in refused.stderr
            rows.append((name, here, there, moved, "65" if told else f"**{refused.returncode}**",
                         here <= TOLERANCE and there <= TOLERANCE and moved == 0 and told))
        deck, out = os.path.join(folder, "deck.toml"), os.path.join(folder, "run")
        with open(deck, "w", encoding="utf-8") as file:
            file.write(DECK)
        run("train", deck, "--out", out, "--quiet", "--progress", "none")
        checkpoint = os.path.join(out, "checkpoints", "iteration-000003.h5")
        critic, policy = os.path.join(folder, "critic"), os.path.join(folder, "policy")
        run("convert", checkpoint, critic, "--critic")
        run("convert", checkpoint, policy)
        sequences = [[(5 * i * i + 3 * i + k) % 16 for i in range(30)] for k in range(3)]
        value, log_prob = worst_value(opened(critic), folder, critic, sequences), worst_log_prob(policy, folder, sequences)
        rows.append(("critic of a ppo run", None, value, None, "", value <= TOLERANCE))
        rows.append(("its policy (log-probabilities)", None, log_prob, None, "", log_prob <= TOLERANCE))
    show = lambda value: "" if value is None else f"{value:.1e}"
    text = "# Critics as sequence classifiers, here and in transformers\n\nExpectations stand in `classifier.py`; written by it.\n\n"
    text += f"{run('--version').strip()}; transformers {transformers.__version__}, torch {torch.__version__}; f32 on the host.\n\n"
    text += "| network | values: ours - transformers, its file | values: ours - transformers, our file | weights moved | two labels: exit | |\n"
    text += "|---|---|---|---|---|---|\n"
    for name, here, there, moved, told, good in rows:
        text += f"| {name} | {show(here)} | {show(there)} | {show(moved)} | {told} | {'as expected' if good else '**not as expected**'} |\n"
    print(text)
    with open(os.path.join(HERE, "classifier.md"), "w", encoding="utf-8") as file:
        file.write(text)
    sys.exit(0 if all(row[-1] for row in rows) else 1)


main()
