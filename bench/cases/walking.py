"""Listing a tree and statting every entry, against other programs that do."""

import walkers
from measure import Pairs, find_best, in_pairs, median
from places import CheckedOutPlace, LatencyPlace, require_free, tmpfs
from results import Outcome, Row, wall_row

FIXED_JOBS = (1, 2, 4, 8, 16, 32, 64)
LIMIT_THREADS = (1, 2, 4)
LINUX_ROOM_MIB = 4000


def walk_local(setting):
    with linux(setting) as place:
        rivals = walkers.rivals()
        best, seconds = find_best(
            lambda rival, timeout_s: place.run([rivals[rival]], timeout_s=timeout_s),
            rivals, setting.search_rounds,
        )
        pairs = in_pairs(lambda: place.run([rivals[best]]), lambda: place.run([walkers.ours()]),
                         3 * setting.pairs)
        entries = walkers.require_same(place)
        limit = walkers.limit(place, LIMIT_THREADS)
        row = wall_row("walk-local", "Linux tree: walk --stat --summary, tmpfs", pairs, 1.3, 1.8,
                       rival=best, limit_s=min(limit.values()))
        return Outcome([row], {"walk-local": pairs}, {
            "entries": entries,
            "rivals_s": seconds,
            "limit_s_by_threads": limit,
            "fd_without_stat_s": _fd_without_stat(place),
        })


def _fd_without_stat(place):
    """What fd takes to list only, for comparison: it is not paired."""
    if walkers.fd(1) is None:
        return None
    return {str(jobs): round(place.run([walkers.fd(jobs, with_stat=False)]).wall_s, 4)
            for jobs in walkers.JOBS}


def fixed_walk(setting):
    """Every fixed -j in turn, and none: how wrong can a setting be where nothing is waited for?"""
    with linux(setting) as place:
        samples = {jobs: [] for jobs in (None, *FIXED_JOBS)}
        for jobs in samples:
            place.run([walkers.ours(jobs)])
        order = list(samples)
        for _ in range(3 * setting.pairs):
            for jobs in order:
                samples[jobs].append(place.run([walkers.ours(jobs)]))
            # Nobody always runs after the same.
            order.append(order.pop(0))
    seconds = {jobs: median([sample.wall_s for sample in found])
               for jobs, found in samples.items()}
    best = min(FIXED_JOBS, key=seconds.get)
    worst = max(FIXED_JOBS, key=seconds.get)
    rows, pairs = [], {}
    for name, title, jobs, reach, aim in (
        ("fixed-walk", f"the slowest fixed -j (-j{worst})", worst, 1.3, 1.15),
        ("automatic-walk-local", "automatic workers", None, 1.12, 1.05),
    ):
        pairs[name] = Pairs(samples[best], samples[jobs])
        rows.append(of_best_row(name, f"Linux tree: walk, {title} against the best, tmpfs",
                                pairs[name], best, reach, aim))
    rows[0].note = ", ".join(f"-j{jobs} {seconds[jobs]:.3f} s" for jobs in FIXED_JOBS)
    details = {"s_by_jobs": {str(jobs or "automatic"): round(value, 4)
                             for jobs, value in seconds.items()}}
    return Outcome(rows, pairs, details)


def walk_latency(setting):
    """A client that knows nothing yet, 1 ms from its files."""
    with k8s(setting, 100 if setting.is_smoke else 1000) as place:
        place.fill()
        pairs = in_pairs(lambda: cold(place, walkers.find()),
                         lambda: cold(place, walkers.ours()), setting.pairs)
        limit_s = place.mount.limit_s()
        entries = walkers.require_same(place)
        fd = walkers.fd(64)
        fd_s = round(cold(place, fd).wall_s, 4) if fd else None
    row = wall_row("walk-1ms", "Kubernetes: walk --stat --summary, 1 ms round trips", pairs,
                   None, None, rival="find", limit_s=limit_s)
    if fd_s is not None:
        row.note = f"fd -j64 once: {fd_s:.2f} s"
    return Outcome([row], {"walk-1ms": pairs}, {"entries": entries, "fd_j64_s": fd_s})


def of_best_row(name, title, pairs, best, reach, aim):
    """A row for how near something is to the best fixed -j."""
    ratios = pairs.shares("wall_s")
    return Row(name, title, "of best", median(ratios), min(ratios), max(ratios), reach, aim,
               is_lower_better=True, rival=f"-j{best}",
               rival_s=median([sample.wall_s for sample in pairs.rival]),
               ours_s=median([sample.wall_s for sample in pairs.ours]))


def cold(place, command, timeout_s=None):
    """Runs it where nothing is known yet of what is behind the mount."""
    place.mount.open()
    return place.run([command], timeout_s=timeout_s)


def k8s(setting, rtt_us):
    repository = setting.corpora.k8s()
    require_free(tmpfs(), 100 if setting.is_smoke else 1000)
    revision = setting.corpora.k8s_releases()[2]
    return LatencyPlace(tmpfs(), repository, revision, setting.corpora.latencyfs(), rtt_us)


def linux(setting):
    repository = setting.corpora.linux()
    require_free(tmpfs(), 100 if setting.is_smoke else LINUX_ROOM_MIB)
    return CheckedOutPlace(tmpfs(), repository)
