#!/usr/bin/env python3
"""Is the gradient of a learning rule that of the rule's formula, through a whole network, as PyTorch sees it?

    PYTHON validation/models/gradients.py

PYTHON has torch and transformers. For each rule and each of two golden networks, `replay --gradients` works on made-up rollouts, ragged, with
untrainable tokens, whose recorded log-probabilities differ from the network's own; transformers opens the same network in f64, and
the loss is written below as in the papers, without a look at ours. Expectation, written before the run: every tensor within 5e-5 of its largest
entry (f32 against f64; the golden gradients allow 3e-5 for a loss without ratios).

Writes gradients.md beside this file.
"""
import json
import math
import os
import random
import struct
import tempfile

import torch
from safetensors.torch import load_file

from published import LIBRARIES, opened
from shared import DATA, conclude, maxplus, small

NETWORKS = ("llama", "qwen3")
TOLERANCE = 5e-5
GROUPS, MEMBERS = 4, 3
LONGEST = 40

DECK = """
[run]
iterations = 1
[model]
path = "{model}"
[generation]
group_size = 3
max_new_tokens = 40
[optimizer]
gradient_clip = 0
micro_batch_tokens = 256
[eval]
every = 0
[algorithm]
"""


def clip(x, low, high):
    return torch.clamp(x, 1 - low, 1 + high)


def clipped(ratio, advantage, low, high):
    return -torch.minimum(ratio * advantage, clip(ratio, low, high) * advantage)


class Batch:
    """Per rollout: lp (with gradient), old, ref: f64 tensors a response token; mask; reward; group."""

    def __init__(self, rollouts, lp):
        self.rollouts, self.lp = rollouts, lp
        self.old = [torch.tensor(r["log_prob"], dtype=torch.float64) for r in rollouts]
        self.ref = [torch.tensor(r["reference_log_prob"], dtype=torch.float64) for r in rollouts]
        self.mask = [torch.tensor(r["trainable"], dtype=torch.bool) for r in rollouts]
        self.reward = [r["reward"] for r in rollouts]

    def groups(self):
        return [range(g * MEMBERS, (g + 1) * MEMBERS) for g in range(GROUPS)]

    def by_group(self, rule):
        """An advantage a rollout."""
        values = [0.0] * len(self.reward)
        for group in self.groups():
            rewards = [self.reward[i] for i in group]
            for i, value in zip(group, [0.0] * MEMBERS if len(set(rewards)) == 1 else rule(rewards)):
                values[i] = value
        return values

    def standardised(self):
        def rule(rewards):
            mean = sum(rewards) / len(rewards)
            std = math.sqrt(sum((r - mean) ** 2 for r in rewards) / (len(rewards) - 1))
            return [(r - mean) / (std + 1e-4) for r in rewards]
        return self.by_group(rule)

    def centred(self):
        return self.by_group(lambda rewards: [r - sum(rewards) / len(rewards) for r in rewards])

    def ratio(self, i):
        return torch.exp(self.lp[i] - self.old[i])

    def token_mean(self, terms):
        return sum(x[m].sum() for x, m in zip(terms, self.mask)) / sum(int(m.sum()) for m in self.mask)

    def sequence_mean(self, terms):
        return sum(x[m].mean() if m.any() else 0.0 * x.sum() for x, m in zip(terms, self.mask)) / len(terms)

    def sequence_sum(self, terms, length=1):
        return sum(x[m].sum() for x, m in zip(terms, self.mask)) / (len(terms) * length)


def grpo(b):
    a = b.standardised()
    return b.sequence_mean([clipped(b.ratio(i), a[i], 0.2, 0.2) for i in range(len(a))])


def grpo_with_k3(b):
    terms = [torch.exp(ref - lp) - (ref - lp) - 1 for lp, ref in zip(b.lp, b.ref)]
    return grpo(b) + 0.04 * b.sequence_mean(terms)


def dapo(b):
    a = b.standardised()  # 0 in a group of equal rewards, which dynamic sampling leaves out
    terms = [clipped(b.ratio(i), a[i], 0.2, 0.28) for i in range(len(a))]
    kept = [i for group in b.groups() if len({b.reward[i] for i in group}) > 1 for i in group]
    return sum(terms[i][b.mask[i]].sum() for i in kept) / sum(int(b.mask[i].sum()) for i in kept)


def dr_grpo(b):
    a = b.centred()
    return b.sequence_sum([clipped(b.ratio(i), a[i], 0.2, 0.2) for i in range(len(a))], LONGEST)


def gspo(b):
    a, terms = b.standardised(), []
    for i, value in enumerate(a):
        m = b.mask[i]
        ratio = torch.exp((b.lp[i] - b.old[i])[m].sum() / max(int(m.sum()), 1))
        terms.append(clipped(ratio, value, 0.3, 0.4).expand(len(m)))
    return b.sequence_mean(terms)


def cispo(b):
    a = b.standardised()
    return b.token_mean([-torch.clamp(b.ratio(i).detach(), max=1.2) * a[i] * b.lp[i] for i in range(len(a))])


def rloo(b):
    a = b.by_group(lambda rewards: [r - (sum(rewards) - r) / (len(rewards) - 1) for r in rewards])
    return b.sequence_sum([-a[i] * b.lp[i] for i in range(len(a))])


