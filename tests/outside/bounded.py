"""Generation at its own pace ([schedule] staleness = "bounded"): whatever takes how long, every rollout is trained on once, in the run's order, and
no token is older than max_staleness, through stops and kills; where ranks do everything it is on policy; decks that are refused."""
import json
import os
import zlib

from program import Folder, LEARNING_DECK, Report, run, sets
from runs import ONE_RANK, Runs

ITERATIONS, PROBLEMS, MEMBERS, LONGEST = 7, 6, 4, 24
LONG_TAIL = dict(generation__force_length=7, generation__force_length_sigma=1)
SLOW_TRAINER, SLOW_GENERATOR = dict(optimizer__epochs=8), dict(generation__batch_rollouts=2)
PLACES = {"1 + 1": (2, dict(placement__generator=1)), "2 + 1": (3, dict(placement__generator=2)), "1 + 2": (3, dict(placement__actor=2)), "3 + 4": (7, dict(placement__generator=3))}

# A judge that never answers for six of the rollouts, and takes its time for others.
JUDGE = """import json, sys, time, zlib
for line in sys.stdin:
    number = zlib.crc32(json.loads(line)["rollout_id"].encode())
    time.sleep(30 if number % 53 == 0 else 0.001 * (number % 20))
    print(json.dumps({"reward": number % 3}), flush=True)
"""


def bounded(staleness, **keys):
    """Keys of a run that is at most so stale."""
    return {"schedule__staleness": "bounded", "schedule__max_staleness": staleness, **keys}


def check_rule(report, runs, name, staleness, problems=PROBLEMS):
    """Each rollout once, in its own iteration, in order; and no token older than the bound."""
    if not runs.ended_well(name):
        return
    records, metrics = runs.records(name), runs.metrics(name)
    expected = [f"{k:06}-00-{s:06}-{m:04}" for k in range(1, ITERATIONS + 1) for s in range(problems) for m in range(MEMBERS)]
    report.check(f"bounded: {name}: every rollout is trained on once, in order", [r["rollout_id"] for r in records] == expected, f"{len(records)} of {len(expected)}")
    report.check(f"bounded: {name}: each in the iteration that admitted it", all(r["iteration"] == int(r["rollout_id"][:6]) for r in records))
    ages = {r["rollout_id"]: [r["iteration"] - 1 - v for v in r["version"]] for r in records}
    wrong = [i for i, age in ages.items() if min(age) < 0 or max(age) > staleness or age != sorted(age, reverse=True)]
    report.check(f"bounded: {name}: no token is older than {staleness}, newer than its training, or older than the one before it", not wrong, [(i, ages[i]) for i in wrong[:3]])
    told = [(m["staleness_max"], m["groups"], m["iteration"]) for m in metrics]
    report.check(f"bounded: {name}: the lines tell the oldest", told == [(max(a for i, age in ages.items() if int(i[:6]) == k for a in age), problems, k) for k in range(1, ITERATIONS + 1)], told)
    report.check(f"bounded: {name}: nothing is left over", metrics[-1]["rollouts_parked"] == 0 and all(m["seconds_awaited"] <= m["seconds_iteration"] + 1e-3 for m in metrics), metrics[-1])


def check_places(report, runs):
    """Roles apart, sizes that are odd, a trainer and a generator that are slower by far; and all on the same ranks."""
    cases = {}
    for place, staleness, slow in (("1 + 1", 1, "trainer"), ("1 + 1", 2, "generator"), ("1 + 1", 4, "trainer"), ("1 + 1", 8, "trainer"), ("2 + 1", 4, "generator"), ("1 + 2", 1, "generator"),
                                   ("1 + 2", 8, "generator"), ("3 + 4", 2, "generator")):
        cases[f"{place}, {staleness}, slow {slow}"] = (PLACES[place], staleness, SLOW_TRAINER if slow == "trainer" else SLOW_GENERATOR)
    cases["judged by groups"] = (PLACES["2 + 1"], 2, dict(schedule__granularity='"group"', generation__batch_rollouts=3, schedule__weight_buffers=1))
    cases["greedy answers, dropped groups"] = (PLACES["1 + 2"], 2, dict(algorithm__name='"remax"', generation__zero_spread='"drop"', reward__probability=0.3))
    cases["decoupled"] = (PLACES["1 + 1"], 4, dict(algorithm__name='"decoupled_ppo"'))
    for name, (case, staleness, keys) in cases.items():
        runs.train(name, case, **bounded(staleness, **keys))
    runs.train("one problem", (4, dict(placement__generator=3)), **bounded(2, generation__problems_per_iteration=1, optimizer__mini_batches=1))
    for name in ("on policy", "together", "together on 2 ranks", "one rank shared", "none ahead"):
        place = {"together on 2 ranks": (2, {}), "one rank shared": (3, dict(placement__generator='"0-1"', placement__actor='"1-2"')), "none ahead": PLACES["2 + 1"]}.get(name, ONE_RANK)
        runs.train(name, place, **({} if name == "on policy" else bounded(0 if name == "none ahead" else 3)))
    for name, (_, staleness, _) in cases.items():
        check_rule(report, runs, name, staleness)
    check_rule(report, runs, "one problem", 2, problems=1)
    interrupted = [name for name in cases if "slow generator" in name and max((len(set(r["version"])) for r in runs.records(name)), default=0) >= 2]
    report.check("bounded: rollouts go on with newer weights", len(interrupted) >= 3, interrupted)
    shown = run(["report", runs.out("1 + 1, 2, slow generator"), "--json"])
    if report.check("bounded: the report of a run", shown.returncode == 0, shown.stderr):
        schedule = json.loads(shown.stdout)["schedules"][0]
        report.check("bounded: what a step waits for stands in the place of generation", "waiting for rollouts" in schedule["share"] and "generation" not in schedule["share"], schedule)
        report.check("bounded: its event graph takes no longer than the run", 0 < schedule["replayed_s"] <= 1.02 * schedule["measured_s"], schedule)
        told = [m for m in runs.metrics("1 + 1, 2, slow generator") if "tail_share" in m]
        report.check("bounded: nobody waits for a tail", not told, told[:1])
    expected = runs.bits("on policy")
    for name in ("together", "together on 2 ranks", "one rank shared", "none ahead"):
        found = runs.bits(name)
        report.check(f"bounded: {name}: the bits of a run on policy", found and found == expected)


