"""Programs that answer requests in turns, and what else the machine did meanwhile."""
import json
import os
import select
import signal
import subprocess
import time


def tree(root):
    """{process: its processor seconds} of a process and all below it."""
    parents, used = {}, {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents[int(name)], used[int(name)] = int(fields[1]), int(fields[11]) + int(fields[12])
    found = {}
    for pid in parents:
        above = pid
        while above in parents and above != root:
            above = parents[above]
        if above == root:
            found[pid] = used[pid] / os.sysconf("SC_CLK_TCK")
    return found


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


class TooSlow(Exception):
    """No answer within the time allowed; the side is of no use any more."""


class Side:
    """A program that prints a line of JSON when it is ready, and one for each line of JSON it is sent.

    It is stopped while it is not asked: a rank or a thread that waits for work may spin, and would take a core from the others.
    """

    def __init__(self, label, command, environment):
        self.label, self.did = label, set()  # kinds of work it has done
        self.log_prob = None  # what it said of the tokens when it had just begun
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.about = self._line()
        self._signal(signal.SIGSTOP)

    def _signal(self, number):
        for pid in tree(self.process.pid):
            if name_of(pid) in ("mpirun", "orted"):  # they sleep, and would tell of each signal
                continue
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def processor_s(self):
        return sum(tree(self.process.pid).values())

    def _line(self, limit_s=None):
        while True:
            # One line is printed at a time, so that none waits behind the pipe.
            if limit_s and not select.select([self.process.stdout], [], [], limit_s)[0]:
                raise TooSlow(self.label)
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"{self.label} ended with {self.process.wait()}")
            if line.startswith("{"):
                return json.loads(line)

    def ask(self, request, limit_s=None):
        self._signal(signal.SIGCONT)
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self._line(limit_s)
        self._signal(signal.SIGSTOP)
        if "error" in answer:
            raise RuntimeError(f"{self.label}: {answer['error']}")
        return answer

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        self._signal(signal.SIGCONT)
        self.process.stdin.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Hold:
    """Keeps the machine quiet while it is open, by a command that prints a line when it has begun and ends with its input."""

    def __init__(self, command):
        self.process = None
        if command:
            self.process = subprocess.Popen(command, shell=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.process.stdout.readline()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


def busy_s():
    """Seconds of all cores that were not idle, those stolen by the host among them."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = [int(field) for field in file.readline().split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def watched(side, request):
    """The answer, and which share of the machine others had meanwhile."""
    busy, own, start = busy_s(), side.processor_s(), time.monotonic()
    answer = side.ask(request)
    wall = max(time.monotonic() - start, 1e-3)
    others = (busy_s() - busy) - (side.processor_s() - own)
    return answer, max(0.0, others / (wall * os.cpu_count()))
