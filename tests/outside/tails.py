"""Long tails: groups that are expected to be longest begin first ([generation] dispatch), which changes no bit; and more problems and
rollouts are begun than are trained on ([schedule] over_provision_*): the same bits wherever they are drawn, the first by tokens drawn,
every problem trained on once, through stops and kills; decks that are refused."""

from program import Folder, Report, hashes, run, sets
from runs import ONE_RANK, Runs

ITERATIONS, PROBLEMS, MEMBERS, LONGEST = 7, 6, 4, 24
BEGUN, DRAWN = 9, 6  # problems and rollouts of each of a short round
LONG_TAIL = dict(generation__force_length=7, generation__force_length_sigma=1)
BOTH = dict(schedule__over_provision_problems=BEGUN / PROBLEMS, schedule__over_provision_rollouts=DRAWN / MEMBERS, generation__batch_rollouts=6)
# A few problems that come again, and rows for a few rollouts.
AGAIN = dict(data__max_number=2, data__max_target=3, generation__force_length_shared=0.9, generation__batch_rollouts=3)
LONGEST_FIRST = dict(AGAIN, generation__dispatch='"longest_first"')
PLACES = {"2 ranks": (2, {}), "3 ranks": (3, {}), "2 + 1": (3, dict(placement__generator=2)), "one rank shared": (3, dict(placement__generator='"0-1"', placement__actor='"1-2"'))}
DISPATCHED, PROVISIONED = ("1 rank", "3 ranks", "2 + 1"), ("2 ranks", "2 + 1", "one rank shared")


def begin_dispatch(runs):
    runs.train("in order, 1 rank", **AGAIN)
    runs.train("in order, 3 ranks", PLACES["3 ranks"], **AGAIN)
    for place in DISPATCHED:
        runs.train(f"longest first, {place}", PLACES.get(place, ONE_RANK), **LONGEST_FIRST)
    runs.train_in_two("longest first, stopped", PLACES["2 + 1"], ONE_RANK, stop=3, **LONGEST_FIRST)
    runs.train("longest first, ahead and parked", PLACES["2 + 1"], schedule__token_budget=12, schedule__max_staleness=2, **LONGEST_FIRST)
    runs.train("in order, ahead and parked", schedule__token_budget=12, schedule__max_staleness=2, **AGAIN)


def check_dispatch(report, runs):
    """No bit changes; the steps do, and they are the same behind a checkpoint."""
    expected = runs.bits("in order, 1 rank")
    runs.stopped("longest first, stopped", 3)
    for name in ["in order, 3 ranks"] + [f"longest first, {place}" for place in DISPATCHED]:
        runs.same(f"{name}: the bits of one rank in order", name, expected)
    runs.same("longest first, ahead and parked: the bits of one rank in order", "longest first, ahead and parked", runs.bits("in order, ahead and parked"))
    runs.same("longest first, gone on elsewhere: the bits of an uninterrupted run", "longest first, stopped", expected)
    steps = {name: [m["decode_steps"] for m in runs.metrics(name)] for name in ("in order, 1 rank", "longest first, 1 rank", "in order, 3 ranks", "longest first, 3 ranks", "longest first, stopped")}
    report.check("tails: problems come again", len({r["problem"] for r in runs.records("in order, 1 rank")}) < ITERATIONS * PROBLEMS / 2)
    for place in ("1 rank", "3 ranks"):
        before, after = steps[f"in order, {place}"], steps[f"longest first, {place}"]
        report.check(f"tails: {place}: nothing is known in the first iteration", before[0] == after[0], f"{before} {after}")
        report.check(f"tails: {place}: the longest first take fewer steps", sum(after) < sum(before), f"{before} {after}")
    report.check("tails: what was seen is in the checkpoint", steps["longest first, stopped"][3:] == steps["longest first, 1 rank"][3:], steps)


