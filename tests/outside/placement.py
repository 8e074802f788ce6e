"""Generator and actor on ranks of their own or shared: the weights and rollouts of one rank, on policy and ahead of training, over resumes."""
import json
import os

from program import Folder, LEARNING_DECK, Report, read, run, sets
from runs import ONE_RANK, Runs, placed

ITERATIONS = 5
# name: ranks of the job, [placement]; two say that they are not ahead, and one that weights come between two drawings
SYNCHRONOUS = {
    "colocated on 2 ranks": (2, {}),
    "colocated on 2 ranks, named": (2, dict(**placed(dict(generator='"0-1"', actor='"0-1"')), schedule__max_staleness=0)),
    "1 + 1": (2, placed(dict(generator=1, actor=1))),
    "2 + 1": (3, placed(dict(generator=2))),
    "1 + 2": (3, dict(**placed(dict(generator='"34%"', actor='"66%"')), schedule__weight_buffers=1)),
    "3 + 4": (7, placed(dict(generator=3, actor=4))),
    "the actor first": (2, dict(**placed(dict(generator='"1"', actor='"0"')), schedule__max_staleness=0)),
    "all generate, one trains": (3, placed(dict(generator='"0-2"', actor='"1"'))),
}
# By max_staleness. Two ahead on 2 + 1 is where a generator is late, and on a shared rank where a run stops.
PLACES = {**SYNCHRONOUS, "one rank": ONE_RANK, "one rank shared": (3, placed(dict(generator='"0-1"', actor='"1-2"')))}
AHEAD = {1: ("colocated on 2 ranks", "1 + 1", "2 + 1", "1 + 2", "3 + 4", "one rank shared"), 2: ("colocated on 2 ranks", "1 + 1", "1 + 2", "3 + 4")}

# A judge whose verdict depends on the response alone, and whose time on chance.
JUDGE = """import json, random, sys, time, zlib
for line in sys.stdin:
    time.sleep(random.choice([0, 0, 0.002, 0.02]))
    print(json.dumps({"reward": zlib.crc32(json.loads(line)["response"].encode()) % 3}), flush=True)
"""
# What lies under roles: rounds of drawing anew, greedy baselines, a reference with a copy of the policy, a shared critic, recomputed probabilities.
OTHERS = {
    "rounds and greedy answers": dict(algorithm__name="remax", generation__zero_spread="resample", generation__group_size=2, reward__probability=0.3),
    "a reference that is refreshed": dict(algorithm__kl="k3", algorithm__kl_coefficient=0.01, reference__path="policy", reference__refresh_every=2),
    "a shared critic": dict(algorithm__name="ppo", critic__shared="true", algorithm__value_coefficient=0.1),
    "a generator in bf16": dict(schedule__max_staleness=0, generation__compute="bf16", algorithm__name="decoupled_ppo", algorithm__proximal="recompute", algorithm__truncated_importance_cap=2),
    "recomputed probabilities": dict(algorithm__name="decoupled_ppo", algorithm__proximal="recompute", schedule__max_staleness=2),
}
# A phase, the rank that dies in it, of 1 + 1, and where the run goes on; iterations after which a run stops, where, and where it goes on.
KILLED = {"generation": (0, "2 + 1"), "exchange": (1, "1 + 2"), "weight_sync": (0, "one rank")}
STOPPED = {1: ("1 + 1", "1 + 2"), 2: ("one rank shared", "one rank"), 4: ("one rank", "the actor first")}
# name: ranks of the job, [placement], and what is said of it
REFUSED = {
    "ranks that are not there, text that is none": (2, dict(generator='"0-4"', actor='"x"'), ["names ranks 2-4", 'actor = "x" names no ranks']),
    "a role without ranks": (2, dict(generator=2), ["no rank is left for the actor"]),
    "a rank without a role": (3, dict(generator='"0"', actor='"2"'), ["no role uses rank 1"]),
    "more than there are": (2, dict(generator=2, actor=2), ["actor = 2 asks for 2 ranks, and 0 of 2 are free"]),
    "a network that is not there": (2, dict(generator=1, reward='"0"'), ["there is no [reward_model]"]),
}

report = Report()


def same(name, found, expected):
    if found and expected:
        report.check(f"placement: {name}: the weights of one rank", found[0] == expected[0], f"{found[0]} {expected[0]}")
        report.check(f"placement: {name}: the rollouts of one rank", found[1] == expected[1])


