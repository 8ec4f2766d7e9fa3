"""One large directory with round trips: its names have to be spread over the workers."""

import os

import walkers
from cases.walking import cold
from measure import in_pairs
from places import MadeLatencyPlace, require_free, tmpfs
from results import Outcome, wall_row
from skipped import Skipped

FILES = 100_000


def directory_100k(setting):
    rival = walkers.fd(64)
    if rival is None:
        raise Skipped("there is no fd")
    files = 500 if setting.is_smoke else FILES
    require_free(tmpfs(), 500)
    latencyfs = setting.corpora.latencyfs()
    with MadeLatencyPlace(tmpfs(), lambda place: _fill(place, files), latencyfs, 1000) as place:
        pairs = in_pairs(lambda: cold(place, rival), lambda: cold(place, walkers.ours()),
                         setting.pairs)
        limit_s = place.mount.limit_s()
        # fd spreads the files of a directory too. This is what it takes without: a round trip
        # for each, minutes in all.
        find_s = cold(place, walkers.find()).wall_s
    row = wall_row("directory-100k", f"One directory of {files} files: walk, 1 ms round trips",
                   pairs, 15, 25, rival="fd -j64", limit_s=limit_s, note=f"find once: {find_s:.1f} s")
    return Outcome([row], {"directory-100k": pairs}, {"find_s": round(find_s, 4)})


def _fill(place, files):
    directory = place.tree / "directory"
    directory.mkdir()
    for number in range(files):
        os.mknod(directory / f"file{number:06}")
