"""Working trees and repositories, beside git."""

import os
import subprocess
import threading

import pytest

import hedgerow
from hedgerow.errors import CheckoutRejected, GitError


def git(directory, *words):
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    run = subprocess.run(["git", *words], cwd=directory, env=environment, capture_output=True)
    assert run.returncode == 0, run.stderr
    return run.stdout.decode()


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    top = tmp_path / "work"
    top.mkdir()
    git(top, "init", "-q", "-b", "main")
    for number in range(30):
        (top / f"d{number % 3}").mkdir(exist_ok=True)
        (top / f"d{number % 3}" / f"f{number}").write_text(f"{number}\n" * number)
    (top / "link").symlink_to("d0/f0")
    git(top, "add", ".")
    git(top, "commit", "-q", "-m", "first")
    git(top, "branch", "old")
    (top / "d0" / "f0").write_text("changed\n")
    (top / "new").write_text("new\n")
    git(top, "rm", "-q", "d1/f1")
    git(top, "add", ".")
    git(top, "commit", "-q", "-m", "second")
    return top


def test_checkout_and_back(repository):
    told = []
    done = hedgerow.checkout(repository, "old", progress=lambda *args: told.append(args))
    assert (done.written, done.removed, done.warnings) == (2, 1, [])
    assert git(repository, "status", "--porcelain") == ""
    assert git(repository, "symbolic-ref", "HEAD") == "refs/heads/old\n"
    assert told and told[-1][1:3] == (2, 2)
    hedgerow.checkout(str(repository), "main", detach=True, threads=2)
    assert git(repository, "status", "--porcelain", "-b") == "## HEAD (no branch)\n"
    assert (repository / "new").read_text() == "new\n"


def test_a_checkout_that_would_lose_something(repository):
    (repository / "d0" / "f0").write_text("mine\n")
    with pytest.raises(CheckoutRejected) as caught:
        hedgerow.checkout(repository, "old")
    assert caught.value.paths == ["d0/f0"]
    assert (repository / "d0" / "f0").read_text() == "mine\n"
    hedgerow.checkout(repository, "old", force=True)
    assert (repository / "d0" / "f0").read_text() == ""


def test_an_exception_of_progress_ends_it(repository):
    class Stop(Exception):
        pass

    def stop(*_):
        raise Stop

    with pytest.raises(Stop):
        hedgerow.checkout(repository, "old", progress=stop)


def test_status(repository):
    (repository / "d0" / "f0").write_text("mine\n")
    (repository / "d2" / "f2").unlink()
    (repository / "added").touch()
    (repository / ".gitignore").write_text("*.o\n")
    (repository / "a.o").touch()
    git(repository, "add", "added")
    found = hedgerow.status(repository, ignored=True)
    assert [(change.path, change.staged + change.unstaged) for change in found.changes] == [
        ("added", "A "),
        ("d0/f0", " M"),
        ("d2/f2", " D"),
    ]
    assert (found.untracked, found.ignored) == ([".gitignore"], ["a.o"])
    assert hedgerow.status(repository, untracked="no").untracked == []
    with pytest.raises(ValueError):
        hedgerow.status(repository, untracked="some")


def test_history_and_objects(repository):
    opened = hedgerow.Repository(repository)
    assert opened.work_tree == str(repository) and opened.git_dir.endswith("/.git")
    assert opened.rev_list("HEAD") == git(repository, "rev-list", "HEAD").split()
    assert opened.rev_list("old..main") == git(repository, "rev-list", "old..main").split()
    assert opened.rev_list("--all", max_count=1, reverse=True) == git(
        repository, "rev-list", "--all", "--max-count=1", "--reverse"
    ).split()
    listed = git(repository, "rev-list", "--objects", "main", "^old").splitlines()
    found = opened.rev_list_objects("main", "^old")
    assert [f"{row.id} {row.path}".strip() for row in found] == [line.strip() for line in listed]
    names = [f"HEAD:d{number % 3}/f{number}" for number in range(30) if number != 1]
    for name, read in zip(names, opened.cat_file(names)):
        assert read.kind == "blob"
        assert read.content.decode() == git(repository, "cat-file", "blob", name)
        assert opened.resolve(name) == read.id
    assert opened.cat_file("HEAD").kind == "commit"


def test_packs(repository):
    git(repository, "gc", "-q")
    (pack,) = hedgerow.Repository(repository).packs()
    counted = git(repository, "count-objects", "-v").splitlines()
    assert f"in-pack: {pack.objects}" in counted
    size = os.path.getsize(pack.path)
    # Besides the entries, a pack has a header and a checksum.
    assert pack.stored_bytes == size - 12 - 20
    assert 0 < pack.largest_bytes < pack.stored_bytes


