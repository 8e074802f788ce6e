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
TEXTS = ["The quick brown fox", "  12 apples,\n\n34 pears; naïve Zürich 你好", "def f(x):\n\treturn x**2  # squares", "<|im_start|>user\nhi<|im_end|>\n"]
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is 2 + 2?"}, {"role": "assistant", "content": "4"},
            {"role": "user", "content": "And 3 + 3?"}]


def run(*arguments):
    command = ["timeout", "-k", "10", "600", PROGRAM] + [str(a) for a in arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, OMP_NUM_THREADS="1"), check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def opened(folder):
    return transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()


def logits(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].float()


def our_log_probs(model, folder, sequences):
    path = os.path.join(folder, "ids.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"ids": ids}) + "\n" for ids in sequences)
    return [json.loads(line)["log_prob"] for line in run("logprob", model, path).splitlines()]


def worst_log_prob(model, sequences, ours):
    worst = 0.0
    for ids, values in zip(sequences, ours):
        log_probs = torch.log_softmax(logits(model, ids).double(), -1)
        for t in range(1, len(ids)):
            worst = max(worst, abs(float(log_probs[t - 1, ids[t]]) - values[t]))
    return worst


def golden_sequences(path):
    with safe_open(path, "pt") as file:
        return [(file.get_tensor(f"tokens.{i}").tolist(), file.get_tensor(f"logits.{i}")) for i in range(3)]


def tokenizer_agrees(written, folder):
    """Number of texts that give the same ids, of how many."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(written)
    path = os.path.join(folder, "text.jsonl")
    texts = list(TEXTS)
    if tokenizer.chat_template:
        texts.append(tokenizer.apply_chat_template(MESSAGES, tokenize=False, add_generation_prompt=True))
    expected = [tokenizer.encode(text, add_special_tokens=False) for text in texts]
    lines = [{"text": text} for text in texts]
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    ours = [json.loads(line)["ids"] for line in run("tokenize", written, path).splitlines()]
    return sum(a == b for a, b in zip(ours, expected)), len(expected)


def main():
    torch.set_num_threads(2)
    transformers.utils.logging.disable_progress_bar()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted(os.listdir(os.path.join(DATA, "models"))):
            original = os.path.join(DATA, "models", name)
            checkpoint, written = os.path.join(folder, name + ".h5"), os.path.join(folder, name)
            run("convert", original, checkpoint)
            run("convert", checkpoint, written)
            before, after = opened(original), opened(written)
            golden = golden_sequences(os.path.join(original, "reference.safetensors"))
            sequences = [ids for ids, _ in golden]
            tolerance = 2e-4 if after.config.tie_word_embeddings else 1e-4
            moved = max(float((logits(after, ids) - logits(before, ids)).abs().max()) for ids in sequences)
            gap = max(float((logits(after, ids) - values).abs().max()) for ids, values in golden)
            ours = worst_log_prob(after, sequences, our_log_probs(written, folder, sequences))
            rows.append((name, moved, gap, ours, "", moved <= tolerance and gap <= tolerance and ours <= 1e-4))
        files = [(os.path.join(DATA, "gguf", "tiny_llama.f32.gguf"), 1e-4)] + [(path, 4e-4) for path in sys.argv[1:]]
        for path, tolerance in files:
            written = os.path.join(folder, os.path.basename(path) + "-folder")
            run("convert", path, written)
            model = opened(written)
            sequences = [[(7 * i * i + 3 * i + 5) % min(model.config.vocab_size, 300) for i in range(40)]]
            ours = worst_log_prob(model, sequences, our_log_probs(path, folder, sequences))
            same, number = tokenizer_agrees(written, folder)
            rows.append((os.path.basename(path), None, None, ours, f"{same} of {number}", ours <= tolerance and same == number))
    show = lambda value: "" if value is None else f"{value:.1e}"
    text = "# Models written here, reopened in transformers\n\nExpectations stand in `reopen.py`; written by it.\n\n"
    text += f"{run('--version').strip()}; transformers {transformers.__version__}, torch {torch.__version__}; f32 on the host.\n\n"
    text += "| model | logits: written - original | logits: written - golden | log-probabilities: ours - transformers | ids equal | |\n"
    text += "|---|---|---|---|---|---|\n"
    for name, moved, gap, ours, ids, good in rows:
        text += f"| {name} | {show(moved)} | {show(gap)} | {show(ours)} | {ids} | {'as expected' if good else '**not as expected**'} |\n"
    print(text)
    with open(os.path.join(HERE, "reopen.md"), "w", encoding="utf-8") as file:
        file.write(text)
    sys.exit(0 if all(row[-1] for row in rows) else 1)


main()
