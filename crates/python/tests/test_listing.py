"""hedgerow.listing: what is written is what the command line writes, and what others read."""

import datetime
import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path, PurePath

import pytest

import hedgerow
from hedgerow import listing
from hedgerow.errors import IncompleteListing, ListingError


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    top = tmp_path_factory.mktemp("listing") / "tree"
    for number in range(60):
        directory = top / f"d{number % 7}" / f"e{number}"
        directory.mkdir(parents=True)
        for name in range(20):
            (directory / f"f{name}").write_bytes(b"x" * name)
    (top / "link").symlink_to("d1")
    odd = os.fsencode(top) + b"/odd\xff"
    os.mkdir(odd)
    with open(odd + b"/file\n", "w") as file:
        file.write("odd")
    return top


def entries(top):
    return sum(len(directories) + len(files) for _, directories, files in os.walk(top))


def command_line(*words):
    program = Path(hedgerow.__file__).parent / "bin" / "hedgerow"
    if not program.exists():
        pytest.skip("this package was built without the command line")
    subprocess.run([sys.executable, "-m", "hedgerow", "walk", *words], check=True)


def in_parts(tree, place, budget, **options):
    pending, parts = [None], []
    while pending:
        path = place / f"part{len(parts)}"
        part = listing.walk_part(tree, budget, path, rest=pending.pop(), **options)
        assert part.rest == listing.read_rest(path)
        parts.append(path)
        pending.extend(part.rest[start : start + 9] for start in range(0, len(part.rest), 9))
    return parts


def test_the_bytes_are_those_of_the_command_line(tree, tmp_path):
    listing.write_parquet(tree, tmp_path / "ours")
    command_line("--format", "parquet", "-o", tmp_path / "theirs", tree)
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    for format, stream in (("arrow", False), ("arrow-stream", True)):
        listing.write_arrow(tree, tmp_path / "ours", stream=stream, replace=True)
        command_line("--format", format, "-f", "-o", tmp_path / "theirs", tree)
        assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


def test_pyarrow_polars_and_duckdb_read_it(tree, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    file = tmp_path / "tree.parquet"
    listed = listing.write_parquet(os.fsencode(tree), os.fsencode(file))
    assert listed == (entries(tree), [])
    table = parquet.read_table(file)
    table.validate(full=True)
    assert table.num_rows == listed.rows
    walked = pyarrow.table(hedgerow.walk(tree, sort=True))
    # The types are the same: tables of both can be joined.
    assert table.schema.equals(walked.schema)
    assert pyarrow.concat_tables([table, walked]).num_rows == 2 * listed.rows
    assert table["type"].to_pylist() == walked["type"].to_pylist()
    for name in ("path", "path_bytes", "mode", "size_bytes", "ino", "dev", "blocks"):
        assert table[name].to_pylist() == walked[name].to_pylist()
    # Without pandas, Python has no type for nanoseconds.
    assert table["mtime"].cast("int64").equals(walked["mtime"].cast("int64"))
    listing.write_arrow(tree, tmp_path / "tree.arrow")
    assert pyarrow.ipc.open_file(tmp_path / "tree.arrow").read_all()["path"].equals(table["path"])
    polars = pytest.importorskip("polars")
    frame = polars.read_parquet(file)
    sizes = sum(table["size_bytes"].to_pylist())
    assert frame["size_bytes"].sum() == sizes
    duckdb = pytest.importorskip("duckdb")
    asked = duckdb.connect().execute(f"select sum(size_bytes), count(*) from '{file}'")
    assert asked.fetchone() == (sizes, listed.rows)


@pytest.mark.parametrize("budget", [0, 200, "1000000", "60s", datetime.timedelta(minutes=1)])
def test_parts_become_what_one_machine_writes(tree, tmp_path, budget):
    listing.write_parquet(tree, tmp_path / "whole", exclude=["f1*"], max_depth=3)
    parts = in_parts(tree, tmp_path, budget, exclude=["f1*"], max_depth=3, threads=2)
    assert len(parts) > 1 or budget not in (0, 200)
    merged = listing.merge(reversed(parts), tmp_path / "merged")
    assert merged.failures == []
    assert (tmp_path / "merged").read_bytes() == (tmp_path / "whole").read_bytes()


def test_the_command_line_goes_on_and_merges(tree, tmp_path):
    first = listing.walk_part(tree, 1, tmp_path / "first")
    assert os.fsdecode(b"odd\xff") in first.rest
    command_line(
        "--part", "--budget", "60s", "--from", tmp_path / "first", "-o", tmp_path / "second",
        "--rest", tmp_path / "rest", tree,
    )  # fmt: skip
    assert listing.read_rest(tmp_path / "rest") == []
    command_line("--merge", "-o", tmp_path / "theirs", tmp_path / "first", tmp_path / "second")
    listing.merge([tmp_path / "first", tmp_path / "second"], tmp_path / "ours")
    listing.write_parquet(tree, tmp_path / "whole")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "whole").read_bytes()


