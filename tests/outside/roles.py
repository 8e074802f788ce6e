"""Critic, reference and reward model on ranks of their own or shared: the weights of policy and critic, and the rollouts, of one rank; on policy
and ahead of training, over resumes with other placements, and after ranks of these roles died or stood still."""
import json
import os

from program import Folder, Report, lines, read, run, sets
from runs import ONE_RANK, Runs, placed

ITERATIONS = 4
# A critic, and a reference whose divergence prices the reward by a weight that moves: what one rank says decides what others learn.
PPO = dict(algorithm__name="ppo", critic__path="policy", critic__learning_rate=3e-3, algorithm__kl="k3", algorithm__kl_coefficient=0.05,
           algorithm__kl_where="reward", algorithm__kl_target=0.01, algorithm__kl_horizon=50, reference__path="policy", reference__refresh_every=2)
# name: ranks of the job, [placement]
PPO_PLACES = {
    "critic apart": (3, placed(dict(generator=1, actor=1, critic=1))),
    "three apart, the critic first": (3, placed(dict(generator='"1"', actor='"2"', critic='"0"', reference='"0"'))),
    "all apart": (4, placed(dict(generator=1, actor=1, critic=1, reference=1))),
    "a critic beside one rank": (2, placed(dict(critic=1))),
    "critic and reference with the generator": (2, placed(dict(generator='"0"', actor='"1"', critic='"0"', reference='"0"'))),
    "mixed": (4, placed(dict(generator='"0-1"', actor='"1-2"', critic='"2-3"', reference='"0,3"'))),
}
# "critic apart" is where runs go on and where ranks are struck; other places are ahead in runs that stop and go on.
ON_POLICY = [name for name in PPO_PLACES if name != "critic apart"]
AHEAD = ("all apart",)
SCORED_PLACES = {
    "reward apart": (3, placed(dict(generator=1, actor=1, reward=1))),
    "reward on a part of the generators and elsewhere": (3, placed(dict(generator='"0-1"', actor='"2"', reward='"1-2"'))),
}
SCORED = (("scored", "reward apart"), ("scored in rounds", "reward on a part of the generators and elsewhere"))
FIVE = (5, placed(dict(generator=1, actor=1, critic=1, reference=1, reward=1)))
# name: ranks of the job, [placement], and what is said of it
REFUSED = {
    "ranks that are not there, and networks that are not": (3, dict(critic='"0-4"', reference=9, reward=1),
                                                            ["placement.critic", "names ranks 3-4", "reference = 9 asks for 9 ranks", "there is no [reward_model]"]),
    "a rank without a role": (4, dict(generator=1, actor=1, critic=1), ["no role uses rank 3"]),
}

report = Report()


def result(runs, name):
    """Hashes of a run's weights by iteration, of all tensors at the end, and rollouts; or nothing if it failed."""
    found = runs.bits(name)
    if not found:
        return None
    listing = json.loads(run(["inspect", os.path.join(runs.out(name), "checkpoints", f"iteration-{ITERATIONS:06d}.h5"), "--json"]).stdout)
    return found[0], {t["name"]: t["hash"] for t in listing["tensors"]}, found[1]


def same(name, found, expected):
    if found and expected:
        report.check(f"roles: {name}: the weights of one rank", found[0] == expected[0], f"{found[0]} {expected[0]}")
        other = sorted(key for key in {**expected[1], **found[1]} if expected[1].get(key) != found[1].get(key))
        report.check(f"roles: {name}: critic, reference and moments of one rank", not other, other)
        report.check(f"roles: {name}: the rollouts of one rank", found[2] == expected[2])


