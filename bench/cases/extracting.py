"""An image into a tree, against unsquashfs; and read and checked, against the bare compressor."""

import json
import subprocess
import tempfile
from pathlib import Path

import images
import packers
from cases.empty_tree import LIMIT_THREADS
from contenders import LIMIT, hedgerow
from measure import find_best, in_pairs
from places import disk, remove, require_free
from results import Outcome, amount_row, wall_row

COMPRESSION = "zstd3"
UNSQUASHFS = tuple(
    (f"unsquashfs -p {jobs}{suffix}", ("-p", str(jobs), *options))
    for jobs in (2, 1, 4) for suffix, options in (("", ()), (" -no-xattrs", ("-no-xattrs",))))


def extract(setting):
    with images.linux(setting) as place:
        images.require_verb(place, "extract")
        return _extract(place, setting, place.base, "extract", "Linux, zstd 3, extracted, tmpfs",
                        None, None)


def extract_disk(setting):
    """The image is in memory, so that the disk does nothing but write."""
    with images.linux(setting) as place:
        images.require_verb(place, "extract")
        require_free(disk(), 100 if setting.is_smoke else 4000)
        place.is_disk = True
        with tempfile.TemporaryDirectory(prefix="hedgerow-bench.", dir=disk()) as base:
            return _extract(place, setting, Path(base), "extract-disk",
                            "Linux, zstd 3, extracted, disk", 1.2, 1.6)


def _extract(place, setting, base, name, title, reach, aim):
    target = base / "extracted"
    place.pack(packers.ours(place.tree, place.image, COMPRESSION))
    tried = {rival: [*packers.require("unsquashfs"), "-quiet", "-no-progress", *options,
                     "-d", str(target), str(place.image)] for rival, options in UNSQUASHFS}

    def into_empty(command, timeout_s=None):
        place.discard(target, base)
        place.settle()
        return place.run([command], timeout_s=timeout_s)

    best, seconds = find_best(
        lambda rival, timeout_s: into_empty(tried[rival], timeout_s), tried,
        setting.search_rounds)
    ours = hedgerow("-q", "image", "extract", str(place.image), str(target))
    pairs = in_pairs(lambda: into_empty(tried[best]), lambda: into_empty(ours), setting.pairs)
    place.output(["diff", "-r", "--no-dereference", str(place.tree), str(target)])
    limit = _limit(place, target)
    row = wall_row(name, title, pairs, reach, aim, rival=best, limit_s=min(limit.values()))
    rdsquashfs_s = None
    if packers.program("rdsquashfs"):
        rdsquashfs_s = round(into_empty(_rdsquashfs(place, target)).wall_s, 4)
        row.note = f"rdsquashfs once: {rdsquashfs_s:.1f} s"
    remove(target)
    return Outcome([row], {name: pairs}, {"unsquashfs_s": seconds, "rdsquashfs_s": rdsquashfs_s,
                                          "limit_s_by_threads": limit})


def _rdsquashfs(place, target):
    return ["sh", "-c", 'mkdir "$0" && exec "$@"', str(target), *packers.require("rdsquashfs"),
            "-q", "-C", "-O", "-T", "-u", "/", "-p", str(target), str(place.image)]


def _limit(place, target):
    """The same files created from memory."""
    seconds = {}
    for threads in LIMIT_THREADS:
        runs = []
        for _ in range(3):
            remove(target)
            target.mkdir()
            place.settle()
            done = subprocess.run([str(LIMIT), str(place.tree), str(target), str(threads)],
                                  capture_output=True, text=True, check=True)
            runs.append(json.loads(done.stdout)["seconds"])
        seconds[str(threads)] = min(runs)
    return seconds


def verify(setting):
    """All content, by CPU time: a second of a core."""
    with images.linux(setting) as place:
        place.pack(packers.ours(place.tree, place.image, "lz4"))
        limit = packers.limit(place, "lz4", (1,))["1"]
        told = json.loads(place.output(hedgerow("--json", "image", "verify", str(place.image))))
        samples = {}
        for jobs in (1, 2):
            words = hedgerow("image", "verify", str(place.image), jobs=jobs)
            place.run([words])
            samples[jobs] = [place.run([words]) for _ in range(setting.pairs)]
    gigabytes = told["content_bytes"] / 1e9
    limit_rate = limit["content_bytes"] / 1e9 / max(limit["back_cpu_seconds"], 1e-4)
    outcome = Outcome([], {}, {"content_bytes": told["content_bytes"], "limit": limit, "samples": {
        str(jobs): [sample.to_json() for sample in found] for jobs, found in samples.items()}})
    for jobs, found in samples.items():
        rates = [gigabytes / max(sample.cpu_s, 1e-3) for sample in found]
        walls = sorted(sample.wall_s for sample in found)
        outcome.rows.append(amount_row(
            f"verify-j{jobs}", f"Linux, lz4: verify -j{jobs}, content by CPU second", "GB/s", rates,
            1, max(1, limit_rate), ours_s=walls[len(walls) // 2],
            note=f"the bare decompressor: {limit_rate:.2f} GB/s"))
    return outcome
