#!/usr/bin/env python3
"""An environment for [environment] command: a calculator. It gets one JSON line a call and answers with one.

    {"rollout_id": "…", "turn": 1, "call": "7 + 5", "earlier": [], "id": 3, "prompt": "plus 7 5", "answer": 12}
    {"text": "12"}

What is no sum, difference or product of two whole numbers is answered with "?"."""
import json
import operator
import sys

OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def value_of(call):
    words = call.split()
    if len(words) != 3 or words[1] not in OPERATIONS:
        return "?"
    try:
        return str(OPERATIONS[words[1]](int(words[0]), int(words[2])))
    except ValueError:
        return "?"


def main():
    for line in sys.stdin:
        print(json.dumps({"text": value_of(json.loads(line)["call"])}), flush=True)


if __name__ == "__main__":
    main()
