"""The commands around checkout: reset, restore, worktree, stash, sparse-checkout, ls-files."""

import random
import shutil

from contenders import GIT_WORKERS, git, hedgerow
from measure import find_best, in_pairs
from places import LatencyPlace, Place, disk, require_free, tmpfs
from results import Outcome, wall_row

EDITS = 5000
STASHED = 2000
RESTORED = {1: 1.0, 10: 1.0, 100: 1.1, 2000: 1.6}
UNTRACKED = 300_000
RESET = ("reset", "-q", "--hard")


def reset_hard(setting):
    """Thousands of edited files brought back."""
    return _reset(setting, setting.corpora.linux(), "HEAD", "Linux", (1.8, 2.5))


def reset_latency(setting):
    """The same with round trips; the repository itself is local."""
    repository = setting.corpora.k8s()
    release = setting.corpora.k8s_releases()[2]
    rtt_us = 100 if setting.is_smoke else 1000
    latencyfs = setting.corpora.latencyfs()
    require_free(tmpfs(), 1000)
    with LatencyPlace(tmpfs(), repository, release, latencyfs, rtt_us) as place:
        place.fill()
        place.settle_index()
        chosen = _some_files(place, EDITS)

        def edited(command, timeout_s=None):
            _edit(place.backing, chosen)
            place.mount.open()
            return place.run([command], timeout_s=timeout_s)

        best, seconds = find_best(lambda workers, timeout: edited(git(*RESET, workers=workers),
                                                                  timeout), (16, 32, 8), 1)
        pairs = in_pairs(lambda: edited(git(*RESET, workers=best)),
                         lambda: edited(hedgerow(*RESET)), setting.pairs)
        place.require_clean()
    title = f"Kubernetes, reset --hard after {len(chosen):,} edits, 1 ms round trips"
    return Outcome([wall_row("reset-latency", title, pairs, 8.0, 12.0, git_workers=best)],
                   {"reset-latency": pairs}, {"git_s_by_workers": seconds})


def _reset(setting, repository, revision, what, targets):
    require_free(tmpfs(), 100 if setting.is_smoke else 4000)
    with Place(tmpfs(), repository, revision) as place:
        place.git("checkout", "-q", "-f")
        place.settle_index()
        chosen = _some_files(place, EDITS)

        def edited(command, timeout_s=None):
            _edit(place.tree, chosen)
            return place.run([command], timeout_s=timeout_s)

        best, seconds = find_best(lambda workers, timeout: edited(git(*RESET, workers=workers),
                                                                  timeout),
                                  GIT_WORKERS, setting.search_rounds)
        pairs = in_pairs(lambda: edited(git(*RESET, workers=best)),
                         lambda: edited(hedgerow(*RESET)), 2 * setting.pairs)
        place.require_clean()
    title = f"{what}, reset --hard after {len(chosen):,} edits, tmpfs"
    return Outcome([wall_row("reset-hard", title, pairs, *targets, git_workers=best)],
                   {"reset-hard": pairs}, {"git_s_by_workers": seconds})


def restore_some(setting):
    """`restore .` with a few files changed."""
    repository = setting.corpora.linux()
    require_free(tmpfs(), 100 if setting.is_smoke else 4000)
    outcome = Outcome([])
    with Place(tmpfs(), repository) as place:
        place.git("checkout", "-q", "-f")
        place.settle_index()
        for count, reach in RESTORED.items():
            chosen = _some_files(place, count)

            def edited(command, chosen=chosen, timeout_s=None):
                _edit(place.tree, chosen)
                return place.run([command], timeout_s=timeout_s)

            words = ("restore", "-q", ".")
            pairs = in_pairs(lambda run=edited: run(git(*words)),
                             lambda run=edited: run(hedgerow(*words)), 3 * setting.pairs)
            name = f"restore-dot-{count}"
            title = f"Linux, restore . of {count:,} edited files, tmpfs"
            outcome.rows.append(wall_row(name, title, pairs, reach, 1.3))
            outcome.pairs[name] = pairs
        place.require_clean()
    return outcome


def worktree_add(setting):
    """A second working tree."""
    outcome = Outcome([])
    for name, parent, targets in [("worktree-add", tmpfs(), (2.2, 2.7)),
                                  ("worktree-add-disk", disk(), (1.6, 2.7))]:
        require_free(parent, 100 if setting.is_smoke else 4000)
        is_disk = parent == disk()
        with Place(parent, setting.corpora.linux(), is_disk=is_disk) as place:
            second = place.base / "second"
            words = ("worktree", "add", "--detach", str(second))

            def added(command, place=place, second=second, timeout_s=None):
                place.discard(second)
                # One that was stopped for being slow is locked, so that git would not prune it.
                shutil.rmtree(place.git_dir / "worktrees", ignore_errors=True)
                place.settle()
                return place.run([command], timeout_s=timeout_s)

            best, seconds = find_best(
                lambda workers, timeout, run=added, words=words:
                run(git(*words, workers=workers), timeout_s=timeout),
                GIT_WORKERS, setting.search_rounds)
            pairs = in_pairs(lambda run=added, words=words, best=best:
                             run(git(*words, workers=best)),
                             lambda run=added, words=words: run(hedgerow(*words)), setting.pairs)
            if place.output(["git", "-C", str(second), "status", "--porcelain"]):
                raise RuntimeError("the second working tree is not clean")
        where = "disk" if is_disk else "tmpfs"
        outcome.rows.append(wall_row(name, f"Linux, worktree add, {where}", pairs, *targets,
                                     git_workers=best))
        outcome.pairs[name] = pairs
        outcome.details[name] = {"git_s_by_workers": seconds}
    return outcome


