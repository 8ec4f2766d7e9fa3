"""What a case found, and how it is kept: one JSON file a case."""

import argparse
import json
import os
import platform
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import contenders
import packers
from measure import median


@dataclass
class Row:
    """One line of the table: a ratio or an amount with its target lines."""

    name: str
    title: str
    unit: str  # "x": how many times faster; "of git", "of best", ...: a part; "MB"; "GB/s"
    value: float  # the median
    low: float
    high: float
    reach: float  # None, and then aim too: it is told and nothing is asked of it
    aim: float
    is_lower_better: bool = False
    rival: str = "git"
    rival_s: float = None  # medians, for the reader; the value comes from pairs
    ours_s: float = None
    rival_cpu_s: float = None  # user+sys, where the value is about wall time
    ours_cpu_s: float = None
    git_workers: int = None
    limit_s: float = None  # the same calls with nothing around them
    note: str = ""

    def verdict(self):
        """`aim`, `reached` or `missed`; nothing if there is no target."""
        if self.reach is None:
            return ""
        for line, word in ((self.aim, "aim"), (self.reach, "reached")):
            if self.value <= line if self.is_lower_better else self.value >= line:
                return word
        return "missed"


@dataclass
class Outcome:
    """Everything a case found."""

    rows: list
    pairs: dict = field(default_factory=dict)  # name of a row: its pairs
    details: dict = field(default_factory=dict)  # first rounds, limits, counters


def wall_row(name, title, pairs, reach, aim, **more):
    """A row for the ratio of wall times."""
    return _ratio_row(name, title, "x", pairs, pairs.speedups(), reach, aim,
                      is_lower_better=False, rival_cpu_s=_median_of(pairs.rival, "cpu_s"),
                      ours_cpu_s=_median_of(pairs.ours, "cpu_s"), **more)


def cpu_row(name, title, pairs, reach, aim, **more):
    """A row for ours' share of the rival's CPU time."""
    return _ratio_row(name, title, "of git", pairs, pairs.shares(), reach, aim,
                      is_lower_better=True, of="cpu_s", **more)


def less_cpu_row(name, title, pairs, reach, aim, **more):
    """A row for how many times less CPU time ours took."""
    return _ratio_row(name, title, "x", pairs, pairs.speedups("cpu_s"), reach, aim, of="cpu_s",
                      **more)


def share_row(name, title, unit, pairs, ratios, reach, aim, **more):
    """A row for a part of something: less is better."""
    return _ratio_row(name, title, unit, pairs, ratios, reach, aim, is_lower_better=True, **more)


def amount_row(name, title, unit, amounts, reach, aim, **more):
    """A row for an amount that stands for itself."""
    return Row(name, title, unit, median(amounts), min(amounts), max(amounts), reach, aim, **more)


def _ratio_row(name, title, unit, pairs, ratios, reach, aim, of="wall_s", **more):
    return Row(
        name, title, unit, median(ratios), min(ratios), max(ratios), reach, aim,
        rival_s=_median_of(pairs.rival, of), ours_s=_median_of(pairs.ours, of), **more,
    )


def _median_of(samples, of):
    return median([getattr(sample, of) for sample in samples])


def save(directory, case, outcome, is_smoke):
    """Writes what a case found, with what it was found on."""
    directory.mkdir(parents=True, exist_ok=True)
    document = {
        "case": case,
        "is_smoke": is_smoke,
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": machine(),
        "versions": contenders.versions() | packers.versions(),
        "rows": [{**_rounded(asdict(row)), "verdict": row.verdict()} for row in outcome.rows],
        "pairs": {name: pairs.to_json() for name, pairs in outcome.pairs.items()},
        "details": outcome.details,
    }
    with open(directory / f"{case}.json", "w") as out:
        json.dump(document, out, indent=1)
        out.write("\n")


def parser_of(about, smoke_help):
    """Of a script that writes one result of its own."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--smoke", action="store_true", help=smoke_help)
    parser.add_argument("--publish", action="store_true", help="into bench/results")
    return parser


def place_of(arguments, name):
    """Where that result goes; what is written gets an extension each."""
    directory = "out/smoke" if arguments.smoke else "results" if arguments.publish else "out"
    return Path(__file__).resolve().parent / directory / name


def load_all(directory):
    """Every case kept in `directory`, by name."""
    kept = {path.stem: json.loads(path.read_text()) for path in sorted(directory.glob("*.json"))}
    return {name: document for name, document in kept.items() if "pairs" in document}


def machine():
    model = "unknown"
    with open("/proc/cpuinfo") as info:
        for line in info:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return {
        "cpus": len(os.sched_getaffinity(0)),
        "model": model,
        "memory_mib": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20,
        "kernel": platform.release(),
        "load_at_end": round(os.getloadavg()[0], 1),
    }


def _rounded(row):
    return {
        key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()
    }
