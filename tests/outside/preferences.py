"""On a file of pairs each rule learns which words are preferred, for prompts that were held out too, with the same weights on any
number of ranks."""
import json
from concurrent.futures import ThreadPoolExecutor

from program import Folder, LEARNING_DECK, PAIRS_DECK, Report, WORDS, hashes, lines, run, sets

RULES = {"dpo": {}, "ipo": {}, "simpo": {}, "orpo": dict(algorithm__beta=1.0), "kto": {}}
report = Report()


def pairs(wanted):
    """Two words as the prompt; every second word is preferred as an answer. A quarter of all combinations is held out."""
    made = [{"prompt": f"{a} {b}", "chosen": WORDS[2 * ((i + 3 * j) % 6)], "rejected": WORDS[2 * ((2 * i + j) % 6) + 1]}
            for i, a in enumerate(WORDS) for j, b in enumerate(WORDS)]
    return [pair for k, pair in enumerate(made) if (k * 7 % 4 == 0) == wanted]


def begin(name, ranks, deck):
    """Some runs at a time: a launcher mostly waits."""
    settings = dict(RULES[name], **({} if name in ("simpo", "orpo") else dict(reference__path="policy")))
    started[name, ranks] = pool.submit(run, ["train", deck, "--out", folder / f"{name}_{ranks}", "--quiet"] + sets(algorithm__name=name, **settings), ranks=ranks)


def trains(name, ranks):
    out, done = folder / f"{name}_{ranks}", started[name, ranks].result()
    return out if report.check(f"preferences: {name} trains on {ranks} rank(s)", done.returncode == 0, done.stderr) else None


with Folder() as folder, ThreadPoolExecutor(4) as pool:
    folder.file("pairs.jsonl", "".join(json.dumps(p) + "\n" for p in pairs(False)))
    folder.file("held_out.jsonl", "".join(json.dumps(p) + "\n" for p in pairs(True)))
    deck, started = folder.deck(PAIRS_DECK), {}
    for name in RULES:
        for ranks in (2, 1, 3) if name in ("dpo", "kto") else (2,):
            begin(name, ranks, deck)
    for name in RULES:
        out = trains(name, 2)
        if not out:
            continue
        metrics = lines(out + "/metrics.jsonl")
        report.check(f"preferences: {name} prefers the right answer to held-out prompts", metrics[-1]["eval_preference_accuracy"] >= 0.9,
                     [metrics[0].get("eval_preference_accuracy"), metrics[-1]["eval_preference_accuracy"]])
        report.check(f"preferences: {name} tells nothing of rewards", not any("reward_mean" in m or "accuracy" in m for m in metrics))
        if name in ("dpo", "kto"):
            for ranks in (1, 3):
                other = trains(name, ranks)
                report.check(f"preferences: {name} has the same weights on 2 and {ranks} ranks", other and hashes(other) == hashes(out))

    alone = run(["train", deck, "--check"])
    report.check("preferences: dpo without a reference is refused", alone.returncode == 78 and "[reference]" in alone.stderr, alone.stderr)
    folder.file("bad.jsonl", '{"prompt": "w1 w2", "chosen": "w1"}\n{"prompt": "w1 w2", "chosen": "w1", "rejected": "elsewhere"}\n')
    bad = run(["train", deck, "--out", folder / "bad"] + sets(data__train=folder / "bad.jsonl", reference__path="policy"))
    report.check("preferences: bad lines are refused together", bad.returncode == 65 and "bad.jsonl:1" in bad.stderr and "bad.jsonl:2" in bad.stderr, bad.stderr)
    good = "".join(json.dumps(p) + "\n" for p in pairs(False))
    folder.file("mixed.jsonl", '{"prompt": "w1 w2", "chosen": "w1"}\n' + good)
    results = []
    for name, text in (("mixed.jsonl", None), ("good.jsonl", good)):
        if text:
            folder.file(name, text)
        out = folder / name.split(".")[0]
        done = run(["train", deck, "--out", out] + sets(data__train=folder / name, data__on_bad_line="skip", reference__path="policy", run__iterations=2), ranks=2)
        results.append((hashes(out) if done.returncode == 0 else done.returncode, done.stdout + done.stderr))
    report.check("preferences: a bad pair is left out where lines may be", results[0][0] == results[1][0] and "skipped 1 of" in results[0][1], results)

    drawn = folder.deck(LEARNING_DECK)
    out = folder / "online"
    done = run(["train", drawn, "--out", out, "--quiet"] + sets(algorithm__name="online_dpo", reference__path="policy", run__iterations=2, eval__every=0), ranks=2)
    if report.check("preferences: online_dpo trains", done.returncode == 0, done.stderr):
        trained = [m for m in lines(out + "/metrics.jsonl") if "first_ratio_min" in m]
        report.check("preferences: online_dpo is on policy at first", trained and all(m["first_ratio_min"] == 1 and m["first_ratio_max"] == 1 for m in trained), trained)
report.finish()