def stash(setting):
    """Edits put aside and taken back."""
    repository = setting.corpora.linux()
    require_free(tmpfs(), 100 if setting.is_smoke else 4000)
    with Place(tmpfs(), repository) as place:
        place.git("checkout", "-q", "-f")
        place.git("config", "user.name", "A U Thor")
        place.git("config", "user.email", "author@example.com")
        place.settle_index()
        chosen = _some_files(place, STASHED)

        def there_and_back(command):
            _edit(place.tree, chosen)
            sample = place.run([command("stash", "push", "-q"), command("stash", "pop", "-q")])
            place.git("reset", "-q", "--hard")
            return sample

        pairs = in_pairs(lambda: there_and_back(git), lambda: there_and_back(hedgerow),
                         setting.pairs)
        place.require_clean()
    title = f"Linux, stash push and pop of {len(chosen):,} edits, tmpfs"
    return Outcome([wall_row("stash", title, pairs, 1.5, 2.5)], {"stash": pairs})


def sparse(setting):
    """From the whole tree to a twentieth of it, and back."""
    repository = setting.corpora.linux()
    require_free(tmpfs(), 100 if setting.is_smoke else 4000)
    with Place(tmpfs(), repository) as place:
        place.git("checkout", "-q", "-f")
        place.settle_index()
        few = sorted(path.name for path in place.tree.iterdir()
                     if path.is_dir() and path.name != ".git")[:1]

        def there_and_back(command):
            return place.run([command("sparse-checkout", "set", *few),
                              command("sparse-checkout", "disable")])

        pairs = in_pairs(lambda: there_and_back(git), lambda: there_and_back(hedgerow),
                         setting.pairs)
        place.require_clean()
    title = "Linux, sparse-checkout set to a part and back, tmpfs"
    return Outcome([wall_row("sparse", title, pairs, 2.0, 3.0)], {"sparse": pairs})


def untracked_files(setting):
    """Many untracked files: listed, and with git's caches: the untracked cache alone, and with the
    file system monitor that git has of its own."""
    repository = setting.corpora.linux()
    require_free(tmpfs(), 100 if setting.is_smoke else 4000)
    outcome = Outcome([])
    with Place(tmpfs(), repository) as place:
        place.git("checkout", "-q", "-f")
        count = 300 if setting.is_smoke else UNTRACKED
        _make_untracked(place.tree, count)
        place.git("config", "status.showUntrackedFiles", "all")
        place.settle_index()
        listing, status = ("ls-files", "-o", "--exclude-standard"), ("status", "--porcelain")
        _compare(outcome, setting, place, "ls-files-others", f"{count:,} untracked files", listing)
        _compare(outcome, setting, place, "status-uall", f"{count:,} untracked files", status)
        place.git("config", "core.untrackedCache", "true")
        _fill_caches(place)
        _compare(outcome, setting, place, "status-uall-cache",
                 f"{count:,} untracked files, untracked cache", status)
        if _start_monitor(place):
            try:
                _fill_caches(place)
                _compare(outcome, setting, place, "status-uall-monitor",
                         f"{count:,} untracked files, untracked cache, monitor", status)
            finally:
                place.git("fsmonitor--daemon", "stop")
    return outcome


def _make_untracked(tree, count):
    """Below a tracked directory: at the top, Linux ignores everything that it does not name."""
    ignored = tree / ".gitignore"
    if ignored.exists():
        ignored.unlink()
    top = min(path for path in tree.iterdir() if path.is_dir() and path.name != ".git")
    for number in range(count):
        directory = top / "untracked" / f"directory-{number // 60}"
        if number % 60 == 0:
            directory.mkdir(parents=True)
        (directory / f"file-{number}").touch()


def _fill_caches(place):
    for _ in range(2):
        place.settle_index()


def _start_monitor(place):
    """Whether this git has a file system monitor of its own here: since 2.55 on Linux."""
    place.git("config", "core.fsmonitor", "true")
    try:
        place.git("fsmonitor--daemon", "start")
    except RuntimeError:
        place.git("config", "core.fsmonitor", "false")
        print("no file system monitor: that row is left out", flush=True)
        return False
    return True


def _compare(outcome, setting, place, name, what, words):
    if place.output(git(*words)) != place.output(hedgerow(*words)):
        raise RuntimeError(f"{words}: not what git says")
    pairs = in_pairs(lambda: place.run([git(*words)]), lambda: place.run([hedgerow(*words)]),
                     setting.pairs)
    title = f"Linux with {what}, {' '.join(words)}, tmpfs"
    outcome.rows.append(wall_row(name, title, pairs, 1.5, 3.0))
    outcome.pairs[name] = pairs


def _some_files(place, count):
    """Names of regular files, the same for each run."""
    listed = place.git("ls-files", "-s", "-z").rstrip("\0").split("\0")
    files = [entry.split("\t", 1)[1] for entry in listed if entry.startswith("100")]
    return random.Random(count).sample(files, min(count, len(files)))


def _edit(tree, names):
    for name in names:
        with (tree / name).open("ab") as file:
            file.write(b"edited\n")
