"""A network learns from pairs which answers are better, with the same bits on any number of ranks; as a classifier it says outside what it
said inside; and as [reward_model] its score, of the whole answer or of its steps, is what a policy is rewarded with and learns from."""
import json
import os

from program import Folder, PAIRS_DECK, Report, WORDS, WORDS_DECK, hashes, lines, run, sets

DRAWN_DECK = WORDS_DECK.replace("iterations = 40", "iterations = 24") + """
[data]
train = "prompts.jsonl"
[generation]
problems_per_iteration = 16
group_size = 8
max_new_tokens = 4
[algorithm]
name = "grpo"
[optimizer]
learning_rate = 3e-3
[eval]
every = 0
"""
report = Report()


def pairs(wanted):
    """Two words as the prompt; an answer of even words is preferred. A quarter of all combinations is held out."""
    made = []
    for i, a in enumerate(WORDS):
        for j, b in enumerate(WORDS):
            good, bad = 2 * ((i + 3 * j) % 6), 2 * ((2 * i + j) % 6) + 1
            made.append({"prompt": f"{a} {b}", "chosen": f"{WORDS[good]} {WORDS[(good + 4) % 12]}", "rejected": f"{WORDS[bad]} {WORDS[(bad + 6) % 12]}"})
    return [pair for k, pair in enumerate(made) if (k * 7 % 4 == 0) == wanted]


def train(deck, out, ranks, **settings):
    done = run(["train", deck, "--out", out, "--quiet"] + sets(**settings), ranks=ranks)
    return done.returncode == 0, done.stderr


def scores_outside(classifier, records, name):
    """value[t]: what the classifier says behind token t of prompt and response."""
    ids = folder.file(f"{name}.jsonl", "".join(json.dumps({"ids": r["prompt_ids"] + r["response_ids"]}) + "\n" for r in records))
    said = run(["logprob", classifier, ids])
    report.check(f"reward_model: {name}: logprob of the classifier", said.returncode == 0, said.stderr)
    return [json.loads(line)["value"] for line in said.stdout.splitlines()]


def learns_from_pairs(deck):
    out = folder / "pairs_2"
    ok, why = train(deck, out, 2)
    if not report.check("reward_model: trains on pairs", ok, why):
        return None
    metrics = lines(out + "/metrics.jsonl")
    report.check("reward_model: prefers the right answer to held-out prompts", metrics[-1]["eval_preference_accuracy"] >= 0.9,
                 [metrics[0].get("eval_preference_accuracy"), metrics[-1]["eval_preference_accuracy"]])
    foreign = {"ratio_mean", "entropy_mean", "reward_mean", "accuracy", "kl_old", "log_prob_gap_max", "policy_loss"}
    report.check("reward_model: tells nothing of a policy", not any(foreign & set(m) for m in metrics), metrics[-1])
    for ranks in (1, 3):
        other = folder / f"pairs_{ranks}"
        ok, why = train(deck, other, ranks)
        report.check(f"reward_model: has the same weights on 2 and {ranks} ranks", ok and hashes(other) == hashes(out), why)
    part = folder / "part"
    ok, why = train(deck, part, 1, run__stop_after=20, run__checkpoint_every=10)
    again, why_not = train(deck, part, 2, run__checkpoint_every=10)
    report.check("reward_model: goes on exactly after a stop", ok and again and hashes(part) == hashes(out), why + why_not)

    classifier = folder / "classifier"
    written = run(["convert", os.path.join(out, "checkpoints", "iteration-000040.h5"), classifier])
    report.check("reward_model: its checkpoint becomes a classifier", written.returncode == 0, written.stderr)
    config = json.load(open(classifier + "/config.json", encoding="utf-8"))
    report.check("reward_model: with one label", config["architectures"][0].endswith("ForSequenceClassification"), config)
    answered = [r for r in lines(out + "/rollouts.jsonl") if r["iteration"] == 40]
    value = scores_outside(classifier, answered, "answers")
    # Trained once more after these were compared; the order of nearly all stays.
    right = [a[-1] > b[-1] for a, b in zip(value[::2], value[1::2])]
    report.check("reward_model: orders answers outside as inside", sum(right) >= 0.9 * len(right) and len(right) == 32, sum(right))
    report.check("reward_model: records answers as they stand in the file", all(len(r["response_ids"]) == 3 for r in answered), answered[0])
    return classifier


def rewards_a_policy(deck, classifier):
    out = folder / "drawn_2"
    ok, why = train(deck, out, 2, reward_model__path=classifier)
    if not report.check("reward_model: rewards a policy", ok, why):
        return
    rows = [m for m in lines(out + "/metrics.jsonl") if m["iteration"] > 0]
    gained = rows[-1]["reward_mean"] - rows[0]["reward_mean"]
    report.check("reward_model: the policy learns to be preferred", gained > 0.5 * rows[0]["reward_std"], [rows[0]["reward_mean"], rows[-1]["reward_mean"], rows[0]["reward_std"]])
    report.check("reward_model: without a judge there are no verdicts", not any("accuracy" in m or "verdict_wrong" in m for m in rows), rows[-1])
    report.check("reward_model: the first ratio is 1", all(m["first_ratio_min"] == m["first_ratio_max"] == 1 for m in rows), rows[0])
    records = lines(out + "/rollouts.jsonl")
    value = scores_outside(classifier, records[:64], "drawn")
    report.check("reward_model: the reward is what the classifier says outside, bit for bit",
                 [r["reward"] for r in records[:64]] == [v[-1] for v in value] and "verdict" not in records[0], records[0])
    other = folder / "drawn_3"
    ok, why = train(deck, other, 3, reward_model__path=classifier)
    same = ok and hashes(other) == hashes(out) and lines(other + "/rollouts.jsonl") == records
    report.check("reward_model: the same bits on 2 and 3 ranks", same, why)


