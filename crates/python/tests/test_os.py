"""hedgerow.os beside the os of the standard library."""

import collections
import gc
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

import hedgerow.os as hos


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    """A tree for tests that change nothing."""
    return plant(tmp_path_factory.mktemp("tree"))


@pytest.fixture
def own_tree(tmp_path):
    """A tree for one test."""
    return plant(tmp_path)


def plant(tmp_path):
    """A tree of some thousand entries with links, odd names and an empty directory; old enough
    that listings made ahead are trusted."""
    numbers = random.Random(7)
    directories = [tmp_path]
    for number in range(300):
        parent = numbers.choice(directories)
        directory = parent / f"d{number:03}"
        directory.mkdir()
        directories.append(directory)
    for number in range(3000):
        (numbers.choice(directories) / f"f{number:04}").touch()
    (tmp_path / "link").symlink_to("d000")
    (tmp_path / "dangling").symlink_to("nowhere")
    with open(os.fsencode(tmp_path) + b"/\xff\xfe", "w"):
        pass
    os.mkdir(os.fsencode(tmp_path) + b"/d\xff")
    (tmp_path / "umlaut-\u00e4").touch()
    time.sleep(3.1)
    return tmp_path


def both(top, **options):
    return list(os.walk(top, **options)), list(hos.walk(top, **options))


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def left():
    """The numbers of threads and of descriptors. A thread that was joined is listed for another
    moment."""
    for _ in range(100):
        threads = len(os.listdir("/proc/self/task"))
        if threads == threading.active_count():
            break
        time.sleep(0.01)
    return threads, descriptors()


def test_walks_are_equal(tree):
    for top in (str(tree), os.fsencode(tree), tree, str(tree) + "/"):
        for topdown in (True, False):
            for followlinks in (True, False):
                expected, found = both(top, topdown=topdown, followlinks=followlinks)
                assert found == expected
                assert len(found) > 300


def test_relative_tops(tree, monkeypatch):
    monkeypatch.chdir(tree)
    for top in (".", "d000", "d000/", "", "nothing"):
        expected, found = both(top)
        assert found == expected


def test_the_caller_prunes_and_reorders(tree):
    def walk(function, change):
        found = []
        for path, directories, files in function(tree):
            found.append((path, list(directories), list(files)))
            change(path, directories)
        return found

    def reverse(path, directories):
        directories.reverse()

    def sort_some(path, directories):
        directories.sort()
        directories[:] = [name for name in directories if not name.endswith("7")]

    def empty(path, directories):
        if path.endswith("3"):
            directories.clear()

    def add(path, directories):
        if path == str(tree):
            directories.append("d001/..")
            directories.insert(0, str(tree / "d002"))
            directories.append("nothing")

    def sort(path, directories):
        directories.sort()

    for change in (reverse, sort, sort_some, empty, add):
        assert walk(hos.walk, change) == walk(os.walk, change)


def test_what_changes_meanwhile_is_seen(own_tree):
    """The caller changes what was listed ahead; the standard library's walk would show it."""
    walk = hos.walk(own_tree)
    _, directories, _ = next(walk)
    time.sleep(0.2)
    for name in directories:
        if os.path.isdir(own_tree / name) and not os.path.islink(own_tree / name):
            (own_tree / name / "new file").touch()
    (own_tree / directories[-2]).rename(own_tree / "moved")
    seen = {}
    for path, _, files in walk:
        seen[path] = files
    gone = os.fspath(own_tree / directories[-2])
    assert gone not in seen and os.fspath(own_tree / "moved") not in seen
    for name in directories:
        path = os.fspath(own_tree / name)
        if path != gone and not os.path.islink(path):
            assert "new file" in seen[path]


def test_loops_of_links_end_where_they_end_for_python(tmp_path):
    """The system follows forty links of a path. What is beyond is a file for os.walk, not an error."""
    (tmp_path / "directory").mkdir()
    (tmp_path / "directory" / "file").touch()
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "other").symlink_to("directory")

    def walked(walk):
        told = []
        rows = list(walk(tmp_path, onerror=told.append, followlinks=True))
        return rows, [(error.errno, error.filename) for error in told]

    rows, told = walked(os.walk)
    assert len(rows) > 40 and told == []
    assert walked(hos.walk) == (rows, told)


