"""A checkout in a clone that has no file contents yet: one request for all of them, then the files."""

import shutil

from contenders import GIT_WORKERS, git, hedgerow
from measure import find_best, in_pairs
from places import Place, require_free, tmpfs
from results import Outcome, wall_row


def blobless(setting):
    """A clone with `--filter=blob:none` from a repository beside it, checked out."""
    repository = setting.corpora.k8s()
    release = setting.corpora.k8s_releases()[-1]
    require_free(tmpfs(), 100 if setting.is_smoke else 4000)
    with Place(tmpfs(), repository, release) as place:
        place.git("config", "uploadpack.allowFilter", "true")
        place.git("config", "uploadpack.allowAnySHA1InWant", "true")
        place.git_at(".", "clone", "-q", "--no-checkout", "--filter=blob:none",
                     f"file://{place.git_dir}", "blobless")
        clone = place.base / "blobless"
        place.git_at("blobless", "update-ref", "--no-deref", "HEAD", f"{release}^{{commit}}")
        untouched = place.base / "untouched"
        clone.rename(untouched)
        place.tree = clone

        def checked_out(command, timeout_s=None):
            shutil.rmtree(clone, ignore_errors=True)
            shutil.copytree(untouched, clone, symlinks=True)
            return place.run([command], timeout_s=timeout_s)

        best, seconds = find_best(
            lambda workers, timeout: checked_out(git("checkout", "-q", workers=workers), timeout),
            GIT_WORKERS, 1)
        pairs = in_pairs(lambda: checked_out(git("checkout", "-q", workers=best)),
                         lambda: checked_out(hedgerow("checkout", "-q")), setting.pairs)
        if place.output(["git", "-C", str(clone), "status", "--porcelain"]):
            raise RuntimeError("the clone is not clean")
        # As if the server were another machine's: git makes the pack for both.
        place.git_at("untouched", "config", "remote.origin.uploadpack", "git-upload-pack")
        by_git = in_pairs(lambda: checked_out(git("checkout", "-q", workers=best)),
                          lambda: checked_out(hedgerow("checkout", "-q")), setting.pairs)
    title = "Kubernetes without blobs, checkout with one request, tmpfs"
    # Most of the time is the server's: git's looks for deltas, hedgerow's sends what there is.
    served_by_git = f"{title}; git's server for both"
    return Outcome([wall_row("blobless", title, pairs, 1.5, 2.0, git_workers=best),
                    wall_row("blobless-git-server", served_by_git, by_git, 1.0, 1.1,
                             git_workers=best)],
                   {"blobless": pairs, "blobless-git-server": by_git},
                   {"git_s_by_workers": seconds})
