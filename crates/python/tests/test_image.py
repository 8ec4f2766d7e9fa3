"""Images: made, checked, extracted, read."""

import array
import errno
import filecmp
import gc
import hashlib
import io
import os
import pathlib
import random
import subprocess
import sys
import tarfile
import threading
import time
import weakref

import pytest

import hedgerow
from hedgerow import image as images
from hedgerow.errors import ImageError


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    top = tmp_path_factory.mktemp("image") / "tree"
    numbers = random.Random(3)
    for number in range(60):
        directory = top / f"d{number % 5}" / f"e{number % 11}"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"f{number}").write_bytes(numbers.randbytes(number * 977))
    (top / "large").write_bytes(b"".join(b"%08d\n" % number for number in range(300_000)))
    (top / "link").symlink_to("large")
    (top / "umlaut-\u00e4").touch()
    return top


@pytest.fixture(scope="module")
def image(tree):
    path = tree.parent / "tree.sqfs"
    made = images.create(tree, path)
    assert made.bytes == path.stat().st_size and made.inodes > 60
    return path


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_files_are_refused_under_fakeroot(tree, tmp_path):
    with tarfile.open(tmp_path / "tree.tar", "w") as archive:
        archive.add(tree, ".")
    program = (
        "import sys\n"
        "from hedgerow import errors, image\n"
        "image.create(sys.argv[1] + '/tree.tar', sys.argv[1] + '/of-archive')\n"
        "try:\n"
        "    image.create(sys.argv[2], sys.argv[1] + '/of-files')\n"
        "except errors.Error as error:\n"
        "    print(error)\n"
    )
    under = {**os.environ, "LD_PRELOAD": "/nowhere/libfakeroot-sysv.so"}
    command = [sys.executable, "-c", program, tmp_path, tree]
    told = subprocess.run(command, env=under, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert "'fakeroot tar -c'" in told.stdout
    assert (tmp_path / "of-archive").exists() and not (tmp_path / "of-files").exists()


def test_the_bytes_depend_on_the_source_alone(tree, image, tmp_path):
    told = []
    images.create(tree, tmp_path / "again", threads=3, progress=lambda *row: told.append(row))
    assert digest(tmp_path / "again") == digest(image)
    assert told
    images.create(tree, tmp_path / "gzip", compressor="gzip", level=1, block_size=65536)
    assert images.verify(tmp_path / "gzip").is_sound
    archive = tmp_path / "tree.tar"
    with tarfile.open(archive, "w") as file:
        file.add(tree, ".")
    images.create(archive, tmp_path / "of archive")
    assert images.verify(tmp_path / "of archive").is_sound


def test_nothing_is_replaced_unasked(tree, image, tmp_path):
    target = tmp_path / "image"
    target.write_text("mine")
    with pytest.raises(FileExistsError) as caught:
        images.create(tree, target)
    assert caught.value.filename == str(target)
    # Before anything is read.
    with pytest.raises(FileExistsError):
        images.create(tmp_path / "nowhere", target)
    assert target.read_text() == "mine"
    images.create(tree, target, replace=True)
    assert digest(target) == digest(image)


def test_a_commit(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    subprocess.run(["git", "init", "-q", tmp_path / "work"], check=True)
    (tmp_path / "work" / "file").write_text("content")
    words = ["-c", "user.name=a", "-c", "user.email=a", "commit", "-q", "-m", "x"]
    subprocess.run(["git", "-C", tmp_path / "work", "add", "."], check=True)
    subprocess.run(["git", "-C", tmp_path / "work", *words], check=True)
    images.create("HEAD", tmp_path / "image", repository=tmp_path / "work")
    with images.open(tmp_path / "image") as image:
        assert image.read("file") == b"content"


def test_extracting(tree, image, tmp_path):
    entries = images.extract(image, tmp_path / "all")
    assert entries > 60
    compared = filecmp.dircmp(tree, tmp_path / "all")
    assert not compared.diff_files and not compared.left_only and not compared.right_only
    images.extract(image, tmp_path / "some", paths=["d1"], strip_components=1)
    assert sorted(os.listdir(tmp_path / "some")) == sorted(os.listdir(tree / "d1"))
    with pytest.raises(FileExistsError, match="not empty") as caught:
        images.extract(image, tmp_path / "all")
    assert (caught.value.errno, caught.value.filename) == (errno.EEXIST, str(tmp_path / "all"))
    with pytest.raises(FileNotFoundError):
        images.extract(image, tmp_path / "none", paths=["nothing"])


def test_members_are_read_by_ranges(tree, image):
    content = (tree / "large").read_bytes()
    with images.open(image) as opened:
        assert opened.read("large") == content
        numbers = random.Random(5)
        for _ in range(50):
            start = numbers.randrange(len(content) + 1000)
            length = numbers.choice([0, 1, 9, 4096, 131072, 131073, 500_000])
            assert opened.read("large", start, length) == content[start : start + length]
        with opened.open("large") as file:
            assert file.readline() == b"00000000\n"
            file.seek(-9, os.SEEK_END)
            assert file.read() == b"00299999\n"
        stat = opened.stat("large")
        assert (stat.kind, stat.size, stat.mtime) == (
            "f",
            len(content),
            int((tree / "large").stat().st_mtime),
        )
        assert opened.stat("link").target == "large"
        paths = [
            os.path.join(path, name) for path, _, names in opened.walk() for name in names if name[0] == "f"
        ]
        assert len(paths) == 60
        for path, read in zip(paths, opened.read_many(paths)):
            assert read == (tree / path).read_bytes()
        with pytest.raises(FileNotFoundError) as caught:
            opened.read("nothing")
        assert caught.value.filename == "nothing"
        with pytest.raises(IsADirectoryError):
            opened.open("d1")
        with pytest.raises(NotADirectoryError):
            opened.listdir("large")
    with pytest.raises(ValueError):
        opened.read("large")


def test_files_that_python_reads(tree, image):
    with open(image, "rb") as file, images.open(file) as opened:
        assert opened.read("large") == (tree / "large").read_bytes()
        assert len(opened.listdir()) == 8


def test_several_threads_read(tree, image):
    opened = images.open(image)
    content = (tree / "large").read_bytes()
    wrong = []

    def work():
        for start in range(0, len(content), 300_000):
            if opened.read("large", start, 300_000) != content[start : start + 300_000]:
                wrong.append(start)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_the_file_system(tree, image):
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("hedgerow", fo=str(image))
    assert len(system.find("")) == 60 + 3
    assert system.glob("d1/*/f1") == ["d1/e1/f1"]
    content = (tree / "large").read_bytes()
    with system.open("large") as file:
        file.seek(1000)
        assert file.read(20) == content[1000:1020]
    assert system.cat_file("large", -9) == b"00299999\n"
    assert system.cat_ranges(["large", "nothing"], 0, 9)[0] == b"00000000\n"
    with fsspec.open(f"hedgerow://d1/e1/f1::file://{image}") as file:
        assert file.read() == (tree / "d1/e1/f1").read_bytes()


def test_what_fsspec_asks_besides(tree, image):
    pytest.importorskip("fsspec")
    from hedgerow.filesystem import HedgerowFileSystem

    files = HedgerowFileSystem(str(image))
    assert files._strip_protocol(["hedgerow://large", "/d1/"]) == ["large", "d1"]
    assert files.modified("large").timestamp() == int((tree / "large").stat().st_mtime)


def test_a_file_system_of_fsspec_is_not_written(tree, image):
    """Nothing seems to have worked: fsspec does nothing at all for some of these."""
    pytest.importorskip("fsspec")
    from hedgerow.filesystem import HedgerowFileSystem

    files = HedgerowFileSystem(str(image))
    for change in (
        lambda: files.mkdir("new"),
        lambda: files.makedirs("new/er", exist_ok=True),
        lambda: files.rmdir("d1"),
        lambda: files.rm("large"),
        lambda: files.rm("d1", recursive=True),
        lambda: files.rm_file("large"),
        lambda: files.cp_file("large", "other"),
        lambda: files.copy("large", "other"),
        lambda: files.mv("large", "other"),
        lambda: files.touch("new"),
        lambda: files.pipe("new", b""),
        lambda: files.put(__file__, "new"),
        lambda: files.open("new", "wb"),
    ):
        with pytest.raises(OSError) as raised:
            change()
        assert raised.value.errno == errno.EROFS


def test_an_image_that_is_elsewhere(tree, image):
    """Of a file system without local files, by ranges."""
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe("/images/tree.sqfs", image.read_bytes())
    with images.open("memory://images/tree.sqfs") as opened:
        assert opened.read("large", 100, 50) == (tree / "large").read_bytes()[100:150]
    with fsspec.open("hedgerow://link::memory://images/tree.sqfs") as file:
        assert file.fs.info("link")["destination"] == "large"


@pytest.fixture
def linked(tmp_path):
    """A tree with links of every kind, and its image."""
    top = tmp_path / "linked"
    (top / "d" / "e").mkdir(parents=True)
    (top / "d" / "file").write_bytes(b"content")
    for name, target in {
        "to-file": "d/file",
        "to-directory": "d",
        "d/up": "../to-file",
        "absolute": "/d/file",
        "above": "../../../d/file",
        "through": "to-directory/up",
        "dangling": "nowhere",
        "d/outside": "/etc/passwd",
        "loop": "loop",
        "ring1": "ring2",
        "ring2": "d/../ring1",
        "d/e/self": "..",
        "below-file": "d/file/x",
    }.items():
        (top / name).symlink_to(target)
    os.mkfifo(top / "fifo")
    images.create(top, tmp_path / "linked.sqfs")
    return top, tmp_path / "linked.sqfs"


def test_a_file_system_of_fsspec_follows_links(linked):
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("hedgerow", fo=str(linked[1]))
    for name in ("to-file", "d/up", "absolute", "above", "through", "to-directory/e/self/file"):
        assert system.isfile(name), name
        assert system.cat(name) == b"content"
        assert system.info(name)["size"] == 7 and system.info(name)["name"] == name
        with system.open(name) as file:
            assert file.read() == b"content"
    assert system.isdir("to-directory") and not system.isfile("to-directory")
    assert sorted(system.ls("to-directory", detail=False)) == [
        f"to-directory/{name}" for name in ("e", "file", "outside", "up")
    ]
    own = system.info("to-file", follow_symlinks=False)
    assert (own["type"], own["destination"], own["size"]) == ("link", "d/file", 6)
    assert system.info("to-file")["islink"] and system.info("to-file")["destination"] == "d/file"
    shown = {row["name"]: row["type"] for row in system.ls("")}
    assert shown["to-file"] == shown["to-directory"] == shown["loop"] == "link"
    for name in ("dangling", "d/outside", "loop", "ring1", "ring2", "below-file"):
        assert system.info(name)["type"] == "link", name
        assert not system.isfile(name) and not system.isdir(name)
        with pytest.raises(OSError) as caught:
            system.cat(name)
        assert caught.value.errno in (errno.ENOENT, errno.ELOOP, errno.ENOTDIR)
        assert caught.value.filename == name
    with pytest.raises(FileNotFoundError):
        system.info("to-directory/none")


def test_fsspec_fetches_a_whole_image_with_links(linked, tmp_path):
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("hedgerow", fo=str(linked[1]))
    system.get("**", f"{tmp_path}/pattern/")
    system.get("", f"{tmp_path}/whole/", recursive=True)
    for place in ("pattern", "whole"):
        found = tmp_path / place
        for name in ("d/file", "to-file", "absolute", "above", "through", "d/up"):
            assert (found / name).read_bytes() == b"content", name
        for name in ("dangling", "d/outside", "loop", "ring1", "fifo"):
            assert not os.path.lexists(found / name)
    for name in ("dangling", "fifo"):
        with pytest.raises(OSError):
            system.get(name, f"{tmp_path}/named")


def test_arguments_that_make_no_sense(tree, image, tmp_path):
    archive = tmp_path / "tree.tar"
    with tarfile.open(archive, "w") as file:
        file.add(tree, ".")
    with pytest.raises(ValueError, match="only a directory.*an archive"):
        images.create(archive, tmp_path / "part", part=(1, 2))
    with pytest.raises(ValueError, match="only a directory.*a commit"):
        images.create("HEAD", tmp_path / "part", part=(1, 2), repository=tmp_path)
    with pytest.raises(NotADirectoryError) as caught:
        images.create(tree / "large", tmp_path / "image")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOTDIR, str(tree / "large"))
    with open(tree / "large") as text, pytest.raises(TypeError, match="binary"):
        images.open(text)
    with pytest.raises(TypeError, match="binary"):
        images.open(io.StringIO("text"))
    with images.open(image) as opened:
        content = (tree / "large").read_bytes()
        assert opened.read("large", 5, 10**30) == content[5:]
        assert opened.read("large", 10**30, 10**30) == opened.read("large", 10**30) == b""


def test_paths_of_any_kind(tree, image, tmp_path):
    inside = pathlib.PurePosixPath("d1/e1/f1")
    with images.open(image) as opened:
        assert opened.read(inside) == opened.read(str(inside)) == opened.read(bytes(inside))
        assert opened.stat(inside) == opened.stat(str(inside))
        assert opened.listdir(inside.parent) == opened.listdir("d1/e1")
        assert list(opened.walk(pathlib.PurePath("d1"))) == list(opened.walk("d1"))
        assert opened.read_many([inside]) == [opened.read("d1/e1/f1")]
        with opened.open(inside) as file:
            assert file.read() == opened.read("d1/e1/f1")
        with pytest.raises(TypeError):
            opened.read(5)
    assert images.extract(image, tmp_path / "out", paths=[inside]) > 0


def test_a_full_file_system_while_extracting(image, tmp_path):
    mounted = tmp_path / "small"
    mounted.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=300k", "none", mounted]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        with pytest.raises(OSError) as caught:
            images.extract(image, mounted / "out")
    finally:
        subprocess.run(["umount", mounted], check=True)
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename.startswith(str(mounted / "out"))


def test_an_image_without_descriptors(tree, tmp_path):
    program = (
        "import resource, sys\n"
        "from hedgerow import errors, image\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5))\n"
        "try:\n"
        "    image.create(sys.argv[1], sys.argv[2])\n"
        "except OSError as error:\n"
        "    print(error.errno, error.filename, error.strerror)\n"
    )
    command = [sys.executable, "-c", program, tree, tmp_path / "image"]
    told = subprocess.run(command, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    if told.stdout:
        number, name, words = told.stdout.strip().split(" ", 2)
        assert int(number) == errno.EMFILE and name.startswith(str(tmp_path.parent))
        assert words == os.strerror(errno.EMFILE)


def test_an_event_ends_a_call(tree, image, tmp_path):
    event = threading.Event()
    event.set()
    calls = (
        lambda: images.create(tree, tmp_path / "image", cancel=event),
        lambda: images.merge([image], tmp_path / "image", cancel=event),
        lambda: images.extract(image, tmp_path / "out", cancel=event),
        lambda: images.verify(image, cancel=event),
    )
    for call in calls:
        with pytest.raises(hedgerow.errors.Cancelled):
            call()
    assert not os.listdir(tmp_path)


def test_a_call_in_a_thread_is_ended(tmp_path):
    """Where nobody's signal comes."""
    (tmp_path / "tree").mkdir()
    for number in range(40):
        (tmp_path / "tree" / str(number)).write_bytes(os.urandom(3 << 20))
    event, raised = threading.Event(), []

    def work():
        try:
            images.create(tmp_path / "tree", tmp_path / "image", compressor="xz", threads=1, cancel=event)
        except hedgerow.errors.Cancelled as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.3)
    event.set()
    thread.join()
    assert raised and not (tmp_path / "image").exists()


def test_parts_of_the_command_line_are_told_apart(tree, tmp_path):
    program = [sys.executable, "-m", "hedgerow", "image"]
    for number in (1, 2):
        made = [*program, "create", "--part", f"{number}/2", tree, tmp_path / f"theirs{number}"]
        if subprocess.run(made, capture_output=True).returncode != 0:
            pytest.skip("this package was built without the command line")
        images.create(tree, tmp_path / f"ours{number}", part=(number, 2))
    with pytest.raises(hedgerow.errors.Error, match="'hedgerow image merge'"):
        images.merge([tmp_path / "theirs1", tmp_path / "theirs2"], tmp_path / "image")
    merge = [*program, "merge", "-o", tmp_path / "image", tmp_path / "ours1", tmp_path / "ours2"]
    told = subprocess.run(merge, capture_output=True, text=True)
    assert told.returncode != 0 and "made from Python" in told.stderr


def test_broken_images(image, tmp_path):
    path = tmp_path / "broken"
    path.write_bytes(b"no image" * 100)
    for open_it in (images.open, images.verify, lambda path: images.extract(path, tmp_path / "x")):
        with pytest.raises(ImageError) as caught:
            open_it(path)
        assert isinstance(caught.value, OSError)
        assert (caught.value.errno, caught.value.filename) == (errno.EBADMSG, str(path))
        with pytest.raises(FileNotFoundError) as caught:
            open_it(tmp_path / "nothing")
        assert caught.value.filename == str(tmp_path / "nothing")
    content = bytearray(image.read_bytes())
    numbers = random.Random(11)
    found = 0
    # The superblock and the tables: contents that are stored as they are have no checksum.
    places = [*range(96), *range(len(content) - 6000, len(content))]
    for _ in range(60):
        damaged = bytearray(content)
        damaged[numbers.choice(places)] ^= 1 << numbers.randrange(8)
        path.write_bytes(damaged)
        try:
            found += not images.verify(path).is_sound
            with images.open(path) as opened:
                for directory, _, names in opened.walk():
                    for name in names:
                        full = os.path.join(directory, name)
                        if opened.stat(full).kind == "f":
                            opened.read(full)
        except OSError as error:
            found += 1
            assert error.errno
    assert found > 10


def test_errors_of_a_remote_file(image):
    class Failing:
        def __init__(self, file):
            self.file = file
            self.fails = False

        def seek(self, *position):
            return self.file.seek(*position)

        def read(self, count):
            if self.fails:
                raise ConnectionResetError(errno.ECONNRESET, "gone")
            return self.file.read(count)

    with open(image, "rb") as file:
        failing = Failing(file)
        opened = images.open(failing)
        failing.fails = True
        with pytest.raises(ConnectionResetError):
            opened.read("large")


def test_exceptions_of_a_file_arrive_as_they_are(image):
    """Above all that of an interruption, which was an OSError once."""

    class File:
        def __init__(self, file):
            self.file = file
            self.error = None

        def seek(self, *position):
            return self.file.seek(*position)

        def read(self, count):
            if self.error is not None:
                raise self.error
            # Fewer than were asked for, as a raw file may.
            return bytearray(self.file.read(min(count, 10_000)))

    with open(image, "rb") as inner:
        file = File(inner)
        opened = images.open(file)
        assert opened.read("large")[:9] == b"00000000\n"
        for error in (
            KeyboardInterrupt(),
            KeyError("key"),
            MemoryError(),
            OSError("no number"),
            ConnectionResetError(errno.ECONNRESET, "gone", "name"),
        ):
            file.error = None
            opened = images.open(file)
            file.error = error
            with pytest.raises(type(error)) as caught:
                opened.read("large")
            assert caught.value is error
            with pytest.raises(type(error)) as caught:
                images.open(file)
            assert caught.value is error


def test_a_named_file_is_named(image, tmp_path):
    (tmp_path / "broken").write_bytes(image.read_bytes()[:200])
    with open(tmp_path / "broken", "rb") as file:
        with pytest.raises(ImageError) as caught:
            images.open(file)
    assert caught.value.filename == str(tmp_path / "broken")


def test_a_file_that_holds_its_image_is_collected(image):
    class File:
        def __init__(self):
            self.file = open(image, "rb")
            self.seek, self.read = self.file.seek, self.file.read
            self.image = images.open(self)

    gc.collect()
    file = File()
    file.image.read("large")
    gone = weakref.ref(file)
    del file
    gc.collect()
    assert gone() is None


def test_numbers_that_make_no_sense(tree, image, tmp_path):
    for size in (0, 1, 3, 2048, 5000, 2 << 20, 1 << 31):
        with pytest.raises(ValueError, match="block_size"):
            images.create(tree, tmp_path / "never", block_size=size)
    assert os.listdir(tmp_path) == []
    images.create(tree, tmp_path / "image", threads=2**64 - 1)
    assert digest(tmp_path / "image") == digest(image)
    images.extract(image, tmp_path / "nothing", strip_components=2**64 - 1)
    assert os.listdir(tmp_path / "nothing") == []


def test_wrong_kinds_of_arguments(image, tmp_path):
    for wrong in (None, 3, [], object()):
        with pytest.raises(TypeError):
            images.open(wrong)
    # It was taken for a sequence of letters.
    with pytest.raises(TypeError, match="paths"):
        images.extract(image, tmp_path / "never", paths="d1")
    with pytest.raises(TypeError, match="parts"):
        images.merge("part", tmp_path / "never")
    with images.open(image) as opened:
        assert list(opened.walk(b"d1")) == list(opened.walk("d1"))
        for wrong in (None, 3):
            with pytest.raises(TypeError):
                next(opened.walk(wrong))
        with pytest.raises(TypeError, match="paths"):
            opened.read_many("large")
        with pytest.raises(ValueError):
            opened.open("large").detach().seek(0, 7)
    assert os.listdir(tmp_path) == []


def test_a_pipe_is_no_image(image, tmp_path):
    """To open it would wait for somebody who writes to it, and not end when it is interrupted."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for use in (
        images.open,
        images.verify,
        lambda path: images.extract(path, tmp_path / "never"),
        lambda path: images.merge([path], tmp_path / "never"),
        lambda path: hedgerow.listing.merge([path], tmp_path / "never"),
        hedgerow.listing.read_rest,
    ):
        with pytest.raises(OSError) as caught:
            use(pipe)
        assert (caught.value.errno, caught.value.filename) == (errno.ESPIPE, str(pipe))
    assert os.listdir(tmp_path) == ["pipe"]


def test_an_exception_of_progress_leaves_no_image(tree, tmp_path):
    """Also of its last call, when the image is complete."""

    def stop(*row):
        raise KeyError(row)

    with pytest.raises(KeyError):
        images.create(tree, tmp_path / "image", progress=stop)
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_a_full_disk(tree, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk])
    if mounted.returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        with pytest.raises(OSError) as caught:
            images.create(tree, disk / "image")
        assert caught.value.errno == errno.ENOSPC
        assert caught.value.filename == str(disk / "image")
        assert os.listdir(disk) == []
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_panic_is_an_exception():
    from hedgerow import _hedgerow

    with pytest.raises(hedgerow.errors.InternalError, match="as the test asked") as caught:
        _hedgerow.panic_for_tests()
    assert isinstance(caught.value, RuntimeError)


@pytest.fixture(scope="module")
def erofs(tree):
    path = tree.parent / "tree.erofs"
    made = [sys.executable, "-m", "hedgerow", "image", "create", tree, path]
    if subprocess.run(made, capture_output=True).returncode != 0:
        pytest.skip("this package was built without the command line")
    return path


def test_erofs_images_are_read_the_same_way(tree, erofs, image, tmp_path):
    numbers = random.Random(11)
    content = (tree / "large").read_bytes()
    with images.open(erofs) as opened, images.open(image) as other:
        assert list(opened.walk()) == list(other.walk())
        assert opened.listdir("d1") == other.listdir("d1")
        for path in ("", "large", "link", "d2", "d2/e2"):
            assert opened.stat(path)[:6] == other.stat(path)[:6]
        assert opened.stat("link").target == "large"
        assert opened.read("large") == content
        for _ in range(50):
            start = numbers.randrange(len(content) + 1000)
            length = numbers.choice([0, 1, 9, 4096, 131072, 131073, 500_000])
            assert opened.read("large", start, length) == content[start : start + length]
        for path, _, names in opened.walk():
            for name in names:
                full = os.path.join(path, name)
                if opened.stat(full).kind == "f":
                    assert opened.read(full) == (tree / full).read_bytes()
        with pytest.raises(FileNotFoundError):
            opened.stat("nothing")
        with pytest.raises(NotADirectoryError) as caught:
            opened.listdir("large")
        assert caught.value.filename == "large"
        with pytest.raises(IsADirectoryError):
            opened.read("d1")
        with pytest.raises(OSError) as caught:
            opened.read("link")
        assert (caught.value.errno, caught.value.filename) == (errno.EINVAL, "link")
    assert images.verify(erofs).is_sound
    assert images.extract(erofs, tmp_path / "all") == images.extract(image, tmp_path / "other")
    broken = bytearray(erofs.read_bytes())
    broken[1024 + 10] ^= 1
    (tmp_path / "broken").write_bytes(broken)
    with pytest.raises(ImageError) as caught:
        images.open(tmp_path / "broken")
    assert caught.value.filename == str(tmp_path / "broken")


def test_parts_become_the_image_of_one_machine(tree, image, tmp_path):
    parts = []
    for number in (3, 1, 2):
        images.create(tree, tmp_path / str(number), part=(number, 3), threads=2)
        parts.append(tmp_path / str(number))
    merged = images.merge(parts, tmp_path / "merged")
    assert merged.skipped == [] and merged.created.bytes == image.stat().st_size
    assert digest(tmp_path / "merged") == digest(image)
    with pytest.raises(FileExistsError):
        images.merge(parts, tmp_path / "merged")
    for wrong in (parts[:2], [parts[0], image]):
        with pytest.raises(hedgerow.errors.Error):
            images.merge(wrong, tmp_path / "none")
    for wrong in ((0, 3), (4, 3), (1, 0)):
        with pytest.raises(ValueError):
            images.create(tree, tmp_path / "none", part=wrong)
    with pytest.raises(ValueError):
        images.merge([], tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_levels_and_parts_that_make_no_sense(tree, tmp_path):
    for compressor, level in [("gzip", 10), ("gzip", 0), ("xz", 1), ("lzma", 5), ("lz4", 1)]:
        with pytest.raises(ValueError):
            images.create(tree, tmp_path / "image", compressor=compressor, level=level)
    for part in [(-1, 3), (1, 2**32), (2**32 + 1, 3), (4, 3)]:
        with pytest.raises(ValueError):
            images.create(tree, tmp_path / "image", part=part)
    with pytest.raises(ValueError, match="null"):
        images.create("a\0", tmp_path / "image")
    assert not (tmp_path / "image").exists()


def test_a_member_that_is_closed(image):
    with images.open(image) as opened:
        name = next(entry.name for entry in opened.listdir("") if entry.kind == "f")
        raw = opened.open(name).detach()
        words = array.array("I", [0] * 64)
        assert raw.readinto(words) == min(256, opened.stat(name).size)
        raw.close()
        for use in (raw.read, raw.readall, raw.tell, lambda: raw.seek(0)):
            with pytest.raises(ValueError):
                use()


def test_ranges_of_several_files_are_as_many_as_the_files(image):
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("hedgerow", fo=str(image))
    with pytest.raises(ValueError):
        files.cat_ranges(["a", "b"], [0], [1, 1])
    with pytest.raises(TypeError):
        files.cat_ranges("a", [0], [1])