def test_errors_are_gits(repository, tmp_path):
    with pytest.raises(GitError, match="not a git repository"):
        hedgerow.Repository(tmp_path)
    with pytest.raises(GitError, match="nothing"):
        hedgerow.checkout(repository, "nothing")
    with pytest.raises(GitError):
        hedgerow.Repository(repository).cat_file(["HEAD", "nothing"])


def test_a_commit_as_a_file_system(repository):
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("hedgerow", repository=str(repository), revision="old")
    assert [row["name"] for row in system.ls("")] == ["d0", "d1", "d2", "link"]
    assert len(system.find("")) == 31
    assert system.cat("d2/f2") == b"2\n2\n"
    assert system.cat_file("d2/f2", 1, 3) == b"\n2"
    with system.open("d1/f4", "r") as file:
        assert file.readlines() == ["4\n"] * 4
    assert system.info("d1/f4")["size"] == 8
    assert system.isdir("d0") and system.isfile("d0/f0") and not system.exists("new")
    with pytest.raises(FileNotFoundError):
        system.cat_file("d0/nothing")
    with pytest.raises(OSError):
        system.open("d0/f0", "wb")


@pytest.fixture
def partial(repository, tmp_path):
    """A clone that has commits alone."""
    git(repository, "config", "uploadpack.allowFilter", "true")
    git(repository, "config", "uploadpack.allowAnySHA1InWant", "true")
    origin = f"file://{repository}"
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=tree:0", origin, "partial")
    return tmp_path / "partial"


def test_a_partial_clone_fetches_what_is_read(repository, partial):
    names = [f"HEAD:d{number % 3}/f{number}" for number in range(30) if number != 1]
    read = hedgerow.Repository(partial).cat_file(names)
    assert [row.content.decode() for row in read] == [
        git(repository, "cat-file", "blob", name) for name in names
    ]


def test_a_partial_clone_lists_objects(repository, partial):
    found = hedgerow.Repository(partial).rev_list_objects("HEAD", "^origin/old")
    listed = git(repository, "rev-list", "--objects", "main", "^old").splitlines()
    assert [f"{row.id} {row.path}".strip() for row in found] == [line.strip() for line in listed]


def test_a_commit_of_a_partial_clone_as_a_file_system(repository, partial):
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("hedgerow", repository=str(partial), revision="origin/old")
    assert len(system.find("")) == 31
    assert system.info("d2/f2")["size"] == 4
    with system.open("d2/f2") as file:
        assert file.read() == b"2\n2\n"
    assert system.cat("link") == b""


def test_what_is_promised_is_not_fetched_if_that_is_forbidden(partial, monkeypatch):
    monkeypatch.setenv("GIT_NO_LAZY_FETCH", "1")
    with pytest.raises(GitError):
        hedgerow.Repository(partial).cat_file("HEAD:d0/f0")


def test_links_of_a_commit_are_followed(repository):
    fsspec = pytest.importorskip("fsspec")
    (repository / "up").symlink_to("../outside")
    (repository / "again").symlink_to("/d2")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "links")
    system = fsspec.filesystem("hedgerow", repository=str(repository))
    assert system.isfile("link") and system.cat("link") == b"changed\n"
    assert system.info("link")["destination"] == "d0/f0"
    assert system.isdir("again") and system.cat("again/f2") == b"2\n2\n"
    assert system.info("up")["type"] == "link" and not system.isfile("up")
    with pytest.raises(FileNotFoundError):
        system.cat("up")


def test_an_event_ends_a_call(repository, tmp_path):
    event = threading.Event()
    opened = hedgerow.Repository(repository)
    calls = (
        lambda: hedgerow.status(repository, cancel=event),
        lambda: opened.rev_list("HEAD", cancel=event),
        lambda: opened.rev_list_objects("HEAD", cancel=event),
        lambda: opened.cat_file(["HEAD"], cancel=event),
        lambda: hedgerow.checkout(repository, "old", cancel=event),
    )
    for call in calls[:-1]:
        call()
    event.set()
    for call in calls:
        with pytest.raises(hedgerow.errors.Cancelled):
            call()
    assert git(repository, "symbolic-ref", "HEAD") == "refs/heads/main\n"


def test_force_overwrites_what_is_untracked_and_in_the_way(repository):
    git(repository, "checkout", "-q", "--detach")
    git(repository, "rm", "-q", "--cached", "d0/f0")
    git(repository, "commit", "-q", "-m", "without it")
    (repository / "d0" / "f0").write_text("mine\n")
    with pytest.raises(CheckoutRejected):
        hedgerow.checkout(repository, "old")
    hedgerow.checkout(repository, "old", force=True)
    assert (repository / "d0" / "f0").read_text() == ""
