"""What a user may get wrong: each ends with its exit code and one line a fault from one rank, in time, and leaves nothing; and strange
shapes that must work."""
import json
import os
import re
import shutil
import struct
import subprocess
import time

from program import Folder, Report, TINY_DECK, lines, read, run, sets, start

FAST_S = 5  # a deck's faults take well under 2 s; a loaded machine starts mpirun slowly
BAD_DECK = (TINY_DECK.replace("iterations = 3", "iterations = -3\niteratons = 4").replace("temperature = 1.0", "temperature = 0")
            .replace("group_size = 4", "group_size = 1").replace("mini_batches = 2", "mini_batches = 20")
            .replace("learning_rate = 1e-3", "learning_rate = nan") + "[optimiser]\nx = 1\n")
FILE_DECK = (TINY_DECK.replace('task = "operators"', 'train = "problems.jsonl"').replace('verifier = "operators"', 'verifier = "exact"')
             .replace("every = 2", "every = 0") + '[tokenizer]\nkind = "characters"\nalphabet = "0123456789+-= ab"\n')
GOOD_LINE = b'{"id": 1, "prompt": "1+1", "answer": "2"}\n'
EQUAL = ["--set", "reward.verifier=random", "--set", "reward.probability=1"]
MIXED = ["--set", "reward.verifier=random", "--set", "reward.probability=0.5"]


def faults(process):
    return [line for line in process.stderr.splitlines() if line.startswith("maxplus: error: ")]


class Checks:
    def __init__(self, report, folder):
        self.report, self.folder, self.count = report, folder, 0

    def out(self):
        self.count += 1
        return self.folder / f"out-{self.count}"

    def fails(self, name, arguments, code, *patterns, ranks=0, count=None, limit_s=60):
        """The exit code, a line of a fault for each pattern (count: exactly so many), and no trace of a crash."""
        begin = time.time()
        process = run(arguments, ranks, limit=60)
        found, seconds = faults(process), time.time() - begin
        ok = process.returncode == code and len(found) == (count or len(patterns)) and seconds < limit_s
        ok = ok and all(any(re.search(pattern, line) for line in found) for pattern in patterns)
        ok = ok and not re.search(r"terminate called|Segmentation|MPI_ABORT|bug in maxplus", process.stderr)
        self.report.check(name, ok, f"exit {process.returncode} after {seconds:.1f} s: {process.stderr[:1200]}")
        return process

    def works(self, name, arguments, ranks=2, rows=None):
        """Exit 0; returns the rows of metrics.jsonl, empty if the run failed."""
        out = self.out()
        process = run(arguments + ["--out", out, "--quiet"], ranks, limit=60)
        metrics = lines(os.path.join(out, "metrics.jsonl")) if process.returncode == 0 else []
        self.report.check(name, process.returncode == 0 and (rows is None or rows(metrics)), process.stderr or metrics[-1:])
        return metrics


def decks(c):
    deck = c.folder.deck(BAD_DECK, name="bad.toml")
    patterns = [r"--set foo: there is no '='", r"bad\.toml:5: .*iterations = -3", r"bad\.toml:6: .*'iteratons'.*'iterations'",
                r"bad\.toml:\d+: .*learning_rate = nan", r"bad\.toml:\d+: .*\[optimiser\].*'optimizer'", r"--set run\.sed=3: .*'seed'",
                r"temperature = 0", r"group_size = 1"]  # [optimizer] is in doubt beside [optimiser]
    for ranks in (0, 2, 3, 5):
        c.fails(f"every fault of a deck at once, on {ranks} ranks", ["train", deck, "--set", "run.sed=3", "--set", "foo"], 78, *patterns,
                ranks=ranks, limit_s=FAST_S)
    for name, change, pattern in [
            ("a key twice", ("seed = 7", "seed = 7\nseed = 8"), r":5: key 'seed' stands twice"),
            ("no TOML", ("seed = 7", "seed = = 7"), r":4: this is not TOML"),
            ("a number of 2^63", ("seed = 7", "seed = 9223372036854775808"), r":4: "),
            ("an infinite number", ("temperature = 1.0", "temperature = inf"), r"not a finite number"),
            ("another family", ('"llama"', '"lama"'), r":9: .*family.*llama"),
            ("heads that do not divide", ("kv_heads = 2", "kv_heads = 3"), r"kv_heads = 3 does not divide"),
            ("another algorithm", ('name = "grpo"', 'name = "gpro"'), r"gpro.*'grpo'"),
            ("another verifier", ('verifier = "operators"', 'verifier = "operator"'), r"'operator'.*'operators'"),
            ("another task", ('task = "operators"', 'task = "operator"'), r"'operator'.*'operators'"),
            ("a divergence without reference", ('name = "grpo"', 'name = "grpo"\nkl = "k3"'), r'kl = "k3" needs a reference'),
            ("no room for prompts", ("max_new_tokens = 24", "max_new_tokens = 96"), r"no room for a prompt"),
            ("too little room for prompts", ("context = 96", "context = 26"), r"room for 2 tokens"),
            ("too many rollouts", ("problems_per_iteration = 6", "problems_per_iteration = 1000000000"), r"problems_per_iteration"),
            ("a table that is not supported", ("[eval]", "[parallel.actor]\ntensor = 1\n[eval]"), r"\[parallel\]"),
            ("roles without ranks", ("[eval]", '[placement]\ngenerator = "0"\n[eval]'), r"no rank is left for the actor")]:
        out = c.out()
        deck = c.folder.deck(TINY_DECK.replace(*change), name="deck.toml")
        c.fails(f"deck: {name}", ["train", deck, "--out", out], 78, pattern, limit_s=FAST_S)
        c.report.check(f"deck: {name}: nothing is made", not os.path.exists(out))
    tiny = c.folder.deck()
    c.fails("too few slices for the ranks", ["train", tiny] + sets(optimizer__gradient_slices=2), 78, r"2 is less than the 3 ranks", ranks=3)
    c.fails("a deck that is not there", ["train", c.folder / "none.toml"], 66, r"none\.toml: there is no such file", ranks=2)
    os.mkfifo(c.folder / "pipe.toml")
    c.fails("a deck that is a pipe", ["train", c.folder / "pipe.toml"], 66, r"pipe", limit_s=FAST_S)


