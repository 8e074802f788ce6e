"""Every family trains from a deck's shape: on policy exactly, and the same weights on one rank and on two."""
from program import Folder, LEARNING_DECK, Report, hashes, lines, run, sets

FAMILIES = {
    "llama": {},
    "qwen2": {"tie_embeddings": "false"},
    "qwen3": {"head_width": 10},
    "mistral": {"window": 9},  # shorter than the sequences
    "gemma2": {"window": 9},
}

report = Report()
with Folder() as folder:
    deck = folder.deck(LEARNING_DECK)
    for family, keys in FAMILIES.items():
        found = []
        for ranks in (1, 2):
            name = f"families: {family} on {ranks} rank(s)"
            out = folder / f"{family}_{ranks}"
            settings = {"model__" + key: value for key, value in keys.items()}
            settings |= {"model__family": family, "model__compute": "bf16" if family == "gemma2" else "f32", "run__iterations": 2, "eval__every": 0}
            done = run(["train", deck, "--out", out, "--quiet"] + sets(**settings), ranks=ranks)
            if not report.check(f"{name} trains", done.returncode == 0, done.stderr):
                continue
            trained = [m for m in lines(out + "/metrics.jsonl") if "first_ratio_min" in m]
            exact = [m["first_ratio_min"] == 1 and m["first_ratio_max"] == 1 and m["log_prob_gap_max"] == 0 for m in trained]
            report.check(f"{name} is on policy exactly", exact and all(exact), trained)
            found.append(hashes(out))
        report.check(f"families: {family} has the same weights on 1 and 2 ranks", len(found) == 2 and found[0] == found[1], found)
report.finish()
