"""The status of a clean working tree of git, against git."""

import shutil

import walkers
from cases.walking import LIMIT_THREADS, k8s, linux
from contenders import git, hedgerow
from measure import in_pairs, median
from results import Outcome, wall_row


# The rules that Debian adds to the tree's own .gitignore. With them all of the tree is ignored, git
# need not look for untracked files, and lists nothing but the root.
ALL_IGNORED = ("/*", "!/debian/")


def status_local(setting):
    outcome = Outcome([])
    with linux(setting) as place:
        rules = place.tree / ".gitignore"
        lines = rules.read_text().splitlines() if rules.exists() else []
        if ALL_IGNORED[0] in lines:
            place.settle_index()
            _paired(place, setting, "status-local-all-ignored",
                    "Linux tree as Debian packs it, all of it ignored: status, clean, tmpfs",
                    None, None, outcome)
            own = [line for line in lines if line not in ALL_IGNORED]
            rules.write_text("".join(f"{line}\n" for line in own))
            place.git("-c", "user.name=A U Thor", "-c", "user.email=author@example.com",
                      "commit", "-q", "-m", "The tree's own .gitignore", ".gitignore")
        place.settle_index()
        limit = walkers.limit(place, LIMIT_THREADS)
        outcome.details["limit_s_by_threads"] = limit
        _paired(place, setting, "status-local", "Linux tree: status, clean, tmpfs", 1.0, 1.3,
                outcome, limit_s=min(limit.values()))
        _use_untracked_cache(place)
        _paired(place, setting, "status-local-untracked-cache",
                "Linux tree: status, clean, core.untrackedCache, tmpfs", 0.8, 1.1, outcome,
                rival="git with core.untrackedCache")
    return outcome


def _paired(place, setting, name, title, reach, aim, outcome, **more):
    index = _KeptIndex(place)

    def run(command):
        index.restore()
        return place.run([command])

    pairs = in_pairs(lambda: run(git("status")), lambda: run(hedgerow("status")),
                     3 * setting.pairs)
    index.restore()
    _require_same(place)
    outcome.rows.append(wall_row(name, title, pairs, reach, aim, **more))
    outcome.pairs[name] = pairs


def status_latency(setting):
    """A client that knows nothing of the tree yet; the repository itself is local."""
    outcome = Outcome([])
    with k8s(setting, 100 if setting.is_smoke else 1000) as place:
        place.fill()
        # Through this mount, because the index must hold what is seen there.
        place.settle_index()
        index = _KeptIndex(place)

        def cold(command):
            index.restore()
            place.mount.open()
            return place.run([command])

        pairs = in_pairs(lambda: cold(git("status")), lambda: cold(hedgerow("status")),
                         setting.pairs)
        counters = place.mount.counters()
        limit_s = place.mount.limit_s()
        _require_same(place)
        _use_untracked_cache(place)
        index = _KeptIndex(place)
        tuned_s = median([cold(git("status")).wall_s for _ in range(setting.search_rounds)])
    outcome.rows.append(
        wall_row("status-1ms", "Kubernetes: status, clean, 1 ms round trips", pairs, 8, 11,
                 limit_s=limit_s, note=f"git with core.untrackedCache: {tuned_s:.2f} s"))
    outcome.pairs["status-1ms"] = pairs
    outcome.details["status-1ms"] = {
        "ours_counters": counters, "git_with_untracked_cache_s": round(tuned_s, 4),
    }
    return outcome


class _KeptIndex:
    """The index as it is now, for every run: one that refreshes it must not help the next."""

    def __init__(self, place):
        self._index = place.git_dir / "index"
        self._kept = place.base / "index"
        shutil.copy2(self._index, self._kept)

    def restore(self):
        shutil.copy2(self._kept, self._index)


def _use_untracked_cache(place):
    place.git("config", "core.untrackedCache", "true")
    place.settle_index()
    place.settle_index()
    if b"UNTR" not in (place.git_dir / "index").read_bytes():
        raise RuntimeError("git has written no untracked cache")


def _require_same(place):
    """The proof that the work was done: both say the same, and that nothing has changed."""
    # Not in the long form: there git complains when it was slow.
    words = ("status", "--porcelain=v2", "--branch")
    theirs, ours = (place.output(command(*words)) for command in (git, hedgerow))
    if theirs != ours or any(not line.startswith("# ") for line in theirs.splitlines()):
        raise RuntimeError(f"git says:\n{theirs[:2000]}\nhedgerow says:\n{ours[:2000]}")
