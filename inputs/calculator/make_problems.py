#!/usr/bin/env python3
"""Writes the problems, held-out problems and demonstrations of the calculator's deck beside this file.

A demonstration shows the form only: it calls with an operator that is drawn without looking at the problem, and repeats what the
calculator said. What the calculator says counts nothing in its loss."""
import json
import os
import random

from calculator import value_of

OPERATORS = {"plus": "+", "minus": "-", "times": "*"}
HERE = os.path.dirname(os.path.abspath(__file__))


def write(name, lines):
    with open(os.path.join(HERE, name), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def main():
    draw = random.Random(1)
    problems = [(word, a, b) for word in OPERATORS for a in range(10) for b in range(10)]
    draw.shuffle(problems)
    lines = [{"id": i, "prompt": f"{word} {a} {b}", "answer": int(value_of(f"{a} {OPERATORS[word]} {b}"))} for i, (word, a, b) in enumerate(problems)]
    shown = []
    for _ in range(2):
        for _, a, b in problems[60:]:
            call = f"{a} {draw.choice(list(OPERATORS.values()))} {b}"
            word = draw.choice(list(OPERATORS))
            value = value_of(call)
            shown.append({"prompt": f"{word} {a} {b}", "response": f"<tool> {call} </tool> {value} = {value}", "weights": [1, 1, 1, 1, 1, 0, 1, 1]})
    write("held_out.jsonl", lines[:60])
    write("problems.jsonl", lines[60:])
    write("demonstrations.jsonl", shown)


if __name__ == "__main__":
    main()
