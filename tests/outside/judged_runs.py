"""Training and evaluation whose judge runs programs: the same rollouts on one, two and three ranks, a policy that learns which program is
right, and nothing left behind, whoever is killed."""
import json
import os
import signal

from judged import KEEPERS, remains, within
from processes import below, table
from program import Folder, Report, TINY_MODEL, lines, read, run, sets, start

# Each program is one token, so that a network draws whole programs from the first step on.
RIGHT = "print(7)"
PROGRAMS = [RIGHT, "print(8)", "import os; os._exit(0)", "import os; os.fork()"]
ENDLESS = [f"while True: pass  # {i}" for i in range(4)]
PROBLEMS = 8
SCRATCH = "scratch"  # where judged programs may leave something
UNAVAILABLE = 69
DECK = """
title = "judged programs"
[run]
seed = 5
iterations = 12
checkpoint_every = 0
out = "{out}"
""" + TINY_MODEL + """[tokenizer]
path = "tokenizer.json"
end_token = "<eos>"
[data]
train = "problems.jsonl"
eval = "problems.jsonl"
[reward]
verifier = "code_tests"
timeout_s = 60
[generation]
problems_per_iteration = 2
group_size = 4
max_new_tokens = 1
[algorithm]
name = "grpo"
[optimizer]
learning_rate = 2e-2
schedule = "constant"
mini_batches = 1
micro_batch_tokens = 64
[eval]
every = 12
problems = 8
"""
LEARNED = 0.8  # mean reward at the end; a quarter at the start


def tokenizer(programs):
    added = [{"id": 0, "content": "<eos>", "special": True}, {"id": 1, "content": "seven", "special": False}]
    added += [{"id": 3 + i, "content": f"```python\n{program}\n```\n", "special": False} for i, program in enumerate(programs)]
    return json.dumps({"version": "1.0", "added_tokens": added, "normalizer": None, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
                       "decoder": {"type": "ByteLevel"}, "model": {"type": "BPE", "vocab": {"a": 2}, "merges": []}})


def guards(process):
    """The first of each rank's broker processes."""
    all_of_them = table()
    return [pid for pid in below(process, KEEPERS) if all_of_them.get(all_of_them[pid][0], (0, ""))[1] == "maxplus"]


def check_training(report, folder, deck):
    first = None
    for ranks in (1, 2, 3):
        out = folder / f"ranks{ranks}"
        done = run(["train", deck, "--out", out, "--quiet"] + (sets(run__stop_after=4) if first else []), ranks=ranks, limit=300, environment={"TMPDIR": folder / SCRATCH, "MAXPLUS_CHECK_COLLECTIVES": "1"})
        name = f"judged runs: {ranks} rank(s)"
        if not report.check(f"{name}: trains", done.returncode == 0, done.stderr):
            continue
        metrics, rollouts = lines(out + "/metrics.jsonl"), read(out + "/rollouts.jsonl")
        with open(out + "/manifest.json", encoding="utf-8") as file:
            tier = json.load(file).get("sandbox")
        said = [m.get("sandbox") for m in metrics]
        report.check(f"{name}: the tier stands in the manifest and in every line", tier in ("namespaces", "landlock") and said == [tier] * len(metrics), f"{tier} {said}")
        if first is None:
            first = rollouts
            verdicts = {line["response"].strip().split("\n")[1]: line["verdict"] for line in lines(out + "/rollouts.jsonl") if "\n" in line["response"].strip()}
            report.check("judged runs: each program has its verdict", verdicts == {p: "correct" if p == RIGHT else "wrong" for p in PROGRAMS}, verdicts)
            report.check("judged runs: the right program is learned", metrics[-1]["reward_mean"] >= LEARNED and metrics[-1]["eval_accuracy"] == 1,
                         [m.get("reward_mean") for m in metrics])
        report.check(f"{name}: the same rollouts", rollouts and first.startswith(rollouts))
    left = within(10, lambda: remains(folder / SCRATCH))
    report.check("judged runs: training leaves no process and no file", not left, left)


def check_unconfined(report, folder, deck):
    done = run(["eval", deck, "--json"] + sets(reward__sandbox="none"), ranks=2, environment={"TMPDIR": folder / SCRATCH})
    report.check("judged runs: an evaluation without a sandbox says so", done.returncode == 0 and "unconfined" in done.stderr, done.stdout + done.stderr)


