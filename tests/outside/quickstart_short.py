"""The short form of the quickstart learns within a minute, writes a report, and its records hold what scripts rely on."""
import json
import os
import time

from program import Folder, Report, lines, read, run

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
report = Report()
with Folder() as folder:
    out = folder / "run"
    began = time.time()
    done = run(["train", os.path.join(ROOT, "inputs", "quickstart", "short", "quickstart.toml"), "--out", out, "--progress", "line"], ranks=2, limit=240)
    seconds = time.time() - began
    if report.check("quickstart_short: runs", done.returncode == 0, done.stderr):
        metrics = lines(out + "/metrics.jsonl")
        evaluated = [m for m in metrics if "eval_accuracy" in m]
        start, end = evaluated[0]["eval_accuracy"], evaluated[-1]["eval_accuracy"]
        print(f"# held-out accuracy {start:.3f} -> {end:.3f} in {seconds:.0f} s")
        report.check("quickstart_short: at most 0.40 after the warm start", evaluated[0]["iteration"] == 0 and start <= 0.40, start)
        report.check("quickstart_short: a clear rise", end >= 0.65, end)
        report.check("quickstart_short: at least 600 held-out problems", evaluated[-1]["eval_problems"] >= 600, evaluated[-1])
        report.check("quickstart_short: longer answers", metrics[-1]["response_length_mean"] > 1.3 * metrics[1]["response_length_mean"])
        report.check("quickstart_short: on policy exactly", all(
            m["log_prob_gap_max"] == 0 and m["first_ratio_min"] == 1 == m["first_ratio_max"] for m in metrics if "first_ratio_min" in m))
        report.check("quickstart_short: every line has iteration, step, version and hash", all(
            key in m for m in metrics for key in ("schema", "iteration", "step", "policy_version", "weights_hash", "elapsed_s")))
        report.check("quickstart_short: versions count iterations", all(m["policy_version"] == m["iteration"] for m in metrics))
        for name in ("deck.toml", "manifest.json", "metrics.jsonl", "updates.jsonl", "rollouts.jsonl", "trace.json", "log.txt", "report/index.html",
                     "checkpoints/latest"):
            report.check(f"quickstart_short: {name} is there", os.path.getsize(os.path.join(out, name)) > 0)
        page = read(out + "/report/index.html").decode("utf-8")
        report.check("quickstart_short: the report needs no network", "http://" not in page.replace("http://www.w3.org", "") and "https://" not in page)
        report.check("quickstart_short: the summary names the report", "report/index.html" in done.stdout and "held-out accuracy" in done.stdout, done.stdout)
        told = run(["report", out, "--json", "--tensorboard"])
        if report.check("quickstart_short: report --json", told.returncode == 0, told.stderr):
            told = json.loads(told.stdout)
            report.check("quickstart_short: the report of a healthy run has no alarm", told["alarms"] == [], told["alarms"])
            report.check("quickstart_short: the report names its files", all(os.path.getsize(path) > 0 for path in
                         [told["page"], *told["figures"], *told["tensorboard"]]) and len(told["figures"]) >= 12, told)
            report.check("quickstart_short: the report tells tokens apart", " title='p 0." in read(told["page"]).decode("utf-8"))
        again = run(["train", out + "/deck.toml", "--check"])
        report.check("quickstart_short: the effective deck loads again", again.returncode == 0, again.stderr)
report.finish()