def test_names_that_the_caller_adds(tmp_path):
    (tmp_path / "a").mkdir()
    for added, expected in (("null\0byte", ValueError), (b"bytes", TypeError), (3, TypeError)):
        for walk in (os.walk, hos.walk):
            seen = []
            with pytest.raises(expected):
                for path, directories, _ in walk(tmp_path):
                    seen.append(path)
                    if path == str(tmp_path):
                        directories.append(added)
            assert walk is os.walk or seen == [str(tmp_path), str(tmp_path / "a")]


def test_a_directory_that_was_removed_is_empty(tmp_path, monkeypatch):
    """As it is for who reads it with the C library."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    os.rmdir(gone)
    told = []
    assert both(".", onerror=told.append) == ([(".", [], [])], [(".", [], [])])
    assert list(os.scandir(".")) == list(hos.scandir(".")) == []
    assert told == []


def test_errors_are_told(tmp_path):
    (tmp_path / "plain").touch()
    for top in (tmp_path / "nothing", tmp_path / "plain"):
        errors, expected = [], []
        assert list(hos.walk(top, onerror=errors.append)) == []
        assert list(os.walk(top, onerror=expected.append)) == []
        (error,), (wanted,) = errors, expected
        assert type(error) is type(wanted)
        assert (error.errno, error.strerror, error.filename) == (
            wanted.errno,
            wanted.strerror,
            wanted.filename,
        )

    class Stop(Exception):
        pass

    def stop(error):
        raise Stop

    walk = hos.walk(tmp_path / "nothing", onerror=stop)
    with pytest.raises(Stop):
        next(walk)
    with pytest.raises(StopIteration):
        next(walk)


@pytest.mark.parametrize("topdown", [True, False])
@pytest.mark.parametrize("convert", [os.fsdecode, os.fsencode])
def test_onerror_does_not_end_the_walk_by_an_exception_of_iterators(tmp_path, topdown, convert):
    raised = StopIteration("of the caller")

    def stop(error):
        raise raised

    for walk in (os.walk, hos.walk):
        walked = walk(convert(tmp_path / "nothing"), topdown=topdown, onerror=stop)
        with pytest.raises(RuntimeError, match="generator raised StopIteration") as caught:
            list(walked)
        assert caught.value.__cause__ is caught.value.__context__ is raised
        assert list(walked) == []


def test_numbers_that_are_no_descriptors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_bytes(b"content")
    for scandir in (os.scandir, hos.scandir):
        ((name, path, size),) = [(e.name, e.path, e.stat().st_size) for e in scandir(-1)]
        assert (name, path, size) == ("file", "./file", 7)
    for number in (-2, 10**6, 2**31, 2**40, -(2**40), 2**70, -(2**70)):
        with pytest.raises((OSError, OverflowError)) as wanted:
            os.scandir(number)
        with pytest.raises(wanted.type) as caught:
            hos.scandir(number)
        assert str(caught.value) == str(wanted.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_directory_without_permission(tmp_path):
    (tmp_path / "closed").mkdir(mode=0)
    errors = []
    list(hos.walk(tmp_path, onerror=errors.append))
    assert isinstance(errors[0], PermissionError)


def test_wrong_arguments():
    for wrong in (1, None, 1.5, [], bytearray(b".")):
        with pytest.raises(TypeError):
            hos.walk(wrong)
    with pytest.raises(TypeError):
        hos.scandir(1.5)
    for function in (hos.scandir, lambda top: next(hos.walk(top))):
        with pytest.raises(ValueError):
            function("a\0b")


def test_the_walker_behind_a_walk_is_robust(tree):
    """Nobody is to use it alone; who does is told, and waits for nothing."""
    from hedgerow._hedgerow import Walker

    for wrong in (1, None, 1.5, []):
        with pytest.raises(TypeError):
            Walker(wrong, True, None, False)
    walker = Walker(str(tree), True, None, False)
    assert list(walker)
    assert list(walker) == []
    closed = Walker("/nowhere", True, lambda error: closed.close(), False)
    assert list(closed) == []
    with pytest.raises(StopIteration):
        next(closed)


def test_a_reader_who_stops_leaves_nothing(tree):
    before = left()
    for _ in range(50):
        walk = hos.walk(tree)
        next(walk), next(walk)
        walk.close()
        assert left() == before
    for _ in range(50):
        for _ in hos.walk(tree):
            break
    assert left() == before


def test_a_walk_in_a_cycle_is_collected(tree):
    class Holder:
        pass

    gc.collect()
    before = left()
    for _ in range(5):
        holder = Holder()
        holder.walk = hos.walk(tree, onerror=lambda error, holder=holder: None)
        for _ in range(20):
            next(holder.walk)
    del holder
    gc.collect()
    assert left() == before


def test_nothing_happens_before_the_first_step(tree):
    before = left()
    walk = hos.walk(tree)
    assert left() == before
    walk.close()
    assert list(walk) == []


def test_a_fork_between_two_steps(tree):
    expected = list(os.walk(tree))
    for steps in (1, 2, 10, 100):
        walk = hos.walk(tree)
        found = [next(walk) for _ in range(steps)]
        child = os.fork()
        if child == 0:
            status = 1
            try:
                signal.alarm(20)
                status = 0 if found + list(walk) == expected else 2
            finally:
                os._exit(status)
        assert found + list(walk) == expected
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_fork_while_other_threads_walk(tree):
    """What they have locked at that moment stays locked in the child."""
    count = sum(1 for _ in os.walk(tree))
    is_over = threading.Event()
    counted = set()

    def work():
        while not is_over.is_set():
            counted.add(sum(1 for _ in hos.walk(tree)))

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    try:
        for _ in range(40):
            child = os.fork()
            if child == 0:
                os._exit(0 if sum(1 for _ in hos.walk(tree)) == count else 1)
            deadline = time.monotonic() + 20
            while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
                if time.monotonic() > deadline:
                    os.kill(child, signal.SIGKILL)
                    deadline = float("inf")
                time.sleep(0.001)
            assert os.waitstatus_to_exitcode(ended[1]) == 0
    finally:
        is_over.set()
        for worker in workers:
            worker.join()
    assert counted == {count}


def test_two_threads_walk_at_a_time(tree):
    expected = list(os.walk(tree))
    found = []

    def work():
        for _ in range(5):
            found.append(list(hos.walk(tree)) == expected)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [True] * 20


def test_one_walk_shared_by_threads(tree):
    """As with a generator: each step goes to one of them, or raises ValueError."""
    walk = hos.walk(tree)
    found = []

    def work():
        while True:
            try:
                found.append(next(walk)[0])
            except ValueError:
                continue
            except StopIteration:
                return

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(found) == sorted(path for path, _, _ in os.walk(tree))


def test_scandir_gives_the_same_entries(tree):
    def facts(scandir, path):
        with scandir(path) as entries:
            for entry in entries:
                yield (
                    entry.name,
                    entry.path,
                    os.fspath(entry),
                    entry.is_dir(),
                    entry.is_dir(follow_symlinks=False),
                    entry.is_file(),
                    entry.is_file(follow_symlinks=False),
                    # Any object counts as true or false.
                    entry.is_dir(follow_symlinks=0),
                    entry.is_file(follow_symlinks=None),
                    entry.stat(follow_symlinks=[]),
                    entry.is_symlink(),
                    entry.inode(),
                    entry.stat(follow_symlinks=False),
                    repr(entry),
                )

    for path in (str(tree), os.fsencode(tree), str(tree) + "/", tree):
        assert list(facts(hos.scandir, path)) == list(facts(os.scandir, path))
    descriptor = os.open(tree, os.O_RDONLY)
    try:
        for _ in range(2):
            found = list(facts(hos.scandir, descriptor))
            assert found == list(facts(os.scandir, descriptor))
    finally:
        os.close(descriptor)


def everything(stat):
    """All that a stat_result has: comparing two of them compares ten fields."""
    return stat.__reduce__()[1]


def test_stats_are_those_of_the_system(tree, tmp_path):
    for number, time_ns in enumerate((0, 1, 999_999_999, 1_600_000_000_123_456_789, -1, -(10**18))):
        path = tmp_path / f"f{number}"
        path.write_bytes(b"x" * number)
        os.utime(path, ns=(time_ns, time_ns + 7))
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("f1")
    (tmp_path / "out").symlink_to(tree)
    for top in (tree, tmp_path, Path("/dev"), Path("/proc/self")):
        for options in ({}, {"stat": True}):
            found = {}
            with hos.scandir(top, **options) as entries:
                for entry in entries:
                    for follow in (False, True):
                        try:
                            expected = everything(os.stat(entry.path, follow_symlinks=follow))
                        except OSError as error:
                            with pytest.raises(type(error)) as caught:
                                entry.stat(follow_symlinks=follow)
                            assert caught.value.filename == error.filename == entry.path
                            continue
                        if top.parts[1] in ("dev", "proc"):
                            assert entry.stat(follow_symlinks=follow).st_mode == expected[0][0]
                            continue
                        assert everything(entry.stat(follow_symlinks=follow)) == expected
                        assert entry.stat(follow_symlinks=follow) is entry.stat(follow_symlinks=follow)
                    found[entry.name] = entry
            assert len(found) == len(os.listdir(top)) or top.parts[1] in ("dev", "proc")


def test_a_stat_is_asked_for_when_it_is_wanted(tmp_path):
    for name in ("changed", "gone", "open"):
        (tmp_path / name).write_bytes(b"")
    entries = {entry.name: entry for entry in hos.scandir(tmp_path)}
    listed = {entry.name: entry for entry in hos.scandir(tmp_path, stat=True)}
    (tmp_path / "changed").write_bytes(b"12345")
    (tmp_path / "gone").unlink()
    assert entries["changed"].stat().st_size == 5
    with pytest.raises(FileNotFoundError) as caught:
        entries["gone"].stat()
    assert caught.value.filename == str(tmp_path / "gone")
    assert [listed[name].stat().st_size for name in ("changed", "gone")] == [0, 0]
    scan = hos.scandir(tmp_path)
    first = next(scan)
    (tmp_path / first.name).write_bytes(b"123")
    assert first.stat().st_size == 3
    scan.close()


def test_many_entries_are_statted_with_their_directory(tmp_path):
    for number in range(3000):
        (tmp_path / f"f{number}").write_bytes(b"x" * (number % 50))
    before = left()
    for top in (str(tmp_path), os.fsencode(tmp_path)):
        found = {entry.name: everything(entry.stat()) for entry in hos.scandir(top, stat=True)}
        assert found == {name: everything(os.lstat(os.path.join(top, name))) for name in os.listdir(top)}
    assert left() == before


def test_scandir_is_closed(tree):
    before = descriptors()
    entries = hos.scandir(tree)
    next(entries)
    with pytest.warns(ResourceWarning):
        del entries
    with hos.scandir(tree) as entries:
        next(entries)
    assert list(entries) == []
    assert descriptors() == before


def test_an_interruption_is_prompt():
    """Of a walk that has no end."""
    script = """
