"""Whole training runs for the checks of this folder: started with a time limit, read from what they leave."""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.environ.get("MAXPLUS") or os.path.join(ROOT, "build", "maxplus")
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                   OMPI_MCA_hwloc_base_binding_policy="none", OMPI_MCA_mpi_yield_when_idle="1", OMP_NUM_THREADS="1")


def metrics(folder):
    with open(os.path.join(folder, "metrics.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def command(deck, out, ranks, limit_s, *sets):
    """deck: below inputs/; sets: KEY=VALUE."""
    line = ["timeout", "-k", "10", str(limit_s), "mpirun", "-n", str(ranks), PROGRAM, "train", os.path.join(ROOT, "inputs", deck),
            "--out", out, "--quiet"]
    for one in sets:
        line += ["--set", one]
    return line


def train(deck, out, ranks, limit_s, *sets):
    """One run to its end; its lines of metrics. A finished run is not run again, since it resumes."""
    line = command(deck, out, ranks, limit_s, *sets)
    done = subprocess.run(line, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(line)}\nended with {done.returncode}\n{done.stderr}")
    return metrics(out)


def conclude(path, text, good):
    """Prints the lines, writes them, and ends with 0 if all is as expected, else 1."""
    text = "\n".join(text) + "\n"
    print(text)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    sys.exit(0 if good else 1)


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown processor"


def conclude_by(path, text, verdicts):
    """The same with a table of verdicts: (what, measured text, whether it holds)."""
    rows = [f"| {what} | {measured} | {'yes' if holds else '**no**'} |" for what, measured, holds in verdicts]
    conclude(path, text + ["", "| expectation | measured | holds |", "|---|---|---|"] + rows, all(holds for _, _, holds in verdicts))
