#!/usr/bin/env python3
"""Do the converters of tools/ write what the packages hold, and does maxplus read it?

Expectation, written before the runs: every row of a Parquet file in verl's shape comes out equal to what was written into it, nested
columns, umlauts, nulls, times and bytes included; of every data set of reasoning-gym that can be made, all problems that have an answer
are read with the preset, and at least 99 % of their own answers are right to its judge.

    python3 validation/data/run.py FOLDER [--rows 20000] [--size 5]

FOLDER gets a Python environment of its own with pyarrow and reasoning-gym, which is kept; PIP may name another pip program.
Writes results.md beside this file.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
from training import PROGRAM, conclude_by  # noqa: E402  (the folder above is known only now)

TOOLS = os.path.join(ROOT, "tools")
SECONDS_A_SET = 60  # a data set that takes longer to make is left out and named in the results

WRITE_PARQUET = """
import datetime, json, sys
import pyarrow, pyarrow.parquet
rows = int(sys.argv[1])
table = [{"data_source": "mine", "prompt": [{"role": "system", "content": "Sei kurz."}, {"role": "user", "content": f"Wieviel ist {i}+1? \\u00fc\\u20ac\\U0001d70b"}],
          "ability": None, "reward_model": {"style": "rule", "ground_truth": str(i + 1)},
          "extra_info": {"index": i, "split": "train", "share": i / 3, "raw": f"b{i}".encode(), "when": datetime.datetime(2026, 1, 1, 0, 0, i % 60)}} for i in range(rows)]
pyarrow.parquet.write_table(pyarrow.Table.from_pylist(table), sys.argv[2], row_group_size=5000)
with open(sys.argv[3], "w") as file:
    for row in table:
        row["extra_info"]["raw"] = row["extra_info"]["raw"].decode()
        row["extra_info"]["when"] = row["extra_info"]["when"].isoformat()
        file.write(json.dumps(row) + "\\n")
"""


def python_of(folder):
    python = os.path.join(folder, "bin", "python3")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    if subprocess.run([python, "-c", "import pyarrow, reasoning_gym"], capture_output=True).returncode != 0:
        pip = os.environ.get("PIP", os.path.join(folder, "bin", "pip"))
        subprocess.run([pip, "install", "--quiet", "pyarrow", "reasoning-gym"], check=True)
    return python


def versions(python):
    code = "import importlib.metadata as m; print(', '.join(f'{n} {m.version(n)}' for n in ('pyarrow', 'reasoning-gym')))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def json_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def deck_for(folder, name, preset, reward):
    """A network from nothing whose tokenizer knows every character of the file, so that nothing but the file is tried."""
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        letters = {c for line in file for c in json.dumps(json.loads(line), ensure_ascii=False)} | {"\n", "\t", "\r"}
    alphabet = json.dumps("".join(sorted(letters)), ensure_ascii=False).replace("\x7f", "\\u007F")
    deck = os.path.join(folder, name + ".toml")
    with open(deck, "w", encoding="utf-8") as file:
        file.write(f'[model]\nwidth = 16\nlayers = 1\nheads = 2\nffn_width = 16\ncontext = 65536\n[tokenizer]\nkind = "characters"\nalphabet = {alphabet}\n'
                   f'[data]\ntrain = "{name}"\npreset = "{preset}"\n[generation]\nmax_new_tokens = 4\n[optimizer]\nmicro_batch_tokens = 64\n{reward}')
    return deck


def check(deck):
    return subprocess.run([PROGRAM, "train", deck, "--check"], capture_output=True, text=True)


def parquet_part(python, folder, rows):
    source, expected, written = (os.path.join(folder, name) for name in ("rows.parquet", "expected.jsonl", "verl.jsonl"))
    subprocess.run([python, "-c", WRITE_PARQUET, str(rows), source, expected], check=True)
    start = time.time()
    subprocess.run([python, os.path.join(TOOLS, "parquet_to_jsonl.py"), source, "-o", written], check=True, capture_output=True)
    seconds = time.time() - start
    wanted, found = json_lines(expected), json_lines(written)
    equal = sum(a == b for a, b in zip(wanted, found)) if len(wanted) == len(found) else 0
    read = check(deck_for(folder, "verl.jsonl", "verl", '[reward]\nverifier = "number"\n'))
    return {"rows": rows, "equal": equal, "seconds": seconds, "read": read.returncode == 0, "why": read.stderr[:500]}


# The tool in one process for all data sets, so that its packages are loaded once: a line {name, why} for each.
MAKE_ALL = """
import contextlib, io, json, runpy, signal, sys
tool, folder, size, limit = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
from reasoning_gym.factory import DATASETS

