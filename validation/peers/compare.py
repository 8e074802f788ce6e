#!/usr/bin/env python3
"""maxplus beside llama.cpp and PyTorch on one network, in turns, on this machine.

    compare.py --model FOLDER --server BENCH_SERVER --peers VENV [--dtype f32] [--case decode-8 ...] [--pairs 7] [--out FILE]

Each round runs every program once, in alternating order, with probes of arithmetic and read bandwidth before and after each. A
round counts if others had less than 3.5 % of the machine during all of its samples and no two probes of a kind differ by more than
a fifth; others are repeated, up to as many again, while --minutes allows. A program warms up where it does something for the first time.
The slower peer leaves after the first round if it was slower by 15 % in it and in the warm-up, or by half in it alone, and so does one that
takes more than a minute and three times as long as ours; in decoding it gives the prefill alone from then on, if it was not so much slower
in that too, and if it was three times as slow in both parts, no later decoding of the type asks it. Of ours in several ways the quickest
(with peers), else the first, stays after three. Printed: the median of the rounds' ratios with the smallest and largest, and the share of
the limit, from the probes beside each sample. --out appends a line of JSON a case; report.py makes a table of them.
"""
import argparse
import json
import os
import platform
import signal
import statistics
import sys
import time

from sides import Hold, Side, TooSlow, watched

CASES = {"decode-1": {"case": "decode", "rows": 1, "new_tokens": 64}, "decode-8": {"case": "decode", "rows": 8, "new_tokens": 64},
         "decode-32": {"case": "decode", "rows": 32, "new_tokens": 64},
         "training-4x256": {"case": "training", "sequences": 4, "tokens": 256},
         "training-1x1024": {"case": "training", "sequences": 1, "tokens": 1024}}
MOST_OTHERS, MOST_DRIFT, CLEARLY, BY_HALF, FAR, LONG_S = 0.035, 1.2, 1.15, 1.5, 3.0, 60
PEERS = ("llama", "torch")
LIMIT_S, LIMIT = 25, 3.5  # a peer whose first answer takes longer than both this and so many times ours is left out of the case; the ratio is at least what that says
TOLERANCE = {"f32": 5e-3, "bf16": 0.2}  # of a log-probability: llama.cpp keeps keys and values in f16; bf16 rounds in each layer


