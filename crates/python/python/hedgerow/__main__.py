"""``python -m hedgerow``: the command line."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Become the command line, which is a program of its own in this package."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "hedgerow")
    try:
        os.execv(program, ["hedgerow", *sys.argv[1:]])
    except OSError as error:
        print(f"error: cannot run '{program}': {error.strerror}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
