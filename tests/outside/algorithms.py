"""Every learning rule, and the options that need more than the sampler's record, trains on 2 ranks and is on policy at its first update."""
import math
import os
from concurrent.futures import ThreadPoolExecutor

from program import Folder, LEARNING_DECK, Report, hashes, lines, run, sets

RULES = ("reinforce", "grpo", "dr_grpo", "dapo", "rloo", "reinforce_pp", "reinforce_pp_baseline", "remax", "gspo", "cispo", "sapo", "maxrl",
         "opmd", "decoupled_ppo", "m2po")
OPTIONS = {
    "truncated weights": dict(algorithm__name="grpo", algorithm__truncated_importance_cap=2.0),
    "IcePop": dict(algorithm__name="dapo", algorithm__importance_mask="token"),
    "sequence mask": dict(algorithm__name="gspo", algorithm__importance_mask="sequence"),
    "interpolated proximal policy": dict(algorithm__name="decoupled_ppo", algorithm__proximal="interpolate"),
    "clipped product of rloo": dict(algorithm__name="rloo", algorithm__ratio="sequence_sum"),
}
WITHOUT_CLIP = ("reinforce", "rloo", "remax", "sapo", "maxrl", "opmd", "m2po", "sft", "online_dpo")
# Whose losses need what other ranks find out; their weights must not depend on the ranks.
SHARED = ("decoupled_ppo", "m2po", "remax")
report = Report()


def folder_of(name, ranks):
    return folder / f"{name.replace(' ', '_')}_{ranks}"


def begin(name, settings, ranks):
    """Some runs at a time: a launcher mostly waits."""
    arguments = ["train", deck, "--out", folder_of(name, ranks), "--quiet"] + sets(run__iterations=2, eval__every=0, **settings)
    started[name, ranks] = pool.submit(run, arguments, ranks=ranks)


def trains(name, ranks):
    out, done = folder_of(name, ranks), started[name, ranks].result()
    if not report.check(f"algorithms: {name} trains on {ranks} rank(s)", done.returncode == 0, done.stderr):
        return None
    trained = [m for m in lines(out + "/metrics.jsonl") if "first_ratio_min" in m]
    report.check(f"algorithms: {name} trained something", trained and all(m["gradient_norm"] > 0 for m in trained), trained)
    report.check(f"algorithms: {name} has a finite loss", all(math.isfinite(m["loss"]) for m in trained), trained)
    report.check(f"algorithms: {name} is on policy at first",
                 all(m["first_ratio_min"] == 1 and m["first_ratio_max"] == 1 and m["log_prob_gap_max"] == 0 for m in trained), trained)
    updates = [u for u in lines(out + "/updates.jsonl") if u.get("phase") != "warm_start"]
    report.check(f"algorithms: {name} moves away from the sampler in later updates", any(u.get("importance_ratio_max", 1) > 1 for u in updates))
    return out


def moves_the_divergence_weight():
    """A KL weight that follows its target and a reference that is made anew, through a stop."""
    settings = dict(algorithm__kl="k3", algorithm__kl_coefficient=0.1, algorithm__kl_target=1e-6, algorithm__kl_horizon=1000,
                    reference__path="policy", reference__refresh_every=3, run__iterations=6, run__checkpoint_every=0, eval__every=0,
                    optimizer__mini_batches=1)
    whole, part = folder / "followed", folder / "followed_in_parts"
    done = run(["train", deck, "--out", whole, "--quiet"] + sets(**settings), ranks=2)
    if not report.check("algorithms: a KL weight with a target", done.returncode == 0, done.stderr):
        return
    rows = [m for m in lines(whole + "/metrics.jsonl") if m["iteration"] > 0]
    weight, fine = 0.1, True
    for row in rows:
        fine = fine and math.isclose(row["kl_coefficient"], weight, rel_tol=1e-12)
        error = min(max(row["kl_reference"] / 1e-6 - 1, -0.2), 0.2)
        weight *= 1 + error * min(row["rollouts"] / 1000, 1)
    report.check("algorithms: the KL weight follows its formula", fine and len({row["kl_coefficient"] for row in rows}) == len(rows), rows)
    # With one update an iteration the divergence is that of the policy that drew: 0 where that is the reference.
    zero = [row["iteration"] for row in rows if row["kl_reference"] == 0]
    report.check("algorithms: the reference is made anew", zero == [1, 4], [(row["iteration"], row["kl_reference"]) for row in rows])
    first = run(["train", deck, "--out", part, "--quiet"] + sets(run__stop_after=4, **settings), ranks=2)
    rest = run(["train", deck, "--out", part, "--quiet"] + sets(**settings), ranks=1)
    report.check("algorithms: a KL weight goes on exactly", first.returncode == rest.returncode == 0 and hashes(part) == hashes(whole),
                 first.stderr + rest.stderr)


