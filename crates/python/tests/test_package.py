"""The package as it is installed."""

import copy
import importlib.metadata
import importlib.util
import inspect
import os
import pickle
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


def test_stubs_tell_what_is_there(tmp_path):
    pytest.importorskip("mypy.stubtest")
    (tmp_path / "mypy.ini").write_text("[mypy]\nignore_missing_imports = True\n")
    run = [sys.executable, "-m", "mypy.stubtest", "hedgerow", "--mypy-config-file", "mypy.ini"]
    found = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


def test_everything_public_has_words():
    from hedgerow import errors, git, image, listing
    from hedgerow import os as hos

    for module in (hedgerow, errors, git, image, listing, hos):
        assert module.__doc__
        for name in getattr(module, "__all__", dir(errors)):
            value = getattr(module, name)
            if callable(value):
                assert value.__doc__, f"{module.__name__}.{name}"
                assert_tells_of_parameters(value, f"{module.__name__}.{name}")


def test_everything_of_the_classes_has_words():
    from hedgerow import git, image
    from hedgerow import os as hos

    classes = [git.Repository, image.Image, hos.DirEntry]
    if importlib.util.find_spec("fsspec"):
        from hedgerow.filesystem import HedgerowFileSystem

        classes.append(HedgerowFileSystem)
    for cls in classes:
        assert cls.__doc__
        for name, value in vars(cls).items():
            if callable(value) and not name.startswith("_"):
                assert value.__doc__, f"{cls.__name__}.{name}"


def assert_tells_of_parameters(function, name):
    """Those that many functions have in common are easily forgotten."""
    shared = {"threads", "progress", "cancel", "replace", "level", "strip_components"}
    words = function.__doc__
    if not inspect.isfunction(function) or "rest is as in" in words or "others are those" in words:
        return
    for parameter in shared & set(inspect.signature(function).parameters):
        assert f":param {parameter}:" in words, f"{name}({parameter})"


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


def test_exceptions_travel_between_processes():
    """One that cannot be unpickled breaks a pool of processes."""
    from hedgerow import errors

    for error in (
        errors.IncompleteListing("words", 3, ["a", "b"]),
        errors.CheckoutRejected("words", ["path"]),
        errors.PartialFailure("words", [("path", "reason")]),
        errors.PartialFailure("words", []),
        errors.GitError("words"),
        errors.ImageError(74, "words", "name"),
    ):
        error.add_note("a note")
        for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
            assert type(again) is type(error)
            assert str(again) == str(error) and vars(again) == vars(error)


def test_one_text_is_no_sequence(tmp_path):
    """It would be taken for one of its characters."""
    from hedgerow import listing

    for wrong in ("*.o", b"*.o"):
        with pytest.raises(TypeError, match="exclude"):
            hedgerow.walk(tmp_path, exclude=wrong)
        with pytest.raises(TypeError, match="exclude"):
            listing.write_parquet(tmp_path, tmp_path / "file", exclude=wrong)
        with pytest.raises(TypeError, match="rest"):
            listing.walk_part(tmp_path, 1, tmp_path / "file", rest=wrong)
        with pytest.raises(TypeError, match="parts"):
            listing.merge(wrong, tmp_path / "file")
    for budget in (-1, "-1", 2**64):
        with pytest.raises(ValueError, match="budget"):
            listing.walk_part(tmp_path, budget, tmp_path / "file")
    with pytest.raises(FileNotFoundError) as caught:
        hedgerow.Repository("")
    assert caught.value.filename == ""
    assert os.listdir(tmp_path) == []


def test_numbers_out_of_bounds_are_named(tmp_path):
    from hedgerow import image, listing

    file, wrong = tmp_path / "file", [-1, -(2**70), 2**64]
    calls = {
        "threads": (
            [*wrong, 0],
            [
                lambda number: hedgerow.walk(tmp_path, threads=number),
                lambda number: hedgerow.checkout(tmp_path, "HEAD", threads=number),
                lambda number: hedgerow.status(tmp_path, threads=number),
                lambda number: listing.write_parquet(tmp_path, file, threads=number),
                lambda number: listing.walk_part(tmp_path, 1, file, threads=number),
                lambda number: image.create(tmp_path, file, threads=number),
                lambda number: image.merge([file], file, threads=number),
                lambda number: image.extract(file, tmp_path, threads=number),
                lambda number: image.verify(file, threads=number),
                lambda number: image.open(file, threads=number),
            ],
        ),
        "max_depth": (
            wrong,
            [
                lambda number: hedgerow.walk(tmp_path, max_depth=number),
                lambda number: listing.write_arrow(tmp_path, file, max_depth=number),
            ],
        ),
        "batch_rows": ([*wrong, 0], [lambda number: hedgerow.walk(tmp_path, batch_rows=number)]),
        "block_size": (
            [*wrong, 0, 2**40, 5000],
            [lambda number: image.create(tmp_path, file, block_size=number)],
        ),
        "level": (wrong, [lambda number: image.create(tmp_path, file, level=number)]),
        "offset": (wrong, [lambda number: image.open(file, offset=number)]),
        "strip_components": (
            wrong,
            [lambda number: image.extract(file, tmp_path, strip_components=number)],
        ),
        "budget": (
            [*wrong, "x", "", "s", "xs", "1.5", "-1", "-3s"],
            [lambda number: listing.walk_part(tmp_path, number, file)],
        ),
    }
    for name, (numbers, functions) in calls.items():
        for number in numbers:
            for function in functions:
                with pytest.raises(ValueError, match=name):
                    function(number)
    assert os.listdir(tmp_path) == []


def test_threads_that_go_on_do_not_disturb_the_end(tmp_path):
    """A daemon thread reads an image through a Python function while the interpreter ends."""
    tree = tmp_path / "tree"
    tree.mkdir()
    for number in range(20):
        (tree / str(number)).write_bytes(bytes([number]) * 5000)
    hedgerow.image.create(tree, tmp_path / "image")
    script = """if True:
        import sys, threading, time
        from hedgerow import image, os
        opened = image.open(open(sys.argv[1], "rb"))
        def read():
            while True:
                for number in range(20):
                    opened.read(str(number))
        def walk():
            while True:
                list(os.walk("/proc/self", onerror=print))
        for work in (read, read, walk):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.05)
    """
    for _ in range(8):
        ended = subprocess.run(
            [sys.executable, "-c", script, tmp_path / "image"], stdout=subprocess.DEVNULL, timeout=60
        )
        assert ended.returncode == 0
