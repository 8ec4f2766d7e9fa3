"""A commit into an empty tree, against git at its best."""

import json
import subprocess

from contenders import GIT_WORKERS, LIMIT, git, hedgerow
from measure import find_best, in_pairs
from places import Place, disk, remove, require_free, tmpfs
from results import Outcome, cpu_row, wall_row

CHECKOUT = ("checkout", "-q")
LIMIT_THREADS = (1, 2, 4)
LINUX_ROOM_MIB = 6000


def linux_tmpfs(setting):
    with _linux(setting, tmpfs()) as place:
        outcome = against_best(place, setting, "linux-tmpfs", "Linux, empty tree, tmpfs", 2.2, 2.7)
        pairs = outcome.pairs["linux-tmpfs"]
        outcome.rows.append(
            cpu_row("linux-cpu", "Linux, empty tree, tmpfs: user+sys", pairs, 0.5, 0.38,
                    git_workers=outcome.rows[0].git_workers))
        return outcome


def linux_serial(setting):
    """One worker each: what is gained without any parallelism."""
    with _linux(setting, tmpfs()) as place:
        pairs = in_pairs(
            lambda: _into_empty(place, git(*CHECKOUT, workers=1)),
            lambda: _into_empty(place, hedgerow(*CHECKOUT, jobs=1)),
            setting.pairs,
        )
        place.require_clean()
        limit = measure_limit(place, (1,))
        row = wall_row("linux-serial", "Linux, tmpfs: -j1 against workers=1", pairs, 1.8, 2.1,
                       git_workers=1, limit_s=limit["1"])
        return Outcome([row], {"linux-serial": pairs}, {"limit_s": limit})


def linux_disk(setting):
    with _linux(setting, disk(), is_disk=True) as place:
        return against_best(place, setting, "linux-disk", "Linux, empty tree, disk", 1.6, 1.9)


def linux_loose(setting):
    with _linux(setting, tmpfs()) as place:
        place.make_loose()
        return against_best(place, setting, "linux-loose", "Linux, all objects loose, tmpfs",
                            1.5, 2.0)


def deep_history(setting):
    repository = setting.corpora.deep()
    require_free(tmpfs(), 3000)
    with Place(tmpfs(), repository) as place:
        outcome = against_best(place, setting, "deep-history",
                               "Deep history, long delta chains, empty tree, tmpfs", 1.6, 2.5)
        counted = place.git("count-objects", "-v").split()
        outcome.details["objects"] = int(counted[counted.index("in-pack:") + 1])
        return outcome


def against_best(place, setting, name, title, reach, aim):
    """Pairs git at the best of its worker settings with hedgerow without options."""
    best, seconds = find_best(
        lambda workers, timeout_s: _into_empty(place, git(*CHECKOUT, workers=workers), timeout_s),
        GIT_WORKERS, setting.search_rounds,
    )
    pairs = in_pairs(
        lambda: _into_empty(place, git(*CHECKOUT, workers=best)),
        lambda: _into_empty(place, hedgerow(*CHECKOUT)),
        setting.pairs,
    )
    place.require_clean()
    limit = measure_limit(place, LIMIT_THREADS)
    row = wall_row(name, title, pairs, reach, aim, git_workers=best, limit_s=min(limit.values()))
    details = {"git_s_by_workers": seconds, "limit_s_by_threads": limit}
    return Outcome([row], {name: pairs}, details)


def measure_limit(place, threads):
    """Seconds to create the files of the tree from memory, by number of threads."""
    target = place.base / "limit"
    seconds = {}
    for count in threads:
        runs = []
        for _ in range(3):
            remove(target)
            target.mkdir()
            place.settle()
            done = subprocess.run([str(LIMIT), str(place.tree), str(target), str(count)],
                                  capture_output=True, text=True, check=True)
            runs.append(json.loads(done.stdout)["seconds"])
        seconds[str(count)] = min(runs)
    remove(target)
    return seconds


def _into_empty(place, command, timeout_s=None):
    place.empty()
    return place.run([command], timeout_s=timeout_s)


def _linux(setting, parent, is_disk=False):
    repository = setting.corpora.linux()
    require_free(parent, 100 if setting.is_smoke else LINUX_ROOM_MIB)
    return Place(parent, repository, is_disk=is_disk)
