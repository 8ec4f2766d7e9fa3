"""The status of a clean working copy of Mercurial, against hg."""

import shutil
import subprocess
import time

from cases.walking import cold
from contenders import hedgerow
from measure import in_pairs, median
from places import MadeLatencyPlace, MadePlace, require_free, tmpfs
from results import Outcome, wall_row
from skipped import Skipped

HG = ["hg", "status"]


def hg_local(setting):
    make = _working_copy(setting)
    with MadePlace(tmpfs(), make) as place:
        pairs = in_pairs(lambda: place.run([HG]), lambda: place.run([hedgerow("status")]),
                         2 * setting.pairs)
        _require_clean(place)
        chg_s = _with_a_server(place, setting)
    row = wall_row("hg-local", "Kubernetes in Mercurial: status, clean, tmpfs", pairs, 4, 6,
                   rival="hg")
    if chg_s is not None:
        row.note = f"chg, whose server was started before: {chg_s:.3f} s"
    return Outcome([row], {"hg-local": pairs}, {"chg_s": chg_s})


def hg_latency(setting):
    """All of the working copy is behind the round trips, `.hg` too: that is where hg has it."""
    make, latencyfs = _working_copy(setting), setting.corpora.latencyfs()
    rtt_us = 100 if setting.is_smoke else 1000
    with MadeLatencyPlace(tmpfs(), make, latencyfs, rtt_us) as place:
        # The dirstate must hold what is seen through the mount.
        place.output(HG)
        pairs = in_pairs(lambda: cold(place, HG), lambda: cold(place, hedgerow("status")),
                         setting.pairs)
        counters, limit_s = place.mount.counters(), place.mount.limit_s()
        _require_clean(place)
    row = wall_row("hg-1ms", "Kubernetes in Mercurial: status, clean, 1 ms round trips", pairs,
                   20, 28, rival="hg", limit_s=limit_s)
    return Outcome([row], {"hg-1ms": pairs}, {"ours_counters": counters})


def _with_a_server(place, setting):
    """What hg takes without starting Python each time; None if there is no chg."""
    if shutil.which("chg") is None:
        return None
    place.env["CHGSOCKNAME"] = str(place.base / "chg")
    try:
        samples = [place.run([["chg", "status"]]) for _ in range(1 + setting.pairs)]
    finally:
        place.output(["chg", "--kill-chg-daemon"])
    return round(median([sample.wall_s for sample in samples[1:]]), 4)


def _working_copy(setting):
    """A function that makes one: a release of Kubernetes as the only commit."""
    if shutil.which("hg") is None:
        raise Skipped("there is no hg")
    repository, release = setting.corpora.k8s(), setting.corpora.k8s_releases()[2]
    require_free(tmpfs(), 100 if setting.is_smoke else 1000)

    def make(place):
        files = subprocess.Popen(["git", "-C", str(repository), "archive", release],
                                 env=place.env, stdout=subprocess.PIPE)
        subprocess.run(["tar", "x"], cwd=place.tree, stdin=files.stdout, check=True)
        if files.wait() != 0:
            raise RuntimeError("git archive failed")
        place.output(["hg", "init"])
        place.output(["hg", "add", "-q"])
        place.output(["hg", "commit", "-q", "-m", release, "-u", "A U Thor"])
        # hg does not trust times of this very second: it looks again and notes them now.
        time.sleep(2.1)
        place.output(HG)

    return make


def _require_clean(place):
    for command in (HG, hedgerow("status")):
        found = place.output(command)
        if found:
            raise RuntimeError(f"{command[0]}: not clean:\n{found[:2000]}")