def check_folder(runs):
    manifest = json.loads(read(runs.out("all apart") + "/manifest.json"))["rank_map"]
    report.check("roles: the manifest has the roles", [r["roles"] for r in manifest] == [["generator"], ["actor"], ["critic"], ["reference"]], manifest)
    whole = json.loads(read(runs.out("ppo") + "/manifest.json"))["rank_map"][0]["memory_plan_bytes"]
    parts = [r["memory_plan_bytes"] for r in manifest]
    report.check("roles: a rank holds the networks of its roles", max(parts) < whole and parts[3] < min(parts[1:3]), f"{parts} {whole}")
    rows = runs.metrics("all apart")
    shares = [m.get(f"idle_share_{role}") for m in rows for role in ("generator", "actor", "critic", "reference")]
    report.check("roles: idle shares a role", all(s is not None and 0 <= s <= 1 for s in shares) and "idle_share_reward" not in rows[0], shares)
    alone = runs.metrics("ppo")
    for key in ("value_loss", "explained_variance", "kl_reference", "kl_coefficient", "critic_gradient_norm"):
        report.check(f"roles: {key} is that of one rank", [m[key] for m in rows] == [m[key] for m in alone], [rows[-1][key], alone[-1][key]])
    moved = {m["kl_coefficient"] for m in alone}
    report.check("roles: the weight of the divergence moves", len(moved) == ITERATIONS, moved)
    told = [[{key: value for key, value in line.items() if key != "elapsed_s"} for line in lines(runs.out(name) + "/updates.jsonl")] for name in ("ppo", "all apart")]
    report.check("roles: the updates are those of one rank", told[0] == told[1], told[1][-1:])
    events = json.loads(read(runs.out("all apart") + "/trace.json"))["traceEvents"]
    spans = {(e["pid"], e["cat"], e["name"]): 0 for e in events if e["ph"] == "X"}
    wanted = {(1, "actor", "training"), (2, "critic", "assessment"), (2, "critic", "training"), (3, "reference", "assessment")}
    report.check("roles: a track a role", wanted <= set(spans) and (1, "critic", "training") not in spans, sorted(spans))
    names = {e["name"] for e in events if e["ph"] == "s"}
    report.check("roles: the trace follows what networks say", {"values", "reference scores"} <= names, names)