def too_long(*_):
    raise TimeoutError(f"more than {limit} s")

signal.signal(signal.SIGALRM, too_long)
for name in sorted(DATASETS):
    why, said = "", io.StringIO()
    sys.argv = [tool, name, "--size", size, "--seed", "7", "-o", f"{folder}/{name}.jsonl"]
    signal.alarm(limit)
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            runpy.run_path(tool, run_name="__main__")
    except SystemExit:
        why = said.getvalue().strip().splitlines()[0]
    except BaseException as error:
        why = f"{type(error).__name__}: {error}"
    signal.alarm(0)
    print(json.dumps({"name": name, "why": why[-150:]}), flush=True)
"""


def gym_part(python, folder, size):
    tool = os.path.join(TOOLS, "reasoning_gym_to_jsonl.py")
    listed = subprocess.run([python, "-c", MAKE_ALL, tool, folder, str(size), str(SECONDS_A_SET)], capture_output=True, text=True, check=True).stdout
    made = [json.loads(line) for line in listed.splitlines()]
    left_out = [f"{m['name']} ({m['why']})" for m in made if m["why"]]
    problems = []
    for m in made:
        some = [] if m["why"] else json_lines(os.path.join(folder, m["name"] + ".jsonl"))
        if not some and not m["why"]:
            left_out.append(f"{m['name']} (no problem has an answer)")
        problems += some
    with open(os.path.join(folder, "gym.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(p, ensure_ascii=False) + "\n" for p in problems)
    read = check(deck_for(folder, "gym.jsonl", "reasoning_gym", ""))
    answers = os.path.join(folder, "answers.jsonl")
    with open(answers, "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": i, "response": p["answer"], "answer": p["answer"]}) + "\n" for i, p in enumerate(problems))
    scored = subprocess.run([PROGRAM, "score", answers, "--verifier", "exact"], capture_output=True, text=True, check=False)
    verdicts = [json.loads(line)["verdict"] for line in scored.stdout.splitlines()]
    odd = {}
    for problem, verdict in zip(problems, verdicts):
        if verdict != "correct":
            name = problem["metadata"].get("source_dataset", "?")
            odd[name] = odd.get(name, 0) + 1
    return {"sets": len(made), "left_out": left_out, "problems": len(problems), "right": verdicts.count("correct"), "odd": odd,
            "unread": [line for line in read.stderr.splitlines() if "error:" in line][:3] if read.returncode else []}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--size", type=int, default=5)
    arguments = parser.parse_args()
    python = python_of(os.path.abspath(arguments.folder))
    with tempfile.TemporaryDirectory() as folder:
        parquet = parquet_part(python, folder, arguments.rows)
        gym = gym_part(python, folder, arguments.size)

    share = gym["right"] / max(gym["problems"], 1)
    text = ["# The converters beside the packages", "",
            f"`python3 validation/data/run.py FOLDER --rows {arguments.rows} --size {arguments.size}`, {time.strftime('%Y-%m-%d')}: "
            f"{versions(python)}; {gym['sets']} data sets of reasoning-gym, {gym['problems']} problems."]
    if gym["odd"]:
        text += ["", "Not right to the judge: " + ", ".join(f"{count} of {name}" for name, count in gym["odd"].items()) + "."]
    if gym["left_out"]:
        text += ["", "Left out: " + "; ".join(gym["left_out"]) + "."]
    conclude_by(os.path.join(HERE, "results.md"), text, [
        ("rows of the Parquet file that come out equal: all", f"{parquet['equal']} of {parquet['rows']}, in {parquet['seconds']:.1f} s",
         parquet["equal"] == parquet["rows"]),
        ("maxplus reads them with preset verl", "yes" if parquet["read"] else parquet["why"], parquet["read"]),
        ("problems that are not read with preset reasoning_gym: none", "; ".join(gym["unread"]) or "0", not gym["unread"]),
        ("their own answers that are right to its judge: at least 99 %", f"{gym['right']} of {gym['problems']} ({100 * share:.2f} %)", share >= 0.99)])


if __name__ == "__main__":
    main()
