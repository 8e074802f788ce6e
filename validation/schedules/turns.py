"""The deck of the checks of schedules, and runs of several schedules in turns, so that all meet the same machine."""
import argparse
import contextlib
import os
import statistics
import tempfile

DECK = """
title = "schedules"
[run]
seed = 3
checkpoint_every = 0
log_rollouts = "none"
out = "out"
[model]
family = "llama"
width = 128
layers = 4
heads = 4
kv_heads = 2
ffn_width = 384
context = 160
[data]
task = "operators"
[reward]
{judge}
[generation]
problems_per_iteration = 8
group_size = 4
max_new_tokens = 64
force_length = 64
[algorithm]
name = "grpo"
[optimizer]
learning_rate = 1e-4
micro_batch_tokens = 1024
[eval]
every = 0
"""
QUICK = 'verifier = "random"\nprobability = 0.5'
SLOW = 'verifier = "command"\ncommand = ["python3", "./slow_judge.py"]\nworkers = 32'
SLOW_JUDGE = """import json, sys, time, zlib
for line in sys.stdin:
    time.sleep(0.2)
    print(json.dumps({"reward": zlib.crc32(json.loads(line)["response"].encode()) % 2}), flush=True)
"""
APART = ["placement.generator=1", "placement.actor=1"]


def pairs_asked(description):
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pairs", type=int, default=5)
    return options.parse_args().pairs


def in_turns(title, schedules, pairs, measure):
    """What `measure` gives of the keys of every schedule, `pairs` times each; it tells the seconds of an iteration."""
    runs = {name: [] for name in schedules}
    for _ in range(pairs):
        for name, keys in schedules.items():
            runs[name].append(measure(keys))
            print(title, "|", name, "|", f"{runs[name][-1]['iteration']:.4f} s", flush=True)
    return runs


@contextlib.contextmanager
def deck_of(judge):
    """A folder that goes away, and DECK with that judge in it."""
    with tempfile.TemporaryDirectory() as folder:
        deck = os.path.join(folder, "deck.toml")
        with open(deck, "w", encoding="utf-8") as file:
            file.write(DECK.format(judge=judge))
        yield folder, deck


def row(names, runs, keys):
    """A line of a table, in ms: the period's median, least and most over runs, and the medians of other times."""
    period = [m["iteration"] for m in runs]
    times = [statistics.median(period), min(period), max(period)] + [statistics.median(m[key] for m in runs) for key in keys]
    return f"| {' | '.join(names)} | " + " | ".join(f"{1e3 * value:.0f}" for value in times) + " |"


def gain(slower, faster):
    """How many times as fast, the median over pairs of one turn."""
    return statistics.median(slow["iteration"] / fast["iteration"] for slow, fast in zip(slower, faster))
