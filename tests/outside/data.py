"""Where problems come from: presets, mixed sources, curricula, built-in tasks, and problems that are held out too."""
import json
import os
import re

from program import Folder, Report, TINY_MODEL, hashes, lines, read, run, sets

# Any answer matches, so a verdict of "correct" says that the pattern was found where the preset looks for the answer.
ANY = ".*"
PRINTABLE = "".join(chr(c) for c in range(32, 127) if chr(c) not in '"\\')
TOKENIZER = f'[tokenizer]\nkind = "characters"\nalphabet = "{PRINTABLE}"\n'
SMALL = TINY_MODEL.replace("context = 96", "context = 512") + TOKENIZER + "[generation]\nmax_new_tokens = 4\n"
PRESETS = {
    "verl": ({"prompt": [{"role": "user", "content": "ask verl"}], "reward_model": {"style": "rule", "ground_truth": ANY},
              "extra_info": {"index": 31}}, "ask verl", 31),
    "trl": ({"prompt": "ask trl", "solution": ANY, "answer": "^not this$"}, "ask trl", 1),
    "openrlhf": ({"input": "ask openrlhf", "label": ANY}, "ask openrlhf", 1),
    "gsm8k": ({"question": "ask gsm8k", "answer": "many words\n#### " + ANY}, "ask gsm8k", 1),
    "reasoning_gym": ({"question": "ask the gym", "answer": ANY, "metadata": {"source_index": 8}}, "ask the gym", 8),
}

MIX = TINY_MODEL + """[run]
seed = 3
iterations = 3
checkpoint_every = 1
[data]
[[data.source]]
name = "own"
train = "own.jsonl"
verifier = "exact"
weight = 2
[[data.source]]
task = "sorting"
max_length = 4
[[data.source]]
name = "sums"
task = "arithmetic"
weight = 0.5
[generation]
problems_per_iteration = 21
group_size = 2
max_new_tokens = 12
batch_rollouts = 16
[eval]
every = 3
problems = 10
[optimizer]
micro_batch_tokens = 256
"""


def jsonl(problems):
    return "".join(json.dumps(problem) + "\n" for problem in problems)


def check_presets(report, folder):
    for name, (line, prompt, number) in PRESETS.items():
        folder.file(name + ".jsonl", jsonl([line]))
        deck = folder.deck(SMALL + f'[data]\neval = "{name}.jsonl"\npreset = "{name}"\n[reward]\nverifier = "regex"\n', name=name + ".toml")
        done = run(["eval", deck, "--json", "--out", folder / name])
        if not report.check(f"data: preset {name} is evaluated", done.returncode == 0, done.stderr):
            continue
        record = lines(os.path.join(folder / name, "rollouts.jsonl"))[0]
        found = (record["prompt"], record["problem"], record["verdict"])
        report.check(f"data: preset {name} finds prompt, id and answer", found == (prompt, number, "correct"), found)
    folder.file("cd.jsonl", jsonl([{"target": 98, "nums": [44, 19, 35]}]))
    deck = folder.deck(SMALL + '[data]\neval = "cd.jsonl"\npreset = "countdown"\n', name="cd.toml")
    done = run(["eval", deck, "--json", "--out", folder / "cd"])
    record = lines(os.path.join(folder / "cd", "rollouts.jsonl"))[0] if done.returncode == 0 else {}
    report.check("data: preset countdown writes a prompt and brings its judge",
                 "98" in record.get("prompt", "") and record.get("verdict") in ("wrong", "no_answer"), done.stderr + str(record)[:300])
    overridden = run(["eval", folder / "verl.toml", "--json", "--out", folder / "o"] + sets(data__answer_key="extra_info.index"))
    verdict = lines(os.path.join(folder / "o", "rollouts.jsonl"))[0]["verdict"] if overridden.returncode == 0 else overridden.stderr
    report.check("data: a given key counts instead of the preset's", verdict in ("wrong", "no_answer"), verdict)
    folder.file("named.jsonl", jsonl([{"prompt": "a", "answer": ANY, "verifier": "regex"}, {"prompt": "b", "answer": "x", "verifier": "exact"}]))
    named = run(["eval", folder.deck(SMALL + '[data]\neval = "named.jsonl"\n[reward]\n', name="named.toml"), "--json", "--out", folder / "n"])
    verdicts = [r["verdict"] for r in lines(os.path.join(folder / "n", "rollouts.jsonl"))] if named.returncode == 0 else named.stderr
    report.check("data: problems that name their judges need no other", verdicts == ["correct", "wrong"], verdicts)
    folder.file("many.jsonl", jsonl([{"prompt": chr(97 + i), "answer": ANY, "verifier": "regex"} for i in range(12)]))
    cut = run(["eval", folder.deck(SMALL + '[data]\neval = "many.jsonl"\n[reward]\n', name="many.toml"), "--json", "--out", folder / "m"])
    ends = [r["finish"] for r in lines(os.path.join(folder / "m", "rollouts.jsonl"))] if cut.returncode == 0 else []
    report.check("data: the share of answers that were cut", ends and json.loads(cut.stdout)["eval_truncated_share"] == ends.count("length") / len(ends), cut.stdout + cut.stderr)
    unknown = run(["eval", folder / "verl.toml"] + sets(data__preset="gsm8"))
    report.check("data: an unknown preset is exit 78 with the nearest name", unknown.returncode == 78 and "'gsm8k'" in unknown.stderr,
                 unknown.stderr)


