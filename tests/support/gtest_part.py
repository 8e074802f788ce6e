#!/usr/bin/env python3
# Runs the GoogleTest programs that CTest knows of, one by one, and prints one line a test case: ok, not ok or skip.
#
#   gtest_part.py BUILD {serial|ranks} [NAME...]
#
# The cases are counted from the programs' own output, not from their exit codes: a case that was begun and never ended
# (a crash, a hang) is a failure by name, and so is a program whose cases do not add up to what it announced.
import json
import os
import re
import signal
import subprocess
import sys
import time

CASE = re.compile(r"\[( RUN      |       OK |  FAILED  |  SKIPPED )\] ([\w/]+\.[\w/]+)")
ANNOUNCED = re.compile(r"\[==========\] Running (\d+) tests? from")
DEFAULT_LIMIT_S = 300


def known_tests(build):
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True,
                             check=True)
    for test in json.loads(listing.stdout)["tests"]:
        properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
        yield test["name"], test.get("command", []), properties


def end_session(leader):
    """Kills what is left of a program's session: ranks are no children of ours, and have process groups of their own."""
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/stat") as file:
                session = int(file.read().rpartition(")")[2].split()[3])
            if session == leader:
                os.kill(int(entry), signal.SIGKILL)
        except (OSError, ValueError):
            continue  # not a process, or gone by now


def run(command, environment, limit_s):
    """The program's standard output and error, and its exit code; None if it ran into the limit."""
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
    try:
        out, err = process.communicate(timeout=limit_s)
        return out, err, process.returncode
    except subprocess.TimeoutExpired:
        process.terminate()  # once, and only the launcher: at a second signal mpirun would leave its ranks behind
        try:
            out, err = process.communicate(timeout=8)
        except subprocess.TimeoutExpired:
            end_session(process.pid)
            out, err = process.communicate()
        return out, err, None
    finally:
        end_session(process.pid)


def read_cases(out):
    """[(case, "ok" | "failed" | "skipped" | "unfinished")] in order, and the number of cases that was announced."""
    state = {}
    out = out.replace("\r", "")
    for kind, case in CASE.findall(out):
        kind = kind.strip()
        if kind == "RUN":
            state[case] = "unfinished"
        elif state.get(case) == "unfinished":  # the closing list of failures names them a second time
            state[case] = {"OK": "ok", "FAILED": "failed", "SKIPPED": "skipped"}[kind]
    announced = ANNOUNCED.search(out)
    return list(state.items()), int(announced.group(1)) if announced else None


def one_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " / ".join(lines)[:300]


def reason(out, case):
    """What the program printed between the begin and the end of a case."""
    body = out.split("] " + case + "\n", 1)[-1]
    body = re.split(r"\[(?:  FAILED  |  SKIPPED |       OK |==========)\]", body, 1)[0]
    return one_line(body) or "no message"


def report(name, out, err, status, seconds, limit_s):
    cases, announced = read_cases(out)
    counts = {"ok": 0, "failed": 0, "skipped": 0, "unfinished": 0}
    for case, state in cases:
        counts[state] += 1
        label = f"{name}.{case}"
        if state == "ok":
            print(f"ok {label}")
        elif state == "skipped":
            print(f"skip {label}: {reason(out, case)}")
        elif state == "failed":
            print(f"not ok {label}: {reason(out, case)}")
        else:
            why = f"ran past {limit_s} s" if status is None else f"the program ended with {status} in it"
            print(f"not ok {label}: {why}: {one_line(err[-600:])}")
    bad = counts["failed"] + counts["unfinished"]
    if announced is None:
        print(f"not ok {name}: no test ran, exit code {status}: {one_line((err or out)[-600:])}")
    elif announced != len(cases):
        print(f"not ok {name}: {announced} tests announced, {len(cases)} seen, exit code {status}")
    elif status != 0 and bad == 0:
        print(f"not ok {name}: all tests passed, but the exit code is {status}: {one_line(err[-600:])}")
    if bad or status != 0:
        sys.stderr.write(f"\n== {name}, exit code {status}\n{out}\n{err}\n")
    print(f"# {name}: {len(cases)} tests, {seconds:.1f} s", flush=True)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # a limit of the whole part: end the program under test, too
    build, kind, only = sys.argv[1], sys.argv[2], sys.argv[3:]
    found = 0
    for name, command, properties in known_tests(build):
        is_ranks = re.search(r"\.ranks\d+$", name) is not None
        if is_ranks != (kind == "ranks") or (only and name not in only):
            continue
        found += 1
        program = next((word for word in command if "/test_" in word), command[0] if command else "")
        if not os.access(program, os.X_OK):
            print(f"not ok {name}: {os.path.basename(program) or 'the program'} was not built")
            continue
        command = [word for word in command if word != "--gtest_brief=1"]
        environment = {**os.environ, "GTEST_COLOR": "no"}  # mpirun gives its ranks a terminal
        environment.update(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", []))
        limit_s = float(properties.get("TIMEOUT", DEFAULT_LIMIT_S))
        start = time.monotonic()
        out, err, status = run(command, environment, limit_s)
        report(name, out, err, status, time.monotonic() - start, limit_s)
    if found == 0:
        print(f"not ok {kind}: no test is known in {build}")


main()
