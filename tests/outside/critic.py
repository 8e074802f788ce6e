"""ppo and vapo with a critic of its own and with one on the policy's network: equal bits on 1, 2 and 4 ranks, ratio 1 on policy, exact
resume, and the critic of a checkpoint as a classifier whose values are those that were recorded."""
import json
import os
from concurrent.futures import ThreadPoolExecutor

from program import Folder, LEARNING_DECK, Report, hashes, lines, read, run, sets

ITERATIONS = 4
CASES = {
    "own": {"algorithm__name": "ppo", "critic__learning_rate": 3e-3},
    "shared": {"algorithm__name": "ppo", "critic__shared": "true", "algorithm__value_coefficient": 0.3},
    "vapo": {"algorithm__name": "vapo", "critic__path": "policy", "algorithm__value_iterations": 2},
}

report = Report()


def train(deck, out, ranks, keys, **more):
    options = sets(run__iterations=ITERATIONS, eval__every=0, **keys, **more)
    return run(["train", deck, "--out", out, "--quiet", "--progress", "none"] + options, ranks=ranks)


def state(out):
    """Weights of the policy by iteration, and all that was recorded of rollouts: the critic's values among it."""
    return hashes(out), read(out + "/rollouts.jsonl")


def critic_hash(checkpoint):
    listing = json.loads(run(["inspect", checkpoint, "--json"]).stdout)
    return [t["hash"] for t in listing["tensors"] if t["name"].startswith("critic") or "score" in t["name"]]


def checkpoint(out):
    return os.path.join(out, "checkpoints", f"iteration-{ITERATIONS:06d}.h5")


def check_metrics(name, out):
    rows = [row for row in lines(out + "/metrics.jsonl") if row["iteration"] > 0]
    report.check(f"critic: {name}: value_loss and explained_variance in every line",
                 all("value_loss" in row and "explained_variance" in row for row in rows), rows[-1])
    trained = [row for row in rows if row["tokens_trained"] > 0]
    report.check(f"critic: {name}: ratio 1 and nothing clipped on policy",
                 all(row["first_ratio_min"] == row["first_ratio_max"] == 1 for row in trained), trained[-1])
    alone = 2 if name == "vapo" else 0
    report.check(f"critic: {name}: the policy learns after {alone} iterations", len(trained) == ITERATIONS - alone, len(trained))
    moved = [a[1] != b[1] for a, b in zip(hashes(out), hashes(out)[1:])]
    if name != "shared":
        report.check(f"critic: {name}: the policy stands still until then", moved == [i >= alone for i in range(ITERATIONS)], moved)
    recorded = lines(out + "/rollouts.jsonl")
    report.check(f"critic: {name}: a value a response token", all(len(r["value"]) == len(r["response_ids"]) for r in recorded))


def check_classifier(folder, name, out, keys):
    """The values of an iteration that follows are those of the checkpoint's critic before it."""
    first = folder / f"{name}_first"
    done = train(folder.path + "/deck.toml", first, 1, keys, run__stop_after=ITERATIONS - 1, run__checkpoint_every=0)
    before = os.path.join(first, "checkpoints", f"iteration-{ITERATIONS - 1:06d}.h5")
    classifier = folder / f"{name}_classifier"
    written = run(["convert", before, classifier, "--critic"])
    if not report.check(f"critic: {name}: convert --critic", done.returncode == 0 and written.returncode == 0, done.stderr + written.stderr):
        return
    recorded = [r for r in lines(out + "/rollouts.jsonl") if r["iteration"] == ITERATIONS][:20]
    ids = folder.file("ids.jsonl", "".join(json.dumps({"ids": r["prompt_ids"] + r["response_ids"]}) + "\n" for r in recorded))
    said = run(["logprob", classifier, ids])
    if report.check(f"critic: {name}: logprob of a classifier", said.returncode == 0, said.stderr):
        values = [json.loads(line)["value"] for line in said.stdout.splitlines()]
        same = all(v[len(r["prompt_ids"]) - 1:-1] == r["value"] for v, r in zip(values, recorded))
        report.check(f"critic: {name}: its values are the recorded ones, bit for bit", same and len(values) == 20)
    refused = run(["generate", classifier, ids])
    report.check(f"critic: {name}: a classifier draws nothing", refused.returncode == 65 and "classifier" in refused.stderr, refused.stderr)
    policy = folder / f"{name}_policy"
    plain = run(["convert", before, policy])
    said = run(["logprob", policy, ids])
    report.check(f"critic: {name}: the policy of the same checkpoint", plain.returncode == said.returncode == 0, plain.stderr + said.stderr)


def resumed(deck, out, keys):
    """Two runs, the second goes on with the first."""
    return train(deck, out, 2, keys, run__stop_after=1), train(deck, out, 1, keys)


with Folder() as folder, ThreadPoolExecutor(4) as pool:  # some runs at a time: a launcher mostly waits
    deck, started = folder.deck(LEARNING_DECK), {}
    for name, keys in CASES.items():
        started[name, 1] = pool.submit(train, deck, folder / name, 1, keys)
        for ranks in (2, 4) if name == "own" else (3,):
            started[name, ranks] = pool.submit(train, deck, folder / f"{name}_{ranks}", ranks, keys)
        started[name, "resumed"] = pool.submit(resumed, deck, folder / f"{name}_resumed", keys)
    for name, keys in CASES.items():
        whole = folder / name
        done = started[name, 1].result()
        if not report.check(f"critic: {name} runs", done.returncode == 0, done.stderr):
            continue
        expected = state(whole), critic_hash(checkpoint(whole))
        check_metrics(name, whole)
        for ranks in (2, 4) if name == "own" else (3,):
            out, done = folder / f"{name}_{ranks}", started[name, ranks].result()
            if report.check(f"critic: {name} on {ranks} ranks runs", done.returncode == 0, done.stderr):
                report.check(f"critic: {name} on {ranks} ranks has the bits of one", (state(out), critic_hash(checkpoint(out))) == expected)
        out = folder / f"{name}_resumed"
        first, second = started[name, "resumed"].result()
        if report.check(f"critic: {name} resumes", first.returncode == second.returncode == 0, first.stderr + second.stderr):
            report.check(f"critic: {name} resumed is the uninterrupted run", (state(out), critic_hash(checkpoint(out))) == expected)
    if os.path.isdir(folder / "own"):
        check_classifier(folder, "own", folder / "own", CASES["own"])
    if os.path.isdir(folder / "shared"):
        check_classifier(folder, "shared", folder / "shared", CASES["shared"])
report.finish()