def environment(**more):
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "OPENBLAS_"))}
    return dict(kept, HF_HUB_OFFLINE="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                OMPI_MCA_hwloc_base_binding_policy="none", **more)


def start_side(name, options, dtype):
    tokens = os.path.join(options.model, "tokens.json")
    here, python = os.path.dirname(os.path.abspath(__file__)), os.path.join(options.peers, "bin", "python3")
    if name == "llama":
        return Side(name, [python, os.path.join(here, "llama_side.py"), os.path.join(options.model, dtype + ".gguf"), tokens,
                           str(options.threads)], environment())
    if name == "torch":
        return Side(name, [python, os.path.join(here, "torch_side.py"), os.path.join(options.model, "f32"), tokens, dtype,
                           str(options.threads)], environment(OMP_WAIT_POLICY="passive", OMP_NUM_THREADS=str(options.threads)))
    ranks, rest = name.split("x")
    threads, slices = rest.split(":")
    command = [options.server, os.path.join(options.model, "f32"), tokens, dtype, threads, slices]
    return Side(name, command if ranks == "1" else ["mpirun", "-n", ranks] + command, environment())


def names_of(case, options, hopeless):
    names = list(options.ours)
    peers = [name for name in PEERS if name in options.against]
    if CASES[case]["case"] == "decode":
        # Gradient slices and ranks change nothing, or another case.
        return names[:1] + [name for name in peers if name not in hopeless]
    names = [name for name in names if int(name.split("x")[0]) <= CASES[case]["sequences"]]
    return names + [name for name in peers if name == "torch"]  # llama.cpp trains nothing


def rate(answer):
    return answer["tokens"] / answer["seconds"]


def share_of_limit(part, adds, probes):
    flops = statistics.mean(p["flops"] for p in probes)
    moved = statistics.mean(p["bytes"] for p in probes)
    arithmetic, reading = part["flops"] / flops, part["bytes"] / moved
    return (arithmetic + reading if adds else max(arithmetic, reading)) / part["seconds"]


def part_of(answer, part):
    return answer[part] if part else answer


def one_round(case, names, sides, probing, backwards, prefill_only):
    samples, shares, probes = {}, [], [probing.ask({"case": "probe"})]
    for name in reversed(names) if backwards else names:
        alone = name in prefill_only
        answer, others = watched(sides[name], dict(CASES[case], new_tokens=1) if alone else CASES[case])
        probes.append(probing.ask({"case": "probe"}))
        shares.append(others)
        if "flops" in answer:
            answer["of_limit"] = share_of_limit(answer, answer["adds"], probes[-2:])
            if "prefill" in answer:
                answer["prefill"]["of_limit"] = share_of_limit(answer["prefill"], False, probes[-2:])
        samples[name] = {"prefill": answer["prefill"]} if alone else answer
    drift = max(max(p[key] for p in probes) / min(p[key] for p in probes) for key in ("flops", "bytes"))
    return {"samples": samples, "others": max(shares), "drift": drift, "probes": probes,
            "quiet": max(shares) <= MOST_OTHERS and drift <= MOST_DRIFT}


def beats(one, other, by, answers, part):
    """Whether one was so many times as fast as the other in all of these rounds' answers. part: None or "prefill"."""
    return all(rate(part_of(a[one], part)) > by * rate(part_of(a[other], part)) for a in answers)


def slower_peers(names, answers, part=None):
    """Peers that another one beat clearly in all of these rounds' answers, or by half in the last."""
    peers = [name for name in names if name in PEERS]

    def beaten(name, other):
        return beats(other, name, BY_HALF, answers[-1:], part) or (len(answers) > 1 and beats(other, name, CLEARLY, answers, part))

    def endless(name):
        return part_of(answers[-1][name], part)["seconds"] > LONG_S and beats(names[0], name, FAR, answers[-1:], part)
    return [name for name in peers if endless(name) or any(beaten(name, other) for other in peers if other != name)]


def hopeless_peers(names, answer):
    """Peers three times slower than another one in both parts of a decoding case: none of the type's later ones asks them."""
    peers = [name for name in names if name in PEERS]
    return {name for name in peers for other in peers if all(beats(other, name, FAR, [answer], part) for part in (None, "prefill"))}


def warmed_up(case, names, sides):
    """First answers of programs that do such a thing for the first time, which do not count, and the peers that gave none in time, with
    the limit; those are ended."""
    answers, too_slow, kind = {}, {}, CASES[case]["case"]
    for name in names:
        if kind in sides[name].did:
            continue
        limit = max(LIMIT_S, LIMIT * answers.get(names[0], {}).get("seconds", 0)) if name in PEERS else None
        try:
            answers[name] = sides[name].ask(CASES[case], limit)
            sides[name].did.add(kind)
        except TooSlow:
            sides.pop(name).kill()
            too_slow[name] = limit
    return answers, too_slow


def quickest_of_ours_first(names, active, rounds, options):
    """Threads or ranks, whichever trains faster here, stand beside the peers; without peers the ways are compared as they were given."""
    if not set(PEERS) & set(options.against):
        return names
    ours = [name for name in active if name not in PEERS]
    first = min(ours, key=lambda name: statistics.median(r["samples"][name]["seconds"] for r in rounds))
    return [first] + [name for name in names if name != first]


def run_case(case, names, sides, options, hopeless, repeat_until):
    probing, rounds, active = sides[options.ours[0]], [], list(names)
    warm, too_slow, prefill_only = {}, {}, []
    for turn in range(options.most or 1 + 2 * options.pairs):
        with Hold(options.hold):
            if turn == 0:
                warm, too_slow = warmed_up(case, names, sides)
                active = [name for name in active if name not in too_slow]
            rounds.append(one_round(case, active, sides, probing, turn % 2 == 1, prefill_only))
        if turn == 0:
            both = [warm] if all(name in warm for name in active) else []
            answers = both + [rounds[0]["samples"]]
            gone = slower_peers(active, answers)
            if CASES[case]["case"] == "decode":
                prefill_only = [name for name in gone if name not in slower_peers(active, answers, "prefill")]
                hopeless |= hopeless_peers(active, answers[-1])
            active = [name for name in active if name not in gone or name in prefill_only]
        if turn == 2:
            names = quickest_of_ours_first(names, active, rounds, options)
            active = [name for name in active if name in PEERS or name == names[0]]
        if sum(r["quiet"] for r in rounds) >= options.pairs or (len(rounds) >= options.pairs and time.monotonic() > repeat_until):
            break
    quiet = [r for r in rounds if r["quiet"]]
    return names, (quiet if len(quiet) >= options.pairs else rounds), len(quiet), too_slow


def middle(values):
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def record(case, dtype, names, rounds, quiet, sides, options, part):
    """part: None or "prefill"."""
    def of(sample):
        return part_of(sample, part)
    ours = names[0]
    row = {"case": case.replace("decode", "prefill") if part else case, "dtype": dtype, "rounds": len(rounds), "quiet_rounds": quiet,
           "processor": sides[ours].about["processor"], "instruction_set": sides[ours].about["instruction_set"],
           "date": time.strftime("%Y-%m-%d"), "threads": options.threads, "machine": platform.platform(),
           "flops": statistics.median(p["flops"] for r in rounds for p in r["probes"]),
           "bytes": statistics.median(p["bytes"] for r in rounds for p in r["probes"]), "sides": {}}
    for name in names:
        seen = [r["samples"] for r in rounds if "tokens" in of(r["samples"].get(name, {"prefill": {}}))]
        if not seen:
            continue
        side = {"about": sides[name].about, "rounds": len(seen), "tokens_per_s": middle([rate(of(s[name])) for s in seen])}
        if "of_limit" in of(seen[0][name]):
            side["of_limit"] = middle([of(s[name])["of_limit"] for s in seen])
        if name != ours:
            side["ours_over_it"] = middle([rate(of(s[ours])) / rate(of(s[name])) for s in seen])
        row["sides"][name] = side
    return row


def show(row):
    line = f"{row['case']:<16}{row['dtype']:<6}{row['quiet_rounds']:>2}/{row['rounds']}"
    for name, side in row["sides"].items():
        line += f" | {name} {side['tokens_per_s']['median']:.1f} tok/s"
        if "of_limit" in side:
            line += f", {100 * side['of_limit']['median']:.1f} % of the limit"
        if "ours_over_it" in side:
            ratio = side["ours_over_it"]
            line += f", ratio {ratio['median']:.2f} ({ratio['least']:.2f} to {ratio['most']:.2f})"
    for name, bound in row.get("too_slow", {}).items():
        line += f" | {name}: no answer in {bound['limit_s']:.0f} s, ratio above {bound['ratio_at_least']:.1f}"
    print(f"{line} | probes {row['flops'] * 1e-9:.0f} GFLOP/s, {row['bytes'] * 1e-9:.1f} GB/s", flush=True)


def open_sides(names, sides, options, dtype):
    """Starts what a case needs and is not there: none waits longer than it must, since an mpirun that is stopped for many minutes may end.
    Results first: log-probabilities of the same tokens agree, asked of each when it has just begun, since training moves its weights."""
    for name in dict.fromkeys([options.ours[0], *names]):
        if name in sides:
            continue
        side = sides[name] = start_side(name, options, dtype)
        print(json.dumps(side.about), flush=True)
        side.log_prob = side.ask({"case": "log_prob", "tokens": 128})["log_prob"]
        gap = max(abs(a - b) for a, b in zip(sides[options.ours[0]].log_prob, side.log_prob))
        print(f"log-probabilities of 127 tokens, {dtype}: {options.ours[0]} and {name} differ by at most {gap:.2e}", flush=True)
        if not gap <= TOLERANCE[dtype]:
            raise SystemExit(f"more than {TOLERANCE[dtype]}: these programs do not compute the same")


def main():
    signal.signal(signal.SIGTERM, lambda *unused: sys.exit(143))  # so that the sides are ended, which are stopped as they wait
    parser = argparse.ArgumentParser()
    for name in ("model", "server", "peers"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--dtype", choices=["f32", "bf16"], action="append")
    parser.add_argument("--case", choices=list(CASES), action="append")
    parser.add_argument("--ours", action="append", help="RANKSxTHREADS:SLICES; the first is compared with the peers, in training the quickest of three rounds")
    parser.add_argument("--against", action="append", choices=["llama", "torch", "nobody"])
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--most", type=int, default=0, help="rounds, quiet or not (default: twice the pairs and one)")
    parser.add_argument("--minutes", type=float, default=1e9, help="rounds are not repeated when this share of all cases is done late")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--hold", default="")
    parser.add_argument("--out", default="")
    options = parser.parse_args()
    options.ours = options.ours or ["1x2:1"]
    options.against = options.against or ["llama", "torch"]
    dtypes, cases = options.dtype or ["f32", "bf16"], options.case or list(CASES)
    begin, done = time.monotonic(), 0
    for dtype in dtypes:
        sides, hopeless = {}, set()
        try:
            for i, case in enumerate(cases):
                done += 1
                names = names_of(case, options, hopeless)
                open_sides(names, sides, options, dtype)
                names, rounds, quiet, too_slow = run_case(case, names, sides, options, hopeless,
                                                          begin + 60 * options.minutes * done / (len(dtypes) * len(cases)))
                for part in [None, "prefill"] if CASES[case]["case"] == "decode" else [None]:
                    row = record(case, dtype, names, rounds, quiet, sides, options, part)
                    if part is None and too_slow:
                        seconds = statistics.median(r["samples"][names[0]]["seconds"] for r in rounds)
                        row["too_slow"] = {name: {"limit_s": limit, "ratio_at_least": limit / seconds} for name, limit in too_slow.items()}
                    show(row)
                    if options.out:
                        with open(options.out, "a", encoding="utf-8") as file:
                            file.write(json.dumps(row) + "\n")
                wanted = {name for later in cases[i + 1:] for name in names_of(later, options, hopeless)}
                for name in [name for name in sides if name not in wanted and name != options.ours[0]]:
                    sides.pop(name).close()
        finally:
            for side in sides.values():
                side.close()


main()
