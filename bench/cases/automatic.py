"""Whether the automatic worker count of a walk is near the best fixed one."""

import walkers
from cases.walking import cold, k8s, of_best_row
from measure import find_best, in_pairs
from results import Outcome

# From where the best is expected, so that the slow ones can be stopped early.
FIXED_JOBS = (64, 32, 16, 8, 4, 2, 1)
ROUND_TRIPS_US = (0, 200, 1000, 5000)


def automatic_walk(setting):
    outcome = Outcome([])
    with k8s(setting, 0) as place:
        place.fill()
        for rtt_us in ROUND_TRIPS_US[:2] if setting.is_smoke else ROUND_TRIPS_US:
            place.mount.rtt_us = 0 if setting.is_smoke else rtt_us
            _at(place, setting, f"{rtt_us / 1000:g}", outcome)
    return outcome


def _at(place, setting, milliseconds, outcome):
    best, seconds = find_best(
        lambda jobs, timeout_s: cold(place, walkers.ours(jobs), timeout_s),
        FIXED_JOBS[:2] if setting.is_smoke else FIXED_JOBS, setting.search_rounds,
    )
    pairs = in_pairs(lambda: cold(place, walkers.ours(best)),
                     lambda: cold(place, walkers.ours()), 2 * setting.pairs)
    name = f"automatic-walk-{milliseconds}ms"
    title = f"Kubernetes: walk, automatic workers against the best -j, {milliseconds} ms"
    outcome.rows.append(of_best_row(name, title, pairs, best, 1.12, 1.05))
    outcome.pairs[name] = pairs
    outcome.details[name] = {"s_by_jobs": seconds, "limit_s": place.mount.limit_s()}
