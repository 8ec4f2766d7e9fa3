"""hedgerow.walk: record batches, as others read them."""

import os
import signal
import threading
import time

import pytest

import hedgerow


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    top = tmp_path_factory.mktemp("rows")
    for number in range(40):
        directory = top / f"d{number % 7}" / f"e{number}"
        directory.mkdir(parents=True)
        for name in range(30):
            (directory / f"f{name}").write_bytes(b"x" * name)
    (top / "link").symlink_to("d1")
    os.mkfifo(top / "pipe")
    (top / ".gitignore").write_text("e1*\n")
    with open(os.fsencode(top) + b"/odd\xff", "w") as file:
        file.write("odd")
    return top


def expected(top):
    top = os.fsencode(top)
    paths = {}
    for path, directories, files in os.walk(top):
        for name in directories + files:
            full = os.path.join(path, name)
            paths[os.path.relpath(full, top)] = os.lstat(full)
    return paths


def kind_of(stat):
    import stat as bits

    if bits.S_ISDIR(stat.st_mode):
        return "directory"
    if bits.S_ISLNK(stat.st_mode):
        return "symlink"
    return "fifo" if bits.S_ISFIFO(stat.st_mode) else "file"


def test_pyarrow_reads_every_column(tree):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(hedgerow.walk(tree))
    wanted = expected(tree)
    assert table.num_rows == len(wanted)
    times = table.column("mtime").cast("int64").to_pylist()
    assert min(times) > 1_600_000_000 * 10**9
    assert str(table.schema.field("mtime").type) == "timestamp[ns, tz=UTC]"
    # Without pandas, Python has no type for nanoseconds.
    rows = table.drop(["mtime", "ctime", "atime"]).to_pylist()
    for row, time_ns in zip(rows, times):
        path = row["path_bytes"] or row["path"].encode()
        stat = wanted.pop(path)
        assert time_ns == stat.st_mtime_ns
        assert row["path"] == path.decode("utf-8", "replace")
        assert row["type"] == kind_of(stat)
        assert (row["mode"], row["nlink"]) == (stat.st_mode & 0o7777, stat.st_nlink)
        assert (row["uid"], row["gid"]) == (stat.st_uid, stat.st_gid)
        assert (row["size_bytes"], row["blocks"]) == (stat.st_size, stat.st_blocks)
        assert (row["ino"], row["dev"], row["rdev"]) == (stat.st_ino, stat.st_dev, stat.st_rdev)
    assert not wanted
    table.validate(full=True)


def test_sorted_rows_are_the_same_each_time(tree):
    pyarrow = pytest.importorskip("pyarrow")
    first = pyarrow.table(hedgerow.walk(tree, sort=True, threads=1, batch_rows=100))
    second = pyarrow.table(hedgerow.walk(tree, sort=True, threads=16))
    assert first.drop(["atime"]).equals(second.drop(["atime"]))
    assert len(first.column("path").chunks) > 5


def test_batches_one_by_one(tree):
    pyarrow = pytest.importorskip("pyarrow")
    rows = 0
    for batch in hedgerow.walk(tree, stat=False, batch_rows=100):
        table = pyarrow.record_batch(batch)
        assert table.schema.names == ["path", "path_bytes", "type"]
        assert batch.num_rows == len(batch) == table.num_rows
        rows += len(batch)
    assert rows == len(expected(tree))


def test_polars_and_duckdb(tree):
    wanted = sum(stat.st_size for stat in expected(tree).values())
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(hedgerow.walk(tree))
    assert frame["size_bytes"].sum() == wanted
    counted = frame.group_by("type").len().to_dicts()
    assert {"type": "fifo", "len": 1} in [{**row, "type": str(row["type"])} for row in counted]
    assert frame["mtime"].dtype.time_zone == "UTC"
    duckdb = pytest.importorskip("duckdb")
    pyarrow = pytest.importorskip("pyarrow")
    rows = pyarrow.RecordBatchReader.from_stream(hedgerow.walk(tree))
    asked = duckdb.connect().execute("select sum(size_bytes), count(*) from rows")
    found = asked.fetchone()
    assert rows
    assert found == (wanted, len(expected(tree)))


