#!/usr/bin/env python3
"""Does every learning rule learn?

For each seed the quickstart is trained as it stands; then every rule below starts from the network that its warm start left, with the rule's own
defaults but for the keys that are shown, until it is there or for twice the quickstart's iterations. Greedy accuracy on the held-out problems after every five.

Expectation, written before the runs: on each of three seeds every rule reaches the start + 90 % of what the quickstart gained, in some evaluation.
And a critic of its own, beside a policy that stands still, explains more than half of the variance of rewards that a problem's first number decides
(of the task's own rewards it can explain about half, since the first tries of an answer are guesses).

    python3 validation/algorithms/learn.py [--seeds 3] [--rules "grpo;ppo, shared"] [--ranks 2] [--out FOLDER]

Writes learning.md beside this file and prints the table. A finished run is not run again.
"""
import argparse
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from training import conclude, processor, train  # noqa: E402  (the folder above is known only now)

RULES = {
    "grpo": [], "dapo": [], "rloo": [], "reinforce_pp": [], "gspo": [], "cispo": [], "decoupled_ppo": [],
    "ppo": ["critic.learning_rate=2e-3", "algorithm.lambda=0.95"],
    "ppo, shared": ["critic.shared=true", "algorithm.lambda=0.95"],
}
SHARE = 0.9
STOPS = (10, 15, 20, 25, 30, 40, 50, 60)  # a run ends at the first of these behind the mark


def evaluations(lines):
    return {m["iteration"]: m["eval_accuracy"] for m in lines if "eval_accuracy" in m}


def start_of(seed, arguments):
    """The quickstart of a seed: its accuracy at the start and at the end, and a checkpoint of its start."""
    out = os.path.join(arguments.out, f"quickstart_{seed}")
    found = evaluations(train("quickstart/quickstart.toml", out, arguments.ranks, 900, f"run.seed={seed}", "eval.samples=0", "run.keep_checkpoints=10"))
    return found[0], found[max(found)], os.path.join(out, "checkpoints", "iteration-000000.h5")


def critic_of(seed, checkpoint, arguments):
    """Explained variance after 20 iterations in which only the critic moves."""
    out = os.path.join(arguments.out, f"critic_{seed}")
    lines = train(os.path.join(HERE, "rules.toml"), out, arguments.ranks, 900, f"run.seed={seed}", f"model.path={checkpoint}", "algorithm.name=ppo",
                  "critic.learning_rate=5e-3", "optimizer.learning_rate=0", "run.iterations=20", "eval.every=0", "generation.zero_spread=keep",
                  "reward.verifier=regex", 'reward.pattern="^[1-4] . "')
    return lines[-1]["explained_variance"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rules", default=";".join(RULES))
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--out", default=os.path.join(HERE, "out"))
    arguments = parser.parse_args()
    rules = [name for name in RULES if name in arguments.rules.split(";")]
    rows, explained_by_critic, good = [], [], True
    for seed in range(1, arguments.seeds + 1):
        start, end, checkpoint = start_of(seed, arguments)
        mark = start + SHARE * (end - start)
        explained_by_critic.append(critic_of(seed, checkpoint, arguments))
        good = good and explained_by_critic[-1] > 0.5
        for name in rules:
            out = os.path.join(arguments.out, f"{name.replace(', ', '_')}_{seed}")
            for stop in STOPS:
                lines = train(os.path.join(HERE, "rules.toml"), out, arguments.ranks, 1200, f"run.seed={seed}", f"model.path={checkpoint}",
                              f"algorithm.name={name.split(',')[0]}", f"run.stop_after={stop}", *RULES[name])
                found = evaluations(lines)
                reached = next((k for k in sorted(found) if found[k] >= mark), None)
                if reached is not None:
                    break
            explained = [m["explained_variance"] for m in lines if "explained_variance" in m]
            rows.append({"rule": name, "seed": seed, "start": start, "mark": mark, "reached": reached, "highest": max(found.values()), "end": found[max(found)], "iterations": max(found),
                         "explained": explained[-1] if explained else None, "seconds": lines[-1]["elapsed_s"]})
            good = good and reached is not None
            print(json.dumps(rows[-1]), flush=True)
    text = ["# Learning rules on the quickstart's task", "", f"`python3 validation/algorithms/learn.py`, {time.strftime('%Y-%m-%d')}, {arguments.ranks} ranks, "
            f"{processor()}. Expectation and settings: `learn.py`, `rules.toml`. Greedy held-out accuracy; the mark is the start + {SHARE:.0%} of what the "
            "quickstart gains in 30 iterations.", "", "| rule | seed | start | mark | reached in iteration | highest | at the end | of iterations | explained variance | seconds |",
            "|---|---|---|---|---|---|---|---|---|---|"]
    for r in rows:
        explained = "" if r["explained"] is None else f"{r['explained']:.2f}"
        text.append(f"| {r['rule']} | {r['seed']} | {r['start']:.3f} | {r['mark']:.3f} | {r['reached'] or '**not reached**'} | {r['highest']:.3f} | {r['end']:.3f} | {r['iterations']} | "
                    f"{explained} | {r['seconds']:.0f} |")
    text += ["", "Explained variance of a critic beside a policy that stands still, seed by seed (more than 0.5 expected): "
             + ", ".join(f"{value:.2f}" for value in explained_by_critic) + "."]
    conclude(os.path.join(HERE, "learning.md"), text, good)


if __name__ == "__main__":
    main()
