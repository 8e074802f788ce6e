#!/usr/bin/env python3
"""Does the quickstart learn, on every seed, and do its controls stay flat?

Expectation, written before the runs: greedy held-out accuracy (637 problems never trained on) is at most 0.40 after the warm
start; after reinforcement learning it is at least 0.90 on average over ten seeds and never below 0.80; with random rewards,
and with supervised training continued for as long, it stays at most 0.45 in five seeds each; training takes at most four
minutes on two ranks.

    python3 validation/quickstart/run.py [--seeds 10] [--control-seeds 5] [--ranks 2] [--out FOLDER]

Writes results.md beside this file and prints the table. A finished seed is not run again (runs resume).
"""
import argparse
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from training import conclude_by, processor, train  # noqa: E402  (the folder above is known only now)


def row(name, seed, lines):
    evaluated = [m for m in lines if "eval_accuracy" in m]
    trained = [m for m in lines if "reward_mean" in m]
    return {"deck": name, "seed": seed, "start": evaluated[0]["eval_accuracy"], "end": evaluated[-1]["eval_accuracy"],
            "sampled": evaluated[-1].get("eval_accuracy_sampled"), "problems": evaluated[-1].get("eval_problems"),
            "highest": max(m["eval_accuracy"] for m in evaluated),
            "length": (trained[0]["response_length_mean"], trained[-1]["response_length_mean"]) if trained else None,
            "seconds": lines[-1]["elapsed_s"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--control-seeds", type=int, default=5)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--limit-s", type=int, default=900)
    parser.add_argument("--out", default=os.path.join(HERE, "out"))
    arguments = parser.parse_args()
    started = time.strftime("%Y-%m-%d")
    plan = [("quickstart", "quickstart.toml", s) for s in range(1, arguments.seeds + 1)]
    plan += [("random rewards", "controls/random_reward.toml", s) for s in range(1, arguments.control_seeds + 1)]
    plan += [("supervised only", "controls/supervised.toml", s) for s in range(1, arguments.control_seeds + 1)]
    rows = []
    for name, deck, seed in plan:
        out = os.path.join(arguments.out, f"{name.replace(' ', '_')}_{seed}")
        rows.append(row(name, seed, train(f"quickstart/{deck}", out, arguments.ranks, arguments.limit_s, f"run.seed={seed}")))
        print(rows[-1], flush=True)

    text = ["# Quickstart: ten seeds and two controls", "",
            f"`python3 validation/quickstart/run.py`, {started}, {arguments.ranks} ranks, {processor()}. Greedy accuracy on "
            f"{rows[0]['problems']} held-out problems.", "",
            "| deck | seed | after the warm start | at the end | highest | sampled at the end | length first / last | seconds |",
            "|---|---|---|---|---|---|---|---|"]
    for r in rows:
        length = f"{r['length'][0]:.1f} / {r['length'][1]:.1f}" if r["length"] else ""
        sampled = f"{r['sampled']:.3f}" if r["sampled"] is not None else ""
        text.append(f"| {r['deck']} | {r['seed']} | {r['start']:.3f} | **{r['end']:.3f}** | {r['highest']:.3f} | {sampled} | {length} | "
                    f"{r['seconds']:.0f} |")
    main_rows = [r for r in rows if r["deck"] == "quickstart"]
    controls = [r for r in rows if r["deck"] != "quickstart"]
    ends = [r["end"] for r in main_rows]
    start, mean, highest = max(r["start"] for r in main_rows), sum(ends) / len(ends), max((r["highest"] for r in controls), default=0.0)
    seconds = max(r["seconds"] for r in main_rows)
    verdicts = [
        ("start at most 0.40", f"{start:.3f}", start <= 0.40),
        ("mean of the ends at least 0.90", f"{mean:.3f}", mean >= 0.90),
        ("no end below 0.80", f"{min(ends):.3f}", min(ends) >= 0.80),
        ("controls never above 0.45", f"{highest:.3f}", highest <= 0.45),
        ("at most 240 s", f"{seconds:.0f}", seconds <= 240),
    ]
    conclude_by(os.path.join(HERE, "results.md"), text, verdicts)


if __name__ == "__main__":
    main()
