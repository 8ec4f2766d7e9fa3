"""A few files removed from a large tree and restored: what a small checkout costs."""

import random

from contenders import GIT_WORKERS, git, hedgerow
from measure import find_best, in_pairs
from places import Place, require_free, tmpfs
from results import Outcome, wall_row

COUNTS = (1, 10, 20, 50, 100, 200, 500, 1000, 2000)


def restore(setting):
    repository = setting.corpora.linux()
    require_free(tmpfs(), 100 if setting.is_smoke else 4000)
    with Place(tmpfs(), repository) as place:
        place.git("checkout", "-q")
        files = place.git("ls-files", "-z").rstrip("\0").split("\0")
        outcome = Outcome([])
        for count in [count for count in COUNTS if count <= len(files) // 10]:
            _restore_some(place, setting, files, count, outcome)
        place.require_clean()
        return outcome


def _restore_some(place, setting, files, count, outcome):
    chosen = random.Random(count).sample(files, count)

    def restored(command, timeout_s=None):
        for name in chosen:
            (place.tree / name).unlink()
        return place.run([command], timeout_s=timeout_s)

    best, seconds = find_best(
        lambda workers, _: restored(git("checkout", "-q", "-f", workers=workers)),
        GIT_WORKERS, setting.search_rounds,
    )
    pairs = in_pairs(
        lambda: restored(git("checkout", "-q", "-f", workers=best)),
        lambda: restored(hedgerow("checkout", "-q", "-f")),
        3 * setting.pairs,
    )
    name = f"restore-{count}"
    # Below 100 files the aim is to lose nothing.
    aim = 1.5 if count >= 100 else 1.0
    files_word = "file" if count == 1 else "files"
    outcome.rows.append(wall_row(name, f"Linux, {count} {files_word} restored, tmpfs", pairs,
                                 1.0, aim, git_workers=best))
    outcome.pairs[name] = pairs
    outcome.details[name] = {"git_s_by_workers": seconds}
