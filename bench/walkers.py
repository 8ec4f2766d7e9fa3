"""The programs that list a tree and stat every entry, each in the directory it is run in."""

import json
import os
import shutil
import subprocess

from contenders import ROOT, STAT_LIMIT, TARGET, hedgerow

JOBS = (1, 2, 4, 8)


def ours(jobs=None):
    return hedgerow("walk", "--stat", "--summary", jobs=jobs)


def find():
    return ["find", ".", "-printf", "%y %s %T@ %i\\n"]


def fd(jobs, with_stat=True):
    """fd of everything; with an age that fits every entry it has to stat each, once. None if
    there is no fd."""
    program = shutil.which("fdfind") or shutil.which("fd")
    if program is None:
        return None
    stat = ["--changed-within", "100years"] if with_stat else []
    return [program, "--unrestricted", "--color=never", f"-j{jobs}", *stat]


def jwalk(jobs):
    """A program around the crate jwalk; it is built when it is first asked for."""
    return [str(_jwalk_program()), ".", str(jobs)]


def rivals():
    """Name and command of everything that can be had here."""
    named = {"find": find()}
    if fd(1):
        named |= {f"fd -j{jobs}": fd(jobs) for jobs in JOBS}
    if _jwalk_program():
        named |= {f"jwalk, {jobs} threads": jwalk(jobs) for jobs in JOBS}
    return named


def limit(place, threads, rounds=3):
    """Seconds of nothing but the system calls, by number of threads: the best of some runs."""
    def seconds(count):
        found = place.output([str(STAT_LIMIT), ".", str(count)])
        return json.loads(found)["seconds"]
    return {str(count): min(seconds(count) for _ in range(rounds)) for count in threads}


def require_same(place):
    """The proof that nothing was left out: hedgerow counts as many entries as find."""
    found = len(place.output(["find", ".", "-mindepth", "1", "-printf", "x"]))
    counted = count(place)
    if counted != found:
        raise RuntimeError(f"hedgerow walk counts {counted} entries, find {found}")
    return found


def count(place):
    """How many entries hedgerow finds."""
    totals = json.loads(place.output(hedgerow("--json", "walk", "--summary")))
    return sum(totals[key] for key in ("files", "directories", "symlinks", "others"))


def _jwalk_program():
    """None if it cannot be built, as without a network."""
    source, target = ROOT / "bench" / "contenders" / "jwalk", TARGET / "contenders"
    program = target / "release" / "jwalk-contender"
    if not program.exists():
        subprocess.run(
            ["cargo", "build", "--locked", "--release", "-q", "--manifest-path",
             str(source / "Cargo.toml")],
            env={**os.environ, "CARGO_TARGET_DIR": str(target)}, check=False)
    return program if program.exists() else None
