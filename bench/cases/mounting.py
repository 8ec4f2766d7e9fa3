"""Working trees that are mounted over an image of their commit."""

import os
import shutil
import subprocess
import time

from contenders import GIT_WORKERS, HEDGEROW, git, hedgerow
from measure import find_best, in_pairs
from places import Place, disk, remove, require_free, tmpfs
from results import Outcome, amount_row, share_row, wall_row
from skipped import Skipped

FORMATS = ("erofs", "squashfs")
# Working trees of one repository that are there at once.
TREES = 10
# Files that differ from the nearest image.
DIFFERENT = 500
# What git says of a file that it opens.
OPENED = ("openat(", "open(", "openat2(")


def worktree_mount(setting):
    """In memory: adding one, the image there and not; near an image; the status after it."""
    return _in(tmpfs(), "tmpfs", setting)


def worktree_mount_disk(setting):
    """The same on the disk."""
    return _in(disk(), "disk", setting)


def _in(parent, where, setting):
    _require_mounting()
    require_free(parent, 100 if setting.is_smoke else 6000)
    outcome = Outcome([])
    for name, repository in [("linux", setting.corpora.linux()), ("k8s", setting.corpora.k8s())]:
        with _Mounts(parent, repository, is_disk=parent == disk()) as place:
            for measure in (_add, _status, _near, _space):
                measure(setting, place, f"{name}-{where}", outcome)
    return outcome