def command_lines(c):
    deck = c.folder.deck()
    for arguments in ([], ["trian"], ["train"], ["train", deck, "x"], ["train", deck, "--bogus"], ["train", deck, "--set"],
                      ["train", deck, "--ranks", "2"], ["generate", "m", "p", "--top-p", "2"], ["generate", "m", "p", "--temperature", "nan"],
                      ["score", "f"], ["score", "f", "--verifier", "exct"], ["advantage", "f", "--estimator", "x"], ["--json"]):
        c.fails("command line: " + (" ".join(arguments).replace(deck, "DECK") or "empty"), arguments, 64, ".")
    c.fails("command line on 3 ranks", ["train", deck, "--bogus"], 64, "--bogus", ranks=3)


def problems(c):
    deck = c.folder.deck(FILE_DECK, name="file.toml")
    path = c.folder / "problems.jsonl"

    def write(content):
        with open(path, "wb") as file:
            file.write(content)

    for name, content, pattern in [
            ("empty", b"", r":1: .*no problem"), ("UTF-16", GOOD_LINE.decode().encode("utf-16"), r":1: .*UTF-16"), ("gzip", b"\x1f\x8b\x08\0ab", r":1: .*gzip"),
            ("invalid UTF-8", GOOD_LINE + b'{"prompt": "1\xff"}\n', r":2: .*UTF-8"), ("cut", GOOD_LINE + b'{"prompt": "1', r":2: .*JSON"),
            ("array", b"[1]\n", r":1: .*array"), ("key twice", b'{"prompt": "1", "prompt": "2"}\n', r":1: .*twice"), ("id twice", GOOD_LINE * 2, r":2: .*id 1"),
            ("deep", b'{"prompt": ' + b"[" * 10000 + b"]" * 10000 + b"}\n", r":1: .*deep"), ("too long", b'{"prompt": "' + b"1" * 200 + b'"}\n', r":1: .*200 tokens"),
            ("unknown character", b'{"prompt": "1z"}\n', r":1: .*'z'"), ("special token as text", b'{"prompt": "1<eos>"}\n', r":1: .*'<'"),
            ("unknown verifier", b'{"prompt": "1", "verifier": "exct"}\n', r":1: .*'exct'.*'exact'"), ("token id", b'{"prompt_ids": [999]}\n', r":1: .*999")]:
        write(content)
        c.fails(f"problems: {name}", ["train", deck, "--check"], 65, r"problems\.jsonl" + pattern)
    write(GOOD_LINE + b'x\n{"prompt": "1z"}\n[1]\n' + b'{"id": 5, "prompt": "2", "answer": "2"}\n')
    c.fails("problems: all bad lines at once, on 3 ranks", ["train", deck], 65, r":2: ", r":3: ", r":4: ", ranks=3)
    process = run(["train", deck, "--out", c.out()] + sets(data__on_bad_line="skip", run__iterations=1), 2)
    c.report.check("problems: bad lines are skipped and counted", process.returncode == 0 and "skipped 3 of 5 lines" in process.stderr, process.stderr)
    os.remove(path)
    c.fails("problems: no file", ["train", deck], 66, r"problems\.jsonl")
    os.mkfifo(path)
    c.fails("problems: a pipe", ["train", deck], 66, r"problems\.jsonl", limit_s=FAST_S)
    os.remove(path)


