"""Submodules: cloned from a server on this machine, and moved in a tree with round trips."""

from contenders import git, hedgerow
from measure import find_best, in_pairs
from mounts import LatencyMount
from places import Place, remove, require_free, tmpfs
from results import Outcome, wall_row
from servers import daemon, serve, serve_release

# One large submodule, and so many small ones beside it.
SMALL = 12
AT_A_TIME = (1, 8, 4)
UPDATE = ("submodule", "update", "--quiet", "--init")


def submodules(setting):
    """A repository with submodules cloned; git with its best number of jobs."""
    require_free(tmpfs(), 100 if setting.is_smoke else 2000)
    with Place(tmpfs(), setting.corpora.small()) as place:
        _serve(setting, place)
        clone = place.base / "clone"

        def cloned(command, timeout_s=None):
            remove(clone)
            words = ["--recurse-submodules", f"{url}/super.git", str(clone)]
            return place.run([[*command, *words]], timeout_s=timeout_s)

        with daemon(place.base, place.env) as url:
            best, seconds = find_best(
                lambda jobs, timeout: cloned(git("clone", "-q", f"--jobs={jobs}"), timeout),
                AT_A_TIME[:1] if setting.is_smoke else AT_A_TIME, setting.search_rounds)
            pairs = in_pairs(lambda: cloned(git("clone", "-q", f"--jobs={best}")),
                             lambda: cloned(hedgerow("clone", "-q")), setting.pairs)
        _require_whole(place, clone)
    title = f"clone of a repository with {SMALL + 1} submodules, tmpfs"
    return Outcome([wall_row("submodules", title, pairs, 1.5, 2.5, git_workers=best)],
                   {"submodules": pairs}, {"git_s_by_jobs": seconds})


def submodules_latency(setting):
    """The submodules checked out in a working tree with round trips; all of the repository is
    local. Their contents are there already."""
    rtt_us = 100 if setting.is_smoke else 1000
    latencyfs = setting.corpora.latencyfs()
    require_free(tmpfs(), 100 if setting.is_smoke else 2000)
    with Place(tmpfs(), setting.corpora.small()) as place, LatencyMount(
            place.base, latencyfs, rtt_us) as mount:
        _serve(setting, place)
        tree = mount.point / "tree"
        mount.open(0)
        with daemon(place.base, place.env) as url:
            place.git_at(".", "clone", "-q", f"--separate-git-dir={place.base / 'clone.git'}",
                         "--recurse-submodules", f"{url}/super.git", str(tree))

        def updated(command, timeout_s=None):
            mount.open(0)
            place.git_at(tree, "submodule", "--quiet", "deinit", "-f", "--all")
            mount.open()
            words = [command[0], "-C", str(tree), *command[1:]]
            return place.run([words], timeout_s=timeout_s)

        best, seconds = find_best(
            lambda workers, timeout: updated(git(*UPDATE, workers=workers), timeout),
            (16,) if setting.is_smoke else (16, 32), 1)
        pairs = in_pairs(lambda: updated(git(*UPDATE, workers=best)),
                         lambda: updated(hedgerow(*UPDATE)), setting.pairs)
        mount.open(0)
        _require_whole(place, tree)
    title = f"{SMALL + 1} submodules checked out, 1 ms round trips"
    return Outcome([wall_row("submodules-1ms", title, pairs, 6.0, 10.0, git_workers=best)],
                   {"submodules-1ms": pairs}, {"git_s_by_workers": seconds})


def _serve(setting, place):
    """Serves `super.git`, whose submodules are Kubernetes and copies of a small repository."""
    large = serve_release(place, "large", setting.corpora.k8s(),
                          setting.corpora.k8s_releases()[2])
    small = serve(place, "small", setting.corpora.small())
    top = place.base / "top"
    place.git_at(".", "init", "-q", "-b", "main", str(top))
    named = [("large", "large", large)]
    named += [(f"dir/small-{at}", "small", small) for at in range(SMALL)]
    for path, name, repository in named:
        for key, value in (("path", path), ("url", f"../{name}.git")):
            place.git_at(top, "config", "-f", ".gitmodules", f"submodule.{path}.{key}", value)
        commit = place.git_at(repository, "rev-parse", "HEAD").strip()
        place.git_at(top, "update-index", "--add", "--cacheinfo", f"160000,{commit},{path}")
    place.git_at(top, "add", ".gitmodules")
    place.git_at(top, "-c", "user.name=A U Thor", "-c", "user.email=author@example.com", "commit",
                 "-qm", "with submodules")
    serve(place, "super", top)


def _require_whole(place, clone):
    if place.output(["git", "-C", str(clone), "status", "--porcelain"]):
        raise RuntimeError("the clone is not clean")
    states = place.output(["git", "-C", str(clone), "submodule", "status"])
    if any(not line.startswith(" ") for line in states.splitlines()):
        raise RuntimeError("a submodule is not at its commit")
