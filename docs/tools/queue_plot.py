"""Walks a tree with the package hedgerow and writes the plot of its queue, in SVG:
`queue_plot.py DIRECTORY FILE`.

The plot of the documentation is of the tree that `queue_plot.py --make DIRECTORY` makes, behind the
program latencyfs with round trips of one millisecond.
"""

import sys
from pathlib import Path


def make(top):
    """A tree of 4,000 directories with 40,000 files, four levels deep."""
    for number in range(4000):
        directory = top / f"{number % 10}" / f"{number // 10 % 20}" / f"{number}"
        directory.mkdir(parents=True, exist_ok=True)
        for name in range(10):
            (directory / f"{name}.c").touch()


def plot(top, target):
    import hedgerow

    rows = hedgerow.walk(top, record=True)
    entries = sum(len(batch) for batch in rows)
    longest = max(waiting for _, waiting, _, _ in rows.queue())
    Path(target).write_text(rows.plot())
    print(f"{entries} entries, at most {longest} tasks waiting")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if sys.argv[1] == "--make":
        make(Path(sys.argv[2]))
    else:
        plot(*sys.argv[1:])


main()
