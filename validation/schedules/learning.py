#!/usr/bin/env python3
"""Does a policy learn as well from rollouts that older versions of it have drawn?

Expectation, written before the runs. The quickstart with generation 1, 2 and 4 versions ahead of training, by decoupled PPO, ends within 3
points of held-out accuracy of the synchronous run, on the mean of three seeds. At 8 and 16 ahead (the quickstart has 30 iterations, so
at 16 more than half of them are trained on rollouts of the first version) a loss may appear; the table says whether it does, with the
correction (decoupled_ppo) and without it (grpo, whose ratios are taken against the old version itself).

    python3 validation/schedules/learning.py [--ranks 2] [--seeds 3] [--ahead 1,2,4,8,16] [--folder FOLDER]

27 runs of the quickstart, about 45 s each on two cores. Bits depend neither on ranks nor on time, so the machine need not be quiet. Writes
learning.md beside this file. A FOLDER is kept, and finished runs in it are not repeated.
"""
import argparse
import os
import statistics
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from training import conclude_by, processor, train  # noqa: E402  (the folder above is known only now)

DECK = "quickstart/quickstart.toml"
AHEAD = (1, 2, 4, 8, 16)
POINTS, ASKED = 0.03, (1, 2, 4)  # within so much of the synchronous run, so many versions ahead
CORRECTED = ["algorithm.name=decoupled_ppo"]


def accuracy(folder, ranks, name, seed, *keys):
    """Held-out accuracy at the start and at the end, and the worst staleness."""
    lines = train(DECK, os.path.join(folder, f"{name}_{seed}"), ranks, 900, f"run.seed={seed}", "run.checkpoint_every=0", "eval.every=30", *keys)
    judged = [line["eval_accuracy"] for line in lines if "eval_accuracy" in line]
    stale = max((line["staleness_max"] for line in lines if "staleness_max" in line), default=0)
    print(f"{name} seed {seed}: {judged[0]:.3f} to {judged[-1]:.3f}, stalest token {stale}", flush=True)
    return judged[-1], stale


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--ranks", type=int, default=2)
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--ahead", default=",".join(map(str, AHEAD)))
    options.add_argument("--folder")
    chosen = options.parse_args()
    seeds = range(1, chosen.seeds + 1)
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or temporary
        synchronous = [accuracy(folder, chosen.ranks, "synchronous", seed)[0] for seed in seeds]
        base = statistics.mean(synchronous)
        verdicts, rows = [], [("synchronous (grpo)", synchronous, 0)]
        for ahead in map(int, chosen.ahead.split(",")):
            for name, keys in (("decoupled_ppo", CORRECTED), ("grpo", [])):
                if name == "grpo" and ahead in ASKED[:-1]:
                    continue
                found = [accuracy(folder, chosen.ranks, f"{name}_{ahead}", seed, f"schedule.max_staleness={ahead}", *keys) for seed in seeds]
                ends, stalest = [end for end, _ in found], max(stale for _, stale in found)
                rows.append((f"{ahead} ahead, {name}", ends, stalest))
                verdicts.append((f"{ahead} ahead, {name}: no token is older", str(stalest), stalest <= ahead))
                if ahead in ASKED and name == "decoupled_ppo":
                    loss = base - statistics.mean(ends)
                    verdicts.append((f"{ahead} ahead, {name}: within {100 * POINTS:.0f} points of synchronous", f"{-100 * loss:+.1f} points", loss <= POINTS))
    text = ["# Learning from older versions", "", f"`python3 validation/schedules/learning.py --seeds {chosen.seeds} --ahead {chosen.ahead}`, {time.strftime('%Y-%m-%d')}, {processor()}. The quickstart, "
            f"held-out accuracy after 30 iterations, seeds {', '.join(map(str, seeds))}.", "",
            "| schedule | each seed | mean | against synchronous, points | stalest token |", "|---|---|---|---|---|"]
    for name, ends, stalest in rows:
        mean = statistics.mean(ends)
        text.append(f"| {name} | {', '.join(f'{end:.3f}' for end in ends)} | {mean:.3f} | {100 * (mean - base):+.1f} | {stalest} |")
    conclude_by(os.path.join(HERE, "learning.md"), text, verdicts)


if __name__ == "__main__":
    main()
