"""Clones from a git daemon on this machine and by path, fetches with hedgerow inside, and what it
costs that git's words are looked at."""

import contextlib
import shutil
import socket
import subprocess
import time

from contenders import HEDGEROW, git, hedgerow
from measure import in_pairs
from places import Place, require_free, tmpfs
from results import Outcome, amount_row, cpu_row, wall_row

# Calls that are handed over, in one measurement.
CALLS = 200


@contextlib.contextmanager
def daemon(base, env):
    """A git daemon for the repositories below `base`; its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        ["git", "daemon", "--export-all", "--reuseaddr", "--listen=127.0.0.1", f"--port={port}",
         f"--base-path={base}", str(base)],
        env=env, start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield f"git://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def clones(setting):
    """Whole clones of a deep history and of a wide tree; one commit; without blobs; by path."""
    deep, linux, k8s = (setting.corpora.deep(), setting.corpora.linux(), setting.corpora.k8s())
    require_free(tmpfs(), 100 if setting.is_smoke else 6000)
    outcome = Outcome([])
    with Place(tmpfs(), setting.corpora.small()) as place:
        clone = place.base / "clone"

        def cloned(command, *words):
            shutil.rmtree(clone, ignore_errors=True)
            sample = place.run([command("clone", "-q", *words, str(clone))])
            if place.output(["git", "-C", str(clone), "status", "--porcelain"]):
                raise RuntimeError("the clone is not clean")
            return sample

        def measure(row, title, reach, aim, *words, cpu=None):
            pairs = in_pairs(lambda: cloned(git, *words), lambda: cloned(hedgerow, *words),
                             setting.pairs)
            outcome.pairs[row] = pairs
            outcome.rows.append(wall_row(row, title, pairs, reach, aim))
            if cpu:
                outcome.rows.append(
                    cpu_row(f"{row}-cpu", f"{title}: user+sys of the client", pairs, *cpu))

        for name, repository in (("deep", deep), ("linux", linux), ("k8s", k8s)):
            served = place.base / f"{name}.git"
            place.git_at(".", "clone", "-q", "--bare", "--no-hardlinks", str(repository),
                         str(served))
            place.git_at(served, "config", "uploadpack.allowFilter", "true")
            place.git_at(served, "config", "uploadpack.allowAnySHA1InWant", "true")
            place.git_at(served, "repack", "-adbq")
        with daemon(place.base, place.env) as url:
            measure("clone-deep", "clone of a deep history from a git daemon, tmpfs", 3.0, 4.5,
                    f"{url}/deep.git", cpu=(1 / 2.3, 1 / 3))
            measure("clone-linux", "clone of Linux, one commit, from a git daemon, tmpfs", 2.3, 3.0,
                    f"{url}/linux.git")
            measure("clone-depth-1", "clone of Kubernetes with depth 1", 1.3, 2.0, "--depth", "1",
                    f"{url}/k8s.git")
            measure("clone-blobless", "clone of Kubernetes without blobs, and its checkout", 1.5,
                    2.0, "--filter=blob:none", f"{url}/k8s.git")
        measure("clone-path", "clone of a deep history by its path, tmpfs", 1.5, 3.0,
                str(place.base / "deep.git"))
    return outcome


def handing_over(setting):
    """What a call costs that the link named git hands over to git."""
    with Place(tmpfs(), setting.corpora.small()) as place:
        links = place.base / "links"
        links.mkdir()
        (links / "git").symlink_to(HEDGEROW)
        script = f"i=0; while [ $i -lt {CALLS} ]; do git rev-parse HEAD >/dev/null; i=$((i+1)); done"

        def calls(first):
            path = f"export PATH={links}:$PATH; " if first else ""
            return place.run([["sh", "-c", path + script]])

        pairs = in_pairs(lambda: calls(False), lambda: calls(True), setting.pairs)
        amounts = [1000 * (ours.wall_s - gits.wall_s) / CALLS
                   for gits, ours in zip(pairs.rival, pairs.ours)]
        row = amount_row("handing-over", "a command handed to git, in addition to git's own time",
                         "ms", amounts, 1.5, 0.8, is_lower_better=True)
        return Outcome([row], {"handing-over": pairs})
