"""Where images are made and read: a tree, the same as an archive, and images of it."""

import os
import subprocess

import packers
from places import MadePlace, remove, require_free, tmpfs
from skipped import Skipped

# What stands for the whole tree where a compressor is slow: 67 MB in 4,055 files.
PART = ("fs", "kernel", "arch/x86")
SMOKE_PART = ("part00", "part01")
LINUX_ROOM_MIB = 7000
PART_ROOM_MIB = 500


class SourcePlace(MadePlace):
    """`place.tree` and the archive `place.tar` of the same, in memory."""

    def __init__(self, make, parent=None, is_disk=False):
        super().__init__(parent or tmpfs(), make)
        self.is_disk = is_disk
        self.tar = self.base / "tree.tar"
        self.image = self.base / "image"

    def archive(self):
        """Makes the archive."""
        # In the order in which hedgerow lists a directory: images of both are then the same.
        self.output(["tar", "c", "--sort=name", "--numeric-owner", "-f", str(self.tar), "."])

    def pack(self, command, **options):
        """Runs what makes an image; programs that take an archive find it on standard input."""
        self.image.unlink(missing_ok=True)
        self.settle()
        stdin = self.tar if self.tar.exists() else os.devnull
        return self.run([command], stdin=stdin, **options)

    def image_bytes(self):
        return self.image.stat().st_size


def linux(setting, is_part=False):
    """The Linux tree, or the part of it, without a repository."""
    repository = setting.corpora.linux()
    paths = SMOKE_PART if setting.is_smoke else PART if is_part else ()
    room_mib = PART_ROOM_MIB if is_part else LINUX_ROOM_MIB
    require_free(tmpfs(), 100 if setting.is_smoke else room_mib)
    return SourcePlace(lambda place: unpack(place, repository, "HEAD", paths))


def unpack(place, repository, revision, paths=()):
    """The files of a commit, without a repository around them."""
    files = subprocess.Popen(["git", "-C", str(repository), "archive", revision, *paths],
                             env=place.env, stdout=subprocess.PIPE)
    subprocess.run(["tar", "x"], cwd=place.tree, stdin=files.stdout, check=True)
    if files.wait() != 0:
        raise RuntimeError("git archive failed")


def require_verb(place, verb):
    """Raises Skipped if this hedgerow has no such `image` command."""
    done = subprocess.run(packers.hedgerow("image", verb, "--help"), env=place.env,
                          capture_output=True, check=False)
    if done.returncode != 0:
        raise Skipped(f"this hedgerow has no 'image {verb}'")


def require_option(place, option):
    """Raises Skipped if this hedgerow's `image create` has no such option."""
    if option not in place.output(packers.hedgerow("image", "create", "--help")):
        raise Skipped(f"this hedgerow's 'image create' has no {option}")


def require_tar(place):
    """Raises Skipped if this hedgerow packs no archives."""
    _require_source(place, "small.tar", ["tar", "c", "-f", "small.tar", "-T", os.devnull])


def require_commit(place):
    """Raises Skipped if this hedgerow packs no commits."""
    small = place.base / "small"
    git = ["git", "-C", str(small), "-c", "user.name=A U Thor",
           "-c", "user.email=author@example.com"]
    place.output(["git", "init", "-q", str(small)])
    place.output([*git, "commit", "-q", "--allow-empty", "-m", "small"])
    _require_source(place, "git:HEAD", ["true"], small)
    remove(small)


def _require_source(place, source, make, directory=None):
    where = directory or place.base
    subprocess.run(make, cwd=where, env=place.env, check=True)
    words = packers.hedgerow("-C", str(where), "image", "create", source, "small.img")
    done = subprocess.run(words, env=place.env, capture_output=True, text=True, check=False)
    for name in (source, "small.img"):
        (where / name).unlink(missing_ok=True)
    if done.returncode != 0:
        raise Skipped(f"this hedgerow packs no '{source}': {done.stderr.strip()}")
