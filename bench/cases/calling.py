"""What programs get that call `git` and reach hedgerow by the links: a fetch, with hedgerow inside,
and what it costs that git's words are looked at."""

from bisect import bisect_left

from contenders import with_links
from measure import in_pairs, run
from places import Place, remove, require_free, tmpfs
from results import Outcome, amount_row, wall_row
from servers import daemon, serve

# Calls that are handed over, in one measurement.
CALLS = 200
NEW_COMMITS = 1000
FETCH = ["git", "fetch", "-q", "origin"]


def handing_over(setting):
    """What a call costs that the link named git hands over to git."""
    script = f"i=0; while [ $i -lt {CALLS} ]; do git rev-parse HEAD >/dev/null; i=$((i+1)); done"
    with Place(tmpfs(), setting.corpora.small()) as place:
        linked = with_links(place.env, place.base)
        pairs = in_pairs(lambda: run(["sh", "-c", script], place.env, place.tree),
                         lambda: run(["sh", "-c", script], linked, place.tree), setting.pairs)
    amounts = [1000 * (ours.wall_s - gits.wall_s) / CALLS
               for gits, ours in zip(pairs.rival, pairs.ours)]
    row = amount_row("handing-over", "a command handed to git, in addition to git's own time",
                     "ms", amounts, 1.5, 0.8, is_lower_better=True)
    return Outcome([row], {"handing-over": pairs})


def fetching(setting):
    """A fetch from a git daemon by a client that lacks the newest commits of a deep history."""
    require_free(tmpfs(), 100 if setting.is_smoke else 4000)
    with Place(tmpfs(), setting.corpora.small()) as place:
        served = serve(place, "deep", setting.corpora.deep())
        main = place.git_at(served, "symbolic-ref", "--short", "HEAD").strip()
        old = _commit_before(place, served, 1 if setting.is_smoke else NEW_COMMITS)
        place.git_at(served, "update-ref", "refs/heads/before", old)
        client, kept = place.base / "client", place.base / "kept"

        def fetched(env):
            remove(client)
            place.output(["cp", "-a", str(kept), str(client)])
            sample = run(FETCH, env, client)
            if place.git_at(client, "rev-parse", f"origin/{main}") != place.git_at(
                    served, "rev-parse", main):
                raise RuntimeError("the branch was not fetched")
            return sample

        with daemon(place.base, place.env) as url:
            place.git_at(".", "clone", "-q", "--no-checkout", "--single-branch", "-b", "before",
                         f"{url}/deep.git", str(kept))
            place.git_at(kept, "remote", "set-branches", "origin", main)
            linked = with_links(place.env, place.base)
            pairs = in_pairs(lambda: fetched(place.env), lambda: fetched(linked), setting.pairs)
        place.git_at(client, "fsck", "--connectivity-only")
    title = "fetch of 1,000 commits of a deep history from a git daemon, by the links, tmpfs"
    return Outcome([wall_row("fetch", title, pairs, 1.3, 2.0)], {"fetch": pairs})


def _commit_before(place, repository, count):
    """The newest commit of the main line that lacks at least `count` of the commits of HEAD."""
    mainline = place.git_at(repository, "rev-list", "--first-parent", "HEAD").split()

    def count_newer(commit):
        return int(place.git_at(repository, "rev-list", "--count", f"{commit}..HEAD"))

    oldest = min(count, len(mainline) - 1)
    return mainline[bisect_left(mainline, count, hi=oldest, key=count_newer)]
