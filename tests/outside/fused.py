"""Groups that are judged while others are drawn give the bits of those that wait for the whole iteration, with judges that are slow, that
hang and that are stopped in between."""
import json

from program import Folder, LEARNING_DECK, Report, lines, read
from runs import ONE_RANK, Runs

# The verdict depends on the response alone, the time on chance; one response in nineteen never gets one.
JUDGE = """import json, random, sys, time, zlib
for line in sys.stdin:
    number = zlib.crc32(json.loads(line)["response"].encode())
    time.sleep(1000 if HANGS and number % 19 == 0 else random.choice([0, 0.002, 0.02]))
    print(json.dumps({"reward": number % 3}), flush=True)
"""
BY_COMMAND = LEARNING_DECK.replace('verifier = "random"\nprobability = 0.5', 'verifier = "command"\ncommand = ["python3", "./JUDGE.py"]\nworkers = 2')
GROUP = dict(schedule__granularity="group")
APART = (3, dict(placement__generator=2))
AHEAD = dict(schedule__max_staleness=1)
GREEDY = dict(algorithm__name="remax", generation__zero_spread="resample", generation__group_size=2)
HANGING = dict(run__iterations=2, reward__timeout_s=2, reward__workers=6)
# name: what waits for the whole iteration on one rank, and by groups: where, on which ranks; keys of both
CASES = {
    "at once": ({"on one rank": ONE_RANK, "on two ranks": (2, {}), "on ranks of its own": APART}, {}),
    "one ahead": ({"one ahead": (3, dict(placement__actor=2))}, AHEAD),
    "greedy answers": ({"with greedy answers and rounds": (2, {})}, GREEDY),
    "a judge that hangs": ({"a judge that hangs": (2, {})}, HANGING),
}


def spans(out, stage):
    """(begin, end) of a stage by rank and iteration."""
    events = json.loads(read(out + "/trace.json"))["traceEvents"]
    return {(e["pid"], e["args"]["iteration"]): (e["ts"], e["ts"] + e["dur"]) for e in events if e.get("name") == stage}


def begin(runs, folder):
    decks = {}
    for judge, hangs in (("judge", "False"), ("hanging", "True")):
        folder.file(f"{judge}.py", JUDGE.replace("HANGS", hangs))
        decks[judge] = folder.deck(BY_COMMAND.replace("JUDGE", judge), name=f"{judge}.toml")
    runs.interrupt((2, {}), ONE_RANK, generation__batch_rollouts=4, **GROUP)
    for name, (places, keys) in reversed(CASES.items()):
        deck = decks["hanging" if keys is HANGING else "judge"]
        runs.train(f"{name}, one by one", deck=deck, **keys)
        for where, case in places.items():
            runs.train(f"{where}, by groups", case, deck=deck, **keys, **GROUP)


def check(report, runs):
    for name, (places, _) in CASES.items():
        expected = runs.bits(f"{name}, one by one")
        for where in places:
            runs.same(f"{where}: the same bits", f"{where}, by groups", expected)
    for name, overlaps in (("at once, one by one", False), ("on one rank, by groups", True)):
        drawing, judging = spans(runs.out(name), "generation"), spans(runs.out(name), "assessment")
        begins_before = [judging[key][0] < end for key, (_, end) in drawing.items() if key in judging]
        report.check(f"fused: judging begins {'before' if overlaps else 'after'} the drawing ends", begins_before and all(b == overlaps for b in begins_before), begins_before)
    # A judge that hangs is crashed in either way, and nobody else is.
    crashed = sum(m.get("verdict_crashed", 0) for m in lines(runs.out("a judge that hangs, by groups") + "/metrics.jsonl"))
    report.check("fused: a judge that hangs is crashed", crashed > 0, crashed)
    # A signal drops what is being judged; the iteration is drawn again.
    runs.check_interrupted()


with Folder() as temporary:
    summary = Report()
    all_runs = Runs("fused", summary, temporary, run__iterations=4, eval__every=0, generation__batch_rollouts=4)
    begin(all_runs, temporary)
    check(summary, all_runs)
summary.finish()
