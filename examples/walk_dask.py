"""Lists a tree with the workers of a Dask cluster: walk_dask.py TREE OUT.parquet [BUDGET [SCHEDULER]]"""

import itertools
import subprocess
import sys

from dask.distributed import Client, as_completed


def hedgerow(*words):
    code = subprocess.run(["hedgerow", "walk", *words]).returncode
    if code not in (0, 3):  # 3: something could not be read, and was named
        raise RuntimeError(f"hedgerow ended with {code}")


def list_part(tree, budget, part, *given):
    hedgerow("--part", "--budget", budget, "-f", "-o", part, "--rest", f"{part}.rest", *given, tree)
    with open(f"{part}.rest") as rest:
        return part, int(rest.read().split()[-1])


if __name__ == "__main__":
    tree, out, budget, *scheduler = (*sys.argv[1:], "10s")[:3] + tuple(sys.argv[4:])
    client = Client(*scheduler)  # without a scheduler: a cluster of this machine
    names = (f"{out}.part{number}" for number in itertools.count())
    parts, pending = [], as_completed([client.submit(list_part, tree, budget, next(names))])
    for done in pending:
        part, left = done.result()
        parts.append(part)
        shares = min(left, max(1, 16 - pending.count()))  # enough for all workers, no more
        for share in range(1, shares + 1):
            given = f"--from={part}", f"--shard={share}/{shares}"
            pending.add(client.submit(list_part, tree, budget, next(names), *given))
    hedgerow("--merge", "-f", "-o", out, *parts)
