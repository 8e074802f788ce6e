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
import os
import tempfile

import torch
import transformers

from published import VERSIONS, golden_sequences, opened, worst_log_prob
from shared import DATA, PROGRAM, answers, attempt, conclude, maxplus, of_ids, small

CLASSIFIER = transformers.AutoModelForSequenceClassification
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


def classifier_of(folder, labels):
    torch.manual_seed(labels)
    model = opened(folder, CLASSIFIER, num_labels=labels)
    torch.nn.init.normal_(model.score.weight, std=0.3)
    return model


def values_of(model, ids):
    with torch.no_grad():
        hidden = model.base_model(torch.tensor([ids])).last_hidden_state
        return model.score(hidden)[0, :, 0].tolist()


def worst_value(model, path, folder, sequences):
    ours = [line["value"] for line in answers("logprob", path, folder, of_ids(sequences))]
    return max(abs(a - b) for ids, values in zip(sequences, ours, strict=True)
               for a, b in zip(values_of(model, ids), values, strict=True))


def main():
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted(os.listdir(os.path.join(DATA, "models"))):
            source = os.path.join(DATA, "models", name)
            sequences = [ids for ids, _ in golden_sequences(os.path.join(source, "reference.safetensors"))]
            original, written, two = (os.path.join(folder, name + end) for end in ("", "-written", "-two"))
            model = classifier_of(source, 1)
            model.save_pretrained(original)
            maxplus("convert", original, written)
            again = opened(written, CLASSIFIER)
            here = worst_value(model, original, folder, sequences)
            there = worst_value(again, written, folder, sequences)
            moved = max(float((a - b).abs().max()) for a, b in zip(model.state_dict().values(), again.state_dict().values(), strict=True))
            classifier_of(source, 2).save_pretrained(two)
            refused = attempt(PROGRAM, "inspect", two)
            told = refused.returncode == 65 and "num_labels" in refused.stderr
            rows.append((name, small(here), small(there), small(moved), "65" if told else f"**{refused.returncode}**",
                         here <= TOLERANCE and there <= TOLERANCE and moved == 0 and told))
        deck, out = os.path.join(folder, "deck.toml"), os.path.join(folder, "run")
        with open(deck, "w", encoding="utf-8") as file:
            file.write(DECK)
        maxplus("train", deck, "--out", out, "--quiet", "--progress", "none")
        checkpoint = os.path.join(out, "checkpoints", "iteration-000003.h5")
        critic, policy = os.path.join(folder, "critic"), os.path.join(folder, "policy")
        maxplus("convert", checkpoint, critic, "--critic")
        maxplus("convert", checkpoint, policy)
        sequences = [[(5 * i * i + 3 * i + k) % 16 for i in range(30)] for k in range(3)]
        value = worst_value(opened(critic, CLASSIFIER), critic, folder, sequences)
        log_prob = worst_log_prob(opened(policy), policy, folder, sequences)
        rows.append(("critic of a ppo run", "", small(value), "", "", value <= TOLERANCE))
        rows.append(("its policy (log-probabilities)", "", small(log_prob), "", "", log_prob <= TOLERANCE))
    conclude(__file__, "Critics as sequence classifiers, here and in transformers", VERSIONS,
             ["network", "values: ours - transformers, its file", "values: ours - transformers, our file", "weights moved", "two labels: exit"], rows)


main()