def imitates_what_was_rewarded():
    out = folder / "rejection"
    done = run(["train", deck, "--out", out, "--quiet"] + sets(algorithm__name="sft", algorithm__rejection="true", run__iterations=2, eval__every=0,
                                                             optimizer__mini_batches=1), ranks=2)
    if report.check("algorithms: sft with rejection trains", done.returncode == 0, done.stderr):
        rewarded = {k: [r for r in lines(out + "/rollouts.jsonl") if r["iteration"] == k and r["reward"] > 0] for k in (1, 2)}
        rows = [m for m in lines(out + "/metrics.jsonl") if m["iteration"] > 0]
        report.check("algorithms: sft with rejection imitates rewarded answers alone",
                     all(m["denominator_sequences"] == len(rewarded[m["iteration"]]) and m["denominator_tokens"] == sum(
                         len(r["response_ids"]) for r in rewarded[m["iteration"]]) for m in rows), rows)


with Folder() as folder, ThreadPoolExecutor(4) as pool:
    deck, started = folder.deck(LEARNING_DECK), {}
    for name in RULES:
        begin(name, dict(algorithm__name=name), 2)
    for name, settings in OPTIONS.items():
        begin(name, settings, 2)
    for name in SHARED:
        begin(name, dict(algorithm__name=name), 1)
    outs = {name: trains(name, 2) for name in (*RULES, *OPTIONS)}
    for name in SHARED:
        alone = trains(name, 1)
        if alone and outs[name]:
            report.check(f"algorithms: {name} has the same weights on 1 and 2 ranks", hashes(alone) == hashes(outs[name]))
    if outs["remax"]:
        again = folder / "replayed"
        replayed = run(["replay", deck, outs["remax"] + "/rollouts.jsonl", "--out", again, "--quiet"]
                       + sets(run__iterations=2, eval__every=0, algorithm__name="remax"))
        if report.check("algorithms: rollouts of remax can be replayed", replayed.returncode == 0, replayed.stderr):
            report.check("algorithms: their replay has the run's weights", hashes(again) == hashes(outs["remax"]))
    if outs["grpo"]:
        without = run(["replay", deck, outs["grpo"] + "/rollouts.jsonl", "--out", folder / "without", "--quiet"] + sets(algorithm__name="remax"))
        report.check("algorithms: rollouts without a greedy reward are refused by remax",
                     without.returncode == 65 and "greedy_reward" in without.stderr, without.stderr)
    moves_the_divergence_weight()
    imitates_what_was_rewarded()
    quickstart = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "inputs", "quickstart", "quickstart.toml")
    chosen = {name: pool.submit(run, ["train", quickstart, "--check"] + sets(algorithm__name=name, **({"reference__path": "policy"} if name == "online_dpo" else {})))
              for name in (*RULES, "sft", "online_dpo")}
    for name, check in chosen.items():
        other = check.result()
        report.check(f"algorithms: --set chooses {name} over a deck for grpo", other.returncode == 0, other.stderr)
        # The quickstart's clip_low and the like are told to be left out where they mean nothing.
        report.check(f"algorithms: {name}: what is left out is told", ("is left out" in other.stdout) == (name in WITHOUT_CLIP), other.stdout[-600:])
    refused = run(["train", deck, "--check"] + sets(algorithm__name="reinforce", algorithm__clip_low=0.1, algorithm__importance_high=3.0))
    report.check("algorithms: keys without a meaning are refused together",
                 refused.returncode == 78 and "clip_low" in refused.stderr and "importance_high" in refused.stderr, refused.stderr)
report.finish()
