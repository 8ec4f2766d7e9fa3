"""hedgerow.walk: record batches, as others read them."""

import contextlib
import os
import signal
import subprocess
import sys
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


def test_a_second_reader_is_refused(tree):
    """It would take what is left, or nothing, for the whole."""
    pyarrow = pytest.importorskip("pyarrow")
    given, closed, begun, ended = (hedgerow.walk(tree, batch_rows=10) for _ in range(4))
    stream = pyarrow.RecordBatchReader.from_stream(given)
    closed.close()
    with hedgerow.walk(tree) as left:
        next(left)
    next(iter(begun))
    whole = sum(map(len, ended))
    for rows in (given, closed, left):
        for _ in range(2):
            with pytest.raises(hedgerow.errors.Error, match="once|closed"):
                list(rows)
            with pytest.raises(hedgerow.errors.Error, match="once|closed"):
                next(rows)
    for rows in (given, closed, left, begun, ended):
        with pytest.raises(hedgerow.errors.Error, match="once|closed"):
            pyarrow.table(rows)
    assert stream.read_all().num_rows == whole == len(expected(tree))
    assert 10 + sum(map(len, iter(begun))) == whole
    # As any iterator.
    assert list(begun) == list(ended) == []


def test_kinds_are_named_as_on_the_command_line():
    pyarrow = pytest.importorskip("pyarrow")
    rows = pyarrow.table(hedgerow.walk("/dev", errors="collect", stat=False))["type"]
    kinds = set(rows.to_pylist())
    assert "character_device" in kinds
    assert kinds <= {"file", "directory", "symlink", "fifo", "socket", "block_device", "character_device"}


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


@contextlib.contextmanager
def a_signal(number, handler, seconds=0.3):
    """Sends a signal to this process after some time. What its handler was before, it is afterwards."""
    before = signal.signal(number, handler)
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), number))
    timer.start()
    try:
        yield
    finally:
        timer.join()
        signal.signal(number, before)


def read_all_the_time(words, **options):
    """Keeps what Arrow says of an interruption, as a program does that goes on after any error."""
    pyarrow = pytest.importorskip("pyarrow")
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            pyarrow.table(hedgerow.walk("/", errors="collect", **options))
        except Exception as error:
            words.append(str(error))


@pytest.mark.parametrize("options", [{"batch_rows": 10**9}, {"sort": True}, {"batch_rows": 100}])
def test_an_interruption_reaches_who_reads_through_arrow(options, monkeypatch):
    unraisable, words, hook = [], [], sys.excepthook
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    with a_signal(signal.SIGINT, signal.default_int_handler):
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            read_all_the_time(words, **options)
        assert time.monotonic() - started < 0.3 + 0.4
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert sys.excepthook is hook
    assert len(words) <= 1 and all("interrupted" in word for word in words)
    assert unraisable == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGALRM])
@pytest.mark.parametrize("kind", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_what_a_handler_raises_reaches_who_reads_through_arrow(number, kind, monkeypatch):
    """It runs once, and its exception is raised, not another of the same kind."""
    pyarrow = pytest.importorskip("pyarrow")
    unraisable, raised = [], []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)

    def handler(*_):
        raised.append(kind("of the handler"))
        raise raised[-1]

    before = signal.getsignal(signal.SIGINT)
    with a_signal(number, handler):
        with pytest.raises(kind) as caught:
            try:
                pyarrow.table(hedgerow.walk("/", errors="collect", sort=True))
            except OSError:
                time.sleep(1)
        assert raised == [caught.value]
        assert signal.getsignal(number) is handler
        assert number == signal.SIGINT or signal.getsignal(signal.SIGINT) is before
    assert unraisable == []


@pytest.mark.parametrize(
    "handler, status, last",
    [
        ("signal.default_int_handler", 130, "KeyboardInterrupt"),
        ("lambda *_: sys.exit(7)", 7, None),
        ("lambda *_: 1 / 0", 1, "ZeroDivisionError: division by zero"),
    ],
)
def test_a_program_that_catches_nothing_ends_by_what_the_handler_raised(handler, status, last):
    pytest.importorskip("pyarrow")
    script = f"""
import os, signal, sys, threading
import hedgerow, pyarrow
try:
    import pandas  # pyarrow does, which takes its time
except ImportError:
    pass
signal.signal(signal.SIGINT, {handler})
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
pyarrow.table(hedgerow.walk("/", errors="collect", sort=True))
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.returncode == status, run.stderr
    lines = run.stderr.splitlines()
    assert lines[-1:] == [last] if last else not lines
    assert last is None or lines[0] == "Traceback (most recent call last):"


def test_a_handler_that_raises_nothing_ends_nothing(tree):
    pyarrow = pytest.importorskip("pyarrow")
    ran = []
    with a_signal(signal.SIGINT, lambda *_: ran.append(True), 0.05):
        while not ran:
            assert pyarrow.table(hedgerow.walk(tree)).num_rows == len(expected(tree))
    assert ran == [True]
