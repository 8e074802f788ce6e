"""Starts maxplus from outside, as a user would, with a time limit and a hard kill behind it; reports in the form of tests/run.sh."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

PROGRAM = os.environ.get("MAXPLUS") or os.path.join(os.path.dirname(__file__), "..", "..", "build", "maxplus")
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none", "OMP_NUM_THREADS": "1",
}

# A network and a task small enough for tests of seconds; every table that a test changes is changed by --set.
TINY_MODEL = """[model]
family = "llama"
width = 32
layers = 2
heads = 4
kv_heads = 2
ffn_width = 48
context = 96
tie_embeddings = true
"""

TINY_DECK = """
title = "tiny"
[run]
seed = 7
iterations = 3
checkpoint_every = 0
out = "{out}"
""" + TINY_MODEL + """[data]
task = "operators"
[reward]
verifier = "operators"
[generation]
problems_per_iteration = 6
group_size = 4
temperature = 1.0
max_new_tokens = 24
batch_rollouts = 16
[algorithm]
name = "grpo"
[optimizer]
learning_rate = 1e-3
warmup_steps = 2
schedule = "cosine"
weight_decay = 0.01
mini_batches = 2
micro_batch_tokens = 256
[eval]
every = 2
problems = 24
"""

WARM_START = """
[warm_start]
task = "operators"
steps = 12
batch_tokens = 300
learning_rate = 3e-3
[[warm_start.stage]]
share = 0.5
patient = 0.35
verdict_weight = 5.0
[[warm_start.stage]]
share = 0.5
patient = 0.10
"""


# What the tiny network draws is never right, so it would learn nothing: these rewards, drawn by rollout, differ within every group.
LEARNING_DECK = TINY_DECK.replace('verifier = "operators"', 'verifier = "random"\nprobability = 0.5') + WARM_START


# A network over twelve words, and how it learns from pairs of answers; for rules that compare answers.
WORDS = [f"w{i}" for i in range(12)]
WORDS_DECK = """
[run]
seed = 3
iterations = 40
checkpoint_every = 0
out = "{out}"
""" + TINY_MODEL + """[tokenizer]
kind = "words"
words = "WORDS"
""".replace("WORDS", " ".join(WORDS))
PAIRS_DECK = WORDS_DECK + """
[data]
train = "pairs.jsonl"
eval = "held_out.jsonl"
[generation]
problems_per_iteration = 32
max_new_tokens = 4
[algorithm]
name = "dpo"
[optimizer]
learning_rate = 3e-3
mini_batches = 1
micro_batch_tokens = 128
[eval]
every = 40
"""


class Report:
    """Prints `ok NAME`, `not ok NAME: why` and `skip NAME: why`; the exit status says whether all went well."""

    def __init__(self):
        self.failed = 0
        self.started = time.time()

    def check(self, name, condition, why=""):
        if condition:
            print(f"ok {name}", flush=True)
        else:
            self.failed += 1
            text = str(why).strip().replace("\n", " | ")
            print(f"not ok {name}: {text[-1500:]}", flush=True)
        return bool(condition)

    def skip(self, name, why):
        print(f"skip {name}: {why}", flush=True)

    def finish(self):
        sys.exit(1 if self.failed else 0)


class Folder:
    """A temporary folder that goes away with the test."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="maxplus-test-")
        return self

    def __exit__(self, *unused):
        shutil.rmtree(self.path, ignore_errors=True)

    def file(self, name, text):
        path = os.path.join(self.path, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def deck(self, text=TINY_DECK, out="out", name="deck.toml"):
        return self.file(name, text.replace("{out}", os.path.join(self.path, out)))

    def __truediv__(self, name):
        return os.path.join(self.path, name)


def command(arguments, ranks):
    launch = [] if ranks == 0 else ["mpirun", "-n", str(ranks)]
    return launch + [PROGRAM] + [str(a) for a in arguments]


def run(arguments, ranks=0, limit=120, environment=None, text_input=None):
    """Runs to the end; ranks = 0 starts the program alone, without a launcher. Returns the completed process."""
    env = dict(os.environ, **ENVIRONMENT, **(environment or {}))
    return subprocess.run(["timeout", "-k", "5", str(limit)] + command(arguments, ranks), capture_output=True, text=True, env=env,
                          input=text_input, check=False)


def start(arguments, ranks=0, limit=120, environment=None):
    env = dict(os.environ, **ENVIRONMENT, **(environment or {}))
    return subprocess.Popen(["timeout", "-k", "5", str(limit)] + command(arguments, ranks), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, env=env)


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def hashes(out):
    """weights_hash of every line of a run folder's metrics, by iteration."""
    return [(m["iteration"], m["weights_hash"]) for m in lines(os.path.join(out, "metrics.jsonl"))]


def sets(**keys):
    """--set arguments: table__key=value."""
    arguments = []
    for key, value in keys.items():
        arguments += ["--set", f"{key.replace('__', '.', 1)}={value}"]
    return arguments
