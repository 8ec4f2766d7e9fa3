"""Packs: questions answered by bitmaps, packs made, indexed, and their bitmaps written, against
git. A repository of its own, in one pack; the rows of git's own p5310."""

import os
import tempfile
from pathlib import Path

from contenders import environment, git, hedgerow
from measure import in_pairs, run
from results import Outcome, amount_row, less_cpu_row, wall_row

BITMAP = ("--use-bitmap-index",)
EVERYTHING = ("rev-list", "--count", "--objects", "--all", *BITMAP)
CLONE = ("pack-objects", "--all", "--stdout", "--delta-base-offset", "-q")
SIZES = ("cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectsize:disk)")

QUERIES = (
    ("bitmap-objects", "rev-list --count --objects --all", EVERYTHING, 1.5, 3),
    ("bitmap-commits", "rev-list --count --all", ("rev-list", "--count", "--all", *BITMAP), 1.5, 3),
    ("bitmap-blob-none", "the same, --filter=blob:none", (*EVERYTHING, "--filter=blob:none"), 1.5, 3),
    ("bitmap-blob-limit", "the same, --filter=blob:limit=1k",
     (*EVERYTHING, "--filter=blob:limit=1k"), 1.5, 3),
    ("bitmap-tree-0", "the same, --filter=tree:0", (*EVERYTHING, "--filter=tree:0"), 1.5, 3),
    ("disk-sizes", "cat-file, sizes on disk of all objects", SIZES, 2, 4),
)


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

    def git(self, *words, cwd=None):
        return run(git(*words), self.env, cwd or self.path)

    def input(self, text):
        at = Path(self.home.name) / "input"
        at.write_text(text)
        return str(at)

    def pack(self):
        return next((self.path / "objects" / "pack").glob("*.pack"))

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
            for name, title, words, reach, aim in QUERIES:
                pairs = repository.paired(words, setting.pairs)
                title += ", lookup table" if table else ""
                outcome.rows.append(wall_row(name + table, title, pairs, reach, aim))
                outcome.pairs[name + table] = pairs
    return outcome


def pack_making(setting):
    outcome = Outcome([])
    with Repository(setting.corpora.deep()) as repository:
        pairs = repository.paired(CLONE, setting.pairs)
        _add(outcome, less_cpu_row, "clone", "simulated clone, user+sys", pairs, 3, 5)
        watched = run(hedgerow(*CLONE), repository.env, repository.path, watch_memory=True)
        outcome.rows.append(amount_row("clone-memory", "the same: memory besides the map", "MB",
                                       [watched.anon_kib / 1024], 64, 64, is_lower_better=True))
        pairs = repository.paired((*CLONE, "--filter=blob:none"), setting.pairs)
        _add(outcome, wall_row, "clone-blobless", "simulated clone, --filter=blob:none", pairs,
             None, None)
        for back in (1, 2) if setting.is_smoke else (10, 30):
            asked = repository.input(f"HEAD\n--not\nHEAD~{back}\n")
            words = ("pack-objects", "--revs", "--stdout", "--thin", "--delta-base-offset", "-q")
            pairs = repository.paired(words, setting.pairs, stdin=asked)
            _add(outcome, wall_row, f"fetch-{back}", f"simulated fetch, HEAD~{back}", pairs, 1.3, 2)
    return outcome


def pack_indexing(setting):
    outcome = Outcome([])
    with Repository(setting.corpora.deep()) as repository:
        pack = repository.pack()
        index = str(Path(repository.home.name) / "index")

        def indexed(command):
            for name in (index, f"{index}.rev"):
                Path(name).unlink(missing_ok=True)
            return run([*command, "-o", f"{index}.idx", str(pack)], repository.env,
                       repository.path, watch_memory=True)

        pairs = in_pairs(lambda: indexed(git("index-pack", "--threads=2")),
                         lambda: indexed(hedgerow("index-pack")), setting.pairs)
        _add(outcome, wall_row, "index-pack", "index-pack, wall", pairs, 2, 3)
        _add(outcome, less_cpu_row, "index-pack-cpu", "index-pack, user+sys", pairs, 2.3, 3)
        outcome.rows.append(amount_row(
            "index-pack-memory", "index-pack: memory besides the map", "MB",
            [sample.anon_kib / 1024 for sample in pairs.ours], 150, 150, is_lower_better=True))
        # git writes the bitmap of an existing pack as that of a multi-pack-index.
        pairs = in_pairs(
            lambda: _without_midx(repository, git("multi-pack-index", "write", "--bitmap")),
            lambda: run(hedgerow("bitmap", "write"), repository.env, repository.path),
            setting.pairs)
        _add(outcome, wall_row, "bitmap-write", "bitmap of an existing pack, written", pairs,
             1.5, 3, rival="git multi-pack-index write --bitmap")
    return outcome


def _without_midx(repository, command):
    for name in (repository.path / "objects" / "pack").glob("multi-pack-index*"):
        name.unlink()
    sample = run(command, repository.env, repository.path)
    for name in (repository.path / "objects" / "pack").glob("multi-pack-index*"):
        name.unlink()
    return sample


def _add(outcome, row, name, title, pairs, reach, aim, **more):
    outcome.rows.append(row(name, title, pairs, reach, aim, **more))
    outcome.pairs[name] = pairs
