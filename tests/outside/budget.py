"""Rollouts that take several iterations ([schedule] token_budget): the same bits wherever they are drawn, each trained on once and
with the versions that the rule says, through stops and kills; what the budget may not change; decks that are refused."""
import math
import os

from program import Folder, Report, run, sets
from runs import ONE_RANK, Runs

ITERATIONS, PROBLEMS, MEMBERS, LONGEST = 7, 6, 4, 24
# Lengths from 1 to the longest, whatever the little network says.
LONG_TAIL = dict(generation__force_length=7, generation__force_length_sigma=1)
# Four iterations a rollout, generation beside nothing; and two, generation one iteration ahead.
FOUR = dict(schedule__token_budget=6, schedule__max_staleness=3)
TWO = dict(schedule__token_budget=12, schedule__max_staleness=2)
PLACES = {"2 ranks": (2, {}), "3 ranks": (3, {}), "1 + 1": (2, dict(placement__generator=1)), "2 + 1": (3, dict(placement__generator=2)), "one rank shared": (3, dict(placement__generator='"0-1"', placement__actor='"1-2"'))}


def check_rule(report, runs, name, budget, staleness):
    """Who is drawn when, with which version, and trained on when: as the rule says, from the records alone."""
    lead = staleness - (math.ceil(LONGEST / budget) - 1)
    records = runs.records(name)
    expected_ids = {f"{a:06}-00-{s:06}-{k:04}" for a in range(1, ITERATIONS + 1) for s in range(PROBLEMS) for k in range(MEMBERS)}
    report.check(f"budget: {name}: every rollout is trained on once", len(records) == len(expected_ids) and {r["rollout_id"] for r in records} == expected_ids,
                 f"{len(records)} {len(expected_ids)}")
    admitted = lambda r: int(r["rollout_id"][:6])  # noqa: E731
    drawn_in = lambda r, t: min(admitted(r) + t // budget, ITERATIONS)  # noqa: E731
    wrong = [r["rollout_id"] for r in records if r["version"] != [max(0, drawn_in(r, t) - 1 - lead) for t in range(len(r["response_ids"]))]]
    report.check(f"budget: {name}: every token has the version of the iteration that it was drawn in", not wrong, wrong[:3])
    groups = {}
    for r in records:
        groups.setdefault((admitted(r), r["rollout_id"][7:16]), []).append(r)
    ends = {key: max(drawn_in(r, len(r["response_ids"]) - 1) for r in members) for key, members in groups.items()}
    wrong = [r["rollout_id"] for key, members in groups.items() for r in members if r["iteration"] != ends[key]]
    report.check(f"budget: {name}: a group is trained on when its last member has ended", not wrong, wrong[:3])
    report.check(f"budget: {name}: rollouts stand by iteration, then by id", [(r["iteration"], r["rollout_id"]) for r in records] == sorted((r["iteration"], r["rollout_id"]) for r in records))
    report.check(f"budget: {name}: groups of one iteration have numbers of their own", all(len({r["group"] for r in records if r["iteration"] == k}) == sum(e == k for e in ends.values())
                                                                                       for k in range(1, ITERATIONS + 1)))
    report.check(f"budget: {name}: lengths are those that were asked for", max(len(r["response_ids"]) for r in records) == LONGEST and all(r["finish"] == "length" for r in records))
    metrics = runs.metrics(name)
    for m in metrics:
        k = m["iteration"]
        alive = [members for key, members in groups.items() if key[0] <= k < ends[key]]
        parked = [r for members in alive for r in members if drawn_in(r, len(r["response_ids"]) - 1) > k]
        tokens = sum(1 for r in records for t in range(len(r["response_ids"])) if drawn_in(r, t) == k)
        ages = [k - 1 - v for r in records if r["iteration"] == k for v in r["version"]]
        report.check(f"budget: {name}: counts of iteration {k}", (m["groups_parked"], m["rollouts_parked"], m["problems"], m["groups"], m["tokens_generated"])
                     == (len(alive), len(parked), PROBLEMS, sum(e == k for e in ends.values()), tokens), f"{m} {len(alive)} {len(parked)} {tokens}")
        report.check(f"budget: {name}: staleness of iteration {k}", not ages or (m["staleness_max"] == max(ages) <= staleness and abs(m["staleness_mean"] - sum(ages) / len(ages)) < 1e-9),
                     f"{m.get('staleness_max')} {max(ages, default=0)}")
    if len(metrics) == ITERATIONS:
        report.check(f"budget: {name}: rollouts are parked, and segments of several versions trained on", sum(m["rollouts_parked"] for m in metrics) > 10
                     and max(len(set(r["version"])) for r in records) >= 2, [m["rollouts_parked"] for m in metrics])
        report.check(f"budget: {name}: nothing is left over", metrics[-1]["rollouts_parked"] == metrics[-1]["groups_parked"] == 0, metrics[-1])


# Schedule: its keys, budget and staleness, and where it is compared with one rank.
SCHEDULES = {"four": (FOUR, 6, 3, ("2 ranks", "3 ranks", "2 + 1")), "two, one ahead": (TWO, 12, 2, ("2 ranks", "2 + 1", "one rank shared"))}
OTHERS = {"greedy answers and dropped groups": dict(algorithm__name="remax", generation__zero_spread="drop", reward__probability=0.3, generation__group_size=2, reference__path="policy",
                                                    algorithm__kl="k3", algorithm__kl_coefficient=0.01), "a critic": dict(algorithm__name="ppo", critic__path="policy")}
FREE = dict(generation__force_length=None, generation__force_length_sigma=None, optimizer__learning_rate=0)
STILL = {"still": {}, "still, parked": FOUR, "still, parked and ahead": TWO}
# Phase: where, the rank that dies, and where it goes on; and when a run stops, where, and where it goes on.
KILLS = {"generation": (PLACES["2 + 1"], 1, ONE_RANK), "training": (PLACES["2 ranks"], 1, PLACES["2 + 1"])}
STOPS = {2: (PLACES["2 ranks"], PLACES["2 + 1"]), 4: (PLACES["one rank shared"], ONE_RANK)}


def begin(runs):
    runs.interrupt(PLACES["1 + 1"], PLACES["2 ranks"], **TWO)
    for phase, (case, rank, elsewhere) in KILLS.items():
        runs.train_in_two(f"killed in {phase}", case, elsewhere, f"{phase}:{rank}:4:kill", run__checkpoint_every=1, **FOUR)
    for k, (case, elsewhere) in STOPS.items():
        runs.train_in_two(f"stopped after {k}", case, elsewhere, stop=k, **FOUR)
    for schedule, (keys, _, _, places) in SCHEDULES.items():
        for place in ("1 rank", *places):
            runs.train(f"{schedule}, {place}", PLACES.get(place, ONE_RANK), **keys)
    runs.train("four, judged by groups", PLACES["2 + 1"], schedule__granularity="group", generation__batch_rollouts=3, **FOUR)
    for name, keys in OTHERS.items():
        for place in (ONE_RANK, PLACES["2 + 1"]):
            runs.train(f"{name}, {place[0]}", place, **keys, **FOUR)
    tame = dict(generation__force_length=8, generation__force_length_sigma=0.05)
    runs.train("no budget")
    runs.train("a large budget", schedule__token_budget=LONGEST)
    runs.train("no budget, short", **tame)
    runs.train("a budget beyond all", **tame, schedule__token_budget=12, schedule__max_staleness=1)
    for name, keys in STILL.items():
        runs.train(name, PLACES["1 + 1"] if keys else ONE_RANK, **FREE, **keys)
    runs.train("nothing ends", PLACES["1 + 1"], generation__problems_per_iteration=1, generation__force_length=20, generation__force_length_sigma=0, optimizer__mini_batches=1,
               run__no_signal_limit=3, **FOUR)


def check_bits(report, runs):
    """One rank, several, roles apart, judged by groups, other algorithms; stops and kills, gone on elsewhere: what is parked goes along."""
    for schedule, (_, budget, staleness, places) in SCHEDULES.items():
        expected = runs.bits(f"{schedule}, 1 rank")
        if not expected:
            continue
        check_rule(report, runs, f"{schedule}, 1 rank", budget, staleness)
        report.check(f"budget: {schedule}: weights move", len({h for _, h in expected[0]}) > ITERATIONS // 2, expected[0])
        for place in places:
            runs.same(f"{schedule}: {place}: the bits of one rank", f"{schedule}, {place}", expected)
        if schedule == "four":
            runs.same("judged by groups: the bits of one rank", "four, judged by groups", expected)
            for phase in KILLS:
                runs.died(f"killed in {phase}, begun")
                runs.same(f"killed in {phase} and gone on elsewhere: the bits of an uninterrupted run", f"killed in {phase}", expected)
            for k in STOPS:
                runs.stopped(f"stopped after {k}", k)
                runs.same(f"stopped after {k} and gone on elsewhere: the bits of an uninterrupted run", f"stopped after {k}", expected)
                report.check(f"budget: stopped after {k}: rollouts are under way", runs.metrics(f"stopped after {k}")[k - 1]["rollouts_parked"] > 0)
    for name in OTHERS:
        runs.same(f"{name}: the bits of one rank", f"{name}, 3", runs.bits(f"{name}, 1"))
    runs.check_interrupted()


def check_unreached(report, runs):
    """A budget that no rollout reaches changes no bit; nor does one that they reach where weights do not move."""
    runs.same("one that no rollout can reach: the bits of none", "a large budget", runs.bits("no budget"))
    runs.same("one that no rollout reaches: the bits of none", "a budget beyond all", runs.bits("no budget, short"))
    if runs.bits("still"):
        drawn = {r["rollout_id"]: [r[key] for key in ("prompt_ids", "response_ids", "log_prob", "finish", "reward", "verdict", "response")] for r in runs.records("still")}
        for name in ("still, parked", "still, parked and ahead"):
            if runs.bits(name):
                found = {r["rollout_id"]: [r[key] for key in ("prompt_ids", "response_ids", "log_prob", "finish", "reward", "verdict", "response")] for r in runs.records(name)}
                wrong = [i for i in drawn if found.get(i) != drawn[i]]
                report.check(f"budget: {name}: with weights that stand still, whole rollouts are those without a budget, log-probabilities included",
                             len(found) == len(drawn) and not wrong, f"{wrong[:3]} {len(found)}")
                report.check(f"budget: {name}: some were parked", sum(m["rollouts_parked"] for m in runs.metrics(name)) > 0)
                gaps = [m["log_prob_gap_max"] for m in runs.metrics(name) if "log_prob_gap_max" in m]
                report.check(f"budget: {name}: the trainer finds the recorded log-probabilities", gaps and max(gaps) == 0, gaps)


def check_empty(report, runs):
    """Nothing ends in an iteration: no step, and that is no sign of problems without signal."""
    if runs.bits("nothing ends"):
        metrics = runs.metrics("nothing ends")
        report.check("budget: nothing ends: no group, no step, the same weights", [m["groups"] for m in metrics] == [0, 0, 0, 1, 1, 1, 4] and metrics[2]["step"] == 0
                     and len({m["weights_hash"] for m in metrics[:3]}) == 1, metrics)
        report.check("budget: nothing ends: no statistics of nothing", "reward_mean" not in metrics[0] and metrics[0]["rollouts"] == 0 and metrics[0]["rollouts_parked"] == MEMBERS, metrics[0])


def check_refusals(report, runs):
    deck = runs.deck
    for name, keys, parts in [
            ("too little staleness", dict(schedule__token_budget=6, schedule__max_staleness=2), ["[schedule] token_budget = 6 lets a rollout of 24 tokens go on for 4 iterations", "max_staleness of at least 3, or a token_budget of at least 8"]),
            ("on policy", dict(schedule__token_budget=23), ["max_staleness of at least 1, or a token_budget of at least 24"]),
            ("rounds of drawing anew", dict(schedule__token_budget=24, generation__zero_spread="resample"), ['zero_spread = "resample"']),
            ("a negative one", dict(schedule__token_budget=-1), ["token_budget"])]:
        done = run(["train", deck, "--check"] + sets(**keys))
        report.check(f"budget: {name} is refused", done.returncode == 78 and all(part in done.stderr for part in parts), f"{done.returncode} {done.stderr}")
    other = run(["train", deck, "--out", runs.out("four, 1 rank"), "--quiet"] + sets(run__iterations=9, eval__every=0, **LONG_TAIL, **{**FOUR, "schedule__token_budget": 8}))
    report.check("budget: another budget is refused on resume", other.returncode == 78 and "token_budget" in other.stderr, other.stderr)
    turns = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "inputs", "calculator", "calculator.toml")
    done = run(["train", turns, "--check"] + sets(schedule__token_budget=100))
    report.check("budget: an environment is refused", done.returncode == 78 and "[environment]" in done.stderr, f"{done.returncode} {done.stderr}")


with Folder() as temporary:
    summary = Report()
    all_runs = Runs("budget", summary, temporary, run__iterations=ITERATIONS, eval__every=0, **LONG_TAIL)
    begin(all_runs)
    check_bits(summary, all_runs)
    check_unreached(summary, all_runs)
    check_empty(summary, all_runs)
    check_refusals(summary, all_runs)
summary.finish()
