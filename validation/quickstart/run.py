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
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                   OMPI_MCA_hwloc_base_binding_policy="none", OMP_NUM_THREADS="1")


def metrics(folder):
    with open(os.path.join(folder, "metrics.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def train(deck, seed, out, ranks, limit_s):
    """One run; returns its lines of metrics and the seconds of training it recorded."""
    command = ["timeout", "-k", "10", str(limit_s), "mpirun", "-n", str(ranks), os.path.join(ROOT, "build", "maxplus"), "train",
               os.path.join(ROOT, "inputs", "quickstart", deck), "--out", out, "--quiet", "--set", f"run.seed={seed}"]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}\n{done.stderr}")
    return metrics(out)


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
        rows.append(row(name, seed, train(deck, seed, out, arguments.ranks, arguments.limit_s)))
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
    verdicts = [
        ("start at most 0.40", max(r["start"] for r in main_rows), max(r["start"] for r in main_rows) <= 0.40),
        ("mean of the ends at least 0.90", sum(ends) / len(ends), sum(ends) / len(ends) >= 0.90),
        ("no end below 0.80", min(ends), min(ends) >= 0.80),
        ("controls never above 0.45", max((r["highest"] for r in controls), default=0.0), all(r["highest"] <= 0.45 for r in controls)),
        ("at most 240 s", max(r["seconds"] for r in main_rows), max(r["seconds"] for r in main_rows) <= 240),
    ]
    text += ["", "| expectation | measured | holds |", "|---|---|---|"]
    text += [f"| {what} | {value:.3f} | {'yes' if holds else '**no**'} |" for what, value, holds in verdicts]
    text = "\n".join(text) + "\n"
    print(text)
    with open(os.path.join(HERE, "results.md"), "w", encoding="utf-8") as file:
        file.write(text)
    sys.exit(0 if all(holds for _, _, holds in verdicts) else 1)


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown processor"


if __name__ == "__main__":
    main()
