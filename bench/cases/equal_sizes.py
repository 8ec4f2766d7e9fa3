"""Files that all have the same size and differ: whoever finds duplicates by size alone has to
compare each with all."""

import random

import images
import packers
from measure import in_pairs, median
from places import require_free, tmpfs
from results import Outcome, share_row, wall_row
from skipped import Skipped

FILES, TIMES = 60_000, 4
BLOCK_BYTES = 4096
FILES_PER_DIRECTORY = 1000
COMPRESSION = "lz4"
JOBS = 2


def equal_sizes(setting):
    """Noise does not become smaller, so that blocks have equal sizes in the image too. Where these
    differ, squashfs-tools tells files apart by them: that is measured as well, and no goal."""
    files = 300 if setting.is_smoke else FILES
    require_free(tmpfs(), 100 if setting.is_smoke else 8000)
    outcome = Outcome([])
    with _place(files, _noise) as place:
        _against(place, setting, outcome, "equal-sizes", f"{files} files of two blocks",
                 (("tar2sqfs", packers.tar2sqfs, 3), ("sqfstar", packers.sqfstar, 20)))
        with _place(TIMES * files, _noise) as large:
            _linear(place, large, setting, files, outcome)
    with _place(files, _varied) as place:
        _against(place, setting, outcome, "equal-sizes-varied",
                 f"{files} files of two blocks that differ in size when compressed",
                 (("sqfstar", packers.sqfstar, None),))
    return outcome


def _against(place, setting, outcome, name, title, rivals):
    place.archive()
    limit_s = packers.limit(place, COMPRESSION, (JOBS,), BLOCK_BYTES)[str(JOBS)]["seconds"]
    try:
        images.require_tar(place)
        source, of = place.tar, "the tar"
    except Skipped as reason:
        print(f"skipped: the archive: {reason}; the directory is packed instead", flush=True)
        source, of = place.tree, "the directory"
    for rival, command, reach in rivals:
        words = command(place.image, COMPRESSION, JOBS, ("-b", str(BLOCK_BYTES)))
        # sqfstar takes a minute.
        pairs = in_pairs(lambda words=words: place.pack(words),
                         lambda: place.pack(_ours(place, source)),
                         setting.pairs if rival == "tar2sqfs" else (setting.pairs + 1) // 2)
        aim = None
        if reach:
            aim = max(reach, median([run.wall_s for run in pairs.rival]) / limit_s)
        row = f"{name}-{rival}"
        outcome.rows.append(wall_row(row, f"{title}, from {of}: against {rival}", pairs, reach, aim,
                                     rival=rival, limit_s=limit_s))
        outcome.pairs[row] = pairs


def _linear(place, large, setting, files, outcome):
    """From the directory, so that no archive has to be in memory too. By CPU time: a system that
    is short of memory takes longer for more of it."""
    pairs = in_pairs(lambda: place.pack(_ours(place, place.tree)),
                     lambda: large.pack(_ours(large, large.tree)), setting.pairs)
    shares = [share / TIMES for share in pairs.shares("cpu_s")]
    outcome.rows.append(share_row(
        "equal-sizes-linear",
        f"{TIMES * files} files of two blocks against {TIMES} times {files}: user+sys", "of linear",
        pairs, shares, 1.1, 1.0, rival=f"hedgerow, {files} files"))
    outcome.pairs["equal-sizes-linear"] = pairs


def _ours(place, source):
    return packers.ours(source, place.image, COMPRESSION, JOBS, ("-b", str(BLOCK_BYTES)))


def _place(files, block):
    return images.SourcePlace(lambda place: _fill(place, files, block))


def _fill(place, files, block):
    seeded = random.Random(files)
    for number in range(files):
        directory = place.tree / f"directory{number // FILES_PER_DIRECTORY:04}"
        if number % FILES_PER_DIRECTORY == 0:
            directory.mkdir()
        (directory / f"file{number:06}").write_bytes(block(seeded) + block(seeded))


def _noise(seeded):
    return seeded.randbytes(BLOCK_BYTES)


def _varied(seeded):
    """Between a quarter and three quarters of noise."""
    return seeded.randbytes(seeded.randrange(1024, 3072)).ljust(BLOCK_BYTES, b"-")
