"""Runs commands and measures them: in pairs, in turn, with medians of pairwise ratios."""

import os
import signal
import statistics
import subprocess
import tempfile
import threading
import time
from dataclasses import asdict, dataclass

from stopping import started


class CommandFailed(Exception):
    """A measured command ended with an error; its figures would be meaningless."""


class TooSlow(Exception):
    """A command was stopped because it took longer than it was given."""


@dataclass
class Sample:
    """What one run took. Several commands in sequence are one run: see `run_all`."""

    wall_s: float
    user_s: float
    sys_s: float
    max_rss_kib: int  # the largest process: mapped packs count here
    anon_kib: int = 0  # peak of RssAnon, if it was watched: memory that is not mapped files

    @property
    def cpu_s(self):
        return self.user_s + self.sys_s

    def to_json(self):
        return {key: round(value, 4) for key, value in asdict(self).items()}


def run(command, env, cwd, timeout_s=None, watch_memory=False, stdin=os.devnull):
    """Runs `command` and its descendants; CPU time includes every descendant that was waited for.
    It reads the file `stdin`.

    Raises CommandFailed, or TooSlow after `timeout_s`.
    """
    with tempfile.TemporaryFile() as errors, open(stdin, "rb") as source:
        begin = time.perf_counter()
        with started(command, env=env, cwd=cwd, stdin=source, stdout=subprocess.DEVNULL,
                     stderr=errors) as process:
            late = threading.Event()
            timer = threading.Timer(timeout_s or 3600, _stop, [process.pid, late])
            timer.daemon = True
            timer.start()
            watcher = _AnonWatcher(process.pid) if watch_memory else None
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.perf_counter() - begin
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
        if late.is_set():
            raise TooSlow(f"{command[0]}: stopped after {timeout_s:.1f} s")
        if process.returncode != 0:
            errors.seek(0)
            text = errors.read().decode(errors="replace").strip()
            raise CommandFailed(f"{' '.join(command)}: exit {process.returncode}: {text[-2000:]}")
    peak = watcher.peak_kib() if watcher else 0
    return Sample(wall, usage.ru_utime, usage.ru_stime, usage.ru_maxrss, peak)


def run_all(commands, env, cwd, **options):
    """Runs several commands as one: times add up, memory is the largest."""
    samples = [run(command, env, cwd, **options) for command in commands]
    return Sample(
        sum(sample.wall_s for sample in samples),
        sum(sample.user_s for sample in samples),
        sum(sample.sys_s for sample in samples),
        max(sample.max_rss_kib for sample in samples),
        max(sample.anon_kib for sample in samples),
    )


def _stop(pid, late):
    late.set()
    os.killpg(pid, signal.SIGKILL)


class _AnonWatcher:
    """Polls RssAnon of a process every millisecond until it ends."""

    def __init__(self, pid):
        self._pid = pid
        self._peak = 0
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self):
        while True:
            try:
                with open(f"/proc/{self._pid}/status") as status:
                    text = status.read()
            except OSError:
                return
            at = text.find("RssAnon:")
            if at < 0:
                return
            self._peak = max(self._peak, int(text[at + 8:].split(None, 1)[0]))
            time.sleep(0.001)

    def peak_kib(self):
        self._thread.join()
        return self._peak


@dataclass
class Pairs:
    """Runs of a rival and of ours, in turn. Ratios are formed within a pair: what disturbs one
    is likely to disturb its neighbour."""

    rival: list
    ours: list

    def speedups(self, of="wall_s"):
        """How many times what ours took the rival took, for each pair."""
        pairs = zip(self.rival, self.ours)
        return [getattr(a, of) / max(getattr(b, of), 1e-6) for a, b in pairs]

    def shares(self, of="cpu_s"):
        """What part of the rival's ours took, for each pair."""
        pairs = zip(self.rival, self.ours)
        return [getattr(b, of) / max(getattr(a, of), 1e-6) for a, b in pairs]

    def to_json(self):
        return [
            {"rival": a.to_json(), "ours": b.to_json()} for a, b in zip(self.rival, self.ours)
        ]


def in_pairs(rival, ours, count):
    """Calls two functions that return samples in turn, A B A B, after one warm-up of each."""
    rival()
    ours()
    pairs = Pairs([], [])
    for _ in range(count):
        pairs.rival.append(rival())
        pairs.ours.append(ours())
    return pairs


def find_best(measure, candidates, rounds):
    """The candidate for which `measure(candidate, timeout_s)` is fastest in wall time, and the
    seconds of each. One that is twice as slow as the best so far is stopped, and one that fails
    is skipped aloud: None."""
    seconds = {}
    best = failure = None
    for candidate in candidates:
        for _ in range(rounds):
            timeout_s = max(2.0 * seconds[best], 2.0) if best is not None else None
            try:
                wall_s = measure(candidate, timeout_s).wall_s
            except TooSlow:
                seconds.setdefault(candidate, None)
                break
            except CommandFailed as error:
                print(f"skipped: {candidate}: {error}", flush=True)
                seconds[candidate], failure = None, error
                break
            known = seconds.get(candidate)
            seconds[candidate] = wall_s if known is None else min(known, wall_s)
        if seconds[candidate] is not None and (
            best is None or seconds[candidate] < seconds[best]
        ):
            best = candidate
    if best is None and failure is not None:
        raise failure
    return best, seconds


def median(values):
    return statistics.median(values)
