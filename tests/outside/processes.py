"""Processes below one that a test started, and files that they are about to write."""
import os
import time


def _below(process):
    """(process, name) of all processes below this one."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                    text = file.read()
            except OSError:
                continue
            parents[int(entry)] = (int(text[text.rindex(")") + 2:].split()[1]), text[text.index("(") + 1:text.rindex(")")])
    found, ring = [], [process]
    while ring:
        parent = ring.pop()
        for pid, (above, name) in parents.items():
            if above == parent:
                ring.append(pid)
                found.append((pid, name))
    return found


def ranks_of(process):
    """The ranks of a job that `start` of program.py began, by process id, which is their order on one machine."""
    return sorted(pid for pid, name in _below(process.pid) if name == "maxplus")


def launcher_of(process):
    """The mpirun of such a job; none before it is there."""
    return next((pid for pid, name in _below(process.pid) if name == "mpirun"), None)


def wait_for(path, lines_wanted, seconds=60):
    """Whether a file has so many lines in time."""
    end = time.time() + seconds
    while time.time() < end:
        if os.path.exists(path):
            with open(path, "rb") as file:
                if file.read().count(b"\n") >= lines_wanted:
                    return True
        time.sleep(0.05)
    return False
