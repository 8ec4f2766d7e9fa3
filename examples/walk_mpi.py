"""Lists a tree with MPI: mpiexec -n 4 python -m mpi4py.futures walk_mpi.py TREE OUT.parquet [BUDGET]"""

import itertools
import subprocess
import sys
from concurrent.futures import FIRST_COMPLETED, wait

from mpi4py.futures import MPIPoolExecutor


def hedgerow(*words):
    code = subprocess.run(["hedgerow", "walk", *words]).returncode
    if code not in (0, 3):  # 3: something could not be read, and was named
        raise RuntimeError(f"hedgerow ended with {code}")


def list_part(tree, budget, part, *given):
    hedgerow("--part", "--budget", budget, "-f", "-o", part, "--rest", f"{part}.rest", *given, tree)
    with open(f"{part}.rest") as rest:
        return part, int(rest.read().split()[-1])


if __name__ == "__main__":
    tree, out, budget = (*sys.argv[1:], "10s")[:3]
    names = (f"{out}.part{number}" for number in itertools.count())
    with MPIPoolExecutor() as executor:
        parts, pending = [], {executor.submit(list_part, tree, budget, next(names))}
        while pending:
            finished, pending = wait(pending, return_when=FIRST_COMPLETED)
            for part, left in (done.result() for done in finished):
                parts.append(part)
                shares = min(left, max(1, 16 - len(pending)))  # enough for all workers, no more
                for share in range(1, shares + 1):
                    given = f"--from={part}", f"--shard={share}/{shares}"
                    pending.add(executor.submit(list_part, tree, budget, next(names), *given))
    hedgerow("--merge", "-f", "-o", out, *parts)