def check_named_by_problems(report, folder):
    """A judge that only problems or a source of [data] name is started for, too."""
    scratch = {"TMPDIR": folder / SCRATCH}
    folder.file("tokenizer.json", tokenizer([f"{RIGHT}  # {i}" for i in range(40)]))
    problem = {"prompt": "a", "answer": "8", "tests": [{"input": "", "output": "7"}]}
    folder.file("plain.jsonl", "".join(json.dumps(dict(problem, id=i)) + "\n" for i in range(PROBLEMS)))
    folder.file("named.jsonl", "".join(json.dumps(dict(problem, id=i, verifier="code_tests")) + "\n" for i in range(PROBLEMS)))
    compared = DECK.replace('"code_tests"\ntimeout_s = 60', '"exact"').replace("problems.jsonl", "plain.jsonl")

    done = run(["eval", folder.deck(compared, name="compared.toml"), "--problems", folder / "named.jsonl", "--json"] + sets(eval__samples=8), limit=300, environment=scratch)
    right = json.loads(done.stdout).get("eval_accuracy_sampled", 0) if done.returncode == 0 else 0
    report.check("judged runs: problems beside the deck name their judge", right > 0.5, done.stdout + done.stderr)

    for name, source in {"a source": 'train = "plain.jsonl"\nverifier = "code_tests"', "a source's problems": 'train = "named.jsonl"'}.items():
        mixed = compared.replace('train = "plain.jsonl"\n', "").replace("[reward]", f'[[data.source]]\nname = "programs"\n{source}\n[[data.source]]\nname = "texts"\ntrain = "plain.jsonl"\n[reward]')
        out = folder / name.replace(" ", "_")
        done = run(["train", folder.deck(mixed, name="mixed.toml"), "--out", out, "--quiet"] + sets(run__iterations=2, eval__every=0), ranks=2, limit=300, environment=scratch)
        verdicts = {(line["source"], line["verdict"]) for line in lines(out + "/rollouts.jsonl")} if done.returncode == 0 else done.stderr
        report.check(f"judged runs: {name} in a mix names the judge", ("programs", "correct") in verdicts and ("texts", "wrong") in verdicts
                     and not any("crashed" in pair for pair in verdicts), verdicts)


def check_kills(report, folder, deck):
    """The ranks judge endless programs when one of them is killed, or the launcher, or their brokers."""
    victims = {"a rank": lambda process: below(process, "maxplus")[-1:], "the launcher": lambda process: below(process, "mpirun"), "every broker": guards}
    for name, choose in victims.items():
        out = folder / name.replace(" ", "_")
        process = start(["train", deck, "--out", out, "--quiet"] + sets(eval__every=0, run__iterations=2), ranks=2, limit=300, environment={"TMPDIR": folder / SCRATCH})
        waited = within(60, lambda p=process: len(below(p, "maxplus")) < 2 or len(below(p, "python3")) < 2)
        for pid in choose(process):
            os.kill(pid, signal.SIGKILL)
        _, errors = process.communicate()
        left = within(10, lambda: [one for one in remains(folder / SCRATCH) if "/ompi." not in one])  # of the launcher, which may be what was killed
        report.check(f"judged runs: {name} killed: no process and no file is left", not waited and not left, f"{waited} {left}")
        if name == "every broker":
            verdicts = {line["verdict"] for line in lines(out + "/rollouts.jsonl")} if process.returncode == 0 else errors
            report.check("judged runs: without brokers the run goes on, its programs are nobody's fault", verdicts in ({"crashed"}, {"crashed", "no_answer"}), verdicts)


def main():
    report = Report()
    with Folder() as folder:
        os.chmod(folder.path, 0o755)
        os.mkdir(folder / SCRATCH)
        folder.file("problems.jsonl", "".join(json.dumps({"id": i, "prompt": "a", "tests": [{"input": "", "output": "7"}]}) + "\n" for i in range(PROBLEMS)))
        folder.file("tokenizer.json", tokenizer(PROGRAMS))
        deck = folder.deck(DECK)
        done = run(["eval", deck, "--json"], limit=300, environment={"TMPDIR": folder / SCRATCH})
        if done.returncode == UNAVAILABLE:
            report.skip("judged runs", done.stderr.splitlines()[0])
        elif report.check("judged runs: evaluation in a sandbox", done.returncode == 0 and json.loads(done.stdout)["eval_problems"] == PROBLEMS, done.stdout + done.stderr):
            check_training(report, folder, deck)
            check_unconfined(report, folder, deck)
            check_named_by_problems(report, folder)
            folder.file("tokenizer.json", tokenizer(ENDLESS))
            check_kills(report, folder, folder.deck(DECK.replace("timeout_s = 60", "timeout_s = 600"), name="endless.toml"))
    report.finish()


if __name__ == "__main__":
    main()
