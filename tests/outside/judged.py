"""Scores programs with the verifier `code_tests`, and looks for what they may have left."""
import json
import os
import subprocess
import time

import hostile_programs
from program import ENVIRONMENT, PROGRAM

KEEPERS = "maxplus-broker"
FIRST_USER = 0x30000000


def score(items, folder, *sets, limit=300, user=None, through=()):
    """The scored lines (none where it failed), the seconds of the whole and the process; as another user, through another program."""
    path = os.path.join(folder, "programs.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        for item in items:
            file.write(json.dumps(item) + "\n")
    command = [*through, PROGRAM, "score", path, "--verifier", "code_tests"]
    for one in sets:
        command += ["--set", f"reward.{one}"]
    begin = time.time()
    identity = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False,
                          env=dict(os.environ, TMPDIR=str(folder), **ENVIRONMENT), **identity)
    seconds = time.time() - begin
    os.unlink(path)
    if done.returncode != 0:
        return None, seconds, done
    return [json.loads(line) for line in done.stdout.splitlines()], seconds, done


def within(seconds, rest):
    """What rest() still gives after so long; the first empty answer ends the waiting."""
    until = time.time() + seconds
    while (found := rest()) and time.time() < until:
        time.sleep(0.05)
    return found


def remains(folder):
    """Processes of judged programs or their keepers, and files with the programs' mark or in the folder."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/comm", encoding="utf-8") as file:
                name = file.read().strip()
            with open(f"/proc/{entry}/environ", "rb") as file:
                environment = file.read()
            owner = os.stat(f"/proc/{entry}").st_uid
        except OSError:
            continue
        if name == KEEPERS or b"MKL_NUM_THREADS=1\0" in environment and b"MAXPLUS" not in environment or owner >= FIRST_USER:
            found.append(f"process {entry} {name}")
    found += [os.path.join(folder, name) for name in os.listdir(folder)]
    for place in ("/", "/tmp", "/dev/shm", "/var/tmp", "/usr", "/etc", os.path.dirname(folder)):
        try:
            found += [os.path.join(place, name) for name in os.listdir(place) if hostile_programs.MARK in name or name.startswith("maxplus-probe")]
        except OSError:
            pass
    return found
