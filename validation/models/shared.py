"""What the checks of models share: starting the program, and the tables they write."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = os.path.join(ROOT, "tests", "data")
PROGRAM = os.environ.get("MAXPLUS") or os.path.join(ROOT, "build", "maxplus")


def attempt(*command):
    return subprocess.run(["timeout", "-k", "10", "900", *map(str, command)], capture_output=True, text=True,
                          env=dict(os.environ, OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1"), check=False)


def output_of(*command):
    done = attempt(*command)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr[-3000:]}")
    return done.stdout


def maxplus(*arguments):
    return output_of(PROGRAM, *arguments)


def answers(command, model, folder, questions):
    """What `maxplus COMMAND MODEL` says to each of these objects."""
    path = os.path.join(folder, "lines.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(question) + "\n" for question in questions)
    return [json.loads(line) for line in maxplus(command, model, path).splitlines()]


def of_ids(sequences):
    return [{"ids": ids} for ids in sequences]


def small(value):
    return "" if value is None else f"{value:.1e}"


def conclude(script, title, versions, columns, rows):
    """Writes NAME.md beside NAME.py and ends; the last entry of a row says whether it is as expected."""
    name = os.path.splitext(os.path.basename(script))[0]
    text = f"# {title}\n\nExpectations stand in `{name}.py`; written by it.\n\n{maxplus('--version').strip()}; {versions}.\n\n"
    text += "| " + " | ".join(columns) + " | |\n" + "|---" * (len(columns) + 1) + "|\n"
    for *cells, good in rows:
        text += "| " + " | ".join(cells) + f" | {'as expected' if good else '**not as expected**'} |\n"
    print(text)
    with open(os.path.join(HERE, name + ".md"), "w", encoding="utf-8") as file:
        file.write(text)
    sys.exit(0 if all(row[-1] for row in rows) else 1)
