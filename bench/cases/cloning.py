"""Clones: from servers on this machine, by path, and into a tree with round trips."""

from contenders import git, hedgerow
from measure import find_best, in_pairs
from mounts import LatencyMount
from places import Place, disk, remove, require_free, tmpfs
from results import Outcome, cpu_row, wall_row
from servers import daemon, files, https, serve, serve_release
from skipped import Skipped


def clones(setting):
    """Whole clones of a deep history and of a wide tree; one commit; without blobs; by path."""
    deep, linux, k8s = (setting.corpora.deep(), setting.corpora.linux(), setting.corpora.k8s())
    with _place(setting) as place:
        for name, repository in (("deep", deep), ("linux", linux), ("k8s", k8s)):
            serve(place, name, repository)
        found = _Clones(place, setting)
        with daemon(place.base, place.env) as url:
            found.measure("clone-deep", "clone of a deep history from a git daemon, tmpfs",
                          3.0, 4.5, f"{url}/deep.git", cpu=(1 / 2.3, 1 / 3))
            found.measure("clone-linux", "clone of Linux, one commit, from a git daemon, tmpfs",
                          2.3, 3.0, f"{url}/linux.git")
            found.measure("clone-depth-1", "clone of Kubernetes with depth 1", 1.3, 2.0,
                          "--depth", "1", f"{url}/k8s.git")
            found.measure("clone-blobless", "clone of Kubernetes without blobs, and its checkout",
                          1.5, 2.0, "--filter=blob:none", f"{url}/k8s.git")
        found.measure("clone-path", "clone of a deep history by its path, tmpfs", 1.5, 3.0,
                      str(place.base / "deep.git"))
    return found.outcome


def clone_https(setting):
    """The deep history over https with a password, which is in the URL."""
    with _place(setting) as place:
        serve(place, "deep", setting.corpora.deep())
        found = _Clones(place, setting)
        with https(place.base, place.env) as (url, certificate):
            found.measure("clone-https",
                          "clone of a deep history over https with a password, tmpfs", 3.0, 4.5,
                          "-c", f"http.sslCAInfo={certificate}", f"{url}/deep.git",
                          cpu=(None, None))
    return found.outcome


def clone_across(setting):
    """By path where nothing can be linked. The repository is the one on disk, because writes to a
    disk take a time that is its own."""
    small = setting.corpora.small()
    with Place(disk(), small, is_disk=True) as source, _place(setting) as place:
        if source.base.stat().st_dev == place.base.stat().st_dev:
            raise Skipped(f"{disk()} and {tmpfs()} are on one file system")
        repository = serve(source, "deep", setting.corpora.deep())
        source.settle()
        found = _Clones(place, setting)
        found.measure("clone-across", "clone of a deep history by its path, from disk to tmpfs",
                      1.5, 3.0, str(repository))
    return found.outcome


def clone_bundles(setting):
    """A deep history whose server is helped by a list of bundles, each with a part of the history,
    which come from where each takes 50 ms and no connection gets more than 25 MB a second."""
    with _place(setting) as place:
        served = serve(place, "deep", setting.corpora.deep())
        count = _make_bundles(place, served, place.base / "bundles")
        found = _Clones(place, setting)
        with daemon(place.base, place.env) as url, \
                files(place.base / "bundles", delay_s=0.05, bytes_per_s=25e6) as bundles:
            found.measure("clone-bundles",
                          f"clone of a deep history with a list of {count} bundles, tmpfs",
                          1.5, 3.0, f"--bundle-uri={bundles}/list", f"{url}/deep.git")
    return found.outcome


def _make_bundles(place, repository, directory, wanted=12):
    """Bundles of equal parts of the history up to the tip, and `list`, which names them; how many."""
    commits = place.git_at(repository, "rev-list", "--first-parent", "--reverse", "HEAD").split()
    count = min(wanted, len(commits))
    directory.mkdir()
    lines = ["[bundle]", "version = 1", "mode = all", "heuristic = creationToken"]
    before = []
    for number in range(1, count + 1):
        end = commits[len(commits) * number // count - 1]
        ref = f"refs/heads/part-{number}"
        place.git_at(repository, "update-ref", ref, end)
        path = directory / f"part-{number}.bundle"
        place.git_at(repository, "bundle", "create", "-q", str(path), ref, *before)
        place.git_at(repository, "update-ref", "-d", ref)
        before.append(f"^{end}")
        lines += [f'[bundle "part-{number}"]', f"uri = {path.name}", f"creationToken = {number}"]
    (directory / "list").write_text("\n".join(lines) + "\n")
    return count


def clone_latency(setting):
    """One release of Kubernetes from a git daemon; the repository that is made is local, its
    working tree has round trips."""
    rtt_us = 100 if setting.is_smoke else 1000
    latencyfs = setting.corpora.latencyfs()
    release = setting.corpora.k8s_releases()[2]
    with _place(setting) as place, LatencyMount(
            place.base, latencyfs, rtt_us) as mount:
        serve_release(place, "k8s", setting.corpora.k8s(), release)
        git_dir = place.base / "clone.git"
        tree = mount.point / "clone"

        def cloned(command, timeout_s=None):
            remove(git_dir)
            mount.clear()
            mount.open()
            words = ["-q", f"--separate-git-dir={git_dir}", f"{url}/k8s.git", str(tree)]
            return place.run([[*command, *words]], timeout_s=timeout_s)

        with daemon(place.base, place.env) as url:
            best, seconds = find_best(
                lambda workers, timeout: cloned(git("clone", workers=workers), timeout),
                (16,) if setting.is_smoke else (16, 32, 8), 1)
            pairs = in_pairs(lambda: cloned(git("clone", workers=best)),
                             lambda: cloned(hedgerow("clone")), setting.pairs)
        counters = mount.counters()
        _require_clean(place, tree)
    title = "clone of Kubernetes, one release, 1 ms round trips"
    return Outcome([wall_row("clone-1ms", title, pairs, 6.0, 10.0, git_workers=best)],
                   {"clone-1ms": pairs},
                   {"git_s_by_workers": seconds, "ours_counters": counters})


class _Clones:
    """Clones beside the place's own repository, and the rows that come of them."""

    def __init__(self, place, setting):
        self.place = place
        self.pairs = setting.pairs
        self.outcome = Outcome([])

    def measure(self, row, title, reach, aim, *words, cpu=None):
        """`cpu`: what is asked of the client's CPU time, if it gets a row."""
        pairs = in_pairs(lambda: self._clone(git, words), lambda: self._clone(hedgerow, words),
                         self.pairs)
        self.outcome.pairs[row] = pairs
        self.outcome.rows.append(wall_row(row, title, pairs, reach, aim))
        if cpu:
            self.outcome.rows.append(
                cpu_row(f"{row}-cpu", f"{title}: user+sys of the client", pairs, *cpu))

    def _clone(self, command, words):
        clone = self.place.base / "clone"
        remove(clone)
        sample = self.place.run([command("clone", "-q", *words, str(clone))])
        _require_clean(self.place, clone)
        return sample


def _require_clean(place, clone):
    if place.output(["git", "-C", str(clone), "status", "--porcelain"]):
        raise RuntimeError("the clone is not clean")


def _place(setting):
    """Room in memory."""
    require_free(tmpfs(), 100 if setting.is_smoke else 6000)
    return Place(tmpfs(), setting.corpora.small())
