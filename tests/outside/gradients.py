"""`replay --gradients`: the gradient does not depend on slices, ranks or micro-batches; groups of equal rewards give exactly 0; what
stands at untrainable positions has no influence."""
import json
import math
import os
import random
import struct

from program import Folder, Report, lines, read, run, sets

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "models", "llama_even")
TOLERANCE = 5e-5  # of a tensor's norm: other orders of float sums

DECK = """
[run]
iterations = 1
seed = 3
[model]
path = "MODEL"
[generation]
group_size = 4
max_new_tokens = 40
[algorithm]
name = "grpo"
[optimizer]
learning_rate = 1e-3
gradient_clip = 0
micro_batch_tokens = 256
[eval]
every = 0
"""


def tensors(path):
    data = read(path)
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    found = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            found[name] = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
    return found


def largest_difference(a, b):
    """Over tensors: |a - b| / |b|."""
    worst = 0.0
    for name, values in b.items():
        norm = math.sqrt(sum(v * v for v in values))
        difference = math.sqrt(sum((u - v) ** 2 for u, v in zip(a[name], values)))
        worst = max(worst, difference / norm if norm else difference)
    return worst


NOTHING = object()


def rollouts(rewards, foreign=NOTHING, beginning=()):
    """Six groups of four with ragged lengths; `foreign`: what untrainable positions hold, if there are such; all prompts have the
    `beginning`."""
    draw = random.Random(5)
    text = ""
    for group in range(6):
        prompt = list(beginning) + [draw.randrange(136) for _ in range(draw.randrange(1, 40))]
        for index in range(4):
            response = [draw.randrange(136) for _ in range(draw.randrange(1, 40))]
            line = {"group": group, "prompt_ids": prompt, "response_ids": response, "reward": rewards(group, index), "finish": "stopped"}
            if foreign is not NOTHING:
                line["trainable"] = [0 if t % 5 == 2 else 1 for t in range(len(response))]
                line["log_prob"] = [-4.9 if t % 5 != 2 else foreign for t in range(len(response))]
            text += json.dumps(line) + "\n"
    return text


report = Report()
with Folder() as folder:
    deck = folder.file("deck.toml", DECK.replace("MODEL", MODEL))

    def gradient(name, file, ranks=1, **keys):
        out, path = folder / name, folder / (name + ".safetensors")
        done = run(["replay", deck, file, "--gradients", path, "--out", out, "--quiet"] + sets(**keys), ranks=ranks)
        if not report.check(f"gradients: {name} runs", done.returncode == 0 and os.path.exists(path), done.stderr):
            return None
        return tensors(path)

    spread = folder.file("spread.jsonl", rollouts(lambda g, i: (i * (g + 1)) % 3))
    base = gradient("one slice", spread, optimizer__gradient_slices=1)
    if base:
        report.check("gradients: something is learned", all(any(values) for values in base.values()))
        for slices in (2, 8, 32):
            other = gradient(f"{slices} slices", spread, optimizer__gradient_slices=slices)
            if other:
                report.check(f"gradients: {slices} slices agree with one", largest_difference(other, base) < TOLERANCE, largest_difference(other, base))
        small = gradient("small micro-batches", spread, optimizer__gradient_slices=1, optimizer__micro_batch_tokens=64)
        if small:
            report.check("gradients: small micro-batches agree", largest_difference(small, base) < TOLERANCE, largest_difference(small, base))
        for ranks in (2, 3):
            other = gradient(f"{ranks} ranks", spread, ranks=ranks, optimizer__gradient_slices=8)
            eight = gradient(f"one rank beside {ranks}", spread, optimizer__gradient_slices=8)
            report.check(f"gradients: {ranks} ranks have the bits of one", other is not None and other == eight)

    # What all prompts begin with stands once in a micro-batch; a rollout alone shares nothing.
    alike = folder.file("alike.jsonl", rollouts(lambda g, i: (i * (g + 1)) % 3, beginning=range(30, 53)))
    sizes = {"shared": 2000, "apart": 1}
    shared, apart = (gradient(f"prompts that begin alike, {name}", alike, optimizer__gradient_slices=1, optimizer__micro_batch_tokens=size)
                     for name, size in sizes.items())
    if shared and apart:
        gap = largest_difference(shared, apart)
        report.check("gradients: prompts that begin alike, shared and apart, agree", 0 < gap < TOLERANCE, gap)
        few, many = (lines(folder / f"prompts that begin alike, {name}/metrics.jsonl")[-1]["tokens_processed"] for name in sizes)
        report.check("gradients: the beginning is computed once instead of 24 times", many - few > 23 * 23, (few, many))

    # Groups of equal rewards: gradient exactly 0 and no step, so that weight decay moves nothing either.
    flat = folder.file("flat.jsonl", rollouts(lambda g, i: 0.1 * g))
    still = gradient("equal rewards", flat, optimizer__weight_decay=0.5)
    if still:
        line = lines(folder / "equal rewards/metrics.jsonl")[-1]
        start = json.loads(run(["inspect", MODEL, "--json"]).stdout)["weights_hash"]
        report.check("gradients: equal rewards take no step", (line["loss"], line["steps_skipped"], line["weights_hash"]) == (0, 1, start), line)
        report.check("gradients: equal rewards give exactly 0", all(v == 0 for values in still.values() for v in values))

    # Untrainable positions: a number, another number, null.
    masked = [gradient(f"masked {i}", folder.file(f"masked{i}.jsonl", rollouts(lambda g, i: (i * (g + 1)) % 3, value)))
              for i, value in enumerate((-1.0, -30.0, None))]
    report.check("gradients: untrainable positions change no bit", all(masked) and masked[0] == masked[1] == masked[2])
report.finish()
