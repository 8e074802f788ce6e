#!/usr/bin/env python3
"""Does a published model learn from a verifier alone, on policy exactly, and does it resume exactly?

Expectation, written before the runs, for each of three seeds: held-out accuracy (258 questions, operands never trained on) goes
from at most 0.45 to at least 0.72 greedily and from at most 0.15 to at least 0.55 at temperature 1, in at most 20 iterations and
15 minutes on two cores, loading and evaluation included; log_prob_gap_max is 0 and the first ratio 1 in every iteration. A run
that is stopped by a signal and started again has the weights of the one that was not, bit for bit.

    python3 validation/smollm2/learn.py MODEL.gguf [--seeds 3] [--iterations 15] [--ranks 2] [--out FOLDER]

MODEL.gguf is what inputs/smollm2/fetch.sh fetches. Writes learning.md beside this file. A finished seed is not run again.
Needs a machine that does nothing else, for the seconds.
"""
import argparse
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from training import ENVIRONMENT, command, conclude_by, metrics, processor, train  # noqa: E402  (the folder above is known only now)

DECK, LIMIT_S, RESUMED = "smollm2/smollm2.toml", 1800, 4


def iterations_told(out):
    """Whole lines of metrics with an iteration, while the run goes on."""
    path = os.path.join(out, "metrics.jsonl")
    if not os.path.exists(path):
        return 0
    with open(path, encoding="utf-8") as file:
        return sum(line.endswith("\n") and '"iteration":0,' not in line.replace(" ", "") for line in file)


def stop_and_go_on(options, sets):
    """Stops a run of RESUMED iterations by SIGTERM after its second one and starts it again; its lines of metrics."""
    out = os.path.join(options.out, "resumed")
    shutil.rmtree(out, ignore_errors=True)
    line = command(DECK, out, options.ranks, LIMIT_S, *sets)
    process = subprocess.Popen(line, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        time.sleep(1)
        if iterations_told(out) >= 2:
            # To the ranks, as a batch system sends it: mpirun would end them itself.
            launcher = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=True).stdout.split()[0]
            subprocess.run(["pkill", "-TERM", "-P", launcher], check=True)
            break
    code = process.wait()
    stopped_after = metrics(out)[-1]["iteration"]
    return code, stopped_after, train(DECK, out, options.ranks, LIMIT_S, *sets)


def row(seed, lines):
    evaluated = [m for m in lines if "eval_accuracy" in m]
    trained = [m for m in lines if "reward_mean" in m]
    return {"seed": seed, "start": evaluated[0]["eval_accuracy"], "end": evaluated[-1]["eval_accuracy"],
            "sampled": (evaluated[0]["eval_accuracy_sampled"], evaluated[-1]["eval_accuracy_sampled"]),
            "problems": evaluated[-1]["eval_problems"], "iterations": lines[-1]["iteration"], "seconds": lines[-1]["elapsed_s"],
            "reward": (trained[0]["reward_mean"], trained[-1]["reward_mean"]),
            "length": (trained[0]["response_length_mean"], trained[-1]["response_length_mean"]),
            "gap": max(m["log_prob_gap_max"] for m in trained),
            "ratio": (min(m["first_ratio_min"] for m in trained), max(m["first_ratio_max"] for m in trained)),
            "evaluation": sum(m.get("seconds_evaluation", 0) for m in lines), "generation": sum(m["seconds_generation"] for m in trained),
            "training": sum(m["seconds_training"] for m in trained)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=15)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--out", default=os.path.join(HERE, "out"))
    options = parser.parse_args()
    sets = [f"model.path={os.path.abspath(options.model)}"]
    whole = sets + [f"run.iterations={options.iterations}", f"eval.every={options.iterations}"]
    rows, first = [], None
    for seed in range(1, options.seeds + 1):
        out = os.path.join(options.out, f"seed{seed}")
        if iterations_told(out) == options.iterations:
            lines = metrics(out)
        else:
            lines = train(DECK, out, options.ranks, LIMIT_S, *whole, f"run.seed={seed}")
        first = first or lines
        rows.append(row(seed, lines))
        print(rows[-1], flush=True)
    code, stopped_after, resumed = stop_and_go_on(options, sets + [f"run.iterations={RESUMED}", "eval.every=0", "run.seed=1"])
    hashes = [{m["iteration"]: m["weights_hash"] for m in lines if m["iteration"] > 0} for lines in (first, resumed)]
    same = all(hashes[0][i] == hashes[1][i] for i in range(1, RESUMED + 1))

    text = ["# SmolLM2-135M-Instruct learns word problems", "",
            f"`python3 validation/smollm2/learn.py MODEL.gguf`, {time.strftime('%Y-%m-%d')}, {options.ranks} ranks, {processor()}. "
            f"{rows[0]['problems']} held-out questions; f32.", "",
            "| seed | iterations | greedy before | greedy after | at temperature 1 before | after | reward first / last | length first / last | "
            "seconds: all | evaluation | generation | training |", "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for r in rows:
        text.append(f"| {r['seed']} | {r['iterations']} | {r['start']:.3f} | **{r['end']:.3f}** | {r['sampled'][0]:.3f} | **{r['sampled'][1]:.3f}** | "
                    f"{r['reward'][0]:.2f} / {r['reward'][1]:.2f} | {r['length'][0]:.1f} / {r['length'][1]:.1f} | {r['seconds']:.0f} | "
                    f"{r['evaluation']:.0f} | {r['generation']:.0f} | {r['training']:.0f} |")

    def each(name, values, holds):
        return name, ", ".join(f"{v:.3g}" for v in values), all(holds(v) for v in values)
    verdicts = [each("greedy before at most 0.45", [r["start"] for r in rows], lambda v: v <= 0.45),
                each("greedy after at least 0.72", [r["end"] for r in rows], lambda v: v >= 0.72),
                each("at temperature 1 before at most 0.15", [r["sampled"][0] for r in rows], lambda v: v <= 0.15),
                each("at temperature 1 after at least 0.55", [r["sampled"][1] for r in rows], lambda v: v >= 0.55),
                each("at most 20 iterations", [r["iterations"] for r in rows], lambda v: v <= 20),
                each("at most 900 s", [r["seconds"] for r in rows], lambda v: v <= 900),
                each("log_prob_gap_max 0", [r["gap"] for r in rows], lambda v: v == 0),
                each("first ratio exactly 1", [v for r in rows for v in r["ratio"]], lambda v: v == 1),
                ("SIGTERM saves and exits with 75", f"{code} after iteration {stopped_after}", code == 75 and stopped_after < RESUMED),
                (f"the resumed run has the weights of seed 1 after iterations 1 to {RESUMED}", "equal" if same else "different", same)]
    conclude_by(os.path.join(HERE, "learning.md"), text, verdicts)


if __name__ == "__main__":
    main()
