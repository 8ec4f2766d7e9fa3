"""Listings as tables: of many entries, against find and pyarrow; and by four processes, each with a
client of its own of a file system with round trips, against one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from cases.memory import Crowd
from contenders import HEDGEROW, hedgerow
from measure import Sample, in_pairs, median
from mounts import LatencyMount
from places import MadePlace, tmpfs
from results import Outcome, Row, wall_row
from skipped import Skipped

CLIENTS = 4
SLOTS = 16
RTT_US = 5000

# Streams what find prints into a Parquet file, a batch after the other.
WITH_PYARROW = r"""
import sys
import pyarrow as pa, pyarrow.csv as csv, pyarrow.parquet as pq
names = "path type mode nlink uid gid size mtime ctime atime ino dev blocks".split()
types = {name: pa.float64() if name.endswith("time") else pa.uint64() for name in names}
types.update(path=pa.string(), type=pa.string())
reader = csv.open_csv(sys.stdin.buffer, csv.ReadOptions(column_names=names),
                      csv.ParseOptions(delimiter="\t", quote_char=False),
                      csv.ConvertOptions(column_types=types))
with pq.ParquetWriter(sys.argv[1], reader.schema, compression="zstd") as writer:
    for batch in reader:
        writer.write_batch(batch)
"""
FIND = r"find . -mindepth 1 -printf '%P\t%y\t%m\t%n\t%U\t%G\t%s\t%T@\t%C@\t%A@\t%i\t%D\t%b\n'"


def table_5m(setting):
    """5 million entries into Parquet: rate, and peak memory."""
    python = python_with("pyarrow.parquet")
    directories, files = (20, 50) if setting.is_smoke else (5_000, 999)
    with Crowd(directories, files) as place:
        theirs, ours = str(place.base / "theirs.parquet"), str(place.base / "ours.parquet")
        script = place.base / "with_pyarrow.py"
        script.write_text(WITH_PYARROW)
        rival = ["sh", "-c", f'set -e; {FIND} | "$0" "$1" "$2"', python, str(script), theirs]
        own = hedgerow("walk", "--format", "parquet", "-f", "-o", ours)
        pairs = in_pairs(lambda: place.run([rival], watch_memory=True),
                         lambda: place.run([own], watch_memory=True), (setting.pairs + 1) // 2)
        rows = subprocess.run([python, "-c", "import sys, pyarrow.parquet as pq\n"
                               "print(*(pq.ParquetFile(file).metadata.num_rows for file in sys.argv[1:]))",
                               theirs, ours], check=True, capture_output=True, text=True).stdout
        if rows.split() != [str(directories * (files + 1))] * 2:
            raise RuntimeError(f"not all entries are in both tables: {rows}")
        sizes = {"theirs": os.path.getsize(theirs), "ours": os.path.getsize(ours)}
    title = f"{directories} directories of {files} files into Parquet"
    rate = wall_row("table-5m", title, pairs, 5, 10, rival="find -printf, pyarrow")
    megabytes = [sample.anon_kib * 1024 / 1e6 for sample in pairs.ours]
    memory = Row("table-5m-memory", f"{title}, peak memory", "MB", median(megabytes), min(megabytes),
                 max(megabytes), 300, 150, is_lower_better=True,
                 note="peak of RssAnon, polled every millisecond")
    return Outcome([rate, memory], {"table-5m": pairs}, {"bytes": sizes})


def cluster(setting):
    """Four processes of a Dask cluster against one process, with round trips; each process has a mount
    of its own with so many slots."""
    python = python_with("dask.distributed")
    directories, files = (40, 10) if setting.is_smoke else (4_000, 20)
    with Clients(setting.corpora.latencyfs(), directories, files) as place:
        out, single = place.base / "cluster.parquet", place.base / "single.parquet"
        # Each process gets some parts, so that all end at about the same time. They are short, so the
        # number of workers is told instead of found out.
        budget = "40" if setting.is_smoke else "4000"

        def four():
            place.reopen()
            words = [str(HEDGEROW), str(out), budget, str(SLOTS), *(str(mount.point) for mount in place.mounts)]
            done = subprocess.run([python, str(Path(__file__).resolve().parents[1] / "cluster.py"), *words],
                                  env=place.env, cwd=place.base, check=True, capture_output=True, text=True)
            for part in place.base.glob("cluster.parquet.part*"):
                part.unlink()
            return Sample(float(done.stdout.split()[-1]), 0, 0, 0)

        def one():
            place.reopen()
            words = hedgerow("walk", "--format", "parquet", "-f", "-o", str(single),
                             str(place.mounts[0].point))
            return place.run([words])

        # The merge refuses parts that are not all.
        pairs = in_pairs(one, four, setting.pairs)
    row = wall_row("cluster", f"{CLIENTS} processes, 5 ms round trips, {SLOTS} slots each, against one process",
                   pairs, 3, 3.7, rival="one process")
    return Outcome([row], {"cluster": pairs}, {})


def python_with(module):
    """A Python that can import the module: BENCH_PYTHON, or this one."""
    python = os.environ.get("BENCH_PYTHON", sys.executable)
    if not shutil.which(python) or subprocess.run([python, "-c", f"import {module}"], capture_output=True,
                                                  check=False).returncode:
        raise Skipped(f"{module} is not installed for {python}; BENCH_PYTHON names another")
    return python


class ClientMount(LatencyMount):
    """One of several mounts of the same directory."""

    SLOTS = SLOTS

    def __init__(self, base, latencyfs, number):
        super().__init__(base, latencyfs, RTT_US)
        self.point = base / f"client{number}"


class Clients(MadePlace):
    """A made-up tree behind several clients."""

    def __init__(self, latencyfs, directories, files):
        super().__init__(tmpfs(), lambda place: place.fill(directories, files))
        self.mounts = [ClientMount(self.base, latencyfs, number) for number in range(CLIENTS)]

    def fill(self, directories, files):
        """A tree of three levels in what all clients show."""
        for number in range(directories):
            directory = self.mounts[0].backing / f"d{number % 97:02}" / f"e{number}"
            directory.mkdir(parents=True)
            for file in range(files):
                (directory / f"file{file}").touch()

    def reopen(self):
        """All clients forget what they know."""
        for mount in self.mounts:
            mount.open()

    def close(self):
        for mount in self.mounts:
            mount.close()
        super().close()