def first_of(records):
    """Rollout ids that count of those that one round drew, from their lengths."""
    groups = {}
    for r in records:
        groups.setdefault(r["rollout_id"][10:16], []).append((len(r["response_ids"]), r["rollout_id"]))
    kept = {slot: sorted(members)[:MEMBERS] for slot, members in groups.items()}
    slots = sorted(kept, key=lambda slot: (kept[slot][-1][0], slot))[:PROBLEMS]
    return {rollout_id for slot in slots for _, rollout_id in kept[slot]}


def begin_provision(runs):
    for place in ("1 rank", *PROVISIONED):
        runs.train(f"both, {place}", PLACES.get(place, ONE_RANK), **BOTH)
    for name, keys in OTHERS.items():
        for case in (ONE_RANK, PLACES["2 + 1"]):
            runs.train(f"{name}, {case[0]}", case, **{**BOTH, **keys})
    still = dict(optimizer__learning_rate=0)
    runs.train("plain")
    runs.train("all of them, still", generation__problems_per_iteration=BEGUN, generation__group_size=DRAWN, generation__batch_rollouts=6, **still)
    runs.train("both, still", PLACES["2 + 1"], **BOTH, **still)
    for phase, (case, rank, elsewhere) in KILLS.items():
        runs.train_in_two(f"killed in {phase}", case, elsewhere, f"{phase}:{rank}:4:kill", run__checkpoint_every=1, **BOTH)
    runs.train_in_two("stopped", PLACES["2 ranks"], PLACES["3 ranks"], stop=2, **BOTH)
    runs.begin("replayed", 2, ["replay", runs.deck, runs.out("both, 1 rank") + "/rollouts.jsonl", "--out", runs.out("replayed"), "--quiet", "--progress", "none"]
               + sets(run__iterations=ITERATIONS, eval__every=0, warm_start__steps=0, **LONG_TAIL, **BOTH), after=["both, 1 rank"])


# Of the first the list is not empty before the last iteration, which takes what is on it.
OTHERS = {"problems alone": dict(schedule__over_provision_rollouts=1, schedule__over_provision_problems=8 / PROBLEMS), "rollouts alone": dict(schedule__over_provision_problems=1),
          "one ahead": dict(schedule__max_staleness=1), "greedy answers and dropped groups": dict(algorithm__name="remax", generation__zero_spread="drop", reward__probability=0.3)}
KILLS = {"generation": (PLACES["2 + 1"], 1, ONE_RANK), "training": (PLACES["2 ranks"], 1, PLACES["2 + 1"])}


def check_provision(report, runs):
    expected = runs.bits("both, 1 rank")
    for place in PROVISIONED:
        runs.same(f"both: {place}: the bits of one rank", f"both, {place}", expected)
    for name in OTHERS:
        runs.same(f"{name}: the bits of one rank", f"{name}, 3", runs.bits(f"{name}, 1"))
    for phase in KILLS:
        runs.died(f"killed in {phase}, begun")
        runs.same(f"killed in {phase} and gone on elsewhere: the bits of an uninterrupted run", f"killed in {phase}", expected)
    runs.stopped("stopped", 2)
    runs.same("stopped with long problems on the list and gone on elsewhere: the bits of an uninterrupted run", "stopped", expected)
    replayed = runs.started["replayed"].result()
    report.check("tails: a replay of what was trained on gives the same weights", replayed.returncode == 0 and hashes(runs.out("replayed")) == hashes(runs.out("both, 1 rank")), replayed.stderr)


