#!/usr/bin/env python3
"""Measures hedgerow against git, and keeps what it finds in bench/out. See bench/README.md."""

import argparse
import shutil
import sys
import traceback
from pathlib import Path

import contenders
import packers
import plot
import results
import table
from cases import Setting, all_cases
from corpora import Corpora
from measure import CommandFailed, TooSlow
from skipped import Skipped
from stopping import exit_when_stopped

HERE = Path(__file__).resolve().parent
OUT = HERE / "out"
PUBLISHED = HERE / "results"


def main():
    exit_when_stopped()
    cases = all_cases()
    arguments = parse_arguments(cases)
    out = OUT / "smoke" if arguments.smoke else OUT
    failed = []
    if not arguments.report_only:
        if shutil.which("git") is None:
            sys.exit("error: the benchmarks need git")
        contenders.build()
        packers.prepare(arguments.smoke)
        pairs = arguments.pairs or (1 if arguments.smoke else 5)
        setting = Setting(Corpora(arguments.smoke), pairs, arguments.smoke)
        for name in arguments.case or cases:
            if not run_case(name, cases[name], setting, out):
                failed.append(name)
    report(out, arguments)
    if failed:
        sys.exit(f"error: failed: {' '.join(failed)}")


def parse_arguments(cases):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", action="append", choices=cases, metavar="NAME",
                        help=f"run only this one; may be repeated: {', '.join(cases)}")
    parser.add_argument("--pairs", type=int, help="pairs of runs after the warm-up (5)")
    parser.add_argument("--smoke", action="store_true",
                        help="small made-up inputs, one pair: does everything still run?")
    parser.add_argument("--report-only", action="store_true",
                        help="draw the table and the plots from what was measured before")
    parser.add_argument("--publish", action="store_true",
                        help="copy what was found to bench/results")
    return parser.parse_args()


def run_case(name, case, setting, out):
    """Whether the case ran, or said why it cannot."""
    print(f"== {name}", flush=True)
    try:
        outcome = case(setting)
    except Skipped as reason:
        print(f"skipped: {name}: {reason}", flush=True)
        return True
    except (CommandFailed, TooSlow, RuntimeError, OSError) as error:
        traceback.print_exc()
        print(f"failed: {name}: {error}", flush=True)
        return False
    results.save(out, name, outcome, setting.is_smoke)
    for row in outcome.rows:
        print("   " + table.line(row), flush=True)
    return True


def report(out, arguments):
    found = results.load_all(out)
    if not found:
        return
    (out / "table.md").write_text(table.markdown(found))
    plot.draw_all(found, out)
    print(f"\n{table.markdown(found)}\nplots and JSON: {out}")
    if arguments.publish and not arguments.smoke:
        publish(out)


def publish(out):
    """Copies what was found. The table and the plots are of all that is published."""
    PUBLISHED.mkdir(exist_ok=True)
    for path in out.glob("*.json"):
        shutil.copy(path, PUBLISHED / path.name)
    everything = results.load_all(PUBLISHED)
    (PUBLISHED / "table.md").write_text(table.markdown(everything))
    plot.draw_all(everything, PUBLISHED)


if __name__ == "__main__":
    main()
