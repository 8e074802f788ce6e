"""Equal weights and rollouts on 1, 2, 3, 4 and 8 ranks, with 1 and 2 threads, with evaluation every iteration or never."""
from program import Folder, LEARNING_DECK, Report, TINY_DECK, hashes, read, run, sets

report = Report()
with Folder() as folder:
    deck = folder.deck(LEARNING_DECK)
    cases = {
        "one rank": (1, {}),
        "two ranks": (2, {}),
        "three ranks": (3, {}),
        "four ranks": (4, {}),
        "eight ranks": (8, {}),
        "two threads": (1, {"run__threads": 2}),
        "two ranks of two threads": (2, {"run__threads": 2}),
        "evaluation every iteration": (2, {"eval__every": 1}),
        "no evaluation": (2, {"eval__every": 0}),
        "a small decoding batch": (2, {"generation__batch_rollouts": 3}),
    }
    first = None
    for name, (ranks, keys) in cases.items():
        out = folder / name.replace(" ", "_")
        done = run(["train", deck, "--out", out, "--quiet", "--progress", "none"] + sets(run__iterations=5, **keys), ranks=ranks)
        if not report.check(f"same_bits: {name} runs", done.returncode == 0, done.stderr):
            continue
        found = (hashes(out), read(out + "/rollouts.jsonl"))
        first = first or found
        report.check(f"same_bits: {name} has the weights of one rank", found[0] == first[0], f"{found[0]} {first[0]}")
        report.check(f"same_bits: {name} has the rollouts of one rank", found[1] == first[1], "rollouts.jsonl differs")
    if first:
        report.check("same_bits: weights move", len({h for _, h in first[0]}) == len(first[0]) == 6, first[0])

    # Without a warm start, 3 ranks draw the first iteration's rollouts of one rank.
    plain = folder.deck(TINY_DECK, name="plain.toml")
    outs = []
    for ranks in (1, 3):
        out = folder / f"plain_{ranks}"
        done = run(["train", plain, "--out", out, "--quiet"] + sets(run__iterations=1), ranks=ranks)
        if report.check(f"same_bits: without a warm start on {ranks} ranks", done.returncode == 0, done.stderr):
            outs.append(read(out + "/rollouts.jsonl"))
    report.check("same_bits: first rollouts on 3 ranks are those on 1", len(outs) == 2 and outs[0] == outs[1] and len(outs[0]) > 100)
report.finish()
