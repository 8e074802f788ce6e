#!/usr/bin/env python3
"""Do whole runs have the same bits on 1, 2, 4 and 8 ranks, with 1 and 2 threads, and with evaluation every iteration or never?

Expectation, written before the runs: yes, for every weights_hash and every byte of rollouts.jsonl of the short quickstart.

    python3 validation/determinism/run.py

Writes results.md beside this file.
"""
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.environ.get("MAXPLUS") or os.path.join(ROOT, "build", "maxplus")
DECK = os.path.join(ROOT, "inputs", "quickstart", "short", "quickstart.toml")
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                   OMPI_MCA_hwloc_base_binding_policy="none", OMPI_MCA_mpi_yield_when_idle="1", OMP_NUM_THREADS="1")
CASES = [("1 rank", 1, []), ("2 ranks", 2, []), ("4 ranks", 4, []), ("8 ranks", 8, []), ("1 rank, 2 threads", 1, ["run.threads=2"]),
         ("2 ranks, evaluation every iteration", 2, ["eval.every=1"]), ("2 ranks, no evaluation", 2, ["eval.every=0"])]


def main():
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, ranks, keys in CASES:
            out = os.path.join(folder, name.replace(" ", "_").replace(",", ""))
            command = ["timeout", "-k", "10", "900", "mpirun", "-n", str(ranks), PROGRAM, "train", DECK, "--out", out, "--quiet"]
            for key in keys:
                command += ["--set", key]
            started = time.time()
            done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"{name}: {done.returncode}\n{done.stderr}")
            with open(os.path.join(out, "metrics.jsonl"), encoding="utf-8") as file:
                hashes = [json.loads(line)["weights_hash"] for line in file]
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
    text = "\n".join(text) + "\n"
    print(text)
    with open(os.path.join(HERE, "results.md"), "w", encoding="utf-8") as file:
        file.write(text)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
