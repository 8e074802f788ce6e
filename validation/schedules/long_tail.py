#!/usr/bin/env python3
"""Where lengths have a long tail, does generation ahead of training on ranks of its own beat ranks that do everything?

Expectation, written before the runs. 16 answers an iteration, lengths lognormal with sigma = 1 about 40 tokens, at most 320, a network whose weights
do not stay in the caches (13 million parameters): a decoding step takes about as long with few rows as with many, so half of the answers take a
rank nearly as long as all of them, while training takes half as long on two ranks as on one. With G and T on one rank each and G' and T' where both ranks do
everything, G' > G / 2 by far, so a period of max(G, T) beats G' + T' by at least 1.2 with T not far above G, and the turns of 1 + 1 ranks, G + T, by at
least 1.5. The period is mean(max(G, T)) of the run's own iterations, within 10 %. (One run of each before: 1.26 over ranks that do everything.)

    python3 validation/schedules/long_tail.py [--pairs 5]

Needs a quiet machine of two cores; takes about six minutes. Writes long_tail.md beside this file.
"""
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
from training import conclude_by, processor, train  # noqa: E402  (these folders are known only now)
from turns import APART, QUICK, deck_of, gain, in_turns, pairs_asked, row  # noqa: E402

ITERATIONS, FIRST = 12, 3
CASE = [f"run.iterations={ITERATIONS}", "model.context=384", "model.width=512", "model.heads=8", "model.ffn_width=1536", "generation.group_size=2", "generation.force_length=40",
        "generation.force_length_sigma=1", "generation.max_new_tokens=320"]
SCHEDULES = {"synchronous, both ranks do everything": [], "synchronous, 1 + 1 ranks": APART, "one ahead, 1 + 1 ranks": APART + ["schedule.max_staleness=1"]}


def measure(deck, folder, keys):
    """Means over the iterations in which something is drawn."""
    out = os.path.join(folder, f"run_{time.monotonic_ns()}")
    lines = [m for m in train(deck, out, 2, 300, *CASE, *keys) if FIRST <= m["iteration"] < ITERATIONS]
    mean = {key: statistics.mean(m[f"seconds_{key}"] for m in lines) for key in ("iteration", "generation", "training")}
    mean["longer"] = statistics.mean(max(m["seconds_generation"] + m["seconds_assessment"], m["seconds_training"]) for m in lines)
    return mean


def main():
    pairs = pairs_asked(__doc__)
    text = ["# Long-tailed lengths", "", f"`python3 validation/schedules/long_tail.py --pairs {pairs}`, {time.strftime('%Y-%m-%d')}, {processor()}, 2 ranks; medians over runs of means over iterations, "
            "ms, schedules in turns.", "", "| schedule | period | least | most | G | T | mean of max(G, T) |", "|---|---|---|---|---|---|---|"]
    with deck_of(QUICK) as (folder, deck):
        runs = in_turns("long-tailed lengths", SCHEDULES, pairs, lambda keys: measure(deck, folder, keys))
    for name, found in runs.items():
        text.append(row([name], found, ("generation", "training", "longer")))
    together, turns, ahead = runs.values()
    verdicts = []
    for name, slower, least in (("ranks that do everything", together, 1.2), ("1 + 1 ranks in turns", turns, 1.5)):
        faster = gain(slower, ahead)
        verdicts.append((f"one ahead over {name}: {least} or more", f"{faster:.2f}", faster >= least))
    miss = statistics.median(m["iteration"] / m["longer"] for m in ahead) - 1
    verdicts.append(("one ahead: mean of max(G, T) within 10 %", f"{100 * miss:+.1f} %", abs(miss) <= 0.10))
    conclude_by(os.path.join(HERE, "long_tail.md"), text, verdicts)


if __name__ == "__main__":
    main()
