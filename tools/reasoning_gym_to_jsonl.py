#!/usr/bin/env python3
# Writes problems of reasoning-gym as lines of JSON, which [data] preset = "reasoning_gym" reads. Needs reasoning-gym.
#
#   tools/reasoning_gym_to_jsonl.py leg_counting --size 1000 --seed 1 -o train.jsonl
#
# --help says more.
import argparse
import json
import sys

from json_lines import fail, plain, writer

HELP = """Writes problems of reasoning-gym as lines of JSON, {"id", "question", "answer", "metadata"}, which maxplus reads:

    tools/reasoning_gym_to_jsonl.py leg_counting --size 1000 --seed 1 -o train.jsonl
    tools/reasoning_gym_to_jsonl.py leg_counting --size 100 --seed 2 -o held_out.jsonl

    [data]
    train = "train.jsonl"
    eval = "held_out.jsonl"
    preset = "reasoning_gym"
    on_contaminated = "drop"        # two seeds may draw the same problem

--list shows the names. --set gives a data set its own keys: --set min_animals=2. Several names are written one after the other, and
their problems are numbered through. Problems without an answer are left out and counted, since nothing could judge them here. The
judge of the preset is `exact`: the same text, in <answer> tags if there are some. A data set with many right answers to one problem
needs a judge of its own ([reward] verifier = "command")."""


def other(value):
    """What JSON has no form for is written as Python shows it."""
    if isinstance(value, (set, frozenset)):
        return sorted((plain(inner, other) for inner in value), key=repr)
    return str(value)


def setting(text):
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise argparse.ArgumentTypeError(f"'{text}' is not KEY=VALUE")
    try:
        return key, json.loads(value)
    except json.JSONDecodeError:
        return key, value


def nearest(name, names):
    import difflib
    close = difflib.get_close_matches(name, names, n=1)
    return close[0] if close else None


def main():
    parser = argparse.ArgumentParser(description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="data sets of reasoning-gym")
    parser.add_argument("--list", action="store_true", help="print the names of all data sets and end")
    parser.add_argument("--size", type=int, default=1000, metavar="N", help="problems of each (default 1000)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of the problems (default 1)")
    parser.add_argument("--set", action="append", default=[], type=setting, metavar="KEY=VALUE", help="a key of the data sets; VALUE as in JSON")
    parser.add_argument("-o", "--output", metavar="OUT", help="the file to write (default: standard output)")
    arguments = parser.parse_args()
    try:
        import reasoning_gym
        from reasoning_gym.factory import DATASETS
    except ImportError:
        fail(69, "reasoning-gym is not installed for this Python", f"{sys.executable} -m pip install reasoning-gym")
    if arguments.list:
        print("\n".join(sorted(DATASETS)))
        return
    if not arguments.names:
        fail(64, "no data set is named", "--list shows the names")

    written = left_out = 0
    with writer(arguments.output) as write:
        for name in arguments.names:
            if name not in DATASETS:
                near = nearest(name, list(DATASETS))
                fail(64, f"there is no data set '{name}'", near or "--list shows the names")
            try:
                problems = reasoning_gym.create_dataset(name, size=arguments.size, seed=arguments.seed, **dict(arguments.set))
            except Exception as error:  # its own checks of keys: TypeError, AssertionError, ValueError
                fail(64, f"'{name}' cannot be made: {error}", "other values of --set")
            for problem in problems:
                if problem["answer"] is None or str(problem["answer"]).strip() == "":
                    left_out += 1
                    continue
                write({"id": written, "question": problem["question"], "answer": str(problem["answer"]), "metadata": plain(problem["metadata"], other)})
                written += 1
    skipped = f", {left_out} without an answer left out" if left_out else ""
    print(f"{written} problems" + (f" in {arguments.output}" if arguments.output else "") + skipped, file=sys.stderr)


if __name__ == "__main__":
    main()