def check_still(report, runs):
    """With weights that stand still an interruption changes no bit: keys and values are computed again."""
    keys = dict(optimizer__learning_rate=0)
    runs.train("still", **keys)
    runs.train("still, interrupted", PLACES["2 + 1"], **bounded(4, **keys, **SLOW_GENERATOR))
    if runs.ended_well("still") and runs.ended_well("still, interrupted"):
        what = ("rollout_id", "group", "prompt_ids", "response_ids", "log_prob", "finish", "reward", "verdict", "iteration")
        found = [[[r[key] for key in what] for r in runs.records(name)] for name in ("still", "still, interrupted")]
        report.check("bounded: with weights that stand still: the rollouts of a run on policy", found[0] == found[1])
        report.check("bounded: with weights that stand still: some were interrupted", sum(m["rollouts_parked"] for m in runs.metrics("still, interrupted")) > 0)
        gaps = [m["log_prob_gap_max"] for m in runs.metrics("still, interrupted") if "log_prob_gap_max" in m]
        report.check("bounded: with weights that stand still: the trainer finds the recorded log-probabilities", gaps and max(gaps) == 0, gaps)


def check_interrupted(report, runs):
    """Stops and kills, gone on elsewhere; a judge that leaves answers unjudged, also through a kill."""
    runs.folder.file("judge.py", JUDGE)
    deck = runs.folder.deck(LEARNING_DECK.replace('verifier = "random"\nprobability = 0.5', 'verifier = "command"\ncommand = ["python3", "./judge.py"]\ntimeout_s = 2\nworkers = 3'),
                            name="hanging.toml")
    keys = dict(bounded(2), eval__every=0, generation__batch_rollouts=4)
    kills = {"generation": (PLACES["2 + 1"], 1, ONE_RANK), "training": (PLACES["1 + 1"], 1, PLACES["2 + 1"]), "weight_sync": (PLACES["1 + 2"], 0, PLACES["1 + 1"])}
    stops = {2: (PLACES["1 + 1"], PLACES["2 + 1"]), 4: (PLACES["2 + 1"], ONE_RANK)}
    runs.train("verdicts that time out", PLACES["1 + 1"], deck=deck, **keys)
    for phase, (case, rank, elsewhere) in kills.items():
        runs.train_in_two(f"killed in {phase}", case, elsewhere, f"{phase}:{rank}:4:kill", deck=deck if phase == "training" else None, run__checkpoint_every=1, **keys)
    for k, (case, elsewhere) in stops.items():
        runs.train_in_two(f"stopped after {k}", case, elsewhere, stop=k, **keys)
    check_rule(report, runs, "verdicts that time out", 2)
    records = runs.records("verdicts that time out")
    late = {r["rollout_id"] for r in records if r["verdict"] == "crashed"}
    never = {r["rollout_id"] for r in records if zlib.crc32(r["rollout_id"].encode()) % 53 == 0}
    report.check("bounded: verdicts that never come are crashed", len(never) == 6 and never <= late and len(late) < len(records) // 2, f"{sorted(never)} {sorted(late)}")
    for phase in kills:
        runs.died(f"killed in {phase}, begun")
        check_rule(report, runs, f"killed in {phase}", 2)
    for k in stops:
        runs.stopped(f"stopped after {k}", k)
        check_rule(report, runs, f"stopped after {k}", 2)


def check_refusals(report, runs):
    for name, keys, part in [("a budget of tokens", dict(schedule__token_budget=12), "token_budget"), ("rounds of drawing anew", dict(generation__zero_spread="resample"), 'zero_spread = "resample"')]:
        done = run(["train", runs.deck, "--check"] + sets(**bounded(2, **keys)))
        report.check(f"bounded: {name} is refused", done.returncode == 78 and 'staleness = "bounded"' in done.stderr and part in done.stderr, f"{done.returncode} {done.stderr}")
    turns = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "inputs", "calculator", "calculator.toml")
    done = run(["train", turns, "--check"] + sets(**bounded(2)))
    report.check("bounded: an environment is refused", done.returncode == 78 and "[environment]" in done.stderr, f"{done.returncode} {done.stderr}")


with Folder() as temporary:
    summary = Report()
    all_runs = Runs("bounded", summary, temporary, run__iterations=ITERATIONS, eval__every=3, **LONG_TAIL)
    check_interrupted(summary, all_runs)
    check_places(summary, all_runs)
    check_still(summary, all_runs)
    check_refusals(summary, all_runs)
summary.finish()
