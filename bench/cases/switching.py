"""From one release to another and back."""

from contenders import GIT_WORKERS, git, hedgerow
from measure import find_best, in_pairs
from places import Place, require_free, tmpfs
from results import Outcome, cpu_row, wall_row

# A run is short: many of them make one measurement.
SMALL_ROUNDS = 10


def k8s_switch(setting):
    repository = setting.corpora.k8s()
    old, new, _ = setting.corpora.k8s_releases()
    require_free(tmpfs(), 1000)
    with Place(tmpfs(), repository, old) as place:
        place.git("checkout", "-q")

        def there_and_back(command, timeout_s=None, **options):
            commands = [command("checkout", "-q", release, **options) for release in (new, old)]
            return place.run(commands, timeout_s=timeout_s)

        best, seconds = find_best(
            lambda workers, _: there_and_back(git, workers=workers),
            GIT_WORKERS, setting.search_rounds,
        )
        pairs = in_pairs(
            lambda: there_and_back(git, workers=best), lambda: there_and_back(hedgerow),
            2 * setting.pairs,
        )
        place.require_clean()
        title = "Kubernetes, 1.28 to 1.32 and back, tmpfs"
        rows = [
            wall_row("k8s-switch", title, pairs, 1.7, 2.5, git_workers=best),
            cpu_row("k8s-switch-cpu", f"{title}: user+sys", pairs, 0.5, 0.38, git_workers=best),
        ]
        return Outcome(rows, {"k8s-switch": pairs}, {"git_s_by_workers": seconds})


def small_switch(setting):
    """A repository of some hundred files: what starting and ending cost."""
    repository = setting.corpora.small()
    outcome = Outcome([])
    with Place(tmpfs(), repository, "v1") as place:
        place.git("checkout", "-q")
        name = place.git("ls-files").splitlines()[0]
        there_and_back = [["-q", release] for release in ("v2", "v1")]
        for row, title, steps, removed in [
            ("small-switch", "a switch there and back", there_and_back, None),
            ("small-restore", "one file restored", [["-q", "--", name]], name),
        ]:
            _small(place, setting, (row, title), (steps, removed), outcome)
        place.require_clean()
    return outcome


def _small(place, setting, names, work, outcome):
    (row, title), (steps, removed) = names, work

    def rounds(command):
        commands = [command("checkout", *words) for words in steps]
        if removed is None:
            return place.run(commands * SMALL_ROUNDS)
        (place.tree / removed).unlink()
        return place.run(commands)

    pairs = in_pairs(lambda: rounds(git), lambda: rounds(hedgerow), 3 * setting.pairs)
    outcome.rows.append(wall_row(row, f"400 files, {title}, tmpfs", pairs, 1.0, 1.0))
    outcome.pairs[row] = pairs
