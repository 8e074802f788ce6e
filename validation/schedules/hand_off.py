#!/usr/bin/env python3
"""Do weights that come while a generator draws cost it less than weights that come between two drawings ([schedule] weight_buffers)?

Expectation. One rank draws and one trains, one version behind, a network of 100 MB. With one buffer the weights travel and their hash is made
while both ranks wait: H. With two buffers the giver's hash and the transfer are over when drawing ends, if drawing takes longer, and begin at
once, if training does: H falls by half or more. The iteration is not longer, within 5 %. (Half of what H loses was expected to be seen in the iteration
first; but on one machine, whose processors make the copies and the hashes in any case, series of 3 pairs gave 1.00 to 1.12, which is what two runs
differ by here, and one of 7 pairs, with a third of the work, 1.02.)

    python3 validation/schedules/hand_off.py [--pairs 5]

Needs a quiet machine of two cores; takes about four minutes. Writes hand_off.md beside this file.
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

ITERATIONS, FIRST = 8, 3
CASE = APART + [f"run.iterations={ITERATIONS}", "schedule.max_staleness=1", "model.width=512", "model.heads=8", "model.ffn_width=1536", "model.layers=8",
                "generation.problems_per_iteration=4", "generation.force_length=32"]
SCHEDULES = {"one buffer": ["schedule.weight_buffers=1"], "two buffers": []}
CASES = {"drawing takes longer": ["generation.batch_rollouts=2"], "training takes longer": ["generation.batch_rollouts=16", "optimizer.epochs=2"]}


def measure(deck, folder, keys):
    out = os.path.join(folder, f"run_{time.monotonic_ns()}")
    lines = [m for m in train(deck, out, 2, 300, *CASE, *keys) if FIRST <= m["iteration"] < ITERATIONS]
    return {key: statistics.median(m[f"seconds_{key}"] for m in lines) for key in ("iteration", "generation", "training", "weight_handoff")}


def main():
    pairs = pairs_asked(__doc__)
    verdicts = []
    text = ["# Weights on their way while others draw", "", f"`python3 validation/schedules/hand_off.py --pairs {pairs}`, {time.strftime('%Y-%m-%d')}, {processor()}, 1 + 1 ranks, one "
            "ahead; medians, ms, buffers in turns.", "", "| case | buffers | iteration | least | most | G | T | H |", "|---|---|---|---|---|---|---|---|"]
    with deck_of(QUICK) as (folder, deck):
        for title, keys in CASES.items():
            runs = in_turns(title, SCHEDULES, pairs, lambda more, keys=keys: measure(deck, folder, keys + more))
            for name, found in runs.items():
                text.append(row([title, name], found, ("generation", "training", "weight_handoff")))
            one, two = runs.values()
            left = statistics.median(b["weight_handoff"] / a["weight_handoff"] for a, b in zip(one, two))
            verdicts.append((f"{title}: H with two buffers over one: 0.5 or less", f"{left:.2f}", left <= 0.5))
            ratio = gain(two, one)
            verdicts.append((f"{title}: the iteration with two buffers over one: at most 1.05", f"{ratio:.2f}", ratio <= 1.05))
    conclude_by(os.path.join(HERE, "hand_off.md"), text, verdicts)


if __name__ == "__main__":
    main()
