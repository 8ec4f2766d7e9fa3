"""Files with large extended attributes into an image, against mksquashfs."""

import errno
import os
import random

import images
import packers
from measure import in_pairs
from places import require_free, tmpfs
from results import Outcome, less_cpu_row, wall_row
from skipped import Skipped

FILES = 2000
VALUE_BYTES = 8192
COMPRESSION = "lz4"
JOBS = 2


def xattr_heavy(setting):
    files = 50 if setting.is_smoke else FILES
    require_free(tmpfs(), 100)
    packers.require("mksquashfs")
    outcome = Outcome([])
    with images.SourcePlace(lambda place: _make(place, files)) as place:
        theirs = packers.mksquashfs(place.tree, place.image, COMPRESSION, JOBS)
        ours = packers.ours(place.tree, place.image, COMPRESSION, JOBS)
        pairs = in_pairs(lambda: _packed(place, theirs, files),
                         lambda: _packed(place, ours, files), setting.pairs)
        title = f"{files:,} files with extended attributes of {VALUE_BYTES >> 10} KiB, lz4"
        outcome.rows.append(wall_row("xattr-heavy", title, pairs, 1, 1.5, rival="mksquashfs"))
        outcome.rows.append(less_cpu_row("xattr-heavy-cpu", f"{title}: user+sys", pairs, 1, 1.5,
                                         rival="mksquashfs"))
        outcome.pairs["xattr-heavy"] = pairs
    return outcome


def _packed(place, command, files):
    """The values do not become smaller: an image without them is too small."""
    sample = place.pack(command)
    if place.image_bytes() < files * VALUE_BYTES:
        raise RuntimeError(f"{command[0]}: the image has no extended attributes")
    return sample


def _make(place, files):
    chance = random.Random(1)
    for number in range(files):
        path = place.tree / f"f{number:05}"
        path.write_bytes(b"%d\n" % number)
        try:
            os.setxattr(path, "user.bench", chance.randbytes(VALUE_BYTES))
        except OSError as error:
            if error.errno in (errno.ENOTSUP, errno.ENOSPC):
                raise Skipped(f"no such extended attributes on tmpfs: {error.strerror}") from error
            raise
