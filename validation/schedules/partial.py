#!/usr/bin/env python3
"""Do partial rollouts shorten an iteration with long-tailed lengths as the length model says?

Expectation, written before the runs. One rank draws 16 new rollouts an iteration, lengths lognormal with sigma = 1 about 24 tokens, at most
192; all of them are rows of one batch. A decoding step of r rows takes c(r) seconds, a new rollout f for its share of the prompt and its first
token, and a token that is computed again a; all three are measured with equal lengths. Then an iteration without a budget takes f N + sum
over steps t of c(rollouts longer than t), which ends with the longest answer. With a budget of 48 tokens (n = 4 iterations a rollout,
max_staleness = 3) every iteration ends after 48 steps: the same sum up to there, over the new rollouts and those that go on, and a for each
token of these. The model, fed with the lengths that were drawn, holds within 15 % for the seconds of generation of an iteration in either
way, and for their quotient.

The tokens are the same: what is saved is what steps of few rows cost, less what is computed again. A network that stays in the caches (128
wide, 4 layers) was measured first: there a step costs what its rows do, and the budget makes an iteration longer, as the model says (0.91 said,
0.83 measured). Where a step reads all weights from memory, whatever its rows (512 wide, 8 layers: 100 MB), it must become shorter by a third
or more. Nothing is trained: all rewards are equal and such groups dropped.

    python3 validation/schedules/partial.py [--pairs 5] [--iterations 24]

Needs a quiet machine; takes about five minutes. Writes partial.md beside this file.
"""
import argparse
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

PROBLEMS, MEMBERS, LONGEST, BUDGET, TOLERANCE = 4, 4, 192, 48, 0.15
CASE = ["model.context=256", "run.log_rollouts=all", f"generation.problems_per_iteration={PROBLEMS}", f"generation.group_size={MEMBERS}",
        "generation.batch_rollouts=128", f"generation.max_new_tokens={LONGEST}", "model.width=512", "model.layers=8", "model.heads=8", "model.ffn_width=1536",
        "reward.probability=0", "generation.zero_spread=drop", "run.no_signal_limit=0"]
LONG_TAIL = ["generation.force_length=24", "generation.force_length_sigma=1"]
PARTIAL = [f"schedule.token_budget={BUDGET}", f"schedule.max_staleness={LONGEST // BUDGET - 1}"]
STEPS = 32  # of the runs with equal lengths, beyond the first token
ROWS = {2: (1, 2), 4: (1, 4), 8: (2, 4), 16: (4, 4), 32: (8, 4), 64: (16, 4)}  # problems and members that give so many
AGAIN = 16  # rows of the run that tells what is computed again costs


def seconds_of(deck, folder, rows, length, *keys):
    """Median generation of an iteration with so many rollouts of one length."""
    problems, members = ROWS[rows]
    out = os.path.join(folder, f"rows_{rows}_{length}_{len(keys)}")
    lines = train(deck, out, 1, 300, *CASE, f"generation.force_length={length}", f"generation.problems_per_iteration={problems}", f"generation.group_size={members}",
                  "run.iterations=8", *keys)
    return statistics.median(m["seconds_generation"] for m in lines if 2 < m["iteration"] < 8)


class Costs:
    """Seconds of a decoding step by its rows, of a new rollout until its first token, and of a token that is computed again."""

    def __init__(self, deck, folder):
        self.step = {}
        for rows in ROWS:
            first = seconds_of(deck, folder, rows, 1)
            self.step[rows] = (seconds_of(deck, folder, rows, 1 + STEPS) - first) / STEPS
            self.new = first / rows
        # Each rollout has one token left for a second iteration: a step of twice the rows, then those of the new ones.
        twice = seconds_of(deck, folder, AGAIN, 1 + STEPS, f"schedule.token_budget={STEPS}", "schedule.max_staleness=1")
        known = AGAIN * self.new + self.step[2 * AGAIN] + (STEPS - 2) * self.step[AGAIN]
        self.again = max(0, twice - known) / (AGAIN * (STEPS - 1))

    def of(self, rows):
        """Linear between the measured numbers of rows, and beyond them."""
        known = sorted(self.step)
        upper = next((k for k in known[1:] if k >= rows), known[-1])
        lower = known[known.index(upper) - 1]
        return self.step[lower] + (self.step[upper] - self.step[lower]) * (rows - lower) / (upper - lower)