def test_what_is_left_out(tree):
    def paths(**options):
        pyarrow = pytest.importorskip("pyarrow")
        return set(pyarrow.table(hedgerow.walk(tree, stat=False, **options))["path"].to_pylist())

    everything = paths()
    assert paths(max_depth=1) == {path for path in everything if "/" not in path}
    assert paths(exclude=["f1*", b"/d1"]) == {
        path
        for path in everything
        if not path.rpartition("/")[2].startswith("f1") and path.split("/")[0] != "d1"
    }
    ignored = paths(gitignore=True)
    assert "d0/e0" in ignored and not any("/e1" in path for path in ignored)


def test_a_stream_is_taken_once(tree):
    pyarrow = pytest.importorskip("pyarrow")
    rows = hedgerow.walk(tree)
    pyarrow.table(rows)
    with pytest.raises(hedgerow.errors.Error, match="once"):
        pyarrow.table(rows)
    with pytest.raises(ValueError):
        hedgerow.walk(tree, errors="ignore")
    with pytest.raises(ValueError):
        hedgerow.walk(tree, threads=0)


def test_errors_have_number_and_name(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        hedgerow.walk(tmp_path / "nothing")
    assert caught.value.filename == str(tmp_path / "nothing")
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        hedgerow.walk(tmp_path / "file")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_what_cannot_be_read(tmp_path):
    """In a child that is not root: what root sees differs."""
    os.chmod(tmp_path, 0o755)
    (tmp_path / "open").mkdir()
    (tmp_path / "closed").mkdir(mode=0o700)
    parent = tmp_path
    while parent != parent.parent:
        os.chmod(parent, os.stat(parent).st_mode | 0o055)
        parent = parent.parent
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setuid(65534)
            rows = hedgerow.walk(tmp_path, errors="collect")
            assert sum(len(batch) for batch in rows) == 2
            (error,) = rows.errors
            assert isinstance(error, PermissionError)
            assert error.filename == str(tmp_path / "closed")
            try:
                list(hedgerow.walk(tmp_path))
            except PermissionError as error:
                assert error.filename == str(tmp_path / "closed")
                status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_what_the_threads_did(tree):
    rows = hedgerow.walk(tree, record=True)
    assert sum(len(batch) for batch in rows) == len(expected(tree))
    points = rows.queue()
    assert points and all(seconds >= 0 and waiting >= 0 for seconds, waiting, _, _ in points)
    assert rows.plot().startswith("<svg")
    with pytest.raises(hedgerow.errors.Error, match="record"):
        hedgerow.walk(tree).queue()


def left():
    for _ in range(100):
        threads = len(os.listdir("/proc/self/task"))
        if threads == threading.active_count():
            break
        time.sleep(0.01)
    return threads, len(os.listdir("/proc/self/fd"))


def test_a_reader_who_stops_leaves_nothing(tree):
    next(hedgerow.walk(tree, batch_rows=10))
    before = left()
    for _ in range(20):
        rows = hedgerow.walk(tree, batch_rows=10)
        next(rows)
        rows.close()
        assert list(rows) == []
        del rows
        hedgerow.walk(tree).__arrow_c_stream__()
    assert left()[1] == before[1]


def test_a_fork_leaves_the_walk_to_the_parent(tree):
    rows = hedgerow.walk(tree, batch_rows=10)
    stream = hedgerow.walk(tree, batch_rows=10)
    next(rows)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            # It had waited for threads that it does not have.
            signal.alarm(20)
            with pytest.raises(hedgerow.errors.Error, match="forked"):
                next(rows)
            del rows, stream
            assert sum(map(len, hedgerow.walk(tree))) > 1000
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert sum(map(len, rows)) + 10 == sum(map(len, stream)) > 1000


def test_one_thread_waits_at_a_time(tree):
    """The other is told, instead of taking it for the end."""
    rows = hedgerow.walk("/usr", batch_rows=10**9, errors="collect")
    failures = []

    def wait():
        try:
            next(rows)
        except BaseException as error:
            failures.append(error)

    first = threading.Thread(target=wait)
    first.start()
    time.sleep(0.2)
    busy = first.is_alive()
    rows_of_other = []
    try:
        rows_of_other = list(rows)
    except ValueError as error:
        assert "another thread" in str(error)
    else:
        assert not busy, rows_of_other
    rows.close()
    first.join()
    assert failures == []


def test_an_interruption_is_prompt():
    """/proc is large, and / is larger."""
    rows = hedgerow.walk("/", batch_rows=10**9, errors="collect")
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    started = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            next(rows)
            time.sleep(1)
    finally:
        timer.join()
    assert time.monotonic() - started < 0.3 + 0.4
