"""Packs: questions answered by bitmaps, and packs made, against git. A repository of its own, in
one pack; the rows of git's own p5310."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

from contenders import environment, git, hedgerow
from measure import in_pairs, run
from results import Outcome, amount_row, less_cpu_row, wall_row

BITMAP = ("--use-bitmap-index",)
EVERYTHING = ("rev-list", "--count", "--objects", "--all", *BITMAP)
CLONE = ("pack-objects", "--all", "--stdout", "--delta-base-offset", "-q")
SIZES = ("cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectsize:disk)")
SIZE = ("cat-file", "--batch-check=%(objectsize:disk)")

QUERIES = (
    ("bitmap-objects", "rev-list --count --objects --all", EVERYTHING, 1.5, 3),
    ("bitmap-commits", "rev-list --count --all", ("rev-list", "--count", "--all", *BITMAP), 1.5, 3),
    ("bitmap-blob-none", "the same, --filter=blob:none", (*EVERYTHING, "--filter=blob:none"), 1.5, 3),
    ("bitmap-blob-limit", "the same, --filter=blob:limit=1k",
     (*EVERYTHING, "--filter=blob:limit=1k"), 1.5, 3),
    ("bitmap-tree-0", "the same, --filter=tree:0", (*EVERYTHING, "--filter=tree:0"), 1.5, 3),
    ("disk-sizes", "cat-file, sizes on disk of all objects", SIZES, 2, 4),
)


SETTLED_AFTER_S = 5


class Repository:
    """A copy of a repository, in one pack with a bitmap, in a directory that goes away."""

    def __init__(self, source):
        self.home = tempfile.TemporaryDirectory(prefix="hedgerow-bench-")
        self.path = Path(self.home.name) / "packs.git"
        self.env = environment(self.home.name)
        self.git("clone", "-q", "--mirror", "--no-local", str(source), str(self.path), cwd="/")
        self.git("repack", "-adbq")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.home.cleanup()

    def settle(self):
        """Waits until the files that were just written are old enough for it to be noted that they
        were checked: those of a repository that is asked for something are, as a rule."""
        time.sleep(SETTLED_AFTER_S)

    def git(self, *words, cwd=None):
        return run(git(*words), self.env, cwd or self.path)

    def input(self, text):
        at = Path(self.home.name) / "input"
        at.write_text(text)
        return str(at)

    def pack(self):
        return next((self.path / "objects" / "pack").glob("*.pack"))

    def make_bitmap_partial(self, back):
        """The newest `back` commits of HEAD, and what all other references add, come in a pack
        without a bitmap: the state that p5310 calls a partial bitmap."""
        whole = Path(self.home.name) / "whole.git"
        self.git("clone", "-q", "--mirror", "--no-local", str(self.path), str(whole), cwd="/")
        tip = self.output("rev-parse", "HEAD")
        old = self.output("rev-parse", f"HEAD~{back}")
        references = self.output("for-each-ref", "--format=delete %(refname)")
        self.git_input("update-ref", "--no-deref", "--stdin", text=references + "\n")
        branch = self.output("symbolic-ref", "HEAD")
        self.git("update-ref", branch, old)
        self.git("repack", "-adbq")
        self.git("fetch", "-q", str(whole), "+refs/*:refs/*", "--update-head-ok")
        assert self.output("rev-parse", "HEAD") == tip

    def output(self, *words):
        found = subprocess.run(git(*words), env=self.env, cwd=self.path, check=True,
                               capture_output=True, text=True)
        return found.stdout.strip()

    def git_input(self, *words, text):
        subprocess.run(git(*words), env=self.env, cwd=self.path, check=True, input=text, text=True)

    def paired(self, words, count, stdin=os.devnull):
        return in_pairs(lambda: run(git(*words), self.env, self.path, stdin=stdin),
                        lambda: run(hedgerow(*words), self.env, self.path, stdin=stdin), count)


def pack_queries(setting):
    outcome = Outcome([])
    with Repository(setting.corpora.deep()) as repository:
        for table in ("", "-lookup"):
            if table:
                repository.git("config", "pack.writeBitmapLookupTable", "true")
                repository.git("repack", "-adbq")
            repository.settle()
            for name, title, words, reach, aim in QUERIES:
                pairs = repository.paired(words, setting.pairs)
                title += ", lookup table" if table else ""
                add(outcome, wall_row, name + table, title, pairs, reach, aim)
        asked = repository.input(repository.output("rev-parse", "HEAD") + "\n")
        # Little but the start of the program: more runs for the same certainty.
        pairs = repository.paired(SIZE, setting.pairs * (1 if setting.is_smoke else 5), stdin=asked)
        add(outcome, wall_row, "disk-size", "cat-file, size on disk of one object", pairs, 1, 1.5)
    return outcome


def pack_making(setting):
    outcome = Outcome([])
    with Repository(setting.corpora.deep()) as repository:
        repository.settle()
        pairs = repository.paired(CLONE, setting.pairs)
        add(outcome, less_cpu_row, "clone", "simulated clone, user+sys", pairs, 3, 5)
        watched = run(hedgerow(*CLONE), repository.env, repository.path, watch_memory=True)
        outcome.rows.append(amount_row("clone-memory", "the same: memory besides the map", "MB",
                                       [watched.anon_kib / 1024], 64, 64, is_lower_better=True))
        pairs = repository.paired((*CLONE, "--filter=blob:none"), setting.pairs)
        add(outcome, wall_row, "clone-blobless", "simulated clone, --filter=blob:none", pairs,
             None, None)
        for back in (1, 2) if setting.is_smoke else (10, 30):
            asked = repository.input(f"HEAD\n--not\nHEAD~{back}\n")
            words = ("pack-objects", "--revs", "--stdout", "--thin", "--delta-base-offset", "-q")
            pairs = repository.paired(words, setting.pairs, stdin=asked)
            add(outcome, wall_row, f"fetch-{back}", f"simulated fetch, HEAD~{back}", pairs, 1.3, 2)
        repository.make_bitmap_partial(2 if setting.is_smoke else 100)
        pairs = repository.paired(CLONE, setting.pairs)
        add(outcome, wall_row, "clone-partial-bitmap", "simulated clone, partial bitmap", pairs, 2, 4)
        asked = repository.input("HEAD\n--not\nHEAD~1\n" if setting.is_smoke
                                 else "HEAD\n--not\nHEAD~30\n")
        words = ("pack-objects", "--revs", "--stdout", "--thin", "--delta-base-offset", "-q")
        pairs = repository.paired(words, setting.pairs, stdin=asked)
        add(outcome, wall_row, "fetch-partial-bitmap", "simulated fetch, partial bitmap", pairs,
            None, None)
    return outcome


def add(outcome, row, name, title, pairs, reach, aim, **more):
    outcome.rows.append(row(name, title, pairs, reach, aim, **more))
    outcome.pairs[name] = pairs
