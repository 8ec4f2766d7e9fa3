"""The commands that are compared, and the environment they run in."""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
# BENCH_BUILD=tests: the programs that `cargo test` builds, where nobody looks at the figures.
OF_TESTS = os.environ.get("BENCH_BUILD") == "tests"
PROGRAMS = TARGET / ("debug" if OF_TESTS else "release")
BUILT = PROGRAMS / "hedgerow"
HEDGEROW = BUILT if OF_TESTS else TARGET / "bench-program" / "hedgerow"
LIMIT = PROGRAMS / "examples" / "limit"
STAT_LIMIT = PROGRAMS / "examples" / "stat_limit"
PACK_LIMIT = PROGRAMS / "examples" / "pack_limit"

# The settings of checkout.workers among which git's best is looked for.
GIT_WORKERS = (2, 1, 4, 8, 16)


def environment(home):
    """What both sides run in: nothing that the user or the system has configured."""
    keep = {key: os.environ[key] for key in ("PATH", "TMPDIR") if key in os.environ}
    return {
        **keep,
        "HOME": str(home),
        "LC_ALL": "C",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "HGRCPATH": os.devnull,
    }


def with_links(env, base):
    """The environment in which `git` is a link to hedgerow, in a directory below `base`."""
    links = base / "links"
    links.mkdir(exist_ok=True)
    if not (links / "git").is_symlink():
        (links / "git").symlink_to(HEDGEROW)
    return {**env, "PATH": f"{links}:{env['PATH']}"}


def git(*words, workers=None):
    settings = ["-c", f"checkout.workers={workers}"] if workers is not None else []
    return ["git", *settings, *words]


def hedgerow(*words, jobs=None):
    options = ["-j", str(jobs)] if jobs is not None else []
    return [str(HEDGEROW), *options, *words]


def build():
    """Builds hedgerow and the programs that measure the limits."""
    if OF_TESTS:
        subprocess.run(["cargo", "test", "--locked", "--workspace", "-q", "--no-run"],
                       cwd=ROOT, check=True)
        return
    subprocess.run(["bash", str(ROOT / "scripts/build.sh"), "-q"], cwd=ROOT, check=True)
    # As it is installed: the pages of a file that a linker wrote are mapped one by one.
    subprocess.run(["install", "-D", "-m", "755", str(BUILT), str(HEDGEROW)], check=True)
    for package in (["-p", "hedgerow-writer", "--example", "limit"],
                    ["-p", "hedgerow-walk", "--example", "stat_limit"],
                    ["-p", "hedgerow-squashfs", "--example", "pack_limit"]):
        subprocess.run(["cargo", "build", "--locked", "--release", "-q", *package],
                       cwd=ROOT, check=True)


def versions():
    """What is compared, for the record."""
    return {
        "git": _output(["git", "--version"]).removeprefix("git version "),
        "git_path": shutil.which("git"),
        "find": _first_line(["find", "--version"]),
        "fd": _first_line(["fdfind", "--version"]) or _first_line(["fd", "--version"]),
        "hg": _first_line(["hg", "--version"]),
        "hedgerow": _output([str(HEDGEROW), "--version"]).removeprefix("hedgerow "),
        "hedgerow_commit": _output(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]),
    }


def _first_line(command):
    """Nothing if there is no such program."""
    if shutil.which(command[0]) is None:
        return ""
    return _output(command).split("\n", 1)[0]


def _output(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip()