def versions(runs, name):
    """The versions that each iteration's tokens were drawn with."""
    found = {}
    for line in runs.records(name):
        found.setdefault(line["iteration"], set()).update(line["version"])
    return found


def arrows(runs, name):
    """{(from stage, rank, iteration, to stage, rank, iteration)} of a run's trace, found as a viewer does: by the spans around both ends."""
    events = json.loads(read(runs.out(name) + "/trace.json"))["traceEvents"]
    spans, ends = [e for e in events if e["ph"] == "X"], {}

    def around(end):
        found = [e for e in spans if (e["pid"], e["tid"]) == (end["pid"], end["tid"]) and e["ts"] <= end["ts"] <= e["ts"] + e["dur"]]
        return [(e["name"], e["pid"], e["args"]["iteration"]) for e in found] or [("nothing", end["pid"], -1)]

    for e in events:
        if e["ph"] in "sf":
            ends.setdefault(e["id"], {})[e["ph"]] = around(e)
    return {tuple(pair.get("s", [("nowhere",)])[-1] + pair.get("f", [("nowhere",)])[0]) for pair in ends.values()}


def begin(runs, folder):
    """The longest first; the rest while they wait."""
    two_ahead = dict(schedule__max_staleness=2)
    for victim, role in enumerate(("generator", "actor")):
        runs.stop_rank(role, victim, PLACES["1 + 1"], **two_ahead)
    runs.interrupt(PLACES["1 + 1"], (2, {}), run__checkpoint_every=7, **two_ahead)
    for phase, (rank, elsewhere) in KILLED.items():
        runs.train_in_two(f"killed in {phase}", PLACES["1 + 1"], PLACES[elsewhere], f"{phase}:{rank}:4:kill", run__checkpoint_every=1, **two_ahead)
    for k, (before, elsewhere) in STOPPED.items():
        runs.train_in_two(f"stopped after {k}", PLACES[before], PLACES[elsewhere], stop=k, **two_ahead)
    held = runs.out("stopped after 1") + "/checkpoints/iteration-000001.h5"
    runs.begin("inspected", 0, ["inspect", held, "--json"], after=["stopped after 1"])
    runs.begin("evaluated", 0, ["eval", runs.deck, "--model", held, "--json"], after=["stopped after 1"])
    runs.train("another staleness", to="stopped after 1", after=["stopped after 1"], run__iterations=9, schedule__max_staleness=1)
    for name, (ranks, keys, _) in REFUSED.items():
        runs.train(name, (ranks, placed(keys)))
    runs.train("faults of two tables", (2, placed(dict(generator='"0-4"', actor='"0"'))), schedule__weight_buffers=3)
    for name, case in {"one rank": ONE_RANK, **SYNCHRONOUS}.items():
        runs.train(name, case)
    for staleness, places in AHEAD.items():
        for where in ("one rank", *places):
            runs.train(f"{where}, {staleness} ahead", PLACES[where], schedule__max_staleness=staleness)
    for name, keys in OTHERS.items():
        keys = {"schedule__max_staleness": 1, **keys}
        runs.train(name, ONE_RANK, **keys)
        runs.train(f"{name}, apart", PLACES["2 + 1" if "generation__zero_spread" in keys or "reference__path" in keys else "1 + 1"], **keys)
    folder.file("judge.py", JUDGE)
    delayed = folder.deck(LEARNING_DECK.replace('verifier = "random"\nprobability = 0.5', 'verifier = "command"\ncommand = ["python3", "./judge.py"]'),
                          name="delayed.toml")
    for name, case in (("a judge with delays", ONE_RANK), ("a judge with delays, apart", PLACES["2 + 1"])):
        runs.train(name, case, deck=delayed, schedule__max_staleness=1)
    runs.train("a generator that is late", PLACES["2 + 1"], fault="generation:1:2:delay=0.5", **two_ahead)
    runs.train("a checkpoint that fails", PLACES["1 + 1"], fault="checkpoint_write:0:60:error", run__checkpoint_every=1, **two_ahead)


