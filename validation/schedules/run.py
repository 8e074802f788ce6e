#!/usr/bin/env python3
"""What does generation ahead of training gain on two cores, one rank a core, at forced lengths?

Expectation, written before the runs. With G, A and T the seconds of generation, assessment and training on one rank, assessment
on the generator's, the period of an iteration is G + A + T where the two roles take turns (1 + 1 ranks, max_staleness = 0), and
max(G + A, T) where they work at the same time (max_staleness = 1): with balanced stages twice as fast; less the exchange, the
hand-off and what two busy cores take from each other, at least 1.6 times. Where both ranks do everything the period is about
(G + T) / 2 + A: with a quick judge (A = 0) the schedule gains nothing over that, within 15 %. A judge of 200 ms keeps both ranks
waiting there, and only the generator here: with A about half of T at least 1.2 times as fast. The prediction of each schedule from
the stages that were measured in it holds within 10 %.

    python3 validation/schedules/run.py [--pairs 5]

Needs a quiet machine of two cores; takes about ten minutes. Writes results.md beside this file.
"""
import os
import statistics
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
from training import conclude_by, processor, train  # noqa: E402  (these folders are known only now)
from turns import APART, DECK, QUICK, SLOW, SLOW_JUDGE, gain, in_turns, pairs_asked  # noqa: E402

ITERATIONS, FIRST = 12, 3  # periods are medians from this iteration to the last that is drawn beside a training
SCHEDULES = {"synchronous, both ranks do everything": [], "synchronous, 1 + 1 ranks": APART, "one ahead, 1 + 1 ranks": APART + ["schedule.max_staleness=1"]}
# To balance the stages: rows decoded together make generation faster, epochs make training longer.
ROWS, EPOCHS = (64, 32, 16, 8, 4, 2, 1), range(1, 11)


def measure(deck, folder, name, keys):
    """Medians of the period and of the stages of one run."""
    out = os.path.join(folder, f"{name}_{time.monotonic_ns()}")
    lines = train(deck, out, 2, 300, f"run.iterations={ITERATIONS}", *keys)
    steady = [line for line in lines if FIRST <= line["iteration"] < ITERATIONS]
    return {key: statistics.median(line[f"seconds_{key}"] for line in steady) for key in ("iteration", "generation", "assessment", "training")}


def balance(deck, folder):
    """Keys that bring training close to generation and assessment on a rank each, and by how much it differs."""
    by_rows = {rows: measure(deck, folder, f"rows_{rows}", APART + [f"generation.batch_rollouts={rows}"]) for rows in ROWS}
    tried = {(rows, epochs): epochs * m["training"] / (m["generation"] + m["assessment"]) for rows, m in by_rows.items() for epochs in EPOCHS}
    rows, epochs = min(tried, key=lambda choice: (round(abs(tried[choice] - 1), 1), by_rows[choice[0]]["generation"]))
    return [f"generation.batch_rollouts={rows}", f"optimizer.epochs={epochs}"]


def predicted(name, stages):
    drawing, training = stages["generation"] + stages["assessment"], stages["training"]
    return max(drawing, training) if name.startswith("one ahead") else drawing + training


def case(title, judge, folder, pairs, verdicts, gains):
    """Measures the schedules in turns; `gains`: what the last is expected to be over the others, least and most."""
    deck = os.path.join(folder, f"{title.replace(' ', '_')}.toml")
    with open(deck, "w", encoding="utf-8") as file:
        file.write(DECK.format(judge=judge))
    keys = balance(deck, folder)
    runs = in_turns(title, SCHEDULES, pairs, lambda more: measure(deck, folder, "run", keys + more))
    text = ["", f"## {title}", "", f"Stages balanced by `{' '.join(keys)}`.", "", "| schedule | period, ms | least | most | G | A | T | predicted |",
            "|---|---|---|---|---|---|---|---|"]
    for name, found in runs.items():
        period = [m["iteration"] for m in found]
        stages = {key: statistics.median(m[key] for m in found) for key in ("generation", "assessment", "training")}
        expected = predicted(name, stages)
        text.append(f"| {name} | {1e3 * statistics.median(period):.1f} | {1e3 * min(period):.1f} | {1e3 * max(period):.1f} | "
                    + " | ".join(f"{1e3 * stages[key]:.1f}" for key in stages) + f" | {1e3 * expected:.1f} |")
        miss = statistics.median(period) / expected - 1
        verdicts.append((f"{title}, {name}: predicted from its stages within 10 %", f"{100 * miss:+.1f} %", abs(miss) <= 0.10))
    ahead = runs["one ahead, 1 + 1 ranks"]
    for name, (least, most) in gains.items():
        faster = gain(runs[name], ahead)
        bounds = f"{least} or more" if most is None else f"{least} to {most}"
        verdicts.append((f"{title}: one ahead over {name}: {bounds}", f"{faster:.2f}", least <= faster and (most is None or faster <= most)))
    return text


def main():
    pairs = pairs_asked(__doc__)
    verdicts = []
    text = ["# Generation ahead of training", "", f"`python3 validation/schedules/run.py --pairs {pairs}`, {time.strftime('%Y-%m-%d')}, {processor()}, "
            "2 ranks, lengths forced to 64 tokens; medians, schedules in turns."]
    colocated, apart, _ = SCHEDULES
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "slow_judge.py"), "w", encoding="utf-8") as file:
            file.write(SLOW_JUDGE)
        text += case("a quick judge", QUICK, folder, pairs, verdicts, {apart: (1.6, None), colocated: (0.85, 1.15)})
        text += case("a judge of 200 ms", SLOW, folder, pairs, verdicts, {apart: (1.6, None), colocated: (1.2, None)})
    conclude_by(os.path.join(HERE, "results.md"), text, verdicts)


if __name__ == "__main__":
    main()
