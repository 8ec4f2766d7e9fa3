"""A working tree on a file system with round trips, and whether the automatic worker count is
near the best fixed one."""

import json
import subprocess

from contenders import LIMIT, git, hedgerow
from measure import find_best, in_pairs, median
from places import LatencyPlace, Place, require_free, tmpfs
from results import Outcome, Row, wall_row

CHECKOUT = ("checkout", "-q")
# From where the best is expected, so that the slow ones can be stopped early. Round trips make
# git faster with more workers than CPUs; 32 is more than its best is asked to be.
GIT_WORKERS = (16, 32, 8, 4, 2, 1)
LIMIT_THREADS = (16, 32, 64)
FIXED_JOBS = (32, 64, 16, 8, 4, 2, 1)
TARGETS = {1000: (6.0, 9.0), 5000: (9.0, 16.0)}


def latency(setting):
    """No options given: hedgerow has to find out by itself that it should wait in parallel."""
    outcome = Outcome([])
    for rtt_us, (reach, aim) in TARGETS.items():
        _at_latency(setting, 100 if setting.is_smoke else rtt_us, rtt_us, reach, aim, outcome)
    return outcome


def _at_latency(setting, rtt_us, name_us, reach, aim, outcome):
    with _k8s(setting, rtt_us) as place:
        best, seconds = find_best(
            lambda workers, timeout_s: _cold(place, git(*CHECKOUT, workers=workers), timeout_s),
            GIT_WORKERS, 1,
        )
        pairs = in_pairs(
            lambda: _cold(place, git(*CHECKOUT, workers=best)),
            lambda: _cold(place, hedgerow(*CHECKOUT)),
            setting.pairs,
        )
        counters = place.mount.counters()
        place.require_clean()
        limit = _limit(place)
    name = f"latency-{name_us // 1000}ms"
    outcome.rows.append(
        wall_row(name, f"Kubernetes, empty tree, {name_us // 1000} ms round trips", pairs, reach,
                 aim, git_workers=best, limit_s=min(limit.values())))
    outcome.pairs[name] = pairs
    outcome.details[name] = {
        "rtt_us": rtt_us,
        "git_s_by_workers": seconds,
        "limit_s_by_threads": limit,
        "ours_counters": counters,
        "ours_charged_s_over_slots": counters["charged_us"] / place.mount.SLOTS / 1e6,
    }


def auto_local(setting):
    """The automatic count against each fixed one where nothing is waited for."""
    outcome = Outcome([])
    repository = setting.corpora.linux()
    require_free(tmpfs(), 100 if setting.is_smoke else 4000)
    with Place(tmpfs(), repository) as place:
        _auto(place, setting, "auto-local", "Linux, tmpfs", (1, 2, 3, 4, 8), outcome)
    return outcome


def auto(setting):
    """The automatic count against each fixed one on a file system with round trips."""
    outcome = Outcome([])
    for rtt_us in (0, 1000, 5000):
        with _k8s(setting, 0 if setting.is_smoke else rtt_us) as place:
            title = f"Kubernetes, {rtt_us // 1000} ms round trips"
            _auto(place, setting, f"auto-{rtt_us // 1000}ms", title, FIXED_JOBS, outcome)
    return outcome


def _auto(place, setting, name, title, candidates, outcome):
    best, seconds = find_best(
        lambda jobs, timeout_s: _cold(place, hedgerow(*CHECKOUT, jobs=jobs), timeout_s),
        candidates, setting.search_rounds,
    )
    pairs = in_pairs(
        lambda: _cold(place, hedgerow(*CHECKOUT, jobs=best)),
        lambda: _cold(place, hedgerow(*CHECKOUT)),
        2 * setting.pairs,
    )
    ratios = pairs.shares("wall_s")
    outcome.rows.append(Row(
        name, f"{title}: automatic workers against the best fixed -j", "of best", median(ratios),
        min(ratios), max(ratios), 1.15, 1.05, is_lower_better=True,
        ours_s=median([sample.wall_s for sample in pairs.ours]),
        note=f"-j{best}: {median([sample.wall_s for sample in pairs.rival]):.2f} s",
    ))
    outcome.pairs[name] = pairs
    outcome.details[name] = {"ours_s_by_jobs": seconds}


def _cold(place, command, timeout_s=None):
    place.empty()
    return place.run([command], timeout_s=timeout_s)


def _limit(place):
    """The files of the tree that was just written, created from memory on the same mount."""
    source = place.base / "source"
    source.mkdir()
    subprocess.run(["cp", "-a", f"{place.backing}/.", str(source)], check=True)
    seconds = {}
    for threads in LIMIT_THREADS:
        place.empty()
        done = subprocess.run([str(LIMIT), str(source), str(place.tree), str(threads)],
                              capture_output=True, text=True, check=True)
        seconds[str(threads)] = json.loads(done.stdout)["seconds"]
    return seconds


def _k8s(setting, rtt_us):
    repository = setting.corpora.k8s()
    require_free(tmpfs(), 1000)
    revision = setting.corpora.k8s_releases()[2]
    return LatencyPlace(tmpfs(), repository, revision, setting.corpora.latencyfs(), rtt_us)
