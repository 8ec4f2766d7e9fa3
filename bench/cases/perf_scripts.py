"""The rows of git's own performance scripts about bitmaps: p5310, with the bitmap of a pack (p5312
is the same now that reverse indexes are always written), and p5326, with that of a
multi-pack-index. Each with and without the lookup table."""

import os
import shutil
from pathlib import Path

from cases.packs import BITMAP, EVERYTHING, Repository, add
from contenders import git, hedgerow
from measure import in_pairs, run
from results import Outcome, wall_row

CLONE = ("pack-objects", "--stdout", "--all", "-q")
TREE_0 = ("rev-list with tree filter", (*EVERYTHING, "--filter=tree:0"))
OBJECTS = ("--objects", *BITMAP)

LISTS = (
    ("commits", "rev-list (commits)", ("rev-list", "--all", *BITMAP)),
    ("objects", "rev-list (objects)", ("rev-list", "--all", *OBJECTS)),
    ("negated", "rev-list, tag negated via --not --all",
     ("rev-list", "perf-tag", "--not", "--all", *OBJECTS)),
    ("negative", "rev-list, negative tag", ("rev-list", "HEAD", "--not", "perf-tag", *OBJECTS)),
    ("blob-none", "rev-list count, blob:none", (*EVERYTHING, "--filter=blob:none")),
    ("blob-limit", "rev-list count, blob:limit=1k", (*EVERYTHING, "--filter=blob:limit=1k")),
    ("tree-0", "rev-list count, tree:0", (*EVERYTHING, "--filter=tree:0")),
    ("blobless", "simulated partial clone", (*CLONE, "--filter=blob:none")),
)


def p5310(setting):
    return _script(setting, "p5310", lambda repository: None, is_midx=False)


def p5326(setting):
    return _script(setting, "p5326", _move_bitmap_to_midx, is_midx=True)


def _script(setting, script, prepare, is_midx):
    outcome = Outcome([])
    for table in ("", "-lookup"):
        with Repository(setting.corpora.deep()) as repository:
            repository.git("-c", "user.name=A", "-c", "user.email=a@example.com",
                           "tag", "--message=tag pointing to HEAD", "perf-tag", "HEAD")
            repository.git("config", "pack.writeBitmapLookupTable", "true" if table else "false")
            repository.git("repack", "-adbq")
            prepare(repository)
            rows = _Rows(outcome, setting, repository, script, table)
            rows.full(1 if setting.is_smoke else 100)
            _make_partial(repository, 1 if setting.is_smoke else 100, is_midx)
            rows.partial()
    return outcome


class _Rows:
    """Measures in one repository, and adds rows."""

    def __init__(self, outcome, setting, repository, script, table):
        self.outcome = outcome
        self.setting = setting
        self.repository = repository
        self.script = script
        self.table = table

    def full(self, back):
        self.row("clone", "simulated clone", CLONE)
        have = self.repository.output("rev-parse", f"HEAD~{back}")
        asked = self.repository.input(f"HEAD\n^{have}\n")
        self.row("fetch", f"simulated fetch, HEAD~{back}",
                 ("pack-objects", "--revs", "--stdout", "-q"), asked)
        self.to_file("to-file", "pack to file (bitmap)")
        for name, title, words in LISTS:
            self.row(name, title, words)

    def partial(self):
        self.row("partial-clone", "clone (partial bitmap)", CLONE)
        self.to_file("partial-to-file", "pack to file (partial bitmap)")
        title, words = TREE_0
        self.row("partial-tree-0", f"{title} (partial bitmap)", words)

    def row(self, name, title, words, stdin=os.devnull):
        self.add(name, title, self.repository.paired(words, self.setting.pairs, stdin=stdin))

    def to_file(self, name, title):
        at = Path(self.repository.home.name) / "written"
        words = ("pack-objects", *BITMAP, "--all", "-q", str(at / "pack"))

        def written(command):
            shutil.rmtree(at, ignore_errors=True)
            at.mkdir()
            return run(command, self.repository.env, self.repository.path)

        pairs = in_pairs(lambda: written(git(*words)), lambda: written(hedgerow(*words)),
                         self.setting.pairs)
        self.add(name, title, pairs)

    def add(self, name, title, pairs):
        title = f"{self.script}: {title}" + (", lookup table" if self.table else "")
        add(self.outcome, wall_row, f"{self.script}-{name}{self.table}", title, pairs, None, None)


def _move_bitmap_to_midx(repository):
    repository.git("multi-pack-index", "write", "--bitmap")
    for bitmap in (repository.path / "objects" / "pack").glob("pack-*.bitmap"):
        bitmap.unlink()


def _make_partial(repository, back, is_midx):
    """As the scripts do: the pack ends with HEAD~back, what came later is loose, and HEAD is the
    only reference."""
    tip = repository.output("rev-parse", "HEAD")
    cutoff = repository.output("rev-parse", f"HEAD~{back}")
    shutil.rmtree(repository.path / "refs")
    (repository.path / "refs").mkdir()
    (repository.path / "packed-refs").unlink(missing_ok=True)
    repository.git("update-ref", "HEAD", cutoff)
    repository.git("repack", "-A", "-d", "-q", *([] if is_midx else ["-b"]))
    if is_midx:
        repository.git("multi-pack-index", "write", "--bitmap")
    repository.git("update-ref", "HEAD", tip)
