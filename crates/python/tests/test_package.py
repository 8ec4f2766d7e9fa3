"""The package as it is installed."""

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

import hedgerow

HERE = Path(__file__).parent


def test_the_command_line():
    program = Path(hedgerow.__file__).parent / "bin" / "hedgerow"
    if not program.exists():
        pytest.skip("this package was built without the command line")
    run = [sys.executable, "-m", "hedgerow"]
    shown = subprocess.run([*run, "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout.split()[:2] == ["hedgerow", hedgerow.__version__]
    wrong = subprocess.run([*run, "image", "list", "/nothing"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "/nothing" in wrong.stderr
    assert os.access(program, os.X_OK)


def test_metadata():
    try:
        found = importlib.metadata.distribution("hedgerow")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("it is not installed")
    assert found.version == hedgerow.__version__
    names = {point.name for point in found.entry_points}
    assert names == {"hedgerow"}


def test_mypy_accepts_the_example():
    mypy = pytest.importorskip("mypy.api")
    settings = ["--strict", "--cache-dir", os.devnull, "--ignore-missing-imports"]
    for checked in ([str(HERE / "example.py")], ["-p", "hedgerow"]):
        out, errors, status = mypy.run([*settings, *checked])
        assert status == 0, out + errors


def test_everything_public_has_words():
    from hedgerow import errors, git, image, listing
    from hedgerow import os as hos

    for module in (hedgerow, errors, git, image, listing, hos):
        assert module.__doc__
        for name in getattr(module, "__all__", dir(errors)):
            value = getattr(module, name)
            if callable(value):
                assert value.__doc__, f"{module.__name__}.{name}"


def test_an_import_is_cheap():
    """What is not needed is not imported."""
    script = "import sys, hedgerow, hedgerow.os; print(' '.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert not loaded & {"typing", "fsspec", "dataclasses", "inspect", "hedgerow.git"} - set(
        subprocess.run(
            [sys.executable, "-c", "import sys; print(' '.join(sys.modules))"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
    )