class _Mounts(Place):
    """A place whose mounts go with it."""

    def open(self):
        super().open()
        self.git("config", "user.name", "A U Thor")
        self.git("config", "user.email", "author@example.com")
        self.second = self.base / "second"

    def close(self):
        self.drop()
        super().close()

    def ask(self, *words):
        """What hedgerow prints that is not measured."""
        return self.output([HEDGEROW, *words])

    def drop(self):
        """Removes all working trees."""
        listed = self.git("worktree", "list", "--porcelain").splitlines()
        tops = [line.removeprefix("worktree ") for line in listed if line.startswith("worktree ")]
        for top in tops[1:]:
            self.ask("worktree", "remove", "-f", "-f", top)
        remove(self.second)

    def forget(self):
        """Removes all images, too."""
        self.drop()
        self.ask("image-store", "prune", "--all")

    def added(self, command, timeout_s=None, forgets=False):
        if forgets:
            self.forget()
        else:
            self.drop()
        self.settle()
        return self.run([command], timeout_s=timeout_s)

    def settle_index_of(self, tree):
        """Lets git write an index that is younger than every file of a working tree."""
        time.sleep(1.1)
        self.git_at(str(tree), "status", "--porcelain")

    def near_commit(self, count):
        """A commit that differs from HEAD in so many files."""
        def asked(*words, given=None):
            env = {**self.env, "GIT_INDEX_FILE": str(self.base / "near-index")}
            done = subprocess.run(["git", *words], env=env, cwd=self.tree, input=given, text=True,
                                  capture_output=True, check=True)
            return done.stdout.strip()

        asked("read-tree", "HEAD")
        files = [line for line in asked("ls-files", "-s").splitlines() if line.startswith("100")]
        files = [line for line in files if not line.endswith(".gitattributes")]
        blob = asked("hash-object", "-w", "--stdin", given="another content\n")
        changed = files[::max(1, len(files) // count)][:count]
        lines = (f"{line.split()[0]} {blob} 0\t{line.split(chr(9))[1]}" for line in changed)
        asked("update-index", "--index-info", given="\n".join(lines) + "\n")
        return asked("commit-tree", "-p", "HEAD", "-m", "near", asked("write-tree"))

    def words(self, *options, revision="HEAD"):
        return ("worktree", "add", "--detach", *options, str(self.second), revision)


def _require_mounting():
    if os.geteuid() != 0:
        raise Skipped("mounting needs the rights of root")
    probe = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"],
                           capture_output=True, check=False)
    if probe.returncode != 0:
        raise Skipped("mounting is not allowed")


def _best(setting, place, **options):
    words = place.words(**options)
    return find_best(
        lambda workers, timeout: place.added(git(*words, workers=workers), timeout_s=timeout),
        GIT_WORKERS, setting.search_rounds)


def _add(setting, place, name, outcome):
    best, seconds = _best(setting, place)
    plain, mounted = place.words(), place.words("--mount")
    for title, targets, forgets in [("image there", (30, 60), False),
                                    ("image to be made", (1, 2), True)]:
        place.added(hedgerow(*mounted))
        pairs = in_pairs(lambda: place.added(git(*plain, workers=best)),
                         lambda forgets=forgets: place.added(hedgerow(*mounted), forgets=forgets),
                         setting.pairs)
        if place.git_at(str(place.second), "status", "--porcelain"):
            raise RuntimeError("the mounted working tree is not clean")
        row = f"worktree-mount-{'first-' if forgets else ''}{name}"
        outcome.rows.append(wall_row(row, f"{name}, worktree add --mount, {title}", pairs, *targets,
                                     git_workers=best))
        outcome.pairs[row] = pairs
    outcome.details[name] = {"git_s_by_workers": seconds}


def _status(setting, place, name, outcome):
    """A clean status right after, against one by git in an ordinary tree."""
    words = ["-C", str(place.second), "status", "--porcelain"]
    status = ["git", *words]

    def after(options, command):
        place.added(hedgerow(*place.words(*options)))
        if not options:
            place.settle_index_of(place.second)
        return place.run([command])

    for program, command in [("git", status), ("hedgerow", [HEDGEROW, *words])]:
        pairs = in_pairs(lambda: after((), status),
                         lambda command=command: after(("--mount",), command), setting.pairs)
        shares = [ours.wall_s / rival.wall_s for rival, ours in zip(pairs.rival, pairs.ours)]
        row = f"worktree-mount-{program}-status-{name}"
        outcome.rows.append(share_row(row, f"{name}, {program} status right after",
                                      "of git's, ordinary", pairs, shares, 1.2, 1.0))
        outcome.pairs[row] = pairs
    if shutil.which("strace"):
        place.added(hedgerow(*place.words("--mount")))
        outcome.rows.append(amount_row(f"worktree-mount-opened-{name}",
                                       f"{name}, files that git status opens", "files",
                                       [_opened(place, status)], 0, 0, is_lower_better=True))


def _opened(place, command):
    """How many tracked files a command opens."""
    traced = subprocess.run(["strace", "-f", "-qq", "-e", "trace=open,openat,openat2", *command],
                            env=place.env, capture_output=True, text=True, check=True)
    tracked = set(place.git("ls-files", "-z").split("\0"))
    lines = (line for line in traced.stderr.splitlines() if any(word in line for word in OPENED))
    return sum(line.split('"')[1] in tracked for line in lines if '"' in line)


def _near(setting, place, name, outcome):
    """A commit that differs from the nearest image in some files."""
    place.forget()
    place.added(hedgerow(*place.words("--mount")))
    near = place.near_commit(DIFFERENT)
    best, _ = _best(setting, place, revision=near)
    plain, mounted = place.words(revision=near), place.words("--mount", revision=near)
    pairs = in_pairs(lambda: place.added(git(*plain, workers=best)),
                     lambda: place.added(hedgerow(*mounted)), setting.pairs)
    if len(place.ask("image-store", "list").splitlines()) != 1:
        raise RuntimeError("another image was made")
    row = f"worktree-mount-near-{name}"
    outcome.rows.append(wall_row(row, f"{name}, {DIFFERENT} files from the nearest image", pairs, 10, 20,
                                 git_workers=best))
    outcome.pairs[row] = pairs


def _space(setting, place, name, outcome):
    """What several working trees take besides one image."""
    del setting
    place.forget()
    place.added(hedgerow(*place.words("--mount")))
    image = sum(path.stat().st_size for path in (place.git_dir / "hedgerow/images").iterdir())
    for number in range(1, TREES):
        tree = place.base / f"tree{number}"
        place.ask("worktree", "add", "--mount", "--detach", str(tree), "HEAD")
    sizes = [path.lstat().st_blocks * 512
             for admin in (place.git_dir / "worktrees").iterdir() for path in admin.rglob("*")]
    each_mb = sum(sizes) / TREES / 1e6
    outcome.rows.append(amount_row(f"worktree-mount-space-{name}",
                                   f"{name}, space of each of {TREES} trees besides an image of "
                                   f"{image / 1e6:.0f} MB", "MB", [each_mb], 15, 10, is_lower_better=True))
    place.drop()
