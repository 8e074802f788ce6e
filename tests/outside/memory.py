"""The printed plan is what a run uses: resident memory above the start-up baseline, flat over many iterations; what does not fit is refused."""
import json

from program import Folder, Report, TINY_DECK, lines, run, sets

BIG_DECK = """
[run]
seed = 1
iterations = 1
out = "{out}"
[model]
family = "llama"
width = 512
layers = 6
heads = 8
kv_heads = 4
ffn_width = 1536
context = 256
[tokenizer]
kind = "characters"
alphabet = "0123456789 +=-"
[data]
train = "problems.jsonl"
[reward]
verifier = "regex"
pattern = "1"
[generation]
problems_per_iteration = 4
group_size = 8
max_new_tokens = 120
force_length = 120
batch_rollouts = 32
[algorithm]
name = "grpo"
[optimizer]
learning_rate = 1e-4
micro_batch_tokens = 512
[eval]
every = 0
"""
SHARE = 0.10  # how far resident memory may lie from the plan
STEP = 1 << 20  # bytes by which a heap may grow once: allocators take memory in steps

report = Report()
with Folder() as folder:
    folder.file("problems.jsonl", "".join(json.dumps({"prompt": f"{i}+{i}=", "answer": str(2 * i)}) + "\n" for i in range(10, 42)))
    deck = folder.deck(BIG_DECK, out="big")
    done = run(["train", deck, "--quiet"], limit=280)
    if report.check("memory: a large shape runs", done.returncode == 0, done.stderr):
        with open(folder / "big/manifest.json", encoding="utf-8") as file:
            manifest = json.load(file)
        plan = sum(manifest["memory_plan_bytes"].values())
        used = lines(folder / "big/metrics.jsonl")[-1]["memory_peak_bytes"] - manifest["memory_baseline_bytes"]
        report.check("memory: the shape is at least 500 MB", plan >= 500e6, plan)
        report.check("memory: resident peak is within 10 % of the plan", abs(used / plan - 1) <= SHARE, f"plan {plan}, used {used}, ratio {used / plan:.3f}")

    tiny = folder.deck(TINY_DECK, out="tiny", name="tiny.toml")
    done = run(["train", tiny, "--quiet"] + sets(run__iterations=300, eval__every=100, run__checkpoint_every=50), limit=200)
    if report.check("memory: 300 iterations run", done.returncode == 0, done.stderr):
        peaks = {m["iteration"]: m["memory_peak_bytes"] for m in lines(folder / "tiny/metrics.jsonl")}
        report.check("memory: 300 iterations leave it flat", peaks[300] <= max(1.01 * peaks[100], peaks[100] + STEP), f"{peaks[100]} at 100, {peaks[300]} at 300")

    refused = run(["train", deck, "--out", folder / "none", "--quiet"] + sets(model__width=16384, model__layers=200, model__heads=128, model__ffn_width=65536))
    report.check("memory: what does not fit is refused with the plan", refused.returncode == 71 and "the plan needs" in refused.stderr,
                 f"{refused.returncode} {refused.stderr}")
report.finish()