import os, hedgerow.os
print("begun", flush=True)
while True:
    for path, directories, files in hedgerow.os.walk("/usr"):
        pass
"""
    child = subprocess.Popen(
        [sys.executable, "-c", script], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    child.stdout.readline()
    time.sleep(0.3)
    started = time.monotonic()
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=10)
    # The interpreter's end is in it, on a machine that may be busy.
    assert time.monotonic() - started < 1
    assert b"KeyboardInterrupt" in errors and child.returncode == -signal.SIGINT


def test_a_loop_of_c_is_interrupted(tmp_path):
    """Nothing of the interpreter runs in it but the walk."""
    for name in "abc":
        (tmp_path / name).symlink_to(".")

    class Late(Exception):
        pass

    def stop(*_):
        raise Late(time.monotonic())

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        started = time.monotonic()
        with pytest.raises(Late) as caught:
            # A walk that has no end.
            collections.deque(hos.walk(tmp_path, followlinks=True), maxlen=0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert caught.value.args[0] - started < 0.5 + 0.3


def environment():
    package = os.path.dirname(os.path.dirname(os.path.abspath(hos.__file__)))
    return {**os.environ, "PYTHONPATH": package}


def test_audit_hooks_see_walks(tree):
    script = f"""
import sys
import hedgerow.os
seen = []
sys.addaudithook(lambda event, args: seen.append((event, args[0])) if event.startswith("os.") else None)
next(hedgerow.os.walk({str(tree)!r}))
list(hedgerow.os.scandir({str(tree)!r}))
assert ("os.walk", {str(tree)!r}) in seen
assert seen.count(("os.scandir", {str(tree)!r})) == 2, seen
"""
    subprocess.run([sys.executable, "-c", script], env=environment(), check=True)


def test_another_interpreter_does_not_crash(tree):
    script = """
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
import hedgerow.os
other = interpreters.create()
try:
    interpreters.run_string(other, "import hedgerow.os; list(hedgerow.os.walk('.'))")
