"""A directory behind latencyfs, a file system with round trips."""

import json
import os
import subprocess
import time

from skipped import Skipped


class LatencyMount:
    """`backing`, a directory in memory, seen at `point` with round trips while it is open."""

    SLOTS = 64

    def __init__(self, base, latencyfs, rtt_us):
        self.backing = base / "backing"
        self.point = base / "mount"
        self.latencyfs = latencyfs
        self.rtt_us = rtt_us
        self.is_mounted = False

    def open(self):
        """Mounts it, again if it is mounted: a client that knows nothing. Raises Skipped."""
        self.close()
        self.backing.mkdir(exist_ok=True)
        self.point.mkdir(exist_ok=True)
        done = subprocess.run(
            [str(self.latencyfs), "--nfs", str(self.rtt_us), "--slots", str(self.SLOTS),
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
        if not self.is_mounted:
            return
        tool = ["umount"] if os.geteuid() == 0 else ["fusermount3", "-u"]
        for _ in range(50):
            done = subprocess.run([*tool, str(self.point)], capture_output=True, check=False)
            if done.returncode == 0:
                self.is_mounted = False
                return
            time.sleep(0.1)
        raise RuntimeError(f"cannot unmount {self.point}")
