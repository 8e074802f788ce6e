"""Groups that are judged while others are drawn give the bits of those that wait for the whole iteration, with judges that are slow, that
hang and that are stopped in between."""
import json
import os
import signal

from processes import launcher_of, wait_for
from program import Folder, LEARNING_DECK, Report, hashes, lines, read, run, sets, start

# The verdict depends on the response alone, the time on chance; one response in nineteen never gets one.
JUDGE = """import json, random, sys, time, zlib
for line in sys.stdin:
    number = zlib.crc32(json.loads(line)["response"].encode())
    time.sleep(1000 if HANGS and number % 19 == 0 else random.choice([0, 0.002, 0.02]))
    print(json.dumps({"reward": number % 3}), flush=True)
"""
BY_COMMAND = LEARNING_DECK.replace('verifier = "random"\nprobability = 0.5', 'verifier = "command"\ncommand = ["python3", "./judge.py"]\nworkers = 4')
KEYS = dict(run__iterations=4, generation__batch_rollouts=4)
GROUP = dict(schedule__granularity="group")


def spans(out, stage):
    """(begin, end) of a stage by rank and iteration."""
    events = json.loads(read(out + "/trace.json"))["traceEvents"]
    return {(e["pid"], e["args"]["iteration"]): (e["ts"], e["ts"] + e["dur"]) for e in events if e.get("name") == stage}


def trained(report, folder, deck, name, ranks, **keys):
    out = folder / name.replace(" ", "_")
    done = run(["train", deck, "--out", out, "--quiet"] + sets(**{**KEYS, **keys}), ranks=ranks, environment={"MAXPLUS_CHECK_COLLECTIVES": "1"})
    return (hashes(out), read(out + "/rollouts.jsonl")) if report.check(f"fused: {name} trains", done.returncode == 0, done.stderr) else None


def check_bits(report, folder):
    folder.file("judge.py", JUDGE.replace("HANGS", "False"))
    deck = folder.deck(BY_COMMAND)
    expected = trained(report, folder, deck, "one by one", 1)
    cases = {"on one rank": (1, {}), "on two ranks": (2, {}), "on ranks of its own": (3, dict(placement__generator=2))}
    for name, (ranks, keys) in cases.items():
        report.check(f"fused: {name}: the same bits", trained(report, folder, deck, name, ranks, **keys, **GROUP) == expected and expected)
    ahead = dict(schedule__max_staleness=1)
    expected = trained(report, folder, deck, "one ahead", 1, **ahead)
    report.check("fused: one ahead: the same bits", trained(report, folder, deck, "one ahead by groups", 3, placement__generator=2, **ahead, **GROUP) == expected and expected)
    greedy = dict(algorithm__name="remax", generation__zero_spread="resample", generation__group_size=2)
    expected = trained(report, folder, deck, "greedy answers", 1, **greedy)
    report.check("fused: with greedy answers and rounds: the same bits", trained(report, folder, deck, "greedy answers by groups", 2, **greedy, **GROUP) == expected and expected)
    for out, overlaps in ((folder / "one_by_one", False), (folder / "on_one_rank", True)):
        drawing, judging = spans(out, "generation"), spans(out, "assessment")
        begins_before = [judging[key][0] < end for key, (_, end) in drawing.items() if key in judging]
        report.check(f"fused: judging begins {'before' if overlaps else 'after'} the drawing ends", begins_before and all(b == overlaps for b in begins_before), begins_before)


def check_hanging(report, folder):
    """A judge that hangs is crashed in either way, and nobody else is."""
    folder.file("judge.py", JUDGE.replace("HANGS", "True"))
    deck = folder.deck(BY_COMMAND, name="hanging.toml")
    limits = dict(run__iterations=2, reward__timeout_s=2, reward__workers=6)
    expected = trained(report, folder, deck, "hanging, one by one", 1, **limits)
    found = trained(report, folder, deck, "hanging, by groups", 2, **limits, **GROUP)
    crashed = sum(m.get("verdict_crashed", 0) for m in lines(folder / "hanging,_by_groups/metrics.jsonl"))
    report.check("fused: a judge that hangs: the same bits", found == expected and expected)
    report.check("fused: a judge that hangs is crashed", crashed > 0, crashed)


def check_stop(report, folder):
    """A signal drops what is being judged; the iteration is drawn again."""
    deck, out, whole = folder.deck(LEARNING_DECK, name="stopped.toml"), folder / "stopped", folder / "whole"
    keys = dict(run__iterations=40, eval__every=0, generation__batch_rollouts=4, **GROUP)
    process = start(["train", deck, "--out", out, "--quiet"] + sets(**keys), ranks=2)
    wait_for(out + "/metrics.jsonl", 5)
    launcher = launcher_of(process)
    if launcher:
        os.kill(launcher, signal.SIGUSR1)
    _, errors = process.communicate()
    report.check("fused: a signal saves and exits 75", process.returncode == 75, f"{process.returncode} {errors}")
    ends = [run(["train", deck, "--out", to, "--quiet"] + sets(**keys), ranks=ranks) for to, ranks in ((out, 1), (whole, 2))]
    if report.check("fused: goes on", all(end.returncode == 0 for end in ends), ends[0].stderr + ends[1].stderr):
        report.check("fused: the bits of an uninterrupted run", (hashes(out), read(out + "/rollouts.jsonl")) == (hashes(whole), read(whole + "/rollouts.jsonl")))


with Folder() as temporary:
    summary = Report()
    check_bits(summary, temporary)
    check_hanging(summary, temporary)
    check_stop(summary, temporary)
summary.finish()
