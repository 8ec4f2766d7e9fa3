"""How much memory a large checkout and a large walk take."""

import os
import subprocess

import walkers
from contenders import hedgerow
from measure import median
from places import MadePlace, Place, require_free, tmpfs
from results import Outcome, Row
from skipped import Skipped

# What a tmpfs takes for an empty file and its name, with room to spare.
BYTES_PER_ENTRY = 1500
# Name, directories in the root, files in each.
SHAPES = (("", 5_000, 999), ("-wide", 250_000, 19))


def memory(setting):
    repository = setting.corpora.linux()
    require_free(tmpfs(), 100 if setting.is_smoke else 4000)
    with Place(tmpfs(), repository) as place:
        samples = []
        for _ in range(setting.pairs):
            place.empty()
            samples += [place.run([hedgerow("checkout", "-q")], watch_memory=True)]
        place.require_clean()
    row = _row("memory", "Linux, peak memory besides mapped files", samples, 120, 60)
    rss = median([sample.max_rss_kib * 1024 / 1e6 for sample in samples])
    return Outcome([row], {}, {"rss_with_mapped_packs_mb": round(rss, 1)})


def memory_5m(setting):
    """5 million entries, walked in the three ways that differ in what they have to hold."""
    outcome = Outcome([])
    for shape, directories, files in SHAPES:
        if setting.is_smoke:
            directories //= 250
            files = min(files, 50)
        with Crowd(directories, files) as place:
            for mode, options in (("summary", ("--stat", "--summary")), ("list", ()),
                                  ("sort", ("--sort",))):
                name = f"memory-5m{shape}-{mode}"
                command = hedgerow("walk", *options)
                samples = [place.run([command], watch_memory=True)
                           for _ in range((setting.pairs + 1) // 2)]
                title = (f"{directories} directories of {files} files: "
                         f"{' '.join(['walk', *options])}, peak memory")
                outcome.rows.append(_row(name, title, samples, 200, 32))
                outcome.details[name] = {"s": median([sample.wall_s for sample in samples])}
            if walkers.count(place) != directories * (files + 1):
                raise RuntimeError("hedgerow walk has not found all")
    return outcome


def _row(name, title, samples, reach, aim):
    megabytes = [sample.anon_kib * 1024 / 1e6 for sample in samples]
    return Row(name, title, "MB", median(megabytes), min(megabytes), max(megabytes), reach, aim,
               is_lower_better=True, note="peak of RssAnon, polled every millisecond")


def _fill(place, directories, files):
    """Directories that all stand in the root, with empty files."""
    for number in range(directories):
        directory = place.tree / f"directory{number:06}"
        directory.mkdir()
        at = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for file in range(files):
                os.mknod(f"file{file:04}", dir_fd=at)
        finally:
            os.close(at)


class Crowd(MadePlace):
    """So many entries in memory: in /dev/shm, or in a mount of their own there if that has too
    few inodes for them."""

    def __init__(self, directories, files):
        super().__init__(tmpfs(), lambda place: _fill(place, directories, files))
        self._entries = directories * (files + 1)
        self._is_mounted = False

    def open(self):
        _require_memory(self._entries * BYTES_PER_ENTRY)
        if os.statvfs(self.base).f_favail < self._entries + 1000:
            self.tree.mkdir()
            self._mount()
        super().open()

    def _mount(self):
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "nr_inodes=0,mode=700",
                               "hedgerow-bench", str(self.tree)], capture_output=True, check=False)
        if done.returncode != 0:
            raise Skipped("/dev/shm has too few inodes, and only root can mount another")
        self._is_mounted = True

    def close(self):
        if self._is_mounted:
            subprocess.run(["umount", str(self.tree)], check=True)
            self._is_mounted = False
        super().close()


def _require_memory(wanted):
    with open("/proc/meminfo") as info:
        found = dict(line.split(":", 1) for line in info)
    available = int(found["MemAvailable"].split()[0]) * 1024
    if available < wanted + (1 << 30):
        raise Skipped(f"{available >> 20} MiB of memory are available, {wanted >> 20} and a "
                      "reserve are needed")
