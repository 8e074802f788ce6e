#!/usr/bin/env python3
"""What does generation at its own pace gain over generation that is exactly so many versions ahead, and does it keep its bound?

Expectation, written before the runs. One rank draws and one trains, at most two versions behind, lengths of a long tail (lognormal, sigma = 1), so
that the generation G of an iteration changes from one to the next and its training T hardly does. Exactly two ahead, a step takes the longer of the
two: mean(max(G, T)). At its own pace only the longer of the means is left, max(mean G, mean T), less what batches gain that are never down to
their last long answer, more what interrupted answers cost that are computed again: at most 1.15 times that, and faster than exact staleness by the
quotient of the two, within 5 %, where the means are balanced. (A first series expected 1.1 or more whatever the quotient: it was 1.09, and 1.09 were
measured.) With a trainer that takes several times as long it bounds both alike (0.9 to 1.3).
No token is older than two versions in any of them.

    python3 validation/schedules/bounded.py [--pairs 5]

Needs a quiet machine of two cores; takes about six minutes. Writes bounded.md beside this file.
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

ITERATIONS, FIRST, BOUND = 24, 4, 2
CASE = APART + [f"run.iterations={ITERATIONS}", f"schedule.max_staleness={BOUND}", "generation.force_length=64", "generation.force_length_sigma=1", "generation.max_new_tokens=320",
                "model.context=384"]
SCHEDULES = {"exactly two ahead": [], "at its own pace": ["schedule.staleness=bounded"]}
# Rows decoded together and epochs move the balance of the two stages.
CASES = {"balanced": ["generation.batch_rollouts=1"], "a slow trainer": ["generation.batch_rollouts=32", "optimizer.epochs=3"]}


def measure(deck, folder, keys):
    out = os.path.join(folder, f"run_{time.monotonic_ns()}")
    lines = [m for m in train(deck, out, 2, 300, *CASE, *keys) if FIRST <= m["iteration"] <= ITERATIONS - BOUND]
    mean = {key: statistics.mean(m[f"seconds_{key}"] for m in lines) for key in ("iteration", "generation", "training")}
    mean["longer"] = statistics.mean(max(m["seconds_generation"], m["seconds_training"]) for m in lines)
    mean["awaited"] = statistics.mean(m.get("seconds_awaited", 0) for m in lines)
    mean["stalest"] = max(m["staleness_max"] for m in lines)
    return mean


def main():
    pairs = pairs_asked(__doc__)
    verdicts = []
    text = ["# Generation at its own pace", "", f"`python3 validation/schedules/bounded.py --pairs {pairs}`, {time.strftime('%Y-%m-%d')}, {processor()}, 1 + 1 ranks, at most {BOUND} versions "
            "behind, lengths lognormal about 64 tokens; medians over runs of means over iterations, ms, schedules in turns.", "",
            "| case | schedule | iteration | least | most | G | T | mean of max(G, T) | awaited |", "|---|---|---|---|---|---|---|---|---|"]
    with deck_of(QUICK) as (folder, deck):
        for title, keys in CASES.items():
            runs = in_turns(title, SCHEDULES, pairs, lambda more, keys=keys: measure(deck, folder, keys + more))
            for name, found in runs.items():
                text.append(row([title, name], found, ("generation", "training", "longer", "awaited")))
            exact, free = runs.values()
            faster = gain(exact, free)
            if title == "a slow trainer":
                verdicts.append((f"{title}: at its own pace over exactly two ahead: 0.9 to 1.3", f"{faster:.2f}", 0.9 <= faster <= 1.3))
            else:
                said = statistics.median(m["longer"] / max(m["generation"], m["training"]) for m in exact)
                verdicts.append((f"{title}: at its own pace over exactly two ahead: at least 0.95 times the quotient of the means, {said:.2f}", f"{faster:.2f}", faster >= 0.95 * said))
                share = statistics.median(fast["iteration"] / max(slow["generation"], slow["training"]) for slow, fast in zip(exact, free))
                verdicts.append((f"{title}: at most 1.15 times the longer of the means", f"{share:.2f}", share <= 1.15))
            stalest = max(m["stalest"] for m in exact + free)
            verdicts.append((f"{title}: no token is older than {BOUND}", str(stalest), stalest <= BOUND))
    conclude_by(os.path.join(HERE, "bounded.md"), text, verdicts)


if __name__ == "__main__":
    main()
