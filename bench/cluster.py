"""Lists a tree with a Dask cluster of this machine, each process through a mount of its own, and prints
the seconds without those that the cluster takes to start:

    cluster.py HEDGEROW OUT BUDGET JOBS MOUNT...
"""

import itertools
import subprocess
import sys
import time

from dask.distributed import Client, LocalCluster, as_completed, get_worker


def list_part(hedgerow, jobs, mounts, budget, part, *given):
    """Lists a part; returns its name and the number of directories that it left."""
    tree = mounts[int(get_worker().name)]
    subprocess.run([hedgerow, "walk", "-j", jobs, "--part", "--budget", budget, "-f", "-o", part,
                    "--rest", f"{part}.rest", *given, tree], check=True)
    with open(f"{part}.rest", encoding="utf-8") as rest:
        return part, int(rest.read().split()[-1])


def main():
    hedgerow, out, budget, jobs, *mounts = sys.argv[1:]
    cluster = LocalCluster(n_workers=len(mounts), threads_per_worker=1, processes=True,
                           dashboard_address=None)
    with cluster, Client(cluster) as client:
        client.wait_for_workers(len(mounts))
        started = time.perf_counter()
        names = (f"{out}.part{number}" for number in itertools.count())
        submit = lambda *given: client.submit(list_part, hedgerow, jobs, mounts, budget, next(names),
                                              *given, pure=False)
        # The first part is small, so that all processes soon have work.
        parts, pending = [], as_completed([client.submit(list_part, hedgerow, jobs, mounts, "1", next(names),
                                                         pure=False)])
        for done in pending:
            part, left = done.result()
            parts.append(part)
            # As many as keep all busy: many small parts cost more than they bring.
            shares = min(left, max(1, 2 * len(mounts) - pending.count()))
            for share in range(1, shares + 1):
                pending.add(submit(f"--from={part}", f"--shard={share}/{shares}"))
        subprocess.run([hedgerow, "walk", "--merge", "-f", "-o", out, *parts], check=True)
        print(time.perf_counter() - started)


if __name__ == "__main__":
    main()