def check_once(report, runs):
    """Every problem of the run's order is trained on once, whenever it comes to that."""
    plain = {r["problem"] for r in runs.records("plain")} if runs.bits("plain") else set()
    report.check("tails: the run's order gives other problems every time", len(plain) == ITERATIONS * PROBLEMS, len(plain))
    for name in ["both, 1 rank"] + [f"{name}, 1" for name in OTHERS]:
        trained = {}
        for r in runs.records(name):
            trained.setdefault(r["problem"], []).append((r["iteration"], r["rollout_id"][:16]))
        report.check(f"tails: {name}: every problem that was taken is trained on once, none is lost", set(trained) == plain and all(len(set(g)) == 1 and len(g) == MEMBERS for g in trained.values()),
                     f"{len(trained)} {sorted(set(trained) ^ plain)[:5]}")
    metrics = runs.metrics("both, 1 rank")
    # 6 of 9, twice; then the 6 that were left; and so on. The last iteration begins no more than it trains on.
    report.check("tails: both: short and long rounds", [(m["problems"], m["groups"], m["groups_deferred"], m["rollouts_surplus"]) for m in metrics]
                 == [(9, 6, 3, 30), (9, 6, 3, 30), (6, 6, 0, 0), (9, 6, 3, 30), (9, 6, 3, 30), (6, 6, 0, 0), (6, 6, 0, 12)], [(m["problems"], m["groups_deferred"], m["rollouts_surplus"]) for m in metrics])
    report.check("tails: both: nothing is stopped in long rounds", all((m["tokens_surplus"] > 0) == (m["rollouts_surplus"] > 0) for m in metrics))


def check_still(report, runs):
    """With weights that stand still the rollouts are those of a run that draws and keeps all."""
    if not (runs.bits("all of them, still") and runs.bits("both, still") and runs.bits("both, 1 rank")):
        return
    told = ("problem", "prompt_ids", "response_ids", "log_prob", "finish", "reward", "response")
    for iteration in (1, 2):  # before the first long round both have taken the same problems
        every = {r["rollout_id"]: r for r in runs.records("all of them, still") if r["iteration"] == iteration}
        kept = {r["rollout_id"]: r for r in runs.records("both, still") if r["iteration"] == iteration}
        report.check(f"tails: iteration {iteration}: those with the fewest tokens are trained on", len(every) == BEGUN * DRAWN and set(kept) == first_of(every.values()),
                     sorted(set(kept) ^ first_of(every.values()))[:3])
        wrong = [i for i in kept if [kept[i][key] for key in told] != [every[i][key] for key in told]]
        report.check(f"tails: iteration {iteration}: they are the rollouts of a run that keeps all", not wrong, wrong[:3])
    whole, some = runs.metrics("all of them, still"), runs.metrics("both, 1 rank")
    for k in (0, 1):
        report.check(f"tails: iteration {k + 1}: what cannot be among the first is stopped", some[k]["tokens_generated"] < whole[k]["tokens_generated"] and some[k]["decode_steps"] < whole[k]["decode_steps"],
                     f"{some[k]['tokens_generated']} of {whole[k]['tokens_generated']} tokens, {some[k]['decode_steps']} of {whole[k]['decode_steps']} steps")


def check_refusals(report, runs):
    done = run(["train", runs.deck, "--check"] + sets(schedule__over_provision_problems=1.5, schedule__token_budget=24, schedule__granularity="group", generation__zero_spread="resample",
                                                       generation__force_length_shared=0.5))
    parts = ["over_provision_problems = 1.5 is given together with token_budget", 'granularity = "group"', 'zero_spread = "resample"', "force_length_shared = 0.5"]
    report.check("tails: all that does not go together is told at once", done.returncode == 78 and all(part in done.stderr for part in parts), f"{done.returncode} {done.stderr}")
    for name, keys in {"less than once": dict(schedule__over_provision_rollouts=0.5), "an unknown order": dict(generation__dispatch='"shortest_first"')}.items():
        done = run(["train", runs.deck, "--check"] + sets(**keys))
        report.check(f"tails: {name} is refused", done.returncode == 78, f"{done.returncode} {done.stderr}")


with Folder() as temporary:
    summary = Report()
    all_runs = Runs("tails", summary, temporary, run__iterations=ITERATIONS, eval__every=0, **LONG_TAIL)
    begin_provision(all_runs)
    begin_dispatch(all_runs)
    check_provision(summary, all_runs)
    check_once(summary, all_runs)
    check_still(summary, all_runs)
    check_dispatch(summary, all_runs)
    check_refusals(summary, all_runs)
summary.finish()
