#!/usr/bin/env python3
"""What does judging groups while others are drawn gain where every rank does everything, and does the makespan of the literature hold?

Expectation, written before the runs. Two ranks do everything; each draws four groups of four answers of equal length, one answer at a time, so that
a quarter of its generation G ends a group. A judge takes 200 ms an answer and works on four at a time: 200 ms a group, A = 0.8 s in all. One after the other
drawing takes G + A. With granularity = "group" it takes max over i of r_i + (sum of a_j, j >= i), r_i = i G / 4 and a_j = 0.2 s
(a pooled server that never idles while there is work: A + r_1 if judging is slower, G + the last group's judging if drawing is), within 10 %.
With T of an iteration's training and G between a half and the whole of A, the iteration becomes at least 1.2 times as fast. With lengths of a
long tail instead (lognormal, sigma = 1, about 192 tokens, at most 1024, one answer at a time) groups end when their last member does, and the gain is
again at least 1.2. (Earlier cases were not balanced: with a third of those lengths judging took eight times as long as drawing, with all 16 answers of
a rank drawn together, or the four of a group, twice as long, and training as long as judging. The gains were 1.02, 1.04 and 1.13.)

    python3 validation/schedules/fused.py [--pairs 5]

Needs a quiet machine of two cores; takes about five minutes. Writes fused.md beside this file.
"""
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
from training import conclude_by, processor, train  # noqa: E402  (these folders are known only now)
from turns import SLOW_JUDGE, deck_of, gain, in_turns, pairs_asked, row  # noqa: E402

ITERATIONS, FIRST, RANKS, PROBLEMS, MEMBERS, WORKERS, JUDGE_S = 9, 3, 2, 8, 4, 4, 0.2
JUDGE = f'verifier = "command"\ncommand = ["python3", "./slow_judge.py"]\nworkers = {WORKERS}'
CASE = [f"run.iterations={ITERATIONS}"]
EQUAL = ["generation.force_length=256", "generation.batch_rollouts=1", "generation.max_new_tokens=256", "model.context=320"]
LONG_TAIL = ["generation.force_length=192", "generation.force_length_sigma=1", "generation.batch_rollouts=1", "generation.max_new_tokens=1024", "model.context=1088"]
SCHEDULES = {"one after the other": [], "judged by groups": ["schedule.granularity=group"]}


def measure(deck, folder, keys):
    out = os.path.join(folder, f"run_{time.monotonic_ns()}")
    lines = train(deck, out, RANKS, 300, *CASE, *keys)
    return {key: statistics.median(m[f"seconds_{key}"] for m in lines if m["iteration"] >= FIRST) for key in ("iteration", "generation", "assessment", "drawing", "training")}


def makespan(generation):
    """Of one rank's groups, which end one after the other."""
    groups = PROBLEMS // RANKS
    judged = MEMBERS * JUDGE_S / WORKERS
    return max(generation * i / groups + judged * (groups - i + 1) for i in range(1, groups + 1))


def case(title, lengths, deck, folder, pairs, text):
    runs = in_turns(title, SCHEDULES, pairs, lambda keys: measure(deck, folder, lengths + keys))
    text += ["", f"## {title}", "", "| schedule | iteration, ms | least | most | G | A | drawing | T |", "|---|---|---|---|---|---|---|---|"]
    for name, found in runs.items():
        text.append(row([name], found, ("generation", "assessment", "drawing", "training")))
    return list(runs.values())


def main():
    pairs = pairs_asked(__doc__)
    verdicts = []
    text = ["# Judging while drawing", "", f"`python3 validation/schedules/fused.py --pairs {pairs}`, {time.strftime('%Y-%m-%d')}, {processor()}, {RANKS} ranks that do everything, "
            f"a judge of {1e3 * JUDGE_S:.0f} ms with {WORKERS} workers a rank; medians, schedules in turns."]
    with deck_of(JUDGE) as (folder, deck):
        with open(os.path.join(folder, "slow_judge.py"), "w", encoding="utf-8") as file:
            file.write(SLOW_JUDGE)
        for title, lengths in {"equal lengths, one answer at a time": EQUAL, "long-tailed lengths": LONG_TAIL}.items():
            whole, fused = case(title, lengths, deck, folder, pairs, text)
            if lengths is EQUAL:
                said = statistics.median(makespan(m["generation"]) for m in whole)
                miss = statistics.median(m["drawing"] for m in fused) / said - 1
                verdicts.append((f"{title}: drawing takes the makespan of the formula ({1e3 * said:.0f} ms), within 10 %", f"{100 * miss:+.1f} %", abs(miss) <= 0.10))
            faster = gain(whole, fused)
            verdicts.append((f"{title}: at least 1.2 times as fast", f"{faster:.2f}", faster >= 1.2))
    conclude_by(os.path.join(HERE, "fused.md"), text, verdicts)


if __name__ == "__main__":
    main()
