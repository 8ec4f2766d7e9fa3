"""A directory behind latencyfs, a file system with round trips."""

import json
import os
import subprocess
import time
from pathlib import Path

from skipped import Skipped
from stopping import undisturbed


class LatencyMount:
    """`backing`, a directory in memory, seen at `point` with round trips while it is open; closed
    after the `with`."""

    SLOTS = 64

    def __init__(self, base, latencyfs, rtt_us):
        self.backing = base / "backing"
        self.point = base / "mount"
        self.latencyfs = latencyfs
        self.rtt_us = rtt_us
        self.is_mounted = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with undisturbed():
            self.close()

    def open(self, rtt_us=None):
        """Mounts it, again if it is mounted: a client that knows nothing. Raises Skipped."""
        rtt_us = self.rtt_us if rtt_us is None else rtt_us
        self.close()
        self.backing.mkdir(exist_ok=True)
        self.point.mkdir(exist_ok=True)
        with undisturbed():
            done = subprocess.run(
                [str(self.latencyfs), "--nfs", str(rtt_us), "--slots", str(self.SLOTS),
                 "--daemon", str(self.backing), str(self.point)],
                capture_output=True, text=True, check=False,
            )
        if done.returncode != 0:
            raise Skipped(f"latencyfs cannot be mounted: {done.stderr.strip()}")
        self.is_mounted = True

    def clear(self):
        """Unmounts it and removes what it showed."""
        self.close()
        subprocess.run(["rm", "-rf", str(self.backing)], check=True)

    def counters(self):
        """What was charged since it was mounted."""
        return json.loads((self.point / ".latencyfs").read_text())

    def limit_s(self):
        """The round trips since it was mounted, had every slot been busy all the time."""
        return self.counters()["charged_us"] / self.SLOTS / 1e6

    def close(self):
        tool = ["umount"] if os.geteuid() == 0 else ["fusermount3", "-u"]
        for _ in range(50):
            # Asked of the kernel: whoever was interrupted while mounting cannot know.
            self.is_mounted = f" {self.point} " in Path("/proc/self/mounts").read_text()
            if not self.is_mounted:
                return
            done = subprocess.run([*tool, str(self.point)], capture_output=True, check=False)
            if done.returncode != 0:
                time.sleep(0.1)
        raise RuntimeError(f"cannot unmount {self.point}")