def check_on_policy(runs):
    """Bits of one rank; gives them."""
    expected = runs.bits("one rank")
    for name in SYNCHRONOUS:
        same(name, runs.bits(name), expected)
    if not expected:
        return expected
    report.check("placement: weights move", len({h for _, h in expected[0]}) == ITERATIONS + 1, expected[0])
    apart = runs.metrics("1 + 1")
    report.check("placement: on policy nothing is stale", all(m["staleness_max"] == 0 and m["first_ratio_max"] == 1 for m in apart), apart[-1])
    report.check("placement: hand-offs are timed where weights move", all("seconds_weight_handoff" in m for m in apart)
                 and not any("seconds_weight_handoff" in m for m in runs.metrics("colocated on 2 ranks")))
    report.check("placement: idle shares where roles differ", all(0 <= m["idle_share_generator"] <= 1 and 0 <= m["idle_share_actor"] <= 1 for m in apart))
    manifest = json.loads(read(runs.out("2 + 1") + "/manifest.json"))
    report.check("placement: the manifest has the roles", [r["roles"] for r in manifest["rank_map"]] == [["generator"], ["generator"], ["actor"]],
                 manifest["rank_map"])
    log = read(runs.out("2 + 1") + "/log.txt").decode()
    report.check("placement: the log has the roles, and how the run ended", "ranks 0-1: generator\n" in log and "rank 2: actor\n" in log and f"finished after iteration {ITERATIONS}" in log, log[-800:])
    shown = run(["inspect", runs.out("2 + 1"), "--json"])
    report.check("placement: a run folder is inspected as its newest checkpoint", shown.returncode == 0 and expected and json.loads(shown.stdout)["weights_hash"] == expected[0][-1][1], shown.stderr)
    bytes_of = [r["memory_plan_bytes"] for r in manifest["rank_map"]]
    everything = json.loads(read(runs.out("colocated on 2 ranks") + "/manifest.json"))["rank_map"][0]["memory_plan_bytes"]
    report.check("placement: ranks of one role need less memory than those of both", max(bytes_of) < everything, f"{bytes_of} {everything}")
    return expected


def check_ahead(runs, expected):
    for staleness, places in AHEAD.items():
        name = f"one rank, {staleness} ahead"
        ahead = runs.bits(name)
        if not ahead or not expected:
            continue
        report.check(f"placement: {name}: other weights than on policy", ahead[0][-1] != expected[0][-1], ahead[0])
        drawn = {k: {max(0, k - 1 - staleness)} for k in range(1, ITERATIONS + 1)}
        report.check(f"placement: {name}: every iteration is drawn with its version", versions(runs, name) == drawn, versions(runs, name))
        ages = [m["staleness_max"] for m in runs.metrics(name)]
        report.check(f"placement: {name}: as stale as it may be", ages == [min(k, staleness) for k in range(ITERATIONS)], ages)
        depths = [m["queue_depth_max"] for m in runs.metrics(name)]
        report.check(f"placement: {name}: what waits is counted", depths == [6 * min(staleness, ITERATIONS - k) for k in range(ITERATIONS)], depths)
        for where in places:
            same(f"{where}, {staleness} ahead", runs.bits(f"{where}, {staleness} ahead"), ahead)
    for name in [*OTHERS, "a judge with delays"]:
        same(f"{name}, apart", runs.bits(f"{name}, apart"), runs.bits(name))
    gaps = [m["log_prob_gap_max"] for m in runs.metrics("a generator in bf16")]
    report.check("placement: a generator in bf16: the gap is told, and small", all(1e-7 < gap < 0.1 for gap in gaps), gaps)


def check_trace(runs):
    """Rank 0 generates and rank 1 trains, one ahead: iteration k is drawn with version k - 2."""
    drawn = {("generation", 0, k, "assessment", 0, k) for k in range(1, ITERATIONS + 1)}
    judged = {("assessment", 0, k, "training", 1, k) for k in range(1, ITERATIONS + 1)}
    weights = {("training", 1, k, "hand-off", rank, k) for k in range(1, ITERATIONS + 1) for rank in (0, 1)}
    used = {("hand-off", 0, max(0, k - 2), "generation", 0, k) for k in range(1, ITERATIONS + 1)}
    found = arrows(runs, "1 + 1, 1 ahead")
    report.check("placement: the trace follows rollouts and weights along the mailboxes", found == drawn | judged | weights | used,
                 sorted(found ^ (drawn | judged | weights | used)))
    shown = run(["report", runs.out("1 + 1, 1 ahead"), "--json"])
    if report.check("placement: the report of a run ahead", shown.returncode == 0, shown.stderr):
        schedule = json.loads(shown.stdout)["schedules"][0]
        report.check("placement: its event graph takes no longer than the run", 0 < schedule["replayed_s"] <= 1.02 * schedule["measured_s"], schedule)
        largest = max(schedule["share"], key=schedule["share"].get)
        report.check("placement: it says what bounds the run", schedule["sentence"].startswith(f"{largest} bounds this run: "), schedule)


