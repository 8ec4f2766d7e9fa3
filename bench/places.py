"""Where commands run: a repository and its working tree on tmpfs, on disk, or behind latency."""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import contenders
from measure import run_all
from mounts import LatencyMount
from skipped import Skipped
from stopping import started, undisturbed

# What is kept free on a disk while discarded trees stay there.
KEPT_FREE_MB = 12000


class Place:
    """A repository of its own objects with a working tree around it, in a new directory that is
    gone after the `with`."""

    def __init__(self, parent, repository, revision="HEAD", is_disk=False):
        parent.mkdir(parents=True, exist_ok=True)
        self.base = Path(tempfile.mkdtemp(prefix="hedgerow-bench.", dir=parent))
        self.tree = self.base / "tree"
        self.env = contenders.environment(self.base)
        self.repository = repository
        self.revision = revision
        self.is_disk = is_disk
        self.git_dir = self.tree / ".git"

    def __enter__(self):
        try:
            self.open()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        with undisturbed():
            self.close()

    def open(self):
        self.git_at(".", "clone", "-q", "--no-checkout", "--no-hardlinks", str(self.repository),
                    str(self.tree))
        self.git("update-ref", "--no-deref", "HEAD", f"{self.revision}^{{commit}}")
        self.warm()

    def close(self):
        remove(self.base)

    def git_at(self, where, *words):
        return output(["git", *words], self.env, self.base / where)

    def git(self, *words):
        """Runs git in the working tree, unmeasured; its output."""
        return self.git_at("tree", *words)

    def git_at_once(self, *words):
        """The same, without round trips where the place has some."""
        return self.git(*words)

    def warm(self):
        """Reads the objects once, so that no contender pays for the disk."""
        subprocess.run(["sh", "-c", 'find "$1" -type f -exec cat {} + >/dev/null', "sh",
                        str(self.git_dir / "objects")], check=True)

    def make_loose(self):
        """Turns every packed object into a loose one."""
        packs = self.git_dir / "objects" / "pack"
        aside = self.base / "packs"
        packs.rename(aside)
        packs.mkdir()
        for pack in aside.glob("*.pack"):
            with pack.open("rb") as content:
                subprocess.run(["git", "unpack-objects", "-q"], cwd=self.tree, env=self.env,
                               stdin=content, check=True)
        shutil.rmtree(aside)

    def empty(self):
        """Removes all files and the index."""
        for path in self.tree.iterdir():
            if path.name != ".git":
                self.discard(path)
        for name in ("index", "index.lock"):  # a lock: of one that was stopped for being slow
            (self.git_dir / name).unlink(missing_ok=True)
        self.settle()

    def discard(self, path, base=None):
        """Takes a tree out of the way. On disk it is kept aside for as long as there is room: for
        minutes after files were removed, ext4 searches past their inodes for each new file, which
        is most of the time of a run and says nothing of the program that makes the files. `base`
        is a directory on the same file system that is gone after the case."""
        if not self.is_disk:
            remove(path)
            return
        aside = (base or self.base) / "discarded"
        if shutil.disk_usage(aside.parent).free < KEPT_FREE_MB << 20:
            remove(aside)
        aside.mkdir(exist_ok=True)
        if path.exists():
            path.rename(Path(tempfile.mkdtemp(dir=aside)) / path.name)

    def settle(self):
        """Waits until the disk has nothing left to do of what was before. Where nothing is measured,
        the disk may have more to do than that."""
        if self.is_disk and not contenders.OF_TESTS:
            os.sync()

    def settle_index(self):
        """Lets git write an index that is younger than every file, so that no contender has to
        read a file to be sure of it."""
        time.sleep(1.1)
        self.git("status", "--porcelain")

    def run(self, commands, **options):
        return run_all(commands, self.env, self.tree, **options)

    def output(self, command):
        """What a command prints that is not measured."""
        return output(command, self.env, self.tree)

    def require_clean(self):
        """The proof that the work was done: git finds the tree as it should be."""
        found = self.git("status", "--porcelain")
        if found:
            raise RuntimeError(f"the working tree is not clean:\n{found[:2000]}")


class LatencyPlace(Place):
    """A place whose working tree is on a file system with round trips; `.git` stays local."""

    def __init__(self, parent, repository, revision, latencyfs, rtt_us):
        super().__init__(parent, repository, revision)
        self.mount = LatencyMount(self.base, latencyfs, rtt_us)
        self.backing = self.mount.backing

    def open(self):
        super().open()
        self.git_dir = self.git_dir.rename(self.base / "repository.git")
        self.tree = self.mount.point
        self.env.update(GIT_DIR=str(self.git_dir), GIT_WORK_TREE=str(self.tree))
        self.empty()

    def close(self):
        self.mount.close()
        super().close()

    def git(self, *words):
        return self.git_at("tree" if not self.mount.is_mounted else ".", *words)

    def empty(self):
        """An empty tree, and a client that knows nothing of it."""
        self.mount.clear()
        for name in ("index", "index.lock"):  # a lock: of one that was stopped for being slow
            (self.git_dir / name).unlink(missing_ok=True)
        self.mount.open()

    def git_at_once(self, *words):
        asked_us, self.mount.rtt_us = self.mount.rtt_us, 0
        self.mount.open()
        said = self.git(*words)
        self.mount.rtt_us = asked_us
        self.mount.open()
        return said

    def fill(self):
        """The tree of the revision, seen by a client that knows nothing of it."""
        self.empty()
        self.git_at_once("checkout", "-q", "-f")


class CheckedOutPlace(Place):
    """A repository whose working tree is there."""

    def open(self):
        super().open()
        self.git("checkout", "-q", "-f")


class MadePlace(Place):
    """A tree without a repository of git: `make(place)` fills the empty directory `place.tree`."""

    def __init__(self, parent, make):
        super().__init__(parent, None)
        self.make = make

    def open(self):
        self.tree.mkdir(exist_ok=True)
        self.make(self)


class MadeLatencyPlace(MadePlace):
    """A tree that was made in memory and is then seen with round trips, all of it."""

    def __init__(self, parent, make, latencyfs, rtt_us):
        super().__init__(parent, make)
        self.mount = LatencyMount(self.base, latencyfs, rtt_us)

    def open(self):
        super().open()
        self.tree.rename(self.mount.backing)
        self.tree = self.mount.point
        self.mount.open()

    def close(self):
        self.mount.close()
        super().close()


def tmpfs():
    """A directory in memory."""
    shm = Path("/dev/shm")
    if not os.access(shm, os.W_OK):
        raise Skipped("there is no /dev/shm to write to")
    return shm


def disk():
    """A directory on the disk that the project is on."""
    return contenders.TARGET / "bench"


def output(command, env, cwd):
    """What a command prints. Raises RuntimeError with its complaint if it fails."""
    with started(command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                 text=True) as process:
        printed, complaint = process.communicate()
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {complaint.strip()}")
    return printed


def require_free(directory, mib):
    directory.mkdir(parents=True, exist_ok=True)
    free_mib = shutil.disk_usage(directory).free >> 20
    if free_mib < mib:
        raise Skipped(f"{directory} has {free_mib} MiB free, {mib} are needed")


def remove(directory):
    subprocess.run(["rm", "-rf", str(directory)], check=True)
