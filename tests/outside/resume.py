""""k iterations, stop, resume" equals the uninterrupted run bit for bit for every k, also on other numbers of ranks."""
from program import Folder, Report, TINY_DECK, WARM_START, hashes, read, run, sets

ITERATIONS = 9
# 24 problems in all, 8 an iteration: three batches an epoch, so that k meets the ends of epochs.
PROBLEMS = "".join(f'{{"id": {i}, "prompt": "{a} {b} {c} = {a + b + c} :", "answer": "x", "numbers": [{a}, {b}, {c}], "target": {a + b + c}}}\n'
                   for i, (a, b, c) in enumerate((1 + i % 9, 1 + i % 7, 1 + i % 5) for i in range(24)))
DECK = TINY_DECK.replace('task = "operators"\n[reward]\nverifier = "operators"', '''train = "problems.jsonl"
[tokenizer]
kind = "words"
words = "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 + - * = : yes no ->"
[reward]
verifier = "regex"
pattern = "[0-4]"
''').replace("problems_per_iteration = 6", "problems_per_iteration = 8").replace("every = 2\nproblems = 24", "every = 0")

report = Report()
with Folder() as folder:
    folder.file("problems.jsonl", PROBLEMS)
    deck = folder.deck(DECK + WARM_START.replace("steps = 12", "steps = 6"))
    whole = folder / "whole"
    done = run(["train", deck, "--out", whole, "--quiet"] + sets(run__iterations=ITERATIONS), ranks=2)
    report.check("resume: the uninterrupted run", done.returncode == 0, done.stderr)
    expected = (hashes(whole), read(whole + "/rollouts.jsonl")) if done.returncode == 0 else None
    changes = {2: (1, 2), 4: (2, 4), 6: (4, 1)}  # k: ranks before and after
    for k in range(1, ITERATIONS):
        if expected is None:
            break
        before, after = changes.get(k, (2, 2))
        out = folder / f"k{k}"
        first = run(["train", deck, "--out", out, "--quiet"] + sets(run__iterations=ITERATIONS, run__stop_after=k), ranks=before)
        second = run(["train", deck, "--out", out, "--quiet"] + sets(run__iterations=ITERATIONS), ranks=after)
        name = f"resume: stop after {k} on {before}, go on on {after} ranks"
        if report.check(f"{name} runs", first.returncode == 0 and second.returncode == 0, first.stderr + second.stderr):
            report.check(f"{name}: weights", hashes(out) == expected[0], f"{hashes(out)} {expected[0]}")
            report.check(f"{name}: rollouts", read(out + "/rollouts.jsonl") == expected[1])
    if expected:
        again = run(["train", deck, "--out", whole, "--quiet"] + sets(run__iterations=ITERATIONS), ranks=2)
        report.check("resume: a finished run started again does nothing", again.returncode == 0 and hashes(whole) == expected[0]
                     and read(whole + "/rollouts.jsonl") == expected[1], again.stderr)
        other = run(["train", deck, "--out", whole, "--quiet"] + sets(run__iterations=ITERATIONS, optimizer__learning_rate=2e-3), ranks=2)
        report.check("resume: another deck is refused", other.returncode == 78 and "learning_rate" in other.stderr, other.stderr)
report.finish()
