"""The second run of a build job in the same directory: what actions/checkout calls `git` for, with
the links and without."""

import random
import shutil
import time

from cases.cleaning import litter
from contenders import with_links
from corpora import add_commit, list_files
from measure import find_best, in_pairs, run
from mounts import LatencyMount
from places import Place, remove, require_free, tmpfs
from results import Outcome, wall_row
from servers import daemon, serve_release

CHANGED = 500
# Untracked files: some beside the sources, and ten in each of the directories of a tree.
OBJECT_FILES = 2500
NESTING = (5, 10, 5)
SMOKE_NESTING = (2, 2, 2)

# From actions/checkout 4, as in crates/cli/tests/in_place/callers.rs. Those that may fail do so
# where a setting is not there.
SECOND_RUN = r"""
git version
git config --local --get remote.origin.url
git rev-parse --symbolic-full-name --verify --quiet HEAD
git checkout --detach
git rev-parse --symbolic-full-name --branches
git branch --delete --force main
git rev-parse --symbolic-full-name --remotes=origin
git submodule status
git clean -ffdx
git reset --hard HEAD
git config --local gc.auto 0
git config --local --name-only --get-regexp 'core\.sshCommand' || :
git submodule foreach --recursive "git config --local --get-regexp 'core\.sshCommand' || :"
git config --local --name-only --get-regexp 'http\.https\:\/\/github\.com\/\.extraheader' || :
git config --local http.https://github.com/.extraheader 'AUTHORIZATION: basic ***'
git -c protocol.version=2 fetch --no-tags --prune --no-recurse-submodules --depth=1 origin \
    +$NEW:refs/remotes/origin/main
git sparse-checkout disable
git config --local --unset-all extensions.worktreeConfig || :
git checkout --progress --force -B main refs/remotes/origin/main
git log -1 --format=%H
git config --local --unset-all http.https://github.com/.extraheader
"""


def build_job(setting):
    """Linux, in memory."""
    require_free(tmpfs(), 100 if setting.is_smoke else 4000)
    with Place(tmpfs(), setting.corpora.small()) as place:
        job = _Job(place, setting)
        job.serve(setting.corpora.linux(), "HEAD")
        with daemon(place.base, place.env) as url:
            job.run_first(url)
            linked = with_links(place.env, place.base)
            pairs = in_pairs(lambda: job.run_second(place.env), lambda: job.run_second(linked),
                             setting.pairs)
    title = "actions/checkout, second run, by the links: Linux, 500 files changed, tmpfs"
    return Outcome([wall_row("build-job", title, pairs, 1.8, 2.5)], {"build-job": pairs})


def build_job_latency(setting):
    """Kubernetes; the tree has round trips, the repository itself is local."""
    rtt_us = 100 if setting.is_smoke else 1000
    latencyfs = setting.corpora.latencyfs()
    release = setting.corpora.k8s_releases()[2]
    require_free(tmpfs(), 1000)
    with Place(tmpfs(), setting.corpora.small()) as place, LatencyMount(
            place.base, latencyfs, rtt_us) as mount:
        job = _Job(place, setting, mount)
        job.serve(setting.corpora.k8s(), release)
        with daemon(place.base, place.env) as url:
            job.run_first(url)
            linked = with_links(place.env, place.base)
            best, seconds = find_best(
                lambda workers, timeout: job.run_second(_with_workers(place.env, workers), timeout),
                (16,) if setting.is_smoke else (16, 32, 8, 1), 1)
            tuned = _with_workers(place.env, best)
            pairs = in_pairs(lambda: job.run_second(tuned), lambda: job.run_second(linked),
                             setting.pairs)
            counters = mount.counters()
    title = ("actions/checkout, second run, by the links: Kubernetes, 500 files changed, "
             "1 ms round trips")
    return Outcome([wall_row("build-job-1ms", title, pairs, 6.0, 10.0, git_workers=best)],
                   {"build-job-1ms": pairs},
                   {"git_s_by_workers": seconds, "ours_counters": counters})


def _with_workers(env, workers):
    return {**env, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "checkout.workers",
            "GIT_CONFIG_VALUE_0": str(workers)}


class _Job:
    """A directory in which a build runs; with `mount` it is there, and its repository elsewhere."""

    def __init__(self, place, setting, mount=None):
        self.place = place
        self.is_smoke = setting.is_smoke
        self.mount = mount
        self.tree = mount.point if mount else place.base / "job"
        self.git_dir = place.base / "job.git" if mount else self.tree / ".git"
        self.kept = place.base / "kept"

    def serve(self, repository, revision):
        """The repository at its server, with a commit to build and one that comes later."""
        self.served = serve_release(self.place, "served", repository, revision)
        files = list_files(self.served)
        chosen = random.Random(1).sample(files, min(CHANGED, len(files) // 4))
        self.new = add_commit(self.served, "later", "HEAD", chosen)
        chosen = random.Random(2).sample(files, min(OBJECT_FILES, len(files)))
        self.object_files = [name.decode() + ".o" for name, _, _ in chosen]

    def run_first(self, url):
        """Keeps the repository that the first run leaves, but for the index."""
        git = self.place.git_at
        git(".", "init", "-q", "-b", "main", "first")
        git("first", "remote", "add", "origin", f"{url}/{self.served.name}")
        git("first", "config", "gc.auto", "0")
        git("first", "fetch", "-q", "--no-tags", "--depth=1", "origin",
            "+refs/heads/main:refs/remotes/origin/main")
        git("first", "update-ref", "refs/heads/main", "refs/remotes/origin/main")
        (self.place.base / "first" / ".git").rename(self.kept)

    def run_second(self, env, timeout_s=None):
        """Always from the same state, in which a build has left its files."""
        self._restore()
        sample = run(["sh", "-ec", SECOND_RUN], {**env, "NEW": self.new}, self.tree,
                     timeout_s=timeout_s)
        self._require_new()
        return sample

    def _restore(self):
        if self.mount:
            self.mount.clear()
            self.mount.open(rtt_us=0)
        remove(self.git_dir)
        if not self.mount:
            remove(self.tree)
            self.tree.mkdir()
        shutil.copytree(self.kept, self.git_dir)
        if self.mount:
            (self.tree / ".git").write_text(f"gitdir: {self.git_dir}\n")
        self.place.git_at(self.tree, "checkout", "-q", "-f")
        for name in self.object_files:
            (self.tree / name).touch()
        litter(self.tree / "target", SMOKE_NESTING if self.is_smoke else NESTING)
        if not self.is_smoke:
            # An index that is younger than every file.
            time.sleep(1.1)
        self.place.git_at(self.tree, "status", "--porcelain")
        if self.mount:
            self.mount.open()

    def _require_new(self):
        """The proof that the work was done."""
        git = self.place.git_at
        found = git(self.tree, "status", "--porcelain", "--ignored")
        if found:
            raise RuntimeError(f"the tree is not clean:\n{found[:2000]}")
        if git(self.tree, "rev-parse", "main", "HEAD").split() != [self.new] * 2:
            raise RuntimeError("the new commit is not checked out")
