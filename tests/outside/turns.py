"""Several turns: the calculator's deck learns what to call; foreign tokens, their masks and the limits of turns, answers and time; the
same rollouts on one, two and three ranks."""
import json
import os
from concurrent.futures import ThreadPoolExecutor

from program import Folder, Report, hashes, lines, read, run, sets

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DECK = os.path.join(ROOT, "inputs", "calculator", "calculator.toml")
LEARNED = 0.9  # held-out accuracy, from about a third
OPERATORS = {"plus": "+", "minus": "-", "times": "*"}
# What a program may answer, by the first number of the call.
PROGRAM = """
import json, sys, time
for line in sys.stdin:
    call = json.loads(line)["call"]
    print(json.dumps(ANSWER), flush=True)
"""


def words_of(text):
    return text.split()


def check_rollout(line):
    """Why a recorded rollout of the calculator's deck is not as it must be; empty: it is."""
    words, flags, ids = words_of(line["response"]), line["trainable"], line["response_ids"]
    if len(flags) != len(ids) or len(line["log_prob"]) != len(ids):
        return "lists of other lengths"
    for flag, log_prob in zip(flags, line["log_prob"]):
        if (log_prob is None) != (flag == 0):
            return "a log-probability that is not where a token was drawn"
    if "</tool>" not in words or words.index("</tool>") + 1 == len(ids):
        return "" if 0 not in flags else "foreign tokens without a call"
    end = words.index("</tool>")
    called = "<tool>" in words[:end]
    return "" if flags.count(0) == called and (not called or flags[end + 1] == 0) else f"another token is foreign than the answer: {flags}"


def check_learning(report, folder):
    out = folder / "one"
    done = run(["train", DECK, "--out", out, "--quiet"], ranks=2, limit=300, environment={"MAXPLUS_CHECK_COLLECTIVES": "1"})
    if not report.check("turns: trains", done.returncode == 0, done.stderr):
        return
    metrics = [m for m in lines(out + "/metrics.jsonl") if "eval_accuracy" in m]
    report.check("turns: the calls are learned", metrics[0]["eval_accuracy"] < 0.6 and metrics[-1]["eval_accuracy"] >= LEARNED, [m["eval_accuracy"] for m in metrics])
    rollouts = lines(out + "/rollouts.jsonl")
    bad = [(why, line) for line in rollouts if (why := check_rollout(line))]
    report.check("turns: exactly the answers are foreign, without a log-probability", rollouts and not bad, bad[:1])
    gaps = [m["log_prob_gap_max"] for m in lines(out + "/metrics.jsonl") if "log_prob_gap_max" in m]
    report.check("turns: what was drawn behind an answer is scored with the same bits", gaps and max(gaps) == 0, gaps)


def check_ranks(report, folder):
    short = sets(run__iterations=3, eval__every=3, warm_start__steps=60)
    expected = None
    with ThreadPoolExecutor(3) as pool:
        started = {ranks: pool.submit(run, ["train", DECK, "--out", folder / f"ranks{ranks}", "--quiet"] + short, ranks=ranks, limit=300) for ranks in (1, 2, 3)}
    for ranks, job in started.items():
        out, done = folder / f"ranks{ranks}", job.result()
        if not report.check(f"turns: {ranks} rank(s) train", done.returncode == 0, done.stderr):
            return
        result = (hashes(out), read(out + "/rollouts.jsonl"))
        expected = expected or result
        report.check(f"turns: {ranks} rank(s): the same bits", result == expected)
    out = folder / "replayed"
    done = run(["replay", DECK, folder / "ranks1/rollouts.jsonl", "--out", out, "--quiet"] + short + sets(eval__every=0), ranks=2)
    report.check("turns: a replay gives the same weights", done.returncode == 0 and hashes(out)[-1] == expected[0][-1], done.stderr)


