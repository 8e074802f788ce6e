#!/usr/bin/env python3
"""Makes results.md of the lines that compare.py wrote.

    report.py RESULTS_JSONL [RESULTS_MD]

Of several lines for one case the newest counts, with ours in other ways from the older ones.
"""
import json
import os
import sys

# What was promised: against the better peer, and of the limit; either will do where both are given.
GOALS = {("decode-1", "f32"): (1.05, 0.90), ("decode-8", "f32"): (1.6, None), ("decode-32", "f32"): (1.8, None),
         ("decode-1", "bf16"): (1.15, 0.90), ("decode-8", "bf16"): (2.0, None), ("decode-32", "bf16"): (2.0, None),
         ("training-4x256", "f32"): (1.5, None), ("training-1x1024", "f32"): (1.5, None),
         ("training-4x256", "bf16"): (1.8, None), ("training-1x1024", "bf16"): (1.8, None)}
GOALS.update({(f"prefill-{rows}", dtype): (1.3, 0.80) for rows in (1, 8, 32) for dtype in ("f32", "bf16")})


def verdict(row, ratio, share):
    goal = GOALS.get((row["case"], row["dtype"]))
    if goal is None:
        return ""
    met = (ratio is not None and ratio >= goal[0]) or (goal[1] is not None and share is not None and share >= goal[1])
    text = f">= {goal[0]:g}x" + (f" or {100 * goal[1]:.0f} %" if goal[1] else "")
    return text + (": met" if met else ": **missed**")


def cell(side):
    value = side["tokens_per_s"]
    return f"{value['median']:.1f}"


def table(rows):
    lines = ["| case | type | rounds (quiet) | ours, tok/s | % of the limit | llama.cpp | PyTorch | ours / the better peer | goal |",
             "|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        names = list(row["sides"])
        ours = row["sides"][names[0]]
        peers = {name: side for name, side in row["sides"].items() if name in ("llama", "torch")}
        best = max(peers.values(), key=lambda side: side["tokens_per_s"]["median"], default=None)
        ratio = best["ours_over_it"] if best else None
        share = ours.get("of_limit")
        slow = {name: f"> {bound['limit_s']:.0f} s a turn" for name, bound in row.get("too_slow", {}).items()}
        least = None if best else min((bound["ratio_at_least"] for bound in row.get("too_slow", {}).values()), default=None)
        of_limit = f"{100 * share['median']:.0f} ({100 * share['least']:.0f} to {100 * share['most']:.0f})" if share else ""
        shown = f"{ratio['median']:.2f} ({ratio['least']:.2f} to {ratio['most']:.2f})" if ratio else f"> {least:.1f}" if least else "peer absent"
        lines.append(f"| {row['case']} | {row['dtype']} | {row['rounds']} ({row['quiet_rounds']}) | {cell(ours)} | {of_limit} | "
                     + " | ".join(cell(peers[name]) + f" ({peers[name]['rounds']})" if name in peers else slow.get(name, "") for name in ("llama", "torch"))
                     + f" | {shown} | {verdict(row, ratio['median'] if ratio else least, share and share['median'])} |")
    return lines


def ways(rows):
    """Ours in several ways: ranks x threads : gradient slices."""
    lines = ["| case | type | ranks x threads : slices | tok/s | % of the limit |", "|---|---|---|---|---|"]
    for row in rows:
        ours = {name: side for name, side in row["sides"].items() if ":" in name}
        if len(ours) < 2:
            continue
        for name, side in ours.items():
            lines.append(f"| {row['case']} | {row['dtype']} | {name} | {cell(side)} | {100 * side['of_limit']['median']:.0f} |")
    return lines if len(lines) > 2 else []


def main():
    newest = {}
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            older = newest.pop((row["case"], row["dtype"]), {"sides": {}})
            for name, side in older["sides"].items():  # ours in ways that this line does not hold
                if ":" in name:
                    row["sides"].setdefault(name, side)
            newest[(row["case"], row["dtype"])] = row
    order = ["decode-1", "decode-8", "decode-32", "prefill-1", "prefill-8", "prefill-32", "training-4x256", "training-1x1024"]
    rows = sorted(newest.values(), key=lambda row: (row["dtype"] != "f32", order.index(row["case"])))
    abouts = {name: side["about"] for row in rows for name, side in row["sides"].items()}
    first = rows[0]
    text = ["# Beside llama.cpp and PyTorch", "", "Written by `validation/peers/run.sh`; what the columns mean stands in README.md. Brackets behind a peer's rate: the rounds it took part in.", "",
            f"{first['processor']}, {first['instruction_set']}, {os.cpu_count()} cores, {first['threads']} used, {first['date']}. Probes, medians: "
            + "; ".join(f"{dtype} {max(r['flops'] for r in rows if r['dtype'] == dtype) * 1e-9:.0f} GFLOP/s, "
                        f"{max(r['bytes'] for r in rows if r['dtype'] == dtype) * 1e-9:.1f} GB/s"
                        for dtype in dict.fromkeys(r["dtype"] for r in rows)) + ".", ""]
    for name, about in abouts.items():
        text.append(f"- `{name}`: {about['name']}, {about['version']}" + (f"; {about['settings'].strip()}" if "settings" in about else "")
                    + (f"; {about['arithmetic']}" if "arithmetic" in about else ""))
    text += [""] + table(rows) + [""]
    if ways(rows):
        text += ["Ours in several ways:", ""] + ways(rows) + [""]
    joined = "\n".join(text)
    print(joined)
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w", encoding="utf-8") as file:
            file.write(joined)


main()
