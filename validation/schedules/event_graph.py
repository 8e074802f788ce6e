#!/usr/bin/env python3
"""Does the event graph that runs a schedule also tell how long it takes?

Expectation, written before the runs: fed with each iteration's own stage times (`maxplus report --json`), the graph gives the time
from the line of iteration 0 to the last line within 10 %, for every schedule, with answers of any length, a judge whose time is
chance, evaluations and checkpoints. From the mean times of the stages it gives the same where stages follow each other, and less
where the longer of two is waited for: a mean of maxima is above the maximum of means. How much less is reported, not judged.

    python3 validation/schedules/event_graph.py [--iterations 16] [--only WORDS]

Takes about five minutes; another busy process lengthens stages and makespan alike. Writes event_graph.md beside this file.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
from turns import APART, DECK, QUICK  # noqa: E402  (these folders are known only now)
from training import PROGRAM, conclude_by, processor, train  # noqa: E402

RANDOM_JUDGE = """import json, random, sys, time, zlib
for line in sys.stdin:
    time.sleep(random.choice([0.01, 0.05, 0.2]))
    print(json.dumps({"reward": zlib.crc32(json.loads(line)["response"].encode()) % 2}), flush=True)
"""
JUDGES = {"a quick judge": QUICK, "a judge of 10 to 200 ms": 'verifier = "command"\ncommand = ["python3", "./random_judge.py"]\nworkers = 8'}
GROUP = ["schedule.granularity=group"]
SCHEDULES = {
    "synchronous, both ranks do everything": [],
    "synchronous, 1 + 1 ranks": APART,
    "fused, both ranks do everything": GROUP,
    "fused, 1 + 1 ranks": APART + GROUP,
    "one ahead, both ranks do everything": ["schedule.max_staleness=1"],
    "one ahead, 1 + 1 ranks": APART + ["schedule.max_staleness=1"],
    "two ahead, 1 + 1 ranks": APART + ["schedule.max_staleness=2"],
    "at its own pace, at most two behind, 1 + 1 ranks": APART + ["schedule.max_staleness=2", "schedule.staleness=bounded"],
    "one ahead and fused, 1 + 1 ranks": APART + GROUP + ["schedule.max_staleness=1"],
}
KEYS = ["generation.force_length=0", "generation.batch_rollouts=16", "eval.every=5", "eval.problems=16", "run.checkpoint_every=5"]


def schedule_of(out):
    """What the program itself says of a run's schedule."""
    done = subprocess.run([PROGRAM, "report", out, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["schedules"][0]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--iterations", type=int, default=16)
    options.add_argument("--only", default="", help="cases whose title has these words")
    chosen = options.parse_args()
    verdicts = []
    text = ["# The event graph against the clock", "", f"`python3 validation/schedules/event_graph.py --iterations {chosen.iterations}`, "
            f"{time.strftime('%Y-%m-%d')}, {processor()}, 2 ranks, lengths as they come.", "",
            "| judge | schedule | measured, s | from own times, s | differs | from means, s | bias | what bounds it |", "|---|---|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "random_judge.py"), "w", encoding="utf-8") as file:
            file.write(RANDOM_JUDGE)
        for judge, reward in JUDGES.items():
            deck = os.path.join(folder, f"{judge.replace(' ', '_')}.toml")
            with open(deck, "w", encoding="utf-8") as file:
                file.write(DECK.format(judge=reward))
            for name, keys in SCHEDULES.items():
                title = f"{judge}, {name}"
                if chosen.only not in title:
                    continue
                out = os.path.join(folder, title.replace(" ", "_"))
                lines = train(deck, out, 2, 300, f"run.iterations={chosen.iterations}", *KEYS, *keys)
                measured = lines[-1]["elapsed_s"] - lines[0]["elapsed_s"]
                found = schedule_of(out)
                miss, bias = found["replayed_s"] / measured - 1, found["from_means_s"] / measured - 1
                text.append(f"| {judge} | {name} | {measured:.3f} | {found['replayed_s']:.3f} | {100 * miss:+.1f} % | {found['from_means_s']:.3f} | "
                            f"{100 * bias:+.1f} % | {found['sentence']} |")
                print(text[-1], flush=True)
                verdicts.append((f"{title}: the measured makespan within 10 %", f"{100 * miss:+.1f} %", abs(miss) <= 0.10))
    conclude_by(os.path.join(HERE, "event_graph.md"), text, verdicts)


if __name__ == "__main__":
    main()
