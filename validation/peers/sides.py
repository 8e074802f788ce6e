"""Programs that answer requests in turns, and what else the machine did meanwhile."""
import json
import os
import subprocess
import time


class Side:
    """A program that prints a line of JSON when it is ready, and one for each line of JSON it is sent."""

    def __init__(self, label, command, environment):
        self.label = label
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.about = self._line()

    def _line(self):
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"{self.label} ended with {self.process.wait()}")
            if line.startswith("{"):
                return json.loads(line)

    def ask(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self._line()
        if "error" in answer:
            raise RuntimeError(f"{self.label}: {answer['error']}")
        return answer

    def close(self):
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


def own_s():
    """Processor seconds of this process and all below it."""
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
    total = 0
    for pid in parents:
        above = pid
        while above in parents and above != os.getpid():
            above = parents[above]
        if above == os.getpid():
            total += used[pid]
    return total / os.sysconf("SC_CLK_TCK")


def watched(ask):
    """The answer, and which share of the machine others had meanwhile."""
    busy, own, start = busy_s(), own_s(), time.monotonic()
    answer = ask()
    wall = max(time.monotonic() - start, 1e-3)
    others = (busy_s() - busy) - (own_s() - own)
    return answer, max(0.0, others / (wall * os.cpu_count()))