with Folder() as folder:
    runs = Runs("roles", report, folder, run__iterations=ITERATIONS, eval__every=0)
    deck = runs.deck
    runs.train("ppo", ONE_RANK, **PPO)
    runs.train("ppo, ahead", ONE_RANK, **PPO, schedule__max_staleness=1)
    for name in ON_POLICY:
        runs.train(name, PPO_PLACES[name], **PPO)
    for name in AHEAD:
        runs.train(f"{name}, ahead", PPO_PLACES[name], **PPO, schedule__max_staleness=1)
    budget = dict(**PPO, schedule__token_budget=12, schedule__max_staleness=2, schedule__granularity="group")
    runs.train("budget", ONE_RANK, **budget)
    runs.train("budget, mixed", PPO_PLACES["mixed"], **budget)
    # Stopped, and gone on with elsewhere; what waits goes along.
    stopped = {"stopped": (PPO_PLACES["mixed"], PPO_PLACES["all apart"]), "stopped apart": (PPO_PLACES["critic and reference with the generator"], ONE_RANK),
               "stopped together": (ONE_RANK, PPO_PLACES["critic apart"])}
    for name, (before, elsewhere) in stopped.items():
        runs.train_in_two(name, before, elsewhere, stop=2, **PPO, schedule__max_staleness=1)
    struck = {"critic": (2, "critic apart", "mixed"), "reference": (3, "all apart", "a critic beside one rank")}
    for role, (rank, before, elsewhere) in struck.items():
        runs.train_in_two(f"killed {role}", PPO_PLACES[before], PPO_PLACES[elsewhere], f"training:{rank}:3:kill", **PPO, run__checkpoint_every=1)
        runs.stop_rank(role, rank, PPO_PLACES[before], **PPO)
    for name, (ranks, keys, _) in REFUSED.items():
        runs.train(name, (ranks, placed(keys)), **PPO)

    # The critic of the first run as a reward model; the others go on.
    runs.started["ppo"].result()
    model = folder / "classifier"
    written = run(["convert", os.path.join(runs.out("ppo"), "checkpoints", f"iteration-{ITERATIONS:06d}.h5"), model, "--critic"])
    if report.check("roles: a critic becomes a reward model", written.returncode == 0, written.stderr):
        scored = dict(reward_model__path=model, reward_model__weight=0.5)
        rounds = dict(**scored, algorithm__name="remax", generation__zero_spread="resample", generation__group_size=2, schedule__max_staleness=1)
        runs.stop_rank("reward", 2, SCORED_PLACES["reward apart"], **scored)
        runs.train_in_two("killed reward", SCORED_PLACES["reward apart"], ONE_RANK, "scoring:2:3:kill", **scored, run__checkpoint_every=1)
        for (kind, name), keys in zip(SCORED, (scored, rounds)):
            runs.train(kind, ONE_RANK, **keys)
            runs.train(f"{kind}, {name}", SCORED_PLACES[name], **keys)
        runs.train("everything", ONE_RANK, **PPO, **scored)
        runs.train("everything on five", FIVE, **PPO, **scored)
        # At the generator's own pace: with a policy that stands still all but the versions is that of one rank, the critic's training too.
        still_policy = dict(**PPO, **scored, optimizer__learning_rate=0)
        bounded = dict(**still_policy, schedule__staleness='"bounded"', schedule__max_staleness=2)
        runs.train("standing policy", ONE_RANK, **still_policy)
        runs.train("bounded on five", FIVE, **bounded)
        runs.train("bounded with the reward model beside the actor", (3, placed(dict(generator='"0"', actor='"1-2"', reward='"2"', critic='"1"'))), **bounded)

    expected = result(runs, "ppo")
    for name in ON_POLICY:
        same(name, result(runs, name), expected)
    ahead = result(runs, "ppo, ahead")
    for name in stopped:
        runs.stopped(name, 2)
    for name in [*(f"{name}, ahead" for name in AHEAD), *stopped]:
        same(name, result(runs, name), ahead)
    same("budget, mixed", result(runs, "budget, mixed"), result(runs, "budget"))
    for role in struck:
        runs.died(f"killed {role}, begun")
        same(f"killed {role}", result(runs, f"killed {role}"), expected)
    if expected and ahead:
        report.check("roles: the policy moves", len({h for _, h in expected[0]}) == ITERATIONS + 1 and ahead[0] != expected[0], expected[0])
        check_folder(runs)
    if written.returncode == 0:
        for kind, name in SCORED:
            same(f"{kind}, {name}", result(runs, f"{kind}, {name}"), result(runs, kind))
        same("everything on five", result(runs, "everything on five"), result(runs, "everything"))
        one = result(runs, "standing policy")
        for name in ("bounded on five", "bounded with the reward model beside the actor"):
            found = result(runs, name)
            if found and one:
                plain = [[{k: v for k, v in json.loads(line).items() if k != "version"} for line in text.splitlines()] for text in (found[2], one[2])]
                report.check(f"roles: {name}: the rollouts of one rank", plain[0] == plain[1])
                critics = [{k: v for k, v in tensors.items() if k.startswith("critic")} for tensors in (found[1], one[1])]
                report.check(f"roles: {name}: the critic of one rank", critics[0] == critics[1] and critics[0])
                ages = [m["staleness_max"] for m in runs.metrics(name)]
                report.check(f"roles: {name}: no token is older than it may be", max(ages) <= 2, ages)
        runs.died("killed reward, begun")
        same("killed reward", result(runs, "killed reward"), result(runs, "scored"))
        runs.check_stopped_rank("reward", 2)
    for role, (rank, _, _) in struck.items():
        runs.check_stopped_rank(role, rank)

    shown = run(["train", deck, "--check", "--ranks", "5"] + sets(**PPO, **{**PPO_PLACES["mixed"][1], "placement__actor": '"1-2,4"'}))
    report.check("roles: --check tells the map and memory a role", shown.returncode == 0 and "# rank 3: reference and critic\n" in shown.stdout
                 and "slices of a critic's step: rank 3: 4-7" in shown.stdout and "critic moments" in shown.stdout, shown.stdout[-2500:] + shown.stderr)
    for name, (_, _, parts) in REFUSED.items():
        runs.refused(name, parts)
    shared = run(["train", deck, "--check", "--ranks", "2"] + sets(algorithm__name="ppo", critic__shared="true", placement__critic='"0-1"'))
    report.check("roles: a critic on the policy's network is not placed", shared.returncode == 78 and "a network of its own" in shared.stderr, shared.stderr)
report.finish()
