"""On policy the ratio is exactly 1 and the gap exactly 0, and generate, logprob and replay agree bit for bit."""
import json

from program import Folder, LEARNING_DECK, Report, lines, run, sets

PROMPTS = {
    "prompts of different lengths": '{"prompt": "9 3 6 = 12 :"}\n{"prompt": "1 2 3 = 6 :"}\n{"prompt_ids": [4, 5, 6, 34, 9, 35]}\n',
    # 37 tokens in common are two whole pages and more; one prompt ends within them.
    "prompts that begin alike": "".join(json.dumps({"prompt_ids": [3 + i % 9 for i in range(37)][:length] + tail}) + "\n"
                                       for length, tail in ((37, [4, 5]), (37, [6]), (35, []))),
}
report = Report()


def drawn_is_scored(name, model, problems, temperature, settings):
    """What generate draws has the log-probabilities that logprob gives it, bit for bit."""
    drawn = run(["generate", model, problems, "--samples", "3", "--temperature", str(temperature), "--max-new-tokens", "40"] + settings)
    if not report.check(f"{name}: generate", drawn.returncode == 0, drawn.stderr):
        return
    rollouts = [json.loads(line) for line in drawn.stdout.splitlines()]
    report.check(f"{name}: nine rollouts", len(rollouts) == 9, len(rollouts))
    asked = folder.file("ids.jsonl", "".join(json.dumps({"ids": r["prompt_ids"] + r["response_ids"]}) + "\n" for r in rollouts))
    for ranks in (0, 2):
        scored = run(["logprob", model, asked, "--temperature", str(temperature)] + settings, ranks=ranks)
        if not report.check(f"{name}: logprob on {ranks} ranks", scored.returncode == 0, scored.stderr):
            continue
        values = [json.loads(line)["log_prob"] for line in scored.stdout.splitlines()]
        equal = len(values) == len(rollouts) and all(v[len(r["prompt_ids"]):] == r["log_prob"] for v, r in zip(values, rollouts))
        report.check(f"{name}: logprob on {ranks} ranks has the sampler's bits", equal)


with Folder() as folder:
    deck = folder.deck(LEARNING_DECK)
    for compute in ("f32", "bf16"):
        for temperature in (1.0, 0.7):
            name = f"on_policy: {compute} at temperature {temperature}"
            out = folder / f"{compute}_{temperature}"
            done = run(["train", deck, "--out", out, "--quiet"]
                       + sets(model__compute=compute, generation__temperature=temperature, run__iterations=2), ranks=2)
            if not report.check(f"{name} runs", done.returncode == 0, done.stderr):
                continue
            trained = [m for m in lines(out + "/metrics.jsonl") if "first_ratio_min" in m]
            report.check(f"{name}: something was trained", trained)
            report.check(f"{name}: first ratio is 1", all(m["first_ratio_min"] == 1 and m["first_ratio_max"] == 1 for m in trained), trained)
            report.check(f"{name}: gap is 0", all(m["log_prob_gap_max"] == 0 for m in trained), trained)

            # From outside: draw with the last checkpoint, score what was drawn.
            with open(out + "/checkpoints/latest", encoding="utf-8") as file:
                model = out + "/checkpoints/" + file.read().strip()
            settings = sets(model__compute=compute)
            for what, text in PROMPTS.items():
                drawn_is_scored(f"{name}, {what}", model, folder.file("problems.jsonl", text), temperature, settings)

            # Replay of the run's own rollouts gives the run's own weights.
            again = folder / f"replay_{compute}_{temperature}"
            replayed = run(["replay", deck, out + "/rollouts.jsonl", "--out", again, "--quiet"]
                           + sets(model__compute=compute, generation__temperature=temperature, run__iterations=2), ranks=1)
            if report.check(f"{name}: replay runs", replayed.returncode == 0, replayed.stderr):
                a = [(m["iteration"], m["weights_hash"]) for m in lines(out + "/metrics.jsonl")]
                b = [(m["iteration"], m["weights_hash"]) for m in lines(again + "/metrics.jsonl")]
                report.check(f"{name}: replay has the run's weights", a == b, f"{a} {b}")

    # The reference scores whole groups packed; while it is the policy, it has the sampler's bits.
    out = folder / "reference"
    done = run(["train", deck, "--out", out, "--quiet"]
               + sets(run__iterations=1, reference__path="policy", algorithm__kl="k3", optimizer__mini_batches=1), ranks=2)
    if report.check("on_policy: a reference runs", done.returncode == 0, done.stderr):
        rollouts = lines(out + "/rollouts.jsonl")
        report.check("on_policy: a reference that is the policy has the sampler's bits",
                     rollouts and all(r["reference_log_prob"] == r["log_prob"] for r in rollouts))
report.finish()
