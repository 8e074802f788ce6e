#!/usr/bin/env python3
"""Rejection sampling: the answers of a run that were rewarded, as demonstrations for a warm start.

    tools/kept_answers.py runs/reinforced > kept.jsonl
    tools/kept_answers.py runs/reinforced --from-iteration 20 --a-problem 2 --shortest > kept.jsonl

Reads rollouts.jsonl of the run folder and writes {"prompt_ids", "response_ids"} a line, in the order of the file, equal answers to a problem once.
Then, in a deck: [warm_start] train = "kept.jsonl".
"""
import argparse
import collections
import json
import os
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="a run folder, or a file of recorded rollouts")
    parser.add_argument("--reward-above", type=float, default=0.0, help="keep answers with a larger reward (default 0)")
    parser.add_argument("--from-iteration", type=int, default=0, help="leave out what was drawn before")
    parser.add_argument("--a-problem", type=int, default=0, help="at most so many answers to a problem (default: all)")
    parser.add_argument("--shortest", action="store_true", help="of a problem's answers the shortest, else the last ones drawn")
    arguments = parser.parse_args()
    path = os.path.join(arguments.run, "rollouts.jsonl") if os.path.isdir(arguments.run) else arguments.run
    try:
        with open(path, encoding="utf-8") as file:
            rollouts = [json.loads(line) for line in file if line.strip()]
    except (OSError, ValueError) as error:
        sys.exit(f"{path}: {error}; a run folder with rollouts.jsonl is needed ([run] log_rollouts)")
    answers = collections.OrderedDict()  # of a prompt, by response, the last drawn last
    for number, rollout in enumerate(rollouts):
        if rollout["reward"] <= arguments.reward_above or rollout.get("iteration", 0) < arguments.from_iteration or rollout.get("finish", "stopped") != "stopped":
            continue
        found = answers.setdefault(tuple(rollout["prompt_ids"]), {})
        found.pop(tuple(rollout["response_ids"]), None)
        found[tuple(rollout["response_ids"])] = number
    kept = []
    for prompt, responses in answers.items():
        order = sorted(responses, key=lambda r: (len(r), responses[r])) if arguments.shortest else sorted(responses, key=lambda r: -responses[r])
        kept += [(responses[r], prompt, r) for r in (order[:arguments.a_problem] if arguments.a_problem else order)]
    for _, prompt, response in sorted(kept):
        print(json.dumps({"prompt_ids": prompt, "response_ids": response}))
    print(f"{len(kept)} answers to {len(answers)} problems kept of {len(rollouts)} answers", file=sys.stderr)


main()
