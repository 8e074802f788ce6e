#!/usr/bin/env python3
"""Does a model written here reopen in transformers with the same values?

    PYTHON validation/models/reopen.py [MODEL.gguf]

PYTHON has torch and transformers. Each golden model of tests/data is converted: folder to checkpoint to folder, and GGUF to folder; a
GGUF file named on the command line too. transformers opens what was written, in f32.

Expectations, written before the run:
- logits of the folder written against those of the original folder, and against the golden ones: 1e-4 (2e-4 where the embedding is tied)
- log-probabilities of ours against those of transformers: 1e-4 (4e-4 for a file named on the command line, as its README says)
- tokenizer, where there is one: the same ids as ours, for a conversation too as the template that travelled along writes it

Writes reopen.md beside this file.
"""
import os
import sys
import tempfile

import torch
import transformers

from published import VERSIONS, golden_sequences, logits, opened, worst_log_prob
from shared import DATA, answers, conclude, maxplus, small

TEXTS = ["The quick brown fox", "  12 apples,\n\n34 pears; naïve Zürich 你好", "def f(x):\n\treturn x**2  # squares", "<|im_start|>user\nhi<|im_end|>\n"]
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is 2 + 2?"}, {"role": "assistant", "content": "4"},
            {"role": "user", "content": "And 3 + 3?"}]


def tokenizer_agrees(written, folder):
    """Number of texts that give the same ids, of how many."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(written)
    texts = list(TEXTS)
    if tokenizer.chat_template:
        texts.append(tokenizer.apply_chat_template(MESSAGES, tokenize=False, add_generation_prompt=True))
    expected = [tokenizer.encode(text, add_special_tokens=False) for text in texts]
    ours = [line["ids"] for line in answers("tokenize", written, folder, [{"text": text} for text in texts])]
    return sum(a == b for a, b in zip(ours, expected)), len(expected)


def main():
    torch.set_num_threads(2)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted(os.listdir(os.path.join(DATA, "models"))):
            original = os.path.join(DATA, "models", name)
            checkpoint, written = os.path.join(folder, name + ".h5"), os.path.join(folder, name)
            maxplus("convert", original, checkpoint)
            maxplus("convert", checkpoint, written)
            before, after = opened(original), opened(written)
            golden = golden_sequences(os.path.join(original, "reference.safetensors"))
            sequences = [ids for ids, _ in golden]
            tolerance = 2e-4 if after.config.tie_word_embeddings else 1e-4
            moved = max(float((logits(after, ids) - logits(before, ids)).abs().max()) for ids in sequences)
            gap = max(float((logits(after, ids) - values).abs().max()) for ids, values in golden)
            ours = worst_log_prob(after, written, folder, sequences)
            rows.append((name, small(moved), small(gap), small(ours), "", moved <= tolerance and gap <= tolerance and ours <= 1e-4))
        files = [(os.path.join(DATA, "gguf", "tiny_llama.f32.gguf"), 1e-4)] + [(path, 4e-4) for path in sys.argv[1:]]
        for path, tolerance in files:
            written = os.path.join(folder, os.path.basename(path) + "-folder")
            maxplus("convert", path, written)
            model = opened(written)
            sequences = [[(7 * i * i + 3 * i + 5) % min(model.config.vocab_size, 300) for i in range(40)]]
            ours = worst_log_prob(model, path, folder, sequences)
            same, number = tokenizer_agrees(written, folder)
            rows.append((os.path.basename(path), "", "", small(ours), f"{same} of {number}", ours <= tolerance and same == number))
    conclude(__file__, "Models written here, reopened in transformers", VERSIONS,
             ["model", "logits: written - original", "logits: written - golden", "log-probabilities: ours - transformers", "ids equal"], rows)


main()
