"""What is written beside packs, and packs that are written anew, against git."""

import hashlib
import random
import struct
from pathlib import Path

from cases.packs import Repository, add
from contenders import git, hedgerow
from measure import in_pairs, run
from results import Outcome, amount_row, less_cpu_row, wall_row


def pack_indexing(setting):
    outcome = Outcome([])
    with Repository(setting.corpora.deep()) as repository:
        index_rows(outcome, repository, setting, "index-pack", "index-pack")
    return outcome


def index_rows(outcome, repository, setting, name, title):
    """Adds what the index of the repository's pack takes: time, user+sys, memory."""
    pack = repository.pack()
    index = Path(repository.home.name) / "written.idx"

    def indexed(command):
        for path in (index, index.with_suffix(".rev")):
            path.unlink(missing_ok=True)
        return run([*command, "-o", str(index), str(pack)], repository.env, repository.path,
                   watch_memory=True)

    pairs = in_pairs(lambda: indexed(git("index-pack", "--threads=2")),
                     lambda: indexed(hedgerow("index-pack")), setting.pairs)
    add(outcome, wall_row, name, f"{title}, wall", pairs, 2, 3)
    add(outcome, less_cpu_row, f"{name}-cpu", f"{title}, user+sys", pairs, 2.3, 3)
    outcome.rows.append(amount_row(
        f"{name}-memory", f"{title}: memory besides the map", "MB",
        [sample.anon_kib / 1024 for sample in pairs.ours], 150, 150, is_lower_better=True))


def bitmap_writing(setting):
    """git writes the bitmap of an existing pack as that of a multi-pack-index."""
    outcome = Outcome([])
    with Repository(setting.corpora.deep()) as repository:
        for table in ("", "-lookup"):
            repository.git("config", "pack.writeBitmapLookupTable", "true" if table else "false")
            words = ("multi-pack-index", "write", "--bitmap")
            pairs = in_pairs(lambda: _without_midx(repository, git(*words)),
                             lambda: _without_midx(repository, hedgerow(*words)), setting.pairs)
            title = "bitmap of a multi-pack-index, written"
            add(outcome, wall_row, f"midx-bitmap-write{table}",
                title + (", lookup table" if table else ""), pairs, 1.5, 3)
        pairs = in_pairs(
            lambda: _without_midx(repository, git(*words)),
            lambda: run(hedgerow("bitmap", "write"), repository.env, repository.path),
            setting.pairs)
        add(outcome, wall_row, "bitmap-write", "bitmap of an existing pack, written", pairs,
            1.5, 3, rival="git multi-pack-index write --bitmap")
    return outcome


def repacking(setting):
    outcome = Outcome([])
    with Repository(setting.corpora.deep()) as repository:
        words = ("repack", "-a", "-d", "-b", "-q")
        pairs = repository.paired(words, setting.pairs)
        add(outcome, wall_row, "repack", "repack -a -d -b", pairs, 1, 1.5)
    return outcome


def reverse_index(setting):
    """A generated index, since no repository here has ten million objects."""
    outcome = Outcome([])
    count = 10_000 if setting.is_smoke else 10_000_000
    with Repository(setting.corpora.deep()) as repository:
        index = Path(repository.home.name) / "pack-generated.idx"
        _write_index(index, count)

        def written():
            index.with_suffix(".rev").unlink(missing_ok=True)
            return run(hedgerow("reverse-index", str(index)), repository.env, repository.path)

        written()
        samples = [written().wall_s for _ in range(setting.pairs)]
        outcome.rows.append(amount_row("reverse-index", f".rev of {count:,} objects", "s", samples,
                                       1, 0.5, is_lower_better=True))
    return outcome


def _write_index(path, count):
    """An index, version 2, of objects of 100 to 900 bytes in a random order."""
    chance = random.Random(1)
    step = (1 << 32) // count
    ids = bytearray()
    fanout = [0] * 256
    for number in range(count):
        ids += struct.pack(">I16x", number * step)
        fanout[number * step >> 24] += 1
    for byte in range(1, 256):
        fanout[byte] += fanout[byte - 1]
    places = list(range(count))
    chance.shuffle(places)
    small, large = bytearray(), bytearray()
    for place in places:
        offset = 12 + place * 500
        if offset < 1 << 31:
            small += struct.pack(">I", offset)
        else:
            small += struct.pack(">I", 1 << 31 | len(large) // 8)
            large += struct.pack(">Q", offset)
    content = b"\xfftOc" + struct.pack(">I256I", 2, *fanout) + bytes(ids) + bytes(4 * count)
    content += bytes(small) + bytes(large) + bytes(20)
    path.write_bytes(content + hashlib.sha1(content).digest())


def _without_midx(repository, command):
    _remove_midx(repository)
    sample = run(command, repository.env, repository.path)
    _remove_midx(repository)
    return sample


def _remove_midx(repository):
    for name in (repository.path / "objects" / "pack").glob("multi-pack-index*"):
        name.unlink()
