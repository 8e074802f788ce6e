"""Processes below one that a test started, and files that they are about to write."""
import os
import signal
import time


def table():
    """(parent, name) of every process."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                    text = file.read()
            except OSError:
                continue
            found[int(entry)] = (int(text[text.rindex(")") + 2:].split()[1]), text[text.index("(") + 1:text.rindex(")")])
    return found


def below(process, name):
    """Processes of that name among all that descend from one that a test started."""
    all_of_them, found, ring = table(), [], [process.pid]
    while ring:
        parent = ring.pop()
        for pid, (above, its_name) in all_of_them.items():
            if above == parent:
                ring.append(pid)
                if its_name == name:
                    found.append(pid)
    return sorted(found)


def ranks_of(process):
    """The ranks of a job that `start` of program.py began, by process id, which is their order on one machine."""
    return below(process, "maxplus")


def launcher_of(process):
    """The mpirun of such a job; none before it is there."""
    return next(iter(below(process, "mpirun")), None)


def kill_all(pids):
    """Ends what is left of some processes."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


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