except Exception as error:
    print(error)
interpreters.destroy(other)
print(len(list(hedgerow.os.walk("."))))
"""
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=tree, env=environment(), capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout.split()[-1]) > 300


def test_deep_trees(tmp_path):
    depth = 400
    path = tmp_path
    for _ in range(depth):
        path = path / "d"
    os.makedirs(path)
    limit = sys.getrecursionlimit()
    for topdown in (True, False):
        assert len(list(hos.walk(tmp_path, topdown))) == depth + 1
    assert sys.getrecursionlimit() == limit


def test_the_package_is_typed():
    import hedgerow

    assert (Path(hedgerow.__file__).parent / "py.typed").exists()


LIMITED = """
import os, resource, sys
import hedgerow.os as hos
top, number = sys.argv[1], int(sys.argv[2])
expected = sum(1 for _ in os.walk(top))
for _ in range(5):
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    failed = []
    found = sum(1 for _ in hos.walk(top, onerror=failed.append))
    assert (found, failed) == (expected, []), (found, expected, failed[:3])
"""


@pytest.mark.parametrize("descriptors", [4, 5, 6, 8, 12])
def test_a_walk_with_few_descriptors(tmp_path, descriptors):
    """os.walk needs one at a time, and lists the whole tree with it."""
    for number in range(4000):
        (tmp_path / f"a{number % 7}" / f"b{number % 101}" / f"c{number}").mkdir(parents=True)
    command = [sys.executable, "-c", LIMITED, tmp_path, str(descriptors)]
    told = subprocess.run(command, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr


WITHOUT_THREADS = """
import os, resource, sys
import hedgerow, hedgerow.os as hos
from hedgerow import errors, listing
top = sys.argv[1]
expected = sum(1 for _ in os.walk(top))
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(54321)
    os.setuid(54321)
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
assert sum(1 for _ in hos.walk(top)) == expected
for call in (
    lambda: list(hedgerow.walk(top)),
    lambda: listing.write_parquet(top, "/tmp/none"),
):
    try:
        call()
    except BlockingIOError as error:
        assert error.filename is None and "thread" in str(error), error
    else:
        print("there are threads")
"""


def test_a_walk_without_threads():
    with tempfile.TemporaryDirectory() as top:
        # Root is not limited: another user walks.
        os.chmod(top, 0o755)
        for number in range(2000):
            (Path(top) / f"a{number % 7}" / f"b{number}").mkdir(parents=True)
        command = [sys.executable, "-c", WITHOUT_THREADS, top]
        told = subprocess.run(command, capture_output=True, text=True)
        assert told.returncode == 0, told.stderr


def test_what_counts_as_true_for_scandir(tmp_path):
    (tmp_path / "file").touch()
    for truth in (1, 0, [], "yes", None):
        with hos.scandir(tmp_path, stat=truth) as entries:
            assert [entry.name for entry in entries] == ["file"]


def test_a_descriptor_of_a_file_is_named(tmp_path):
    descriptor = os.open(tmp_path / "file", os.O_CREAT)
    try:
        with pytest.raises(NotADirectoryError) as caught:
            hos.scandir(descriptor)
        assert caught.value.filename == descriptor
    finally:
        os.close(descriptor)
