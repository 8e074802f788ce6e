#!/usr/bin/env python3
"""Does the judge `math` agree with exact arithmetic written independently, and does it survive mutated answers?

Expectation, written before the runs: of 20,000 random pairs (fractions, surds, polynomials; half of them equal, half off by
a little) no unequal one is called correct, and at least 99.5 % of the equal ones are; of 20,000 mutated answers none crashes,
times out or takes the process down; and 413 golden pairs without their boxes keep every verdict of `wrong`.

    python3 validation/verify/run.py [--pairs 20000] [--mutants 20000] [--seed 1]

Writes results.md beside this file.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from fractions import Fraction

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
from training import conclude_by  # noqa: E402  (the folder above is known only now)

MAXPLUS = os.environ.get("MAXPLUS", os.path.join(ROOT, "build", "maxplus"))
GOLDEN = os.path.join(ROOT, "tests", "data", "verify", "math_cases.jsonl")


def spelled(value, rng):
    """A fraction in one of its spellings."""
    sign, size = ("-" if value < 0 else ""), abs(value)
    above, below = size.numerator, size.denominator
    ways = [f"{sign}\\frac{{{above}}}{{{below}}}", f"{sign}\\dfrac{{{3 * above}}}{{{3 * below}}}", f"\\frac{{{sign}{above}}}{{{below}}}", f"{sign}{above}/{below}"]
    if below == 1:
        ways += [f"{sign}{above}", f"{sign}{above:,}", f"{sign}{above}.0"] if above < 10**15 else [f"{sign}{above}"]
    elif above > below:
        ways.append(f"{sign}{above // below}\\frac{{{above % below}}}{{{below}}}")
    rest = below
    while rest % 2 == 0:
        rest //= 2
    while rest % 5 == 0:
        rest //= 5
    if rest == 1 and below < 10**6:
        places = 0
        while (size * 10**places).denominator != 1:
            places += 1
        digits = str((size * 10**places).numerator).rjust(places + 1, "0")
        decimal = digits[:-places] + "." + digits[-places:] if places else digits
        ways += [sign + decimal, sign + str((size * 10**places).numerator) + f" \\times 10^{{-{places}}}"]
    return rng.choice(ways)


def fraction_expression(rng, depth):
    """Text and value."""
    if depth == 0 or rng.random() < 0.2:
        value = Fraction(rng.randint(0, 60), rng.choice([1, 1, 1, 2, 3, 4, 5, 7, 8, 10]))
        return spelled(value, rng), value
    a, x = fraction_expression(rng, depth - 1)
    b, y = fraction_expression(rng, depth - 1)
    kind = rng.choice("+-*/^%")
    if kind == "+":
        return f"({a})+({b})", x + y
    if kind == "-":
        return f"\\left({a}\\right) - ({b})", x - y
    if kind == "*":
        return rng.choice([f"({a})({b})", f"({a})\\cdot({b})", f"({a}) \\times ({b})"]), x * y
    if kind == "/" and y != 0:
        return rng.choice([f"\\frac{{{a}}}{{{b}}}", f"({a})/({b})", f"({a}) \\div ({b})"]), x / y
    if kind == "^":
        n = rng.randint(1, 4)
        return rng.choice([f"({a})^{{{n}}}", f"({a})^{n}"]), x**n
    return f"({a})\\%", x / 100


def square_free(n):
    root = 1
    d = 2
    while d * d <= n:
        while n % (d * d) == 0:
            n //= d * d
            root *= d
        d += 1
    return root, n


def add_to(total, key, value):
    total[key] = total.get(key, 0) + value
    if total[key] == 0:
        del total[key]


def surd_sum(rng):
    """Text and value: {square-free number: coefficient}."""
    text, value = "", {}
    for _ in range(rng.randint(1, 3)):
        c, n = Fraction(rng.choice([-3, -2, -1, 1, 2, 5]), rng.choice([1, 1, 2, 3])), rng.randint(1, 60)
        root, rest = square_free(n)
        add_to(value, rest, c * root)
        sign = "-" if c < 0 else "+" if text else ""
        text += f"{sign}\\frac{{{abs(c.numerator)}}}{{{c.denominator}}}\\sqrt{{{n}}}"
    return text, value


def surd_pair(rng):
    a, x = surd_sum(rng)
    b, y = surd_sum(rng)
    product = {}
    for n, c in x.items():
        for m, d in y.items():
            root, rest = square_free(n * m)
            add_to(product, rest, c * d * root)
    gold = "+".join(f"({spelled(c, rng)})\\sqrt{{{n}}}" for n, c in product.items()) or "0"
    return gold, f"({a})({b})", product


def polynomial_pair(rng):
    value, text = {(0, 0): 1}, ""
    for _ in range(rng.randint(1, 4)):
        a, b, c = rng.randint(-4, 4), rng.randint(-4, 4), rng.randint(-4, 4)
        text += f"({a}x + {b}y + {c})".replace("+ -", "- ")
        new = {}
        for (i, j), k in value.items():
            for (p, q), m in (((1, 0), a), ((0, 1), b), ((0, 0), c)):
                if k * m:
                    add_to(new, (i + p, j + q), k * m)
        value = new
    terms = list(value.items())
    rng.shuffle(terms)
    return terms, text


def polynomial_text(terms):
    return "+".join(f"({k})x^{{{i}}}y^{{{j}}}" for (i, j), k in terms) or "0"


def pairs(count, rng):
    """gold, response, whether they are equal, kind."""
    made = []
    while len(made) < count:
        equal = rng.random() < 0.5
        kind = rng.choice(["fractions", "surds", "polynomials"])
        if kind == "fractions":
            text, value = fraction_expression(rng, rng.randint(1, 4))
            if max(value.numerator.bit_length(), value.denominator.bit_length()) > 3000:
                continue
            off = Fraction(rng.choice([-1, 1]), rng.choice([1, 7, 1000, 10**12, 10**30]))
            gold = spelled(value if equal else value + off, rng)
        elif kind == "surds":
            gold, text, value = surd_pair(rng)
            if not equal:
                gold += rng.choice(["+", "-"]) + f"\\frac{{1}}{{{rng.choice([1, 3, 10**9])}}}\\sqrt{{{rng.choice([1, 2, 61])}}}"
        else:
            terms, text = polynomial_pair(rng)
            if not equal:
                place = rng.randrange(max(len(terms), 1))
                terms[place:place + 1] = [((terms[place][0] if terms else (0, 0)), (terms[place][1] if terms else 0) + rng.choice([-1, 1]))]
            gold = polynomial_text(terms)
        made.append((gold, text, equal, kind))
    return made


def mutants(count, rng):
    with open(GOLDEN, encoding="utf-8") as file:
        golden = [json.loads(line) for line in file]
    pieces = list("{}()[]\\^_/|,.:;=<>!%&$'-+*0123456789exiπ√−") + ["\\frac", "\\sqrt", "\\boxed{", "\\{", "\\}", "\\left", "\\text{", "^{", "\\pm", "\\cup",
                                                                      "\\begin{pmatrix}", "\\end{pmatrix}", "\\\\", "\\infty", "\\log_", "9^9^9", "!", "\u0000", "�"]
    made = []
    for _ in range(count):
        case = rng.choice(golden)
        text = list(case["response"])
        for _ in range(rng.randint(1, 8)):
            place = rng.randrange(len(text) + 1)
            what = rng.random()
            if what < 0.4:
                text.insert(place, rng.choice(pieces))
            elif what < 0.7 and text:
                del text[min(place, len(text) - 1)]
            elif what < 0.9:
                text[place:place] = text[place:place + 20] * rng.choice([1, 2, 20])
            else:
                other = rng.choice(golden)["response"]
                text[place:place] = list(other)
        made.append((case["gold"], "".join(text)))
    return made


def score(items):
    """Verdicts of (gold, response), and the seconds it took; None where the program failed."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8", delete=False) as file:
        for i, (gold, response) in enumerate(items):
            file.write(json.dumps({"id": i, "answer": gold, "response": response}) + "\n")
    started = time.time()
    try:
        run = subprocess.run([MAXPLUS, "score", file.name, "--verifier", "math"], capture_output=True, timeout=1800)
    finally:
        os.unlink(file.name)
    if run.returncode != 0:
        print(run.stderr.decode(errors="replace")[-2000:])
        return None, time.time() - started
    return [json.loads(line)["verdict"] for line in run.stdout.decode("utf-8").splitlines()], time.time() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20000)
    parser.add_argument("--mutants", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)

    made = pairs(arguments.pairs, rng)
    got, seconds = score([(gold, f"\\boxed{{{text}}}") for gold, text, _, _ in made])
    rows, false_accepts, accepted, equal_pairs, shown = [], 0, 0, 0, 0
    for kind in ("fractions", "surds", "polynomials"):
        mine = [(p, v) for p, v in zip(made, got or []) if p[3] == kind]
        right = sum(v == "correct" for p, v in mine if p[2])
        wrongly = [p for p, v in mine if not p[2] and v == "correct"]
        for p, v in mine:
            if (v == "correct") != p[2] and shown < 10:
                print("differs:", p, v)
                shown += 1
        equal = sum(p[2] for p, _ in mine)
        rows.append(f"| {kind} | {equal} | {right} | {len(mine) - equal} | {len(wrongly)} |")
        false_accepts += len(wrongly)
        accepted += right
        equal_pairs += equal
    mutated, mutant_seconds = score(mutants(arguments.mutants, rng))
    odd = sum(v not in ("correct", "wrong", "no_answer") for v in mutated or [])
    with open(GOLDEN, encoding="utf-8") as file:
        golden = [json.loads(line) for line in file]
    bare, _ = score([(g["gold"], g["response"].replace("\\boxed", "")) for g in golden])
    kept = sum(v == "correct" for g, v in zip(golden, bare or []) if g["verdict"] == "wrong")

    text = ["# The judge `math` against arithmetic written independently", "",
            f"`python3 validation/verify/run.py --seed {arguments.seed}`, {time.strftime('%Y-%m-%d')}: {len(made)} random pairs in {seconds:.1f} s, "
            f"{arguments.mutants} mutated answers in {mutant_seconds:.1f} s, on two workers.", "",
            "| kind | equal pairs | called correct | unequal pairs | called correct |", "|---|---|---|---|---|", *rows]
    conclude_by(os.path.join(HERE, "results.md"), text, [
        ("unequal pairs called correct: none", false_accepts, got is not None and false_accepts == 0),
        ("equal pairs called correct: at least 99.5 %", f"{100 * accepted / max(equal_pairs, 1):.2f} %", accepted >= 0.995 * equal_pairs > 0),
        ("mutated answers that crash, time out or spoil the gold: none", odd, mutated is not None and odd == 0),
        ("golden `wrong` called correct without the box: none", kept, bare is not None and kept == 0)])


if __name__ == "__main__":
    main()