def generated(folder, name, answer, *changes):
    """Rollouts of one evaluation whose environment gives this answer to every call, and the process."""
    program = folder.file(f"{name}.py", PROGRAM.replace("ANSWER", answer))
    command = "environment.command=" + json.dumps(["python3", program])
    out = folder / name
    done = run(["eval", DECK, "--model", folder / "model", "--out", out, "--set", command] + list(changes), limit=120)
    return lines(out + "/rollouts.jsonl") if done.returncode == 0 else [], done


def check_limits(report, folder):
    """A policy that calls again and again, and programs that answer in many ways."""
    trained = folder / "ranks1/checkpoints"
    os.symlink(os.path.join(trained, read(trained + "/latest").decode().strip()), folder / "model")
    long = sets(eval__max_new_tokens=20)
    rollouts, done = generated(folder, "value", '{"text": "12 = 3"}', *sets(environment__max_answer_tokens=2))
    tails = [words_of(line["response"])[6:7] for line in rollouts if 0 in line["trainable"]]
    report.check("turns: an answer is cut at its limit", tails and all(line["trainable"].count(0) == 2 for line in rollouts if 0 in line["trainable"]), f"{tails} {done.stderr}")
    rollouts, done = generated(folder, "end", '{"end": True}')
    ended = [line for line in rollouts if 0 in line["trainable"]]
    report.check("turns: the environment may end a rollout", ended and all(line["finish"] == "stopped" and line["trainable"][-1] == 0 and line["response"].endswith("</tool>") for line in ended), f"{ended[:1]} {done.stderr}")
    rollouts, done = generated(folder, "again", '{"text": "<tool> 1 + 1 </tool>"}', *long)
    answered = [line for line in rollouts if 0 in line["trainable"]]
    report.check("turns: what the environment says is no call", answered and all(line["trainable"].count(0) == 2 for line in answered), f"{answered[:1]} {done.stderr}")
    rollouts, done = generated(folder, "full", '{"text": "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"}', *sets(environment__max_answer_tokens=100))
    full = [line for line in rollouts if 0 in line["trainable"]]
    report.check("turns: an answer ends at the rollout's limit", full and all(line["finish"] == "length" and len(line["response_ids"]) == 12 for line in full), f"{full[:1]} {done.stderr}")
    cases = (("garbage", '"no object"', []), ("number", '{"text": 5}', []), ("unknown", '{"text": "word"}', []), ("slow", "time.sleep(100)", sets(environment__timeout_s=0.3, environment__workers=60)),
                                  ("dead", "sys.exit(3)", []))
    with ThreadPoolExecutor(3) as pool:
        made = {name: pool.submit(generated, folder, name, answer, *changes) for name, answer, changes in cases}
    for name, job in made.items():
        rollouts, done = job.result()
        crashed = [line for line in rollouts if line["verdict"] == "crashed"]
        called = [line for line in rollouts if "</tool>" in line["response"]]
        report.check(f"turns: {name}: a call without an answer is nobody's fault", called and len(crashed) == len(called), f"{len(crashed)} of {len(called)}; {done.stderr}")
        report.check(f"turns: {name}: that is told with the reason", f"{len(crashed)} of {len(rollouts)} judgements crashed; the first (" in done.stderr, done.stderr)


def check_deck(report, folder):
    for name, change in (("command", "environment.command=[]"), ("an unknown key", "environment.max_turn=3"), ("no program", 'environment.command=["no-such-program"]'),
                         ("an empty mark", 'environment.call_end=""'), ("force_length", "generation.force_length=12")):
        done = run(["train", DECK, "--check", "--set", change])
        report.check(f"turns: {name} is a fault of the deck", done.returncode == 78, f"{done.returncode} {done.stderr}")


with Folder() as temporary:
    summary = Report()
    check_learning(summary, temporary)
    check_ranks(summary, temporary)
    check_limits(summary, temporary)
    check_deck(summary, temporary)
summary.finish()
