"""Repositories that are made for one case, by what git-fast-import(1) reads."""

import subprocess
import tempfile
from pathlib import Path

from contenders import environment, git

COMMITTER = b"A U Thor <author@example.com> 1700000000 +0000"


class MadeRepositories:
    """A directory for them that is gone after the `with`."""

    def __init__(self):
        self.home = tempfile.TemporaryDirectory(prefix="hedgerow-bench-")
        self.env = environment(self.home.name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.home.cleanup()

    def repository(self, name, history, marks=None):
        """A bare repository with what the pieces of `history` tell, in one pack. The ids of marked
        commits are written to the file `marks`."""
        path = Path(self.home.name) / name
        subprocess.run(git("init", "-q", "--bare", str(path)), env=self.env, check=True)
        # A pack, however few its objects are.
        words = ["-c", "fastimport.unpackLimit=0", "fast-import", "--quiet"]
        if marks is not None:
            words.append(f"--export-marks={marks}")
        with subprocess.Popen(git(*words), env=self.env, cwd=path,
                              stdin=subprocess.PIPE) as importer:
            for piece in history:
                importer.stdin.write(piece)
        if importer.returncode != 0:
            raise RuntimeError(f"git fast-import ended with {importer.returncode}")
        return path


def commit(reference, mark=None):
    """The head of a commit; what it changes follows."""
    marked = b"" if mark is None else b"mark :%d\n" % mark
    return b"commit %s\n%scommitter %s\ndata 2\nc\n" % (reference.encode(), marked, COMMITTER)