def test_nothing_is_replaced_unasked(tree, tmp_path):
    target = tmp_path / "target"
    target.write_text("mine")
    part = tmp_path / "part"
    listing.walk_part(tree, "60s", part)
    for write in (
        lambda **options: listing.write_parquet(tree, target, **options),
        lambda **options: listing.walk_part(tree, 10, target, **options),
        lambda **options: listing.merge([part], target, **options),
    ):
        target.write_text("mine")
        with pytest.raises(FileExistsError) as caught:
            write()
        assert (caught.value.errno, caught.value.filename) == (errno.EEXIST, str(target))
        assert target.read_text() == "mine"
        write(replace=True)
        assert target.read_bytes().startswith(b"PAR1")


def test_what_vanished(tree, tmp_path):
    for write in (listing.write_parquet, lambda root, path: listing.walk_part(root, 1, path)):
        with pytest.raises(FileNotFoundError) as caught:
            write(tmp_path / "gone", tmp_path / "file")
        assert caught.value.filename == str(tmp_path / "gone")
        with pytest.raises(FileNotFoundError) as caught:
            write(tree, tmp_path / "gone" / "file")
        assert caught.value.errno == errno.ENOENT
    with pytest.raises(FileNotFoundError) as caught:
        listing.walk_part(tree, 1, tmp_path / "file", rest=["d1/vanished", "d2"])
    assert caught.value.filename == str(tree / "d1/vanished")
    assert os.listdir(tmp_path) == []
    found = listing.walk_part(tree, "9s", tmp_path / "part", rest=[PurePath("vanished"), "d2"], errors="collect")
    (error,) = found.errors
    assert (error.errno, error.filename) == (errno.ENOENT, str(tree / "vanished"))
    first = listing.walk_part(tree, 0, tmp_path / "first")
    rest = [path for path in first.rest if path != "d2"]
    listing.walk_part(tree, "60s", tmp_path / "last", rest=rest)
    parts = [tmp_path / name for name in ("part", "first", "last")]
    ((path, reason),) = listing.merge(parts, tmp_path / "merged").failures
    assert path == "vanished" and "No such file" in reason


def test_wrong_arguments(tree, tmp_path):
    file = tmp_path / "file"
    for rest in (["/etc"], [".."], ["d1/../.."], ["a//b"], ["a\0b"]):
        with pytest.raises(ValueError):
            listing.walk_part(tree, 10, file, rest=rest)
    for budget in (-1, "s", "ten", "-3s", datetime.timedelta(seconds=-1)):
        with pytest.raises(ValueError):
            listing.walk_part(tree, budget, file)
    with pytest.raises(ValueError):
        listing.write_parquet(tree, file, errors="ignore")
    with pytest.raises(ValueError):
        listing.merge([], file, format="csv")
    assert os.listdir(tmp_path) == []


