"""The commands that are compared, and the environment they run in."""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
HEDGEROW = TARGET / "release" / "hedgerow"
LIMIT = TARGET / "release" / "examples" / "limit"

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
    }


def git(*words, workers=None):
    settings = ["-c", f"checkout.workers={workers}"] if workers is not None else []
    return ["git", *settings, *words]


def hedgerow(*words, jobs=None):
    options = ["-j", str(jobs)] if jobs is not None else []
    return [str(HEDGEROW), *options, *words]


def build():
    """Builds the release binary and the program that measures the limit."""
    for package in (["-p", "hedgerow"], ["-p", "hedgerow-writer", "--example", "limit"]):
        subprocess.run(["cargo", "build", "--locked", "--release", "-q", *package],
                       cwd=ROOT, check=True)


def versions():
    """What is compared, for the record."""
    return {
        "git": _output(["git", "--version"]).removeprefix("git version "),
        "git_path": shutil.which("git"),
        "hedgerow": _output([str(HEDGEROW), "--version"]).removeprefix("hedgerow "),
        "hedgerow_commit": _output(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]),
    }


def _output(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip()