def check_interrupted(runs):
    """Two ahead: delays, deaths and stops; the queue of what is drawn goes along."""
    whole = runs.bits("one rank, 2 ahead")
    same("a generator that is late", runs.bits("a generator that is late"), whole)
    for phase in KILLED:
        runs.died(f"killed in {phase}, begun")
        same(f"killed in {phase}, gone on", runs.bits(f"killed in {phase}"), whole)
    failed = runs.started["a checkpoint that fails"].result()
    report.check("placement: a checkpoint that fails ends the job with 74", failed.returncode == 74 and "injected fault" in failed.stderr,
                 f"{failed.returncode} {failed.stderr}")
    for k in STOPPED:
        runs.stopped(f"stopped after {k}", k)
        same(f"stopped after {k} of {ITERATIONS}, two ahead, gone on elsewhere", runs.bits(f"stopped after {k}"), whole)
    shown, drawn, other = (runs.started[name].result() for name in ("inspected", "evaluated", "another staleness"))
    report.check("placement: a checkpoint in which rollouts wait is inspected", shown.returncode == 0
                 and whole and json.loads(shown.stdout)["weights_hash"] == dict(whole[0])[1] and "waiting/rollouts" in shown.stdout, shown.stdout[:500] + shown.stderr)
    report.check("placement: ... and evaluated", drawn.returncode == 0 and "eval_accuracy" in drawn.stdout, drawn.stderr)
    report.check("placement: another staleness is refused on resume", other.returncode == 78 and "max_staleness" in other.stderr, other.stderr)
    runs.check_interrupted()
    for victim, role in enumerate(("generator", "actor")):
        runs.check_stopped_rank(role, victim)


def check_told(runs):
    """What is printed and refused before anything is built."""
    shown = run(["train", runs.deck, "--check", "--ranks", "8"] + sets(placement__generator='"75%"'))
    report.check("placement: --check tells the map", shown.returncode == 0 and "# ranks 0-5: generator\n" in shown.stdout
                 and "# ranks 6-7: actor\n" in shown.stdout and "slices of a step: rank 6: 0-3, rank 7: 4-7" in shown.stdout, shown.stdout[-1500:] + shown.stderr)
    generator, _, actor = shown.stdout.rpartition("# ranks 0-5: generator\n")[2].partition("# ranks 6-7: actor\n")
    if actor == "":
        actor, _, generator = shown.stdout.rpartition("# ranks 6-7: actor\n")[2].partition("# ranks 0-5: generator\n")
    report.check("placement: --check plans memory a role", "generation (keys, values)" in generator and "gradients" not in generator
                 and "gradients" in actor and "optimizer moments" in actor and "generation (keys, values)" not in actor, shown.stdout[-1500:])
    asked = sets(placement__generator=2, schedule__max_staleness=1, schedule__staleness="bounded")
    shown = run(["train", runs.deck, "--check"] + asked, ranks=3)
    report.check("placement: --check on ranks tells nodes and cores, once", shown.returncode == 0 and shown.stdout.count("# node ") == 1 and shown.stdout.count("rank 2 (actor) cores ") == 1
                 and shown.stdout.count("# rank 2: actor\n") == 1 and "weights that arrive" in shown.stdout and "has no effect" not in shown.stdout, shown.stdout[-1500:] + shown.stderr)
    shown = run(["train", runs.deck, "--check", "--ranks", "3"] + asked + sets(placement__generator='"0-2"', placement__actor='"0"'))
    report.check("placement: --check tells bounded staleness that has no effect", shown.returncode == 0 and "has no effect where a rank both draws and learns" in shown.stdout, shown.stdout[-600:])
    for name, (_, _, parts) in REFUSED.items():
        runs.refused(name, parts)
    runs.refused("faults of two tables", ["names ranks 2-4", "weight_buffers = 3 is out of range"])


with Folder() as temporary:
    all_runs = Runs("placement", report, temporary, run__iterations=ITERATIONS, warm_start__steps=2)
    begin(all_runs, temporary)
    on_policy = check_on_policy(all_runs)
    check_ahead(all_runs, on_policy)
    check_trace(all_runs)
    check_interrupted(all_runs)
    check_told(all_runs)
report.finish()
