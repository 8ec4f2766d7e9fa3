"""An image of a tree that is some round trips away."""

import images
import packers
from cases.walking import cold
from measure import find_best, in_pairs
from places import MadeLatencyPlace, require_free, tmpfs
from results import Outcome, wall_row

COMPRESSION = "lz4"
JOBS = 2
# From where the best is expected, so that the slow ones can be stopped early.
READERS = (128, 64, 16, 4)


def image_latency(setting):
    """mksquashfs is told how many threads read; hedgerow is told nothing."""
    repository, release = setting.corpora.k8s(), setting.corpora.k8s_releases()[2]
    latencyfs, rtt_us = setting.corpora.latencyfs(), 100 if setting.is_smoke else 1000
    require_free(tmpfs(), 100 if setting.is_smoke else 2000)

    def make(place):
        images.unpack(place, repository, release)

    with MadeLatencyPlace(tmpfs(), make, latencyfs, rtt_us) as place:
        image = place.base / "image"
        tried = {name: packers.mksquashfs(place.tree, image, COMPRESSION, JOBS, options)
                 for name, options in _settings()}
        best, seconds = find_best(
            lambda rival, timeout_s: cold(place, tried[rival], timeout_s), tried, 1)
        ours = packers.ours(place.tree, image, COMPRESSION)
        pairs = in_pairs(lambda: cold(place, tried[best]), lambda: cold(place, ours),
                         setting.pairs)
        counters, limit_s = place.mount.counters(), place.mount.limit_s()
    row = wall_row("image-1ms", "Kubernetes, lz4: packed over 1 ms round trips", pairs, 3, 10,
                   rival=best, limit_s=limit_s)
    return Outcome([row], {"image-1ms": pairs}, {"mksquashfs_s": seconds,
                                                 "ours_counters": counters})


def _settings():
    """Name and options; extended attributes would be a round trip for each file."""
    if not packers.chooses_readers():
        return [("mksquashfs -no-xattrs", ("-no-xattrs",))]
    return [(f"mksquashfs -no-xattrs, {count} readers of each kind",
             ("-no-xattrs", "-small-readers", str(count), "-block-readers", str(count)))
            for count in READERS]
