#!/usr/bin/env python3
"""Do whole runs have the same bits on 1, 2, 4 and 8 ranks, with 1 and 2 threads, and with evaluation every iteration or never?

Expectation, written before the runs: yes, for every weights_hash and every byte of rollouts.jsonl of the short quickstart.

    python3 validation/determinism/run.py

Writes results.md beside this file.
"""
import hashlib
import os
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from training import conclude, train  # noqa: E402  (the folder above is known only now)

CASES = [("1 rank", 1, []), ("2 ranks", 2, []), ("4 ranks", 4, []), ("8 ranks", 8, []), ("1 rank, 2 threads", 1, ["run.threads=2"]),
         ("2 ranks, evaluation every iteration", 2, ["eval.every=1"]), ("2 ranks, no evaluation", 2, ["eval.every=0"])]


def main():
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, ranks, keys in CASES:
            out = os.path.join(folder, name.replace(" ", "_").replace(",", ""))
            started = time.time()
            hashes = [line["weights_hash"] for line in train("quickstart/short/quickstart.toml", out, ranks, 900, *keys)]
            with open(os.path.join(out, "rollouts.jsonl"), "rb") as file:
                rollouts = hashlib.sha256(file.read()).hexdigest()
            rows.append((name, hashes, rollouts, time.time() - started))
            print(name, hashes[-1], rollouts[:16], f"{rows[-1][3]:.0f} s", flush=True)
    first = rows[0]
    text = ["# Same bits, whole runs", "", f"`python3 validation/determinism/run.py`, {time.strftime('%Y-%m-%d')}: the short quickstart, "
            f"{len(first[1])} weights and all rollouts compared with one rank.", "", "| run | weights equal | rollouts equal | seconds |", "|---|---|---|---|"]
    good = True
    for name, hashes, rollouts, seconds in rows:
        equal = sum(a == b for a, b in zip(hashes, first[1]))
        good = good and hashes == first[1] and rollouts == first[2]
        text.append(f"| {name} | {equal} of {len(first[1])} | {'yes' if rollouts == first[2] else '**no**'} | {seconds:.0f} |")
    conclude(os.path.join(HERE, "results.md"), text, good)


if __name__ == "__main__":
    main()
