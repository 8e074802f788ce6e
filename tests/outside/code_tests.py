"""Hostile and honest programs under the verifier `code_tests`: right verdicts, nothing left; refusals where there is no sandbox.

Nothing here fails for want of time: hostile programs may meet any limit first, and honest ones have a limit far beyond their need."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

import hostile_programs as corpus
from judged import remains, score, within
from program import PROGRAM, Report

HOSTILE_LIMIT_S = 1  # no honest program runs beside it
HONEST_LIMIT_S = 60
WORKERS = 6
# Run to their limit like others that stay; validation/verify/hostile.py has all.
LEFT_OUT = ("sleep in the function", "regular expression that explodes", "drip of output", "ignores every signal", "exact power tower")
# Of the weaker tier only what it must hold by other means than the stronger one.
OTHER_MEANS = ("closes", "endless file", "unlinked", "fills", "deep folders", "folders without", "reads", "kills", "stops", "limits", "writes", "links", "rights",
               "fork that", "network", "datagrams", "ptrace", "new namespaces", "cleared death", "threads without")
# What a user without rights must be refused as well.
BY_ANYBODY = ("reads", "kills everybody", "stops its parents", "threads without", "fork that", "network", "new namespaces", "writes outside", "rights of files")
NOBODY = 65534
UNAVAILABLE = 69  # exit code


def matches(name, choice):
    return any(part in name for part in choice)


def honest_items():
    return [corpus.line(name, kind, text) for name, kind, text in corpus.HONEST_ONES]


def available(tier, folder, **options):
    lines, _, done = score(honest_items()[:1], folder, f"sandbox={tier}", f"timeout_s={HONEST_LIMIT_S}", **options)
    if lines is None:
        return False, done.stderr.splitlines()[0]
    return lines[0]["verdict"] == "correct", lines[0]["extracted"]


def check_hostile(report, name, folder, tier, hostile, processes=1, **options):
    items = [corpus.line(title, kind, text) for title, kind, _, _, text in hostile]
    workers = WORKERS if processes == 1 else 1  # a bomb of 32 may have the cores to itself
    lines, seconds, done = score(items, folder, f"sandbox={tier}", f"timeout_s={HOSTILE_LIMIT_S}", f"workers={workers}", "memory_mb=256", f"processes={processes}", **options)
    if lines is None:
        report.check(f"{name}: scored", False, done.stderr)
        return
    bad = [(l["id"], l["verdict"], l["extracted"]) for l in lines if l["verdict"] in ("correct", "crashed", "gold_unusable")]
    report.check(f"{name}: none of {len(hostile)} hostile programs is correct or breaks the judge", not bad, bad)
    print(f"{name}: {seconds:.1f} s")


def check_honest(report, name, folder, tier, beside, **options):
    """Honest programs among hostile ones that end at once."""
    items = honest_items()
    for i, (title, kind, _, _, text) in enumerate(beside):
        items.insert(2 * i + 1, corpus.line(f"hostile {title}", kind, text))
    lines, _, done = score(items, folder, f"sandbox={tier}", f"timeout_s={HONEST_LIMIT_S}", f"workers={WORKERS}", **options)
    slow = [(l["id"], l["verdict"], l["extracted"]) for l in lines or [] if not l["id"].startswith("hostile") and l["verdict"] != "correct"]
    report.check(f"{name}: honest programs are correct", lines is not None and not slow, slow or done.stderr)


def check_tier(report, tier, folder, choose):
    for processes in (1, 32):
        if processes > 1 and tier == "landlock":
            continue
        hostile = [h for h in corpus.HOSTILE if h[2] == processes and h[0] not in LEFT_OUT and choose(h[0])]
        check_hostile(report, f"{tier}, processes {processes}", folder, tier, hostile, processes)
    at_once = [h for h in corpus.HOSTILE if h[3] == "wrong" and h[2] == 1][:7]
    check_honest(report, tier, folder, tier, at_once)
    left = within(10, lambda: remains(folder))
    report.check(f"{tier}: no process and no file is left", not left, left)


def check_killed_program(report, folder):
    """The program dies in the middle: everything that it started goes with it."""
    path = os.path.join(folder, "sleep.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(corpus.line("sleeps", corpus.PROGRAM, "import time\ntime.sleep(1000)\n")) + "\n")
    with subprocess.Popen([PROGRAM, "score", path, "--verifier", "code_tests", "--set", "reward.timeout_s=600"],
                          stdout=subprocess.DEVNULL, env=dict(os.environ, TMPDIR=folder)) as process:
        started = not within(30, lambda: not any("python" in one for one in remains(folder)))
        process.send_signal(signal.SIGKILL)
        process.wait()
    os.unlink(path)
    left = within(10, lambda: remains(folder))
    report.check("a killed judge leaves nothing behind", started and not left, f"started: {started}; {left}")


def check_nobody(report, folder):
    """As a user without rights, who may have namespaces of users or not."""
    if os.geteuid() != 0:
        report.skip("code_tests: a user without rights", "this is one")
        return
    own = os.path.join(folder, "nobody")
    os.mkdir(own)
    os.chown(own, NOBODY, NOBODY)
    reached = subprocess.run([PROGRAM, "--version"], user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True, check=False) if may_run_as_nobody() else None
    if reached is None or reached.returncode != 0:
        report.skip("code_tests: a user without rights", "the program lies where that user may not read")
    else:
        for tier in ("namespaces", "landlock"):
            there, why = available(tier, own, user=NOBODY)
            if not there:
                report.skip(f"code_tests: {tier} without rights", why)
                continue
            hostile = [h for h in corpus.HOSTILE if h[2] == 1 and matches(h[0], BY_ANYBODY)]
            check_hostile(report, f"{tier} without rights", own, tier, hostile, user=NOBODY)
            check_honest(report, f"{tier} without rights", own, tier, [], user=NOBODY)
    left = within(10, lambda: remains(own))
    report.check("without rights no process and no file is left", not left, left)
    shutil.rmtree(own)


def may_run_as_nobody():
    path = os.path.dirname(os.path.realpath(PROGRAM))
    while path != "/":
        if not os.stat(path).st_mode & 0o001:
            return False
        path = os.path.dirname(path)
    return True


def check_no_user_namespaces(report, folder):
    """Where no user namespace can be made, as on hosts that forbid them: the weaker tier for "auto", a refusal for the stronger one."""
    without = ["unshare", "-Ur", "sh", "-c", 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"', "sh"]
    tried = subprocess.run(without + ["true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        report.skip("code_tests: a host without user namespaces", tried.stderr.strip() or "unshare -Ur fails")
        return
    lines, _, done = score(honest_items()[:1], folder, "sandbox=namespaces", f"timeout_s={HONEST_LIMIT_S}", through=without)
    report.check("without user namespaces the stronger tier is refused with 69", lines is None and done.returncode == UNAVAILABLE and "namespaces: " in done.stderr, f"{done.returncode} {lines} {done.stderr}")
    if available("landlock", folder)[0]:
        lines, _, done = score(honest_items(), folder, f"timeout_s={HONEST_LIMIT_S}", through=without)
        verdicts = [l["verdict"] for l in lines or []]
        report.check("without user namespaces the weaker tier is taken", verdicts == ["correct"] * len(corpus.HONEST_ONES), f"{lines} {done.stderr}")


def check_unconfined(report, folder):
    lines, _, done = score(honest_items()[:1], folder, "sandbox=none", f"timeout_s={HONEST_LIMIT_S}")
    report.check("sandbox = none runs, and says so", lines is not None and lines[0]["verdict"] == "correct" and "unconfined" in done.stderr, f"{lines} {done.stderr}")


def main():
    report = Report()
    with tempfile.TemporaryDirectory(dir=os.environ.get("PART_TMP")) as folder:
        os.chmod(folder, 0o755)
        tiers = 0
        for tier in ("namespaces", "landlock"):
            there, why = available(tier, folder)
            if not there:
                report.skip(f"code_tests: tier {tier}", why)
                continue
            first = tiers == 0
            tiers += 1
            check_tier(report, tier, folder, lambda name, first=first: first or matches(name, OTHER_MEANS))
        if tiers == 0:
            lines, _, done = score(honest_items()[:1], folder)
            report.check("no sandbox: refused with 69", lines is None and done.returncode == UNAVAILABLE, done.stderr)
        else:
            check_killed_program(report, folder)
            check_nobody(report, folder)
            check_no_user_namespaces(report, folder)
        check_unconfined(report, folder)
        lines, _, done = score(honest_items()[:1], folder, "sandbox=chroot")
        report.check("an unknown tier is a fault of the deck", lines is None and done.returncode == 78, done.stderr)
    report.finish()


if __name__ == "__main__":
    main()