def check_mix(report, folder):
    folder.file("own.jsonl", jsonl([{"id": 100 + i, "prompt": f"say {i}:", "answer": str(i)} for i in range(9)]))
    deck = folder.deck(MIX, name="mix.toml")
    one, three, parts = (folder / name for name in ("one", "three", "parts"))
    done = [run(["train", deck, "--out", one, "--quiet"], ranks=1), run(["train", deck, "--out", three, "--quiet"], ranks=3),
            run(["train", deck, "--out", parts, "--quiet"] + sets(run__stop_after=2), ranks=2), run(["train", deck, "--out", parts, "--quiet"], ranks=1)]
    if not report.check("data: a mix of a file and two tasks runs", all(d.returncode == 0 for d in done), "".join(d.stderr for d in done)):
        return
    rollouts = read(one + "/rollouts.jsonl")
    report.check("data: the mix draws the same on 1 and 3 ranks", rollouts == read(three + "/rollouts.jsonl") and hashes(one) == hashes(three))
    report.check("data: the mix goes on after a stop as if there had been none",
                 rollouts == read(parts + "/rollouts.jsonl") and hashes(one) == hashes(parts))
    records = lines(one + "/rollouts.jsonl")
    taken = {}
    for record in records:
        taken.setdefault(record["source"], []).append(record)
    counts = {name: len(some) // 2 for name, some in taken.items()}
    expected = {"own": 36, "sorting": 18, "sums": 9}  # of 63; shares 4 : 2 : 1, five deviations are 20
    report.check("data: each source gives about its share", set(counts) == set(expected) and all(abs(counts[n] - expected[n]) < 20 for n in expected),
                 counts)
    ids = [record["problem"] for record in taken["own"] if record["index"] == 0]
    report.check("data: a source has epochs of its own", sorted(ids[:9]) == list(range(100, 109)) and sorted(ids[9:18]) == list(range(100, 109)), ids)
    report.check("data: problems of a task are judged by it",
                 all(r["verdict"] in ("wrong", "no_answer", "correct") for r in records) and all(r["prompt"].startswith("sort ") for r in taken["sorting"]))
    metrics = lines(one + "/metrics.jsonl")[-1]
    report.check("data: every source has an accuracy", all(f"accuracy_{name}" in metrics for name in expected) and metrics["eval_problems"] == 10,
                 sorted(metrics))


def check_repeats(report, folder):
    train = [{"prompt": p, "answer": "1"} for p in ("say one", "say two", "Say  ONE", "say three", "say four")]
    folder.file("train.jsonl", jsonl(train))
    folder.file("held.jsonl", jsonl([{"prompt": "say five", "answer": "5"}, {"prompt": "SAY three", "answer": "3"}]))
    deck = folder.deck(SMALL + '[data]\ntrain = "train.jsonl"\neval = "held.jsonl"\n[reward]\nverifier = "exact"\n'
                       "[run]\niterations = 1\ncheckpoint_every = 0\n", name="repeats.toml")
    warned = run(["train", deck, "--check"])
    report.check("data: --check tells a problem that is held out too",
                 warned.returncode == 0 and re.search(r"1 of 5 training problems are held out too.*train\.jsonl:4 is .*held\.jsonl:2", warned.stdout),
                 warned.stdout[-1500:] + warned.stderr)
    report.check("data: --check tells a problem that is asked before",
                 re.search(r"1 of 5 training problems ask what another asks before; the first: .*train\.jsonl:3 repeats .*train\.jsonl:1",
                           warned.stdout), warned.stdout[-1500:])
    stopped = run(["train", deck, "--check"] + sets(data__on_contaminated="stop"))
    report.check("data: on_contaminated = stop is exit 65 with the place",
                 stopped.returncode == 65 and re.search(r"error: .*train\.jsonl:4: .*held\.jsonl:2", stopped.stderr), stopped.stderr)
    out = folder / "dropped"
    dropped = run(["train", deck, "--out", out, "--quiet"] + sets(data__on_contaminated="drop", generation__problems_per_iteration=40))
    prompts = {record["prompt"] for record in lines(out + "/rollouts.jsonl")} if dropped.returncode == 0 else set()
    report.check("data: on_contaminated = drop trains on the others only", prompts == {t["prompt"] for t in train} - {"say three"},
                 dropped.stderr + str(prompts))
    log = read(out + "/log.txt").decode() if dropped.returncode == 0 else ""
    report.check("data: the log says what was left out", "left out 1 of 5 training problems" in log, log)


def check_skipped_demonstrations(report, folder):
    folder.file("train.jsonl", jsonl([{"prompt": "one", "answer": "1"}]))
    folder.file("shown.jsonl", jsonl([{"prompt": "one", "response": "1"}, {"prompt": "two"}, {"prompt": "three", "response": "3"}]))
    deck = folder.deck(SMALL + '''[run]
iterations = 1
[data]
train = "train.jsonl"
on_bad_line = "skip"
[reward]
verifier = "exact"
[warm_start]
train = "shown.jsonl"
steps = 1
[optimizer]
micro_batch_tokens = 512
''', name="shown.toml")
    expected = r"skipped 1 of 3 lines; the first: \S*shown\.jsonl:2"
    checked = run(["train", deck, "--check"])
    report.check("data: --check tells of demonstrations that are left out", checked.returncode == 0 and re.search(expected, checked.stdout), checked.stdout[-1500:] + checked.stderr)
    out = folder / "shown"
    done = run(["train", deck, "--out", out, "--quiet"] + sets(eval__every=0), ranks=2)
    log = read(out + "/log.txt").decode() if done.returncode == 0 else done.stderr
    report.check("data: the log tells of demonstrations that are left out", len(re.findall(expected, log)) == 1, log)


def check_faults(report, folder):
    deck = folder.deck(TINY_MODEL + """[data]
preset = "gsm8"
order = "curriculm"
[[data.source]]
name = "empty"
[[data.source]]
task = "sorting"
max_lenght = 4
weight = -1
[[data.source]]
task = "arithmetic"
verifier = "sortin"
name = "a b"
[[data.source]]
task = "graph_paths"
min_nodes = 9
max_nodes = 5
""", name="faults.toml")
    done = run(["train", deck, "--check"])
    expected = ["preset = \"gsm8\"", "curriculm", "neither train nor task", "weight = -1", "'sorting'", "a b"]
    report.check("data: faults of sources are listed at once", done.returncode == 78 and all(word in done.stderr for word in expected),
                 done.stderr)
    good = TINY_MODEL + '[data]\norder = "curriculum"\n[[data.source]]\ntask = "sorting"\nmax_lenght = 4\n[[data.source]]\ntask = "graph_paths"\nmin_nodes = 9\nmax_nodes = 5\n'
    done = run(["train", folder.deck(good, name="keys.toml"), "--check"])
    report.check("data: keys of a source's task are checked", done.returncode == 78 and "'max_length'" in done.stderr and "min_nodes = 9" in done.stderr,
                 done.stderr)


def check_curriculum(report, folder):
    deck = folder.deck(TINY_MODEL + '[run]\niterations = 3\ncheckpoint_every = 0\n[data]\ntask = "letter_counting"\nproblems = 60\n'
                       'order = "curriculum"\ncurriculum_window = 10\n[generation]\nproblems_per_iteration = 20\ngroup_size = 2\nmax_new_tokens = 4\n'
                       '[eval]\nevery = 0\n', name="curriculum.toml")
    out = folder / "curriculum"
    done = run(["train", deck, "--out", out, "--quiet"], ranks=2)
    lengths = [len(r["prompt"]) for r in lines(out + "/rollouts.jsonl") if r["index"] == 0] if done.returncode == 0 else []
    windows = [lengths[i:i + 10] for i in range(0, len(lengths), 10)]
    report.check("data: a curriculum takes easy problems first", len(windows) == 6 and windows[0] and max(windows[0]) < max(windows[5])
                 and all(max(a) <= min(b) for a, b in zip(windows, windows[1:])), done.stderr + str(lengths))
    unrated = run(["train", deck, "--check"] + sets(data__task="countdown"))
    report.check("data: a task without difficulties has no curriculum", unrated.returncode == 78 and "difficult" in unrated.stderr, unrated.stderr)


def check_verifiers(report, folder):
    graph = {"edges": [["a", "b"], ["b", "c"]], "from": "a", "to": "c"}
    for name, answer, response in (("arithmetic", 7, "7"), ("letter_counting", 2, "2"), ("sorting", [3, 1, 2], "1 2 3"), ("graph_paths", graph, "a-b-c")):
        path = folder.file("score.jsonl", jsonl([{"id": 1, "response": f"<answer>{text}</answer>", "answer": answer} for text in (response, "0")]))
        done = run(["score", path, "--verifier", name])
        verdicts = [json.loads(line)["verdict"] for line in done.stdout.splitlines()]
        report.check(f"data: {name} judges", verdicts == ["correct", "wrong"], done.stdout + done.stderr)
        help_text = run(["score", "--verifier", name, "--help"])
        report.check(f"data: {name} publishes its grammar", help_text.returncode == 0 and "<answer>" in help_text.stdout, help_text.stderr)


report = Report()
with Folder() as folder:
    check_presets(report, folder)
    check_mix(report, folder)
    check_repeats(report, folder)
    check_skipped_demonstrations(report, folder)
    check_faults(report, folder)
    check_curriculum(report, folder)
    check_verifiers(report, folder)
report.finish()