def reinforce_pp(b):
    rewards = torch.cat([torch.full((int(m.sum()),), r, dtype=torch.float64) for m, r in zip(b.mask, b.reward)])
    mean, std = rewards.mean(), torch.sqrt(rewards.var(unbiased=False) + 1e-8)
    return b.token_mean([clipped(b.ratio(i), (r - mean) / std, 0.2, 0.2) for i, r in enumerate(b.reward)])


def decoupled_ppo(b):
    rewards = torch.tensor(b.reward, dtype=torch.float64)
    a = (rewards - rewards.mean()) / (rewards.std() + 1e-4)
    # The proximal policy is the network as it stands, so the clipped ratio is 1 here and the weight carries it all.
    terms = [torch.exp(lp.detach() - old) * clipped(torch.exp(lp - lp.detach()), x, 0.2, 0.2) for lp, old, x in zip(b.lp, b.old, a)]
    return b.token_mean(terms)


def online_dpo(b):
    losses = []
    for group in b.groups():
        order = sorted(group, key=lambda i: b.reward[i])
        if b.reward[order[0]] == b.reward[order[-1]]:
            continue
        best = next(i for i in group if b.reward[i] == b.reward[order[-1]])
        s = [(b.lp[i] - b.ref[i])[b.mask[i]].sum() for i in (best, order[0])]
        losses.append(-torch.nn.functional.logsigmoid(0.1 * (s[0] - s[1])))
    return sum(losses) / len(losses)


RULES = {
    "grpo": (grpo, {}), "grpo, k3 in the loss": (grpo_with_k3, {"name": "grpo", "kl": "k3", "kl_coefficient": 0.04}),
    "dapo": (dapo, {"overlong_penalty": 0}), "dr_grpo": (dr_grpo, {}), "gspo": (gspo, {"clip_low": 0.3, "clip_high": 0.4}),
    "cispo": (cispo, {"clip_high": 0.2}), "rloo": (rloo, {}), "reinforce_pp": (reinforce_pp, {}), "decoupled_ppo": (decoupled_ppo, {}),
    "online_dpo": (online_dpo, {}),
}


def log_probs(model, prompt, response):
    logits = model(torch.tensor([prompt + response])).logits[0, len(prompt) - 1:-1].double()
    return torch.log_softmax(logits, -1).gather(1, torch.tensor(response)[:, None])[:, 0]


def made_up(model, vocabulary):
    draw, rollouts = random.Random(11), []
    for group in range(GROUPS):
        prompt = [draw.randrange(vocabulary) for _ in range(draw.randrange(2, 20))]
        for member in range(MEMBERS):
            response = [draw.randrange(vocabulary) for _ in range(draw.randrange(1, LONGEST + 1))]
            with torch.no_grad():
                now = log_probs(model, prompt, response)
            # Numbers that f32 holds, so that both sides read the same.
            shifted = [[struct.unpack("f", struct.pack("f", float(x) + draw.uniform(-width, width)))[0] for x in now] for width in (0.4, 0.6)]
            rollouts.append({"group": group, "prompt_ids": prompt, "response_ids": response, "finish": "stopped", "log_prob": shifted[0],
                             "reference_log_prob": shifted[1], "trainable": [0 if draw.random() < 0.2 else 1 for _ in response],
                             "reward": 0.25 * ((member + 1) * (group + 2) % 7) if group != 2 else 0.5})
    return rollouts


def ours(model, rollouts, keys, folder):
    deck, file, out = (os.path.join(folder, name) for name in ("deck.toml", "rollouts.jsonl", "gradients.safetensors"))
    with open(deck, "w", encoding="utf-8") as text:
        text.write(DECK.replace("{model}", model))
    with open(file, "w", encoding="utf-8") as text:
        text.writelines(json.dumps(r) + "\n" for r in rollouts)
    sets = [word for key, value in keys.items() for word in ("--set", f"{key}={value}")]
    maxplus("replay", deck, file, "--gradients", out, "--out", os.path.join(folder, "run"), "--quiet", *sets)
    return load_file(out)


def worst(model, loss, found):
    model.zero_grad()
    loss.backward()
    largest = 0.0
    for name, parameter in model.named_parameters():
        scale = float(parameter.grad.abs().max())
        largest = max(largest, float((found[name].double() - parameter.grad).abs().max()) / scale)
    return largest


def main():
    torch.set_num_threads(2)
    results = {rule: [] for rule in RULES}
    for name in NETWORKS:
        path = os.path.join(DATA, "models", name)
        model = opened(path, number=torch.float64)
        rollouts = made_up(model, model.config.vocab_size)
        for rule, (formula, keys) in RULES.items():
            settings = {f"algorithm.{key}": value for key, value in dict({"name": rule}, **keys).items()}
            if formula in (grpo_with_k3, online_dpo):
                settings["reference.path"] = path
            with tempfile.TemporaryDirectory() as folder:
                found = ours(path, rollouts, settings, folder)
            lp = [log_probs(model, r["prompt_ids"], r["response_ids"]) for r in rollouts]
            results[rule].append(worst(model, formula(Batch(rollouts, lp)), found))
    rows = [(rule, *map(small, values), max(values) <= TOLERANCE) for rule, values in results.items()]
    conclude(__file__, "Gradients of the learning rules through a network", f"{LIBRARIES}; f64 there, f32 here", ("rule", *NETWORKS), rows)


main()
