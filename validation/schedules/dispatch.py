#!/usr/bin/env python3
"""What does it gain to begin those groups first that are expected to be longest ([generation] dispatch)?

Expectation, written before the runs. The same 16 problems in every iteration, two answers each, lengths lognormal with sigma = 1 about 24
tokens, at most 192, of whose variance 0.9 belongs to the problem: earlier answers tell much about the next. Eight rows, on one rank or four
on each of two. Then an iteration is list scheduling (Graham, 1969), in decoding steps: a row takes the next rollout of its rank's list as it
becomes free, a rollout of n tokens holds it for n - 1 steps (its first token comes from the prompt), and the list has the groups in the run's
order, dealt in turns, or the longest expected first, each to the rank with the least. This model, fed with the lengths that were drawn,
- gives the decoding steps of the slowest rank within 2 %, in both orders;
- gives the seconds of generation within 15 %, where a step costs a + b r with r rows, and a and b come from runs with equal lengths and
  two numbers of rows; on two ranks, which share the memory's bandwidth, up to 30 % too many, since there a step takes less time once the
  other rank has ended (a first series expected 15 % there too and had -13 and -20 %);
- and so the quotient of the two orders within 15 %: with lengths of this kind about 1.2 in steps (1.0 to 1.5 by seed), and as much in seconds
  where a step reads all weights from memory, whatever its rows (512 wide, 4 layers).
In the first iteration nothing is known, and both orders take the same steps. Nothing is trained: all rewards are equal and such groups dropped.

    python3 validation/schedules/dispatch.py [--pairs 3] [--iterations 4]

Needs a quiet machine of two cores; takes about three minutes. Writes dispatch.md beside this file.
"""
import argparse
import heapq
import json
import os
import statistics
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
from turns import DECK, QUICK  # noqa: E402  (these folders are known only now)
from training import conclude_by, processor, train  # noqa: E402

PROBLEMS, MEMBERS, LONGEST = 16, 2, 192
CASE = ["model.context=256", "model.width=512", "model.heads=8", "model.ffn_width=1536", "run.log_rollouts=all", 'data.task="arithmetic"', f"data.problems={PROBLEMS}",
        f"generation.problems_per_iteration={PROBLEMS}", f"generation.group_size={MEMBERS}", f"generation.max_new_tokens={LONGEST}", "reward.probability=0",
        "generation.zero_spread=drop", "run.no_signal_limit=0"]
LONG_TAIL = ["generation.force_length=24", "generation.force_length_sigma=1", "generation.force_length_shared=0.9"]
PLACES = {"1 rank, 8 rows": (1, 8), "2 ranks, 4 rows each": (2, 4)}
ORDERS = ("order", "longest_first")
EQUAL = 33  # tokens of every rollout of the runs that tell what a step costs


def run_of(deck, folder, ranks, rows, iterations, *keys):
    """Lines of metrics and records of one run."""
    out = os.path.join(folder, f"run_{time.monotonic_ns()}")
    lines = train(deck, out, ranks, 300, *CASE, f"run.iterations={iterations}", f"generation.batch_rollouts={rows}", *keys)
    with open(os.path.join(out, "rollouts.jsonl"), encoding="utf-8") as file:
        return [m for m in lines if m["iteration"] > 0], [json.loads(line) for line in file]