def adds_to_a_judge(deck, classifier):
    out = folder / "judged"
    keys = {"reward_model__path": classifier, "reward_model__weight": 0.25, "reward__verifier": "random", "reward__probability": 0.5,
            "run__iterations": 1}
    ok, why = train(deck, out, 1, **keys)
    if report.check("reward_model: stands beside a judge", ok, why):
        records = lines(out + "/rollouts.jsonl")
        sums = [abs(r["reward_parts"][0] + 0.25 * r["reward_parts"][1] - r["reward"]) for r in records]
        row = lines(out + "/metrics.jsonl")[-1]
        report.check("reward_model: the reward is the weighted sum", max(sums) < 1e-6, max(sums))
        report.check("reward_model: both parts are told", "reward_part_reward_model_mean" in row and "accuracy" in row, row)


def scores_steps(deck, classifier):
    out = folder / "steps"
    keys = {"reward_model__path": classifier, "reward_model__at": "steps", "reward_model__step_mark": "w1", "run__iterations": 1}
    ok, why = train(deck, out, 1, **keys)
    if not report.check("reward_model: scores steps", ok, why):
        return
    records = lines(out + "/rollouts.jsonl")
    expected = []
    for r, value in zip(records, scores_outside(classifier, records, "steps")):
        behind = value[len(r["prompt_ids"]):]
        ends = [t for t, i in enumerate(r["response_ids"]) if i in (1, 10, 11)] + [len(r["response_ids"]) - 1]  # w1, w10, w11 hold the mark
        expected.append(min(behind[t] for t in ends))
    report.check("reward_model: the least score of a step is the reward", [r["reward"] for r in records] == expected,
                 [(r["response"], r["reward"], e) for r, e in zip(records, expected) if r["reward"] != e][:3])
    report.check("reward_model: answers of several steps were among them", any(i in (1, 10, 11) for r in records for i in r["response_ids"][:-1]))


def keeps_frozen_networks_small(deck, classifier, model):
    """The same first rollouts, scored by networks that are kept in fewer bits."""
    found = {}
    for kind in ("f32", "bf16", "q8_0"):
        out = folder / f"kept_{kind}"
        keys = {"reward_model__path": classifier, "reward_model__weights": kind, "reference__path": model, "reference__weights": kind,
                "algorithm__kl": "k3", "algorithm__kl_coefficient": 0.01, "run__iterations": 1}
        ok, why = train(deck, out, 2, **keys)
        if not report.check(f"reward_model: networks kept in {kind}", ok, why):
            return
        found[kind] = lines(out + "/rollouts.jsonl")
        with open(out + "/log.txt", encoding="utf-8") as log:
            told = [line for line in log if f"is kept in {kind}" in line]
        report.check(f"reward_model: the error of {kind} is told", len(told) == (0 if kind == "f32" else 2), told)
    rewards = [r["reward"] for r in found["f32"]]
    for kind, most in (("bf16", 0.02), ("q8_0", 0.05)):  # of the rewards' width, and of a log-probability
        gaps = [abs(a["reward"] - b["reward"]) / (max(rewards) - min(rewards)) for a, b in zip(found["f32"], found[kind])]
        gaps += [abs(x - y) for a, b in zip(found["f32"], found[kind]) for x, y in zip(a["reference_log_prob"], b["reference_log_prob"])]
        report.check(f"reward_model: {kind} is near f32, and not the same", 0 < max(gaps) < most, max(gaps))


def refuses(pairs_deck, drawn_deck, classifier, model):
    cases = {"no path": (drawn_deck, {"reward_model__weight": 1}, "has no path"),
             "a language model": (drawn_deck, {"reward_model__path": model}, "language model"),
             "steps without a use": (drawn_deck, {"reward_model__path": classifier, "reward_model__combine": "last"}, "no effect"),
             "beside a file of answers": (pairs_deck, {"reward_model__path": classifier}, "learns from answers"),
             "a copy of the policy in 8 bits": (drawn_deck, {"reward_model__path": classifier, "reference__weights": "q8_0"}, "kept in f32"),
             "with a reference": (pairs_deck, {"reference__path": "policy"}, "no meaning")}
    for name, (deck, keys, text) in cases.items():
        done = run(["train", deck, "--check"] + sets(**keys))
        report.check(f"reward_model: {name} is refused", done.returncode == 78 and text in done.stderr, done.stderr)


with Folder() as folder:
    folder.file("pairs.jsonl", "".join(json.dumps(p) + "\n" for p in pairs(False)))
    folder.file("held_out.jsonl", "".join(json.dumps(p) + "\n" for p in pairs(True)))
    folder.file("prompts.jsonl", "".join(json.dumps({"prompt": p["prompt"]}) + "\n" for p in pairs(False)))
    pairs_deck, drawn_deck = folder.deck(PAIRS_DECK.replace('"dpo"', '"reward_model"')), folder.deck(DRAWN_DECK, name="drawn.toml")
    found = learns_from_pairs(pairs_deck)
    if found:
        rewards_a_policy(drawn_deck, found)
        adds_to_a_judge(drawn_deck, found)
        scores_steps(drawn_deck, found)
        model = folder / "model"
        run(["convert", os.path.join(folder / "drawn_2", "checkpoints", "iteration-000024.h5"), model])
        keeps_frozen_networks_small(drawn_deck, found, model)
        refuses(pairs_deck, drawn_deck, found, model)
report.finish()
