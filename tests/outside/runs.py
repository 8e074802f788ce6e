"""Runs of one deck on ranks of any kind, some at a time: a launcher mostly waits."""
from concurrent.futures import ThreadPoolExecutor

from program import LEARNING_DECK, hashes, lines, read, run, sets

ONE_RANK = (1, {})  # ranks of the job, and the keys that place its roles


def placed(keys):
    """Keys of [placement] as `sets` takes them."""
    return {f"placement__{key}": value for key, value in keys.items()}


class Runs:
    """`title` begins the name of every check; `defaults`: keys of every run."""

    def __init__(self, title, report, folder, **defaults):
        self.title, self.report, self.folder, self.defaults = title, report, folder, defaults
        self.deck, self.pool, self.started = folder.deck(LEARNING_DECK), ThreadPoolExecutor(4), {}

    def out(self, name):
        return self.folder / name.replace(" ", "_").replace(",", "")

    def begin(self, name, ranks, arguments, fault="", after=()):
        """`after`: runs that end before this one begins."""
        def work():
            for other in after:
                self.started[other].result()
            return run(arguments, ranks=ranks, environment={"MAXPLUS_CHECK_COLLECTIVES": "1", "MAXPLUS_FAULT": fault})
        self.started[name] = self.pool.submit(work)

    def train(self, name, case=ONE_RANK, fault="", to="", deck=None, after=(), **keys):
        """`to`: the name whose folder it goes on in; a key that is None is left out."""
        keys = {key: value for key, value in {**self.defaults, **case[1], **keys}.items() if value is not None}
        self.begin(name, case[0], ["train", deck or self.deck, "--out", self.out(to or name), "--quiet", "--progress", "none"] + sets(**keys), fault, after)

    def ended_well(self, name):
        done = self.started[name].result()
        return self.report.check(f"{self.title}: {name}: runs", done.returncode == 0, done.stderr)

    def died(self, name):
        code = self.started[name].result().returncode
        self.report.check(f"{self.title}: {name}: the job ends", code not in (0, 124), code)

    def bits(self, name, to=""):
        """(hashes, rollouts) of a run, or nothing if it failed."""
        return (hashes(self.out(to or name)), read(self.out(to or name) + "/rollouts.jsonl")) if self.ended_well(name) else None

    def records(self, name):
        return lines(self.out(name) + "/rollouts.jsonl")

    def metrics(self, name):
        return [m for m in lines(self.out(name) + "/metrics.jsonl") if m["iteration"] > 0]

    def same(self, what, name, expected, to=""):
        found = self.bits(name, to)
        if found and expected:
            self.report.check(f"{self.title}: {what}", found == expected,
                              f"weights {'differ' if found[0] != expected[0] else 'agree'}, rollouts {'differ' if found[1] != expected[1] else 'agree'}")