def costs(deck, folder, ranks, rows):
    """(a, b): seconds of a step and of a row in it, from as many tokens in steps of all rows and of half as many."""
    points = []
    for some in (rows, rows // 2):
        lines, _ = run_of(deck, folder, ranks, some, 4, f"generation.force_length={EQUAL}")
        steps = PROBLEMS * MEMBERS / ranks / some * (EQUAL - 1)
        points.append((steps, statistics.median(m["seconds_generation"] for m in lines[1:])))
    tokens = PROBLEMS * MEMBERS / ranks * (EQUAL - 1)
    a = (points[1][1] - points[0][1]) / (points[1][0] - points[0][0])
    return a, (points[0][1] - a * points[0][0]) / tokens


def dealt(groups, expected, order, ranks):
    """The groups of every rank in the order in which it begins them."""
    if order == "order":
        return [groups[rank::ranks] for rank in range(ranks)]
    load, lists = [0.0] * ranks, [[] for _ in range(ranks)]
    for group in sorted(groups, key=lambda g: -expected[g]):
        rank = load.index(min(load))
        load[rank] += expected[group]
        lists[rank].append(group)
    return lists


def steps_of(lengths, rows):
    """Decoding steps of a rank that begins rollouts of these lengths in this order."""
    free = [0] * rows
    for length in lengths:
        if length > 1:
            heapq.heapreplace(free, free[0] + length - 1)
    return max(free)


def predicted(cost, records, iterations, order, ranks, rows):
    """(steps, seconds) of the slowest rank by iteration."""
    seen, overall, found = {}, 0, []
    for iteration in range(1, iterations + 1):
        groups = {}
        for r in records:
            if r["iteration"] == iteration:
                groups.setdefault((r["rollout_id"][:16], r["problem"]), []).append(len(r["response_ids"]))
        expected = {g: max(1, seen.get(g[1], overall)) for g in groups}
        of_ranks = [[n for g in mine for n in groups[g]] for mine in dealt(sorted(groups), expected, order, ranks)]
        found.append((max(steps_of(lengths, rows) for lengths in of_ranks),
                      max(cost[0] * steps_of(lengths, rows) + cost[1] * sum(n - 1 for n in lengths) for lengths in of_ranks)))
        for (_, problem), lengths in groups.items():
            mean = statistics.mean(lengths)
            seen[problem] = (seen[problem] + mean) / 2 if problem in seen else mean
        mean = statistics.mean(n for lengths in groups.values() for n in lengths)
        overall = (overall + mean) / 2 if overall else mean
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pairs", type=int, default=3)
    options.add_argument("--iterations", type=int, default=4)
    options = options.parse_args()
    runs, firsts, costs_of = {}, {}, {}
    with tempfile.TemporaryDirectory() as folder:
        deck = os.path.join(folder, "deck.toml")
        with open(deck, "w", encoding="utf-8") as file:
            file.write(DECK.format(judge=QUICK))
        for place, (ranks, rows) in PLACES.items():
            costs_of[place] = costs(deck, folder, ranks, rows)
        for _ in range(options.pairs):
            for place, (ranks, rows) in PLACES.items():
                for order in ORDERS:
                    lines, records = run_of(deck, folder, ranks, rows, options.iterations, *LONG_TAIL, f'generation.dispatch="{order}"')
                    model = predicted(costs_of[place], records, options.iterations, order, ranks, rows)
                    firsts.setdefault(place, set()).add(lines[0]["decode_steps"])
                    # From the second iteration on there is something to expect by.
                    runs.setdefault((place, order), []).append([statistics.mean(values) for values in (
                        [m["decode_steps"] for m in lines[1:]], [steps for steps, _ in model[1:]], [m["seconds_generation"] for m in lines[1:]], [seconds for _, seconds in model[1:]])])
                    print(place, "|", order, "|", " ".join(f"{value:.4g}" for value in runs[place, order][-1]), flush=True)
    text = ["# Longest expected first", "", f"`python3 validation/schedules/dispatch.py --pairs {options.pairs} --iterations {options.iterations}`, {time.strftime('%Y-%m-%d')}, {processor()}; "
            "means over the iterations from the second on, medians over runs, orders in turns.", "",
            "A step costs, in ms: " + "; ".join(f"{place}: {1e3 * a:.2f} and {1e3 * b:.2f} a row" for place, (a, b) in costs_of.items()) + ".", "",
            "| place | dispatch | steps | of the model | generation, ms | of the model |", "|---|---|---|---|---|---|"]
    verdicts = []
    for place in PLACES:
        middle = {}
        for order in ORDERS:
            steps, model_steps, seconds, model_seconds = middle[order] = [statistics.median(column) for column in zip(*runs[place, order])]
            text.append(f"| {place} | {order} | {steps:.1f} | {model_steps:.1f} | {1e3 * seconds:.1f} | {1e3 * model_seconds:.1f} |")
            verdicts.append((f"{place}, {order}: steps of the model within 2 %", f"{100 * (steps / model_steps - 1):+.1f} %", abs(steps / model_steps - 1) <= 0.02))
            low = -15 if PLACES[place][0] == 1 else -30
            miss = 100 * (seconds / model_seconds - 1)
            verdicts.append((f"{place}, {order}: seconds of the model, {low} to +15 %", f"{miss:+.1f} %", low <= miss <= 15))
        before, after = middle["order"], middle["longest_first"]
        gain, said = before[2] / after[2], before[3] / after[3]
        verdicts.append((f"{place}: fewer steps", f"{before[0] / after[0]:.2f}", before[0] > after[0]))
        verdicts.append((f"{place}: shorter by the factor of the model ({said:.2f}), within 15 %", f"{gain:.2f}", gain > 1 and abs(gain / said - 1) <= 0.15))
        verdicts.append((f"{place}: the same steps where nothing is known", str(sorted(firsts[place])), len(firsts[place]) == 1))
    conclude_by(os.path.join(HERE, "dispatch.md"), text, verdicts)


if __name__ == "__main__":
    main()
