"""Files that all have the same size and differ: whoever finds duplicates by size alone has to
compare each with all."""

import random

import images
import packers
from measure import in_pairs
from places import require_free, tmpfs
from results import Outcome, share_row, wall_row
from skipped import Skipped

FILES, TIMES = 60_000, 4
BLOCK_BYTES = 4096
FILES_PER_DIRECTORY = 1000
COMPRESSION = "lz4"
JOBS = 2


def equal_sizes(setting):
    files = 300 if setting.is_smoke else FILES
    require_free(tmpfs(), 100 if setting.is_smoke else 8000)
    outcome = Outcome([])
    with _place(files) as place:
        place.archive()
        limit_s = packers.limit(place, COMPRESSION, (JOBS,), BLOCK_BYTES)[str(JOBS)]["seconds"]
        try:
            images.require_tar(place)
            source, of = place.tar, "the tar"
        except Skipped as reason:
            print(f"skipped: the archive: {reason}; the directory is packed instead", flush=True)
            source, of = place.tree, "the directory"

        def ours():
            return place.pack(_ours(place, source))

        options = ("-b", str(BLOCK_BYTES))
        for name, command, reach, pair_count in (
            ("tar2sqfs", packers.tar2sqfs, 3, setting.pairs),
            ("sqfstar", packers.sqfstar, 20, (setting.pairs + 1) // 2),
        ):
            words = command(place.image, COMPRESSION, JOBS, options)
            pairs = in_pairs(lambda words=words: place.pack(words), ours, pair_count)
            rival_s = sorted(run.wall_s for run in pairs.rival)[len(pairs.rival) // 2]
            row = f"equal-sizes-{name}"
            outcome.rows.append(wall_row(
                row, f"{files} files of two blocks, from {of}: against {name}", pairs, reach,
                rival_s / limit_s, rival=name, limit_s=limit_s))
            outcome.pairs[row] = pairs
        with _place(TIMES * files) as large:
            _linear(place, large, setting, files, outcome)
    return outcome


def _linear(place, large, setting, files, outcome):
    """From the directory, with which the larger one is enough in memory."""
    pairs = in_pairs(lambda: place.pack(_ours(place, place.tree)),
                     lambda: large.pack(_ours(large, large.tree)), setting.pairs)
    shares = [share / TIMES for share in pairs.shares("wall_s")]
    outcome.rows.append(share_row(
        "equal-sizes-linear", f"{TIMES * files} files of two blocks against {TIMES} times {files}",
        "of linear", pairs, shares, 1.1, 1.0, rival=f"hedgerow, {files} files"))
    outcome.pairs["equal-sizes-linear"] = pairs


def _ours(place, source):
    return packers.ours(source, place.image, COMPRESSION, JOBS, ("-b", str(BLOCK_BYTES)))


def _place(files):
    return images.SourcePlace(lambda place: _fill(place, files))


def _fill(place, files):
    """Seeded: between a quarter and three quarters of a block is noise, so that the sizes of
    compressed blocks differ."""
    seeded = random.Random(files)
    for number in range(files):
        directory = place.tree / f"directory{number // FILES_PER_DIRECTORY:04}"
        if number % FILES_PER_DIRECTORY == 0:
            directory.mkdir()
        noise = (seeded.randbytes(seeded.randrange(1024, 3072)) for _ in range(2))
        content = b"".join(block.ljust(BLOCK_BYTES, b"-") for block in noise)
        (directory / f"file{number:06}").write_bytes(content)