def run_folders(c):
    deck = c.folder.deck()
    c.folder.file("file", "x")
    c.fails("run folder: a file", ["train", deck, "--out", c.folder / "file"], 73, "is a file", ranks=2)
    other = c.out()
    os.mkdir(other)
    c.folder.file(os.path.join(other, "precious.txt"), "x")
    c.fails("run folder: not empty", ["train", deck, "--out", other], 73, "not empty", ranks=3)
    c.report.check("run folder: what was in it stays alone", os.listdir(other) == ["precious.txt"])
    begun = c.out()
    os.makedirs(os.path.join(begun, "checkpoints"))
    c.folder.file(os.path.join(begun, "log.txt"), "")
    process = run(["train", deck, "--quiet", "--out", begun] + sets(run__iterations=1, eval__every=0), 2)
    c.report.check("run folder: left before the manifest was written", process.returncode == 0, process.stderr)

    every = sets(run__checkpoint_every=1, eval__every=0)
    base = c.out()
    first = start(["train", deck, "--quiet", "--out", base] + every + sets(run__iterations=2000), 2)
    until = time.time() + 30
    while time.time() < until and not os.path.exists(os.path.join(base, "checkpoints", "latest")):
        time.sleep(0.05)
    c.fails("run folder: in use by another run", ["train", deck, "--out", base] + every + sets(run__iterations=2000), 73, "in use", ranks=2)
    first.terminate()
    first.communicate()

    base = c.out()
    run(["train", deck, "--quiet", "--out", base] + every, 2)
    c.fails("run folder: resume = never", ["train", deck, "--out", base, "--set", "run.resume=never"] + every, 73, "never", ranks=2)
    c.fails("run folder: another deck", ["train", deck, "--out", base] + every + sets(optimizer__learning_rate=2e-3, generation__temperature=0.9), 78,
            r"learning_rate = 0\.002, was 0\.001", r"temperature = 0\.9, was 1", ranks=3)
    newest = "checkpoints/iteration-000003.h5"
    whole = read(os.path.join(base, newest))
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 16
    for name, file, content, code in [("bits flipped", newest, bytes(flipped), 0), ("cut", newest, whole[:len(whole) // 2], 0),
                                      ("latest names nothing", "checkpoints/latest", b"iteration-000099.h5\n", 0),
                                      ("latest is garbage", "checkpoints/latest", b"\xff\0/etc/passwd", 0), ("all damaged", None, whole[:1000], 65)]:
        copy = c.out()
        shutil.copytree(base, copy)
        for damaged in ([file] if file else [newest, "checkpoints/iteration-000002.h5"]):
            with open(os.path.join(copy, damaged), "wb") as out:
                out.write(content)
        process = run(["train", deck, "--out", copy] + every + sets(run__iterations=4), 2)
        iterations = [row["iteration"] for row in lines(os.path.join(copy, "metrics.jsonl"))]
        kept = list(range(5)) if code == 0 else list(range(4))
        c.report.check(f"checkpoint: {name}", process.returncode == code and "checkpoint not used" in process.stderr and iterations == kept,
                       f"{process.returncode} {iterations} {process.stderr[:900]}")
    return os.path.join(base, newest)


def models(c, checkpoint):
    ids = c.folder.file("ids.jsonl", '{"ids": [1, 2]}\n')
    config = {"model_type": "llama", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
              "vocab_size": 40, "max_position_embeddings": 96, "rms_norm_eps": 1e-5, "tie_word_embeddings": True}
    header = json.dumps({"a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}}).encode()

    def folder(name, weights, **changes):
        os.mkdir(c.folder / name)
        c.folder.file(f"{name}/config.json", json.dumps(dict(config, **changes)))
        with open(c.folder / f"{name}/model.safetensors", "wb") as file:
            file.write(weights)
        return c.folder / name

    os.mkdir(c.folder / "nothing")
    c.fails("model: an empty folder", ["logprob", c.folder / "nothing", ids], 66, r"config\.json", ranks=2)
    good = struct.pack("<Q", len(header)) + header + bytes(16)
    for name, weights, changes, pattern in [("cut", good[:-9], {}, "past the end"), ("endless", struct.pack("<Q", 2**62) + header, {}, "too large"),
                                            ("family", good, {"model_type": "gpt2"}, "gpt2"), ("negative", good, {"hidden_size": -32}, "-32")]:
        c.fails(f"model: {name}", ["inspect", folder(name, weights, **changes)], 65, pattern, count=2 if name == "negative" else None)
    c.fails("model: no model", ["logprob", ids, ids], 65, r"ids\.jsonl", ranks=2)
    c.fails("report: no run", ["report", c.folder / "nothing"], 66, "no run folder")
    c.report.check("report: nothing is made", os.listdir(c.folder / "nothing") == [])

    for command, key, values in [("logprob", "ids", ["[999]", "[-1]", "[]", str([1] * 97)]), ("generate", "prompt_ids", ["[999]", "[]", str([1] * 96)]),
                                 ("tokenize", "ids", ["[40]", '"x"'])]:
        text = "".join('{"%s": %s}\n' % (key, value) for value in values)
        file = c.folder.file("lines.jsonl", text)
        patterns = [rf"lines\.jsonl:{i + 1}: " for i in range(len(values))]
        c.fails(f"{command}: ids that are none", [command, checkpoint, file], 65, *patterns)
    file = c.folder.file("scores.jsonl", '{"response": "x7", "answer": "7"}\n')
    process = run(["score", file, "--verifier", "regex", "--set", r"reward.pattern=x(\d)"])
    c.report.check("score: a verifier's own keys may be set", process.returncode == 0 and json.loads(process.stdout)["verdict"] == "correct", process.stderr)


def judges(c):
    deck = c.folder.deck(TINY_DECK.replace('verifier = "operators"', 'verifier = "command"\ncommand = ["python3", "judge.py"]\ntimeout_s = 0.5'), name="judge.toml")
    loop = "import sys, time\nfor line in sys.stdin: "
    for name, program in [("hangs", loop + "time.sleep(1000)\n"), ("dies", "import sys\nsys.exit(3)\n"), ("prints garbage", loop + "print('{\\xff', flush=True)\n"),
                          ("prints nothing", loop + "pass\n"), ("gives no number", loop + "print('{\"reward\": NaN, \"verdict\": \"correct\"}', flush=True)\n")]:
        judge = c.folder.file("judge.py", program)
        begin = time.time()
        c.works(f"a judge that {name}", ["train", deck] + sets(run__iterations=1, eval__every=0, generation__problems_per_iteration=2),
                rows=lambda m: m[-1]["verdict_crashed"] == 8 and "reward_mean" not in m[-1] and time.time() - begin < 30)
        left = subprocess.run(["pgrep", "-f", judge], capture_output=True, text=True, check=False).stdout
        c.report.check(f"a judge that {name}: no process is left", not left, left)


def shapes(c):
    tiny = ["train", c.folder.deck()] + sets(eval__every=0, run__iterations=2)
    c.works("one problem, more ranks than rollouts", tiny + sets(generation__problems_per_iteration=1, optimizer__mini_batches=1, generation__group_size=2), 5,
            lambda m: m[-1]["rollouts"] == 2)
    c.works("one row at a time, one token each", tiny + sets(generation__batch_rollouts=1, generation__max_new_tokens=1), 3,
            lambda m: m[-1]["tokens_trained"] == m[-1]["rollouts"])
    c.works("a context that is just enough", tiny + sets(model__context=30), 2, lambda m: m[-1]["log_prob_gap_max"] == 0)
    c.works("equal rewards", tiny + EQUAL, 2, lambda m: m[-1]["gradient_norm"] == 0 and m[-1]["advantage_max"] == 0)
    c.works("equal rewards are dropped", tiny + EQUAL + sets(generation__zero_spread="drop"), 2,
            lambda m: m[-1]["step"] == 0 and m[-1]["groups_dropped"] == 6 and m[-1]["weights_hash"] == m[0]["weights_hash"])
    c.works("equal rewards are drawn again, and end", tiny + EQUAL + sets(generation__zero_spread="resample"), 2,
            lambda m: m[-1]["step"] == 0 and m[-1]["groups_dropped"] == m[-1]["groups"])
    c.works("all cut, all masked", tiny + sets(generation__force_length=4, algorithm__mask_truncated="true"), 2, lambda m: m[-1]["tokens_trained"] == 0)
    for where in ("loss", "reward"):
        c.works(f"k3 in the {where}", tiny + ["--set", "reference.path=policy"] + sets(algorithm__kl="k3", algorithm__kl_where=where, algorithm__kl_coefficient=0.1,
                                                                                      generation__temperature=0.7), 3, lambda m: m[-1]["kl_reference"] >= 0)
    c.works("two epochs, and several answers a held-out problem", tiny + MIXED + sets(optimizer__epochs=2, eval__every=1, eval__samples=4), 2,
            lambda m: m[-1]["step"] == 8 and 0 <= m[-1]["eval_pass_at_1"] <= m[-1]["eval_pass_at_4"] <= 1)


def main():
    report = Report()
    with Folder() as folder:
        c = Checks(report, folder)
        decks(c)
        command_lines(c)
        problems(c)
        models(c, run_folders(c))
        judges(c)
        shapes(c)
    report.finish()


if __name__ == "__main__":
    main()
