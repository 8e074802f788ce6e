"""Run folders made up for the check of the report: of any length, with any text, from what a real run recorded."""
import json
import math
import os
import random

EVIL = ("</pre></article></script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
        "<style>body{display:none}</style>\"'&lt;<!-- \u202e\u0000 ]]> javascript:alert(1)")


def write_lines(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, separators=(",", ":")) + "\n")


def stretched(rows, iterations, seed):
    """The lines of a real run as if it had gone on for so many iterations, with noise and some spikes."""
    draw = random.Random(seed)
    trained = [row for row in rows if row["iteration"] > 0]
    result = [rows[0]] if rows[0]["iteration"] == 0 else []
    for k in range(1, iterations + 1):
        row = dict(trained[min(len(trained) - 1, (k - 1) * len(trained) // iterations)])
        for name, value in row.items():
            if isinstance(value, float) and name not in ("time_unix", "first_ratio_min", "first_ratio_max"):
                row[name] = value * math.exp(draw.gauss(0, 0.05))
        row.update(iteration=k, step=k, policy_version=k, time_unix=rows[0]["time_unix"] + k, elapsed_s=float(k))
        if k % 97 == 0:
            row["gradient_norm"] = 20.0
        result.append(row)
    return result


def folder_of(path, rows, rollouts, title):
    os.makedirs(path, exist_ok=True)
    write_lines(os.path.join(path, "metrics.jsonl"), rows)
    if rollouts:
        write_lines(os.path.join(path, "rollouts.jsonl"), rollouts)
    with open(os.path.join(path, "manifest.json"), "w", encoding="utf-8") as file:
        json.dump({"title": title, "exit": title, "processor": title}, file)
    return path


def hostile(path, rows, rollouts):
    """Texts that would take the page over if one of them were not escaped."""
    worse = []
    for rollout in rollouts[:64]:
        worse.append(dict(rollout, prompt=EVIL, response=EVIL * 3, rollout_id=EVIL, verdict=EVIL, reward_parts=[EVIL]))
    return folder_of(path, rows, worse, EVIL)