def test_damaged_and_missing_parts(tree, tmp_path):
    parts = in_parts(tree, tmp_path, 0)
    with pytest.raises(IncompleteListing) as caught:
        listing.merge(parts[:-1], tmp_path / "merged")
    assert caught.value.count >= 1 and caught.value.examples
    with pytest.raises(IncompleteListing):
        listing.merge([], tmp_path / "merged")
    assert not (tmp_path / "merged").exists()
    listing.write_parquet(tree, tmp_path / "whole")
    whole, found = parts[1].read_bytes(), 0
    for at in range(0, len(whole), len(whole) // 100):
        parts[1].write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        try:
            listing.merge(parts, tmp_path / "merged")
        except (ListingError, IncompleteListing) as error:
            assert not (tmp_path / "merged").exists()
            if isinstance(error, ListingError):
                assert (error.errno, error.filename) == (errno.EBADMSG, str(parts[1]))
                found += 1
        else:
            # It was something that no row depends on, like the least value of a column.
            assert (tmp_path / "merged").read_bytes() == (tmp_path / "whole").read_bytes()
            (tmp_path / "merged").unlink()
    assert found > 10 and issubclass(ListingError, OSError)
    (tmp_path / "text").write_text("hedgerow.rest.v1\nd1\n")
    with pytest.raises(ListingError):
        listing.read_rest(tmp_path / "text")
    assert not (tmp_path / "merged").exists()


def test_parts_of_different_listings(tree, tmp_path):
    first = listing.walk_part(tree, 1, tmp_path / "first")
    (tmp_path / "other").mkdir()
    second = tmp_path / "second"
    for root, options, said in (
        (tree, {"exclude": ["f1*"]}, r"\(exclude 'f1\*'\)"),
        (tree, {"max_depth": 2}, r"\(max_depth 2\)"),
        (tree, {"one_file_system": True}, r"\(one_file_system\)"),
        (tmp_path / "other", {}, r"other' \(all entries\)"),
    ):
        listing.walk_part(root, 1000, second, replace=True, errors="collect", rest=first.rest, **options)
        with pytest.raises(ListingError, match=said) as caught:
            listing.merge([tmp_path / "first", second], tmp_path / "merged")
        assert caught.value.filename == str(second)
        assert not (tmp_path / "merged").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_what_cannot_be_read(tmp_path):
    """In a child that is not root: what root sees differs."""
    (tmp_path / "tree" / "open").mkdir(parents=True)
    (tmp_path / "tree" / "closed").mkdir(mode=0o700)
    (tmp_path / "out").mkdir()
    os.chmod(tmp_path / "out", 0o777)
    os.chmod(tmp_path, 0o755)
    parent = tmp_path
    while parent != parent.parent:
        os.chmod(parent, os.stat(parent).st_mode | 0o055)
        parent = parent.parent
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setuid(65534)
            read_as_somebody_else(tmp_path / "tree", tmp_path / "out")
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def read_as_somebody_else(tree, out):
    for write in (
        lambda path, **options: listing.write_parquet(tree, path, **options),
        lambda path, **options: listing.walk_part(tree, "60s", path, **options),
    ):
        with pytest.raises(PermissionError) as caught:
            write(out / "file")
        assert caught.value.filename == str(tree / "closed")
        assert os.listdir(out) == []
        found = write(out / "file", errors="collect")
        (error,) = found.errors
        assert isinstance(error, PermissionError) and error.filename == str(tree / "closed")
        assert found.rows == 2
        os.unlink(out / "file")
    with pytest.raises(PermissionError) as caught:
        listing.write_parquet(tree, tree / "file")
    assert caught.value.filename == str(tree / "file")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_a_full_disk(tree, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", disk], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("mounting is not allowed")
    try:
        part = tmp_path / "part"
        listing.walk_part(tree, "60s", part)
        for write in (
            lambda: listing.write_parquet(tree, disk / "file"),
            lambda: listing.write_arrow(tree, disk / "file"),
            lambda: listing.walk_part(tree, "60s", disk / "file"),
            lambda: listing.merge([part], disk / "file"),
        ):
            with pytest.raises(OSError) as caught:
                write()
            assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(disk / "file"))
            assert os.listdir(disk) == []
    finally:
        subprocess.run(["umount", disk], check=True)


def test_progress_and_its_exceptions(tree, tmp_path):
    told = []
    listing.write_parquet(tree, tmp_path / "file", progress=lambda *row: told.append(row))
    assert told[-1] == ("Processing entries", entries(tree), 0, 0)

    def stop(*row):
        raise KeyError(row)

    # What is larger than the time until the first call: all of this machine.
    for write in (
        lambda path: listing.write_parquet("/", path, progress=stop, errors="collect"),
        lambda path: listing.walk_part("/", "600s", path, progress=stop, errors="collect"),
    ):
        with pytest.raises(KeyError):
            write(tmp_path / "stopped")
    assert os.listdir(tmp_path) == ["file"]


def test_an_exception_of_the_last_call_leaves_nothing(tree, tmp_path):
    """The file is complete by then."""

    def stop(*row):
        raise KeyError(row)

    (tmp_path / "there").mkdir()
    part = tmp_path / "there" / "part"
    listing.walk_part(tree, "60s", part)
    for write in (
        lambda path: listing.write_parquet(tree, path, progress=stop),
        lambda path: listing.write_arrow(tree, path, progress=stop),
        lambda path: listing.walk_part(tree, "60s", path, progress=stop),
    ):
        with pytest.raises(KeyError):
            write(tmp_path / "stopped")
    assert os.listdir(tmp_path) == ["there"]
    # What was replaced does not come back.
    with pytest.raises(KeyError):
        listing.write_parquet(tree, part, replace=True, progress=stop)
    assert os.listdir(tmp_path / "there") == ["part"]


def test_an_interruption_leaves_nothing(tmp_path):
    for write in (
        lambda path: listing.write_parquet("/", path, errors="collect"),
        lambda path: listing.walk_part("/", "600s", path, errors="collect"),
    ):
        timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                write(tmp_path / "file")
                threading.Event().wait(5)
        finally:
            timer.join()
        assert os.listdir(tmp_path) in ([], ["file"])
        if (tmp_path / "file").exists():
            pytest.skip("this machine lists everything in 0.2 s")


def test_urls(tree, tmp_path):
    pytest.importorskip("fsspec")
    listing.write_parquet(tree, tmp_path / "whole")
    place = f"file://{tmp_path}"
    first = listing.walk_part(tree, 0, f"{place}/first")
    listing.walk_part(tree, "60s", "memory://parts/second", rest=first.rest)
    assert listing.read_rest("memory://parts/second") == []
    merged = listing.merge([tmp_path / "first", "memory://parts/second"], f"{place}/merged")
    assert merged.rows == entries(tree)
    assert (tmp_path / "merged").read_bytes() == (tmp_path / "whole").read_bytes()
    with pytest.raises(FileExistsError) as caught:
        listing.write_parquet(tree, f"{place}/merged")
    assert caught.value.filename == f"{place}/merged"
    with pytest.raises(FileNotFoundError) as caught:
        listing.merge(["memory://parts/none"], tmp_path / "other")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, "memory://parts/none")
    (tmp_path / "bad").write_bytes(b"PAR1PAR1")
    with pytest.raises(ListingError) as caught:
        listing.merge([f"{place}/bad"], tmp_path / "other")
    assert caught.value.filename == f"{place}/bad"
    assert sorted(os.listdir(tmp_path)) == ["bad", "first", "merged", "whole"]
