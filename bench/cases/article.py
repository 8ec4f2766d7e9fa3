"""What the articles behind parallel checkout measured: a far revision, then a near one."""

from contenders import GIT_WORKERS, git, hedgerow
from measure import find_best, in_pairs
from places import LatencyPlace, Place, disk, require_free, tmpfs
from results import Outcome, wall_row

# To reach and aim; round trips in microseconds.
LOCAL = {"tmpfs": (1.5, 2.0), "disk": (1.2, 1.5)}
FAR = {1000: (6.0, 9.0), 5000: (9.0, 16.0)}


def article(setting):
    """Checkout I goes from the first revision to one with most files changed, checkout II to one
    with a tenth of them changed. Git with one worker, and with the best number."""
    repository = setting.corpora.linux_revisions()
    outcome = Outcome([])
    for where, targets in LOCAL.items():
        parent = tmpfs() if where == "tmpfs" else disk()
        require_free(parent, 100 if setting.is_smoke else 4000)
        with Place(parent, repository, "far", is_disk=where == "disk") as place:
            _there_and_back(place, setting, (where, where), targets, outcome)
    return outcome


def article_latency(setting):
    """The same where each call takes a round trip; git with its best number of workers."""
    repository = setting.corpora.linux_revisions()
    latencyfs = setting.corpora.latencyfs()
    outcome = Outcome([])
    for where, targets in FAR.items():
        rtt_us = 100 if setting.is_smoke else where
        label = f"{where // 1000} ms round trips"
        with LatencyPlace(tmpfs(), repository, "far", latencyfs, rtt_us) as place:
            _there_and_back(place, setting, (where, label), targets, outcome)
    return outcome


def _there_and_back(place, setting, names, targets, outcome):
    where, label = names
    is_far = not isinstance(where, str)
    place.git_at_once("checkout", "-q", "-f", "far")
    for number, (start, end) in [("I", ("far", "middle")), ("II", ("middle", "near"))]:

        def switched(command, timeout_s=None, start=start):
            # Of a run that was stopped for being slow.
            (place.git_dir / "index.lock").unlink(missing_ok=True)
            place.git_at_once("checkout", "-q", "-f", start)
            place.settle()
            return place.run([command], timeout_s=timeout_s)

        words = ("checkout", "-q", end)
        best, seconds = find_best(
            lambda workers, timeout, run=switched, words=words:
            run(git(*words, workers=workers), timeout),
            (16, 32) if is_far else GIT_WORKERS, 1)
        name = f"article-{number}-{where}"
        for workers, suffix in ((best, ""), (1, "-serial")):
            if suffix and (best == 1 or is_far):
                continue
            pairs = in_pairs(lambda run=switched, words=words, workers=workers:
                             run(git(*words, workers=workers)),
                             lambda run=switched, words=words: run(hedgerow(*words)),
                             setting.pairs)
            title = f"checkout {number}, Linux, {label}"
            outcome.rows.append(wall_row(name + suffix, title, pairs, *targets,
                                         git_workers=workers))
            outcome.pairs[name + suffix] = pairs
        outcome.details[name] = {"git_s_by_workers": seconds}
        place.git_at_once("checkout", "-q", "-f", end)
    place.require_clean()