def rollouts_of(out):
    with open(os.path.join(out, "rollouts.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def predicted(costs, rollouts, iteration, budget):
    """Seconds of generation of one iteration, from the lengths of all rollouts of the run."""
    steps, new, again = [], 0, 0
    for r in rollouts:
        length, had = len(r["response_ids"]), (iteration - int(r["rollout_id"][:6])) * budget
        if had < 0 or had >= length:
            continue
        new += had == 0
        again += max(0, had - 1)
        # The first token of all comes from the prompt's last row.
        steps.append(min(budget, length - had) - (1 if had == 0 else 0))
    active = [sum(s > t for s in steps) for t in range(max(steps))]
    return costs.new * new + costs.again * again + sum(costs.of(rows) for rows in active)


def measure(costs, deck, folder, iterations, keys, budget):
    """Means over the steady iterations of one run: seconds of generation, as measured and as predicted."""
    out = os.path.join(folder, f"run_{time.monotonic_ns()}")
    lines = train(deck, out, 1, 600, f"run.iterations={iterations}", *CASE, *LONG_TAIL, *keys)
    rollouts, steady = rollouts_of(out), [m for m in lines if LONGEST // BUDGET < m["iteration"] < iterations]
    return (statistics.mean(m["seconds_generation"] for m in steady), statistics.mean(predicted(costs, rollouts, m["iteration"], budget) for m in steady))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pairs", type=int, default=5)
    options.add_argument("--iterations", type=int, default=16)
    options = options.parse_args()
    schedules = {"whole answers": ([], LONGEST), f"at most {BUDGET} tokens an iteration": (PARTIAL, BUDGET)}
    runs = {name: [] for name in schedules}
    with tempfile.TemporaryDirectory() as folder:
        deck = os.path.join(folder, "deck.toml")
        with open(deck, "w", encoding="utf-8") as file:
            file.write(DECK.format(judge=QUICK))
        costs = Costs(deck, folder)
        for _ in range(options.pairs):
            for name, (keys, budget) in schedules.items():
                runs[name].append(measure(costs, deck, folder, options.iterations, keys, budget))
                print(name, "|", f"{runs[name][-1][0]:.4f} s, predicted {runs[name][-1][1]:.4f} s", flush=True)
    text = ["# Partial rollouts", "", f"`python3 validation/schedules/partial.py --pairs {options.pairs} --iterations {options.iterations}`, {time.strftime('%Y-%m-%d')}, {processor()}, "
            "one rank; medians over runs of the mean generation of an iteration, schedules in turns.", "",
            f"A new rollout until its first token: {1e6 * costs.new:.1f} us; a token that is computed again: {1e6 * costs.again:.1f} us. A decoding step by its rows, ms: " + ", ".join(f"{rows}: {1e3 * s:.2f}" for rows, s in costs.step.items()) + ".", "",
            "| schedule | generation, ms | least | most | predicted |", "|---|---|---|---|---|"]
    verdicts = []
    for name, found in runs.items():
        seconds, expected = [m for m, _ in found], statistics.median(p for _, p in found)
        text.append(f"| {name} | {1e3 * statistics.median(seconds):.1f} | {1e3 * min(seconds):.1f} | {1e3 * max(seconds):.1f} | {1e3 * expected:.1f} |")
        miss = statistics.median(seconds) / expected - 1
        verdicts.append((f"{name}: as the length model says, within 15 %", f"{100 * miss:+.1f} %", abs(miss) <= TOLERANCE))
    whole, partial = runs.values()
    gain = statistics.median(w[0] / p[0] for w, p in zip(whole, partial))
    said = statistics.median(w[1] / p[1] for w, p in zip(whole, partial))
    verdicts.append((f"shorter by the factor of the model ({said:.2f}), within 15 %", f"{gain:.2f}", abs(gain / said - 1) <= TOLERANCE))
    verdicts.append(("and shorter by a third or more", f"{gain:.2f}", gain >= 1.5))
    conclude_by(os.path.join(HERE, "partial.md"), text, verdicts)


if __name__ == "__main__":
    main()
