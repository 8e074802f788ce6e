"""Signals and the wall limit save and exit 75, a stopped rank is named by the watchdog, a killed one loses nothing; all resume exactly."""
import os
import signal
import time

from processes import kill_all, launcher_of, ranks_of, wait_for
from program import Folder, LEARNING_DECK, Report, hashes, read, run, sets, start

report = Report()
KEYS = dict(run__iterations=40, run__checkpoint_every=2, eval__every=0)


with Folder() as folder:
    deck = folder.deck(LEARNING_DECK)
    whole = folder / "whole"
    done = run(["train", deck, "--out", whole, "--quiet"] + sets(**KEYS), ranks=2)
    report.check("stopping: the uninterrupted run", done.returncode == 0, done.stderr)
    expected = (hashes(whole), read(whole + "/rollouts.jsonl")) if done.returncode == 0 else None

    def finish(name, out, ranks=2):
        """Resumes and compares with the uninterrupted run."""
        again = run(["train", deck, "--out", out, "--quiet"] + sets(**KEYS), ranks=ranks)
        if report.check(f"stopping: {name}: resumes", again.returncode == 0, again.stderr):
            report.check(f"stopping: {name}: the bits of the uninterrupted run", (hashes(out), read(out + "/rollouts.jsonl")) == expected)

    # SIGUSR1 through the launcher; SIGTERM to one rank.
    for name, number, to_rank in (("SIGUSR1 to mpirun", signal.SIGUSR1, False), ("SIGTERM to the ranks", signal.SIGTERM, True)):
        out = folder / name.replace(" ", "_")
        process = start(["train", deck, "--out", out, "--quiet"] + sets(**KEYS), ranks=2)
        ready = wait_for(out + "/metrics.jsonl", 6)
        began = time.time()
        for pid in ranks_of(process) if to_rank else [launcher_of(process)]:
            os.kill(pid, number)
        _, errors = process.communicate()
        report.check(f"stopping: {name}: exit 75", ready and process.returncode == 75, f"{process.returncode} {errors}")
        report.check(f"stopping: {name}: within 10 s", time.time() - began < 10, time.time() - began)
        finish(name, out)

    # The wall limit, in a run that no machine finishes before it; then two more iterations, beside a run of as many at once.
    out, beside = folder / "wall", folder / "as_far_as_the_wall"
    endless = {**KEYS, "run__iterations": 1000000}
    limited = run(["train", deck, "--out", out, "--quiet"] + sets(run__wall_limit_min=0.06, **endless), ranks=2)
    report.check("stopping: the wall limit: exit 75", limited.returncode == 75, f"{limited.returncode} {limited.stderr}")
    keys = sets(run__stop_after=read(out + "/metrics.jsonl").count(b"\n") + 2, **endless)
    ends = [run(["train", deck, "--out", to, "--quiet"] + keys, ranks=2) for to in (out, beside)]
    if report.check("stopping: the wall limit: resumes", all(end.returncode == 0 for end in ends), ends[0].stderr + ends[1].stderr):
        same = hashes(out) == hashes(beside) and read(out + "/rollouts.jsonl") == read(beside + "/rollouts.jsonl")
        report.check("stopping: the wall limit: the bits of the uninterrupted run", same)

    # A rank is killed.
    out = folder / "killed"
    process = start(["train", deck, "--out", out, "--quiet"] + sets(**KEYS), ranks=2)
    ready = wait_for(out + "/metrics.jsonl", 6)
    pids = ranks_of(process)
    os.kill(pids[1] if len(pids) > 1 else pids[0], signal.SIGKILL)
    process.communicate()
    report.check("stopping: a killed rank ends the job", ready and process.returncode != 0, process.returncode)
    finish("a killed rank", out)

    # A rank is stopped: the watchdog names it and ends the job.
    out = folder / "stopped"
    process = start(["train", deck, "--out", out, "--quiet"] + sets(run__watchdog_s=3, **KEYS), ranks=2)
    ready = wait_for(out + "/metrics.jsonl", 6)
    pids = ranks_of(process)
    os.kill(pids[1], signal.SIGSTOP)
    began = time.time()
    _, errors = process.communicate()
    report.check("stopping: a stopped rank: exit 75", ready and process.returncode == 75, f"{process.returncode} {errors}")
    report.check("stopping: a stopped rank: within the limit + 2 s", time.time() - began < 3 + 2 + 1.5, time.time() - began)
    report.check("stopping: a stopped rank is named", "silent: rank" in errors, errors)
    kill_all(pids)
    finish("a stopped rank", out, ranks=1)
report.finish()
