#!/usr/bin/env python3
"""Does the judge `code_tests` give hostile programs the right verdict in time, leave nothing, and keep its workers busy?

Expectation, written before the runs: each of the hostile programs of tests/outside/hostile_programs.py, judged alone in every tier that
this host gives, has the verdict written beside it within the item's limit + 0.5 s (beyond what an honest program takes), and leaves no
process and no file; eight copies of one honest program among eight endless ones are correct; 64 items that each run a program of half a
second take at most 10 % longer on 16 workers than four times that, the start of the judge left out.

    python3 validation/verify/hostile.py [--timeout 1.0]

Writes hostile.md beside this file.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "outside"))
import hostile_programs as corpus  # noqa: E402  (the folders above are known only now)
from judged import remains, score  # noqa: E402
from training import conclude_by  # noqa: E402

SLACK_S = 0.5
ITEMS, WORKERS, ITEM_S = 64, 16, 0.5
BY_SHELL = ['command=["/bin/sh", "{program}"]', 'languages=["sh"]']  # an interpreter that costs no time of the cores to start


def one(item, folder, tier, timeout_s, processes=1):
    lines, seconds, done = score([item], folder, f"sandbox={tier}", f"timeout_s={timeout_s}", f"processes={processes}", "workers=1", "memory_mb=512")
    if lines is None:
        return f"exit {done.returncode}", done.stderr.strip(), seconds
    return lines[0]["verdict"], lines[0]["extracted"], seconds


def judge_alone(tier, folder, timeout_s, floor):
    """Rows of the table, and counts of what was not as it must be."""
    rows, wrong, late, left = [], [], [], []
    for name, kind, processes, verdict, text in corpus.HOSTILE:
        if processes > 1 and tier == "landlock":
            continue
        got, why, seconds = one(corpus.line(name, kind, text), folder, tier, timeout_s, processes)
        judged = max(0.0, seconds - floor)
        if got not in ((verdict,) if isinstance(verdict, str) else verdict):
            wrong.append(name)
        if judged > timeout_s + SLACK_S:
            late.append(f"{name} {judged:.2f} s")
        traces = remains(folder)
        if traces:
            left.append(f"{name}: {traces[0]}")
        rows.append((name, got, judged, why))
        print(f"{tier:10} {name:45} {got:10} {judged:6.2f} s  {why}", flush=True)
    return rows, wrong, late, left


def stage(folder, tier):
    """Seconds of ITEMS items on WORKERS workers without the start of the judge, the best of five, and whether all were correct."""
    item = {"answer": None, "tests": [{"input": "", "output": ""}], "response": f"```sh\nexec sleep {ITEM_S}\n```\n"}
    options = (f"sandbox={tier}", f"workers={WORKERS}", *BY_SHELL)
    empty = min(score([], folder, *options)[1] for _ in range(5))
    best, right = float("inf"), True
    for _ in range(5):
        lines, seconds, _ = score([dict(item, id=i) for i in range(ITEMS)], folder, *options)
        right = right and lines is not None and all(line["verdict"] == "correct" for line in lines)
        best = min(best, seconds - empty)
    return best, right


def bare_stage():
    """The same programs without judge and sandbox, started by Python on WORKERS threads: what the machine itself adds."""
    def run(_):
        subprocess.run(["/bin/sh", "-c", f"exec sleep {ITEM_S}"], check=True)
    best = float("inf")
    for _ in range(5):
        begin = time.time()
        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(run, range(ITEMS)))
        best = min(best, time.time() - begin)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--timeout", type=float, default=1.0)
    timeout_s = parser.parse_args().timeout
    honest = corpus.line("honest", corpus.PROGRAM, corpus.HONEST)
    text = ["# Hostile programs under the judge `code_tests`", "",
            f"`python3 validation/verify/hostile.py --timeout {timeout_s}`, {time.strftime('%Y-%m-%d')}. Load average {os.getloadavg()[0]:.1f} at the start. Seconds of each item alone, beyond those of "
            "starting the judge.", ""]
    results = []
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        tiers = 0
        for tier in ("namespaces", "landlock"):
            got, why, _ = one(honest, folder, tier, 10)
            if got != "correct":
                text.append(f"Tier `{tier}` is not there: {why.splitlines()[0] if why else got}")
                continue
            tiers += 1
            floor = min(score([], folder, f"sandbox={tier}")[1] for _ in range(5))
            rows, wrong, late, left = judge_alone(tier, folder, timeout_s, floor)
            text += ["", f"## Tier `{tier}`", "", "| program | verdict | s | why |", "|---|---|---|---|"]
            text += ["| {} | {} | {:.2f} | {} |".format(n, v, s, w.replace("|", "/")) for n, v, s, w in rows]
            results += [(f"{tier}: another verdict than expected: none of {len(rows)}", ", ".join(wrong) or 0, not wrong),
                        (f"{tier}: later than the limit + {SLACK_S} s: none", ", ".join(late) or 0, not late),
                        (f"{tier}: processes or files left: none", ", ".join(left) or 0, not left)]
            rights = [one(corpus.line(n, k, t), folder, tier, 10)[0] for n, k, t in corpus.HONEST_ONES]
            results.append((f"{tier}: honest programs that are correct: all", f"{rights.count('correct')} of {len(rights)}", rights.count("correct") == len(rights)))
        results.append(("a tier there is", tiers, tiers > 0))
        endless = [corpus.line(f"endless {i}", corpus.PROGRAM, "import time\ntime.sleep(1000)\n") for i in range(8)]
        mixed = [x for pair in zip(endless, [dict(honest, id=f"honest {i}") for i in range(8)]) for x in pair]
        lines, seconds, _ = score(mixed, folder, "timeout_s=2", "workers=16")
        right = sum(line["verdict"] == "correct" for line in lines or [])
        results.append(("honest items among as many endless ones that are correct: 8", f"{right}, all 16 in {seconds:.2f} s", right == 8))
        path_s, bare_s = ITEMS * ITEM_S / WORKERS, bare_stage()
        for tier in ("namespaces", "landlock"):
            whole, right = stage(folder, tier)
            results.append((f"{tier}: {ITEMS} items of {ITEM_S} s on {WORKERS} workers: at most {path_s} s + 10 %", f"{whole:.3f} s: {whole / path_s - 1:+.1%} (without judge and sandbox {bare_s:.3f} s: {bare_s / path_s - 1:+.1%}), all correct: {right}", right and whole <= path_s * 1.1))
    conclude_by(os.path.join(HERE, "hostile.md"), text, results)


if __name__ == "__main__":
    main()
