"""Runs of one deck on ranks of any kind, some at a time; runs that a signal stops, and runs of which a rank stands still."""
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Semaphore

from processes import kill_all, launcher_of, ranks_of, wait_for
from program import LEARNING_DECK, hashes, lines, read, run, sets, start

ONE_RANK = (1, {})  # ranks of the job, and the keys that place its roles
AT_A_TIME = 4
WATCHDOG_S = 2
ENDLESS = 100000  # iterations that no run comes to


def placed(keys):
    """Keys of [placement] as `sets` takes them."""
    return {f"placement__{key}": value for key, value in keys.items()}


class Runs:
    """`title` begins the name of every check; `defaults`: keys of every run, which has no warm start unless they say so."""

    def __init__(self, title, report, folder, **defaults):
        self.title, self.report, self.folder, self.defaults = title, report, folder, {"warm_start__steps": 0, **defaults}
        self.deck, self.started = folder.deck(LEARNING_DECK), {}
        self.pool, self.room = ThreadPoolExecutor(200), Semaphore(AT_A_TIME)

    def out(self, name):
        return self.folder / name.replace(" ", "_").replace(",", "")

    def check(self, what, condition, why=""):
        return self.report.check(f"{self.title}: {what}", condition, why)

    def command(self, name, case, deck=None, **keys):
        """Arguments that train in the folder of that name; a key that is None is left out."""
        keys = {key: value for key, value in {**self.defaults, **case[1], **keys}.items() if value is not None}
        return ["train", deck or self.deck, "--out", self.out(name), "--quiet", "--progress", "none"] + sets(**keys)

    def queue(self, name, work, after=()):
        """`after`: what ends before this begins."""
        def waiting():
            for other in after:
                self.started[other].result()
            with self.room:
                return work()
        self.started[name] = self.pool.submit(waiting)

    def begin(self, name, ranks, arguments, fault="", after=()):
        environment = {"MAXPLUS_CHECK_COLLECTIVES": "1", "MAXPLUS_FAULT": fault}
        self.queue(name, lambda: run(arguments, ranks=ranks, environment=environment), after)

    def train(self, name, case=ONE_RANK, fault="", to="", after=(), **keys):
        """`to`: the name of its folder."""
        self.begin(name, case[0], self.command(to or name, case, **keys), fault, after)

    def train_in_two(self, name, before, elsewhere, fault="", stop=None, **keys):
        """A fault or [run] stop_after ends "NAME, begun"; NAME goes on elsewhere in its own folder."""
        self.train(f"{name}, begun", before, fault, name, run__stop_after=stop, **keys)
        self.train(name, elsewhere, after=[f"{name}, begun"], **keys)

    def ended_well(self, name):
        done = self.started[name].result()
        return self.check(f"{name}: runs", done.returncode == 0, done.stderr)

    def died(self, name):
        code = self.started[name].result().returncode
        self.check(f"{name}: the job ends", code not in (0, 124), code)

    def refused(self, name, parts):
        """A run of which nothing may come but these words."""
        done = self.started[name].result()
        self.check(f"{name}: exit 78", done.returncode == 78 and all(part in done.stderr for part in parts) and not os.path.exists(self.out(name)), done.stderr)

    def stopped(self, name, k):
        """Whether the first part of a run in two came to iteration k and left it behind."""
        done = self.started[f"{name}, begun"].result()
        self.check(f"{name}: stops after iteration {k}", done.returncode == 0 and os.path.exists(self.out(name) + f"/checkpoints/iteration-{k:06}.h5"), done.stderr)

    def contents(self, name):
        """(hashes, rollouts) of a run's folder."""
        return hashes(self.out(name)), read(self.out(name) + "/rollouts.jsonl")

    def bits(self, name):
        """Those of a run, or nothing if it failed."""
        return self.contents(name) if self.ended_well(name) else None

    def records(self, name):
        return lines(self.out(name) + "/rollouts.jsonl")

    def metrics(self, name):
        return [m for m in lines(self.out(name) + "/metrics.jsonl") if m["iteration"] > 0]

    def same(self, what, name, expected):
        found = self.bits(name)
        if found and expected:
            self.check(what, found == expected,
                       f"weights {'differ' if found[0] != expected[0] else 'agree'}, rollouts {'differ' if found[1] != expected[1] else 'agree'}")

    def interrupt(self, case, elsewhere, **keys):
        """Begins a run that a signal stops and that goes on elsewhere for two iterations, and one that does as many on one rank in one go."""
        keys = {**keys, "run__iterations": ENDLESS, "eval__every": 0}

        def work():
            process = start(self.command("signalled", case, **keys), ranks=case[0])
            wait_for(self.out("signalled") + "/metrics.jsonl", 6)
            launcher = launcher_of(process)
            if launcher:
                os.kill(launcher, signal.SIGUSR1)
            _, errors = process.communicate()
            further = len(self.metrics("signalled")) + 2
            ends = [run(self.command(name, place, **keys, run__stop_after=further), ranks=place[0]) for name, place in (("signalled", elsewhere), ("not signalled", ONE_RANK))]
            return process.returncode, errors, ends
        self.queue("signalled", work)

    def check_interrupted(self):
        code, errors, ends = self.started["signalled"].result()
        self.check("a signal saves and exits 75", code == 75, f"{code} {errors}")
        if self.check("after a signal: goes on", all(end.returncode == 0 for end in ends), ends[0].stderr + ends[1].stderr):
            self.check("after a signal: the bits of an uninterrupted run", self.contents("signalled") == self.contents("not signalled"))

    def stop_rank(self, role, victim, case, **keys):
        """Begins a run whose rank `victim`, which plays that role, is stopped while it trains."""
        def work():
            options = {"run__iterations": ENDLESS, "eval__every": 0, "run__watchdog_s": WATCHDOG_S}
            process = start(self.command(f"still {role}", case, **{**keys, **options}), ranks=case[0])
            wait_for(self.out(f"still {role}") + "/metrics.jsonl", 3)
            pids, began = ranks_of(process), time.time()
            if len(pids) > victim:
                os.kill(pids[victim], signal.SIGSTOP)
            _, errors = process.communicate()
            seconds = time.time() - began
            kill_all(pids)
            return process.returncode, seconds, errors
        self.queue(f"still {role}", work)

    def check_stopped_rank(self, role, victim):
        code, seconds, errors = self.started[f"still {role}"].result()
        self.check(f"the {role} stands still: exit 75 in time", code == 75 and seconds < WATCHDOG_S + 2 + 1.5, f"{code} {seconds} {errors}")
        self.check(f"the {role} that stands still is named", f"silent: rank {victim} ({role}) (its process is stopped)" in errors, errors)
        self.check(f"no other rank than the {role} that stands still is named", errors.count("silent: rank ") == errors.count(f"silent: rank {victim} "), errors)
