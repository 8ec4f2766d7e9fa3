"""The removal of untracked files, against git."""

from contenders import git, hedgerow
from measure import in_pairs
from places import LatencyPlace, Place, require_free, tmpfs
from results import Outcome, wall_row

CLEAN = ("clean", "-ffdxq")
FILES_EACH = 10
# Nested as a tree of packages is: removals in one directory cannot overlap.
NESTING = (10, 10, 50)
SMOKE_NESTING = (2, 3, 5)


def clean_tmpfs(setting):
    """50,000 untracked files in 5,000 directories, in memory."""
    repository = setting.corpora.small()
    require_free(tmpfs(), 500)
    with Place(tmpfs(), repository, "v1") as place:
        place.git("checkout", "-q")

        def run(command):
            litter(place.tree / "litter", SMOKE_NESTING if setting.is_smoke else NESTING)
            return place.run([command])

        pairs = _pairs(place, setting, run)
    return Outcome(
        [wall_row("clean-tmpfs", "50,000 untracked files removed, tmpfs", pairs, 2.0, 3.0)],
        {"clean-tmpfs": pairs})


def clean_latency(setting):
    """The same for a client that knows nothing of the tree yet; the repository itself is local."""
    repository = setting.corpora.small()
    require_free(tmpfs(), 500)
    rtt_us = 100 if setting.is_smoke else 1000
    latencyfs = setting.corpora.latencyfs()
    with LatencyPlace(tmpfs(), repository, "v1", latencyfs, rtt_us) as place:
        place.fill()
        place.settle_index()

        def run(command):
            litter(place.backing / "litter", SMOKE_NESTING if setting.is_smoke else NESTING)
            place.mount.open()
            return place.run([command])

        pairs = _pairs(place, setting, run)
        counters = place.mount.counters()
    return Outcome(
        [wall_row("clean-latency", "50,000 untracked files removed, 1 ms round trips", pairs, 20,
                  40)],
        {"clean-latency": pairs}, {"ours_counters": counters})


def _pairs(place, setting, run):
    pairs = in_pairs(lambda: run(git(*CLEAN)), lambda: run(hedgerow(*CLEAN)), setting.pairs)
    # The proof that the work was done.
    place.require_clean()
    return pairs


def litter(top, nesting):
    """Makes the untracked files."""
    for directory in _directories(top, nesting):
        directory.mkdir(parents=True)
        for number in range(FILES_EACH):
            (directory / f"file-{number}").touch()


def _directories(top, nesting):
    if not nesting:
        yield top
        return
    for number in range(nesting[0]):
        yield from _directories(top / f"directory-{number}", nesting[1:])
