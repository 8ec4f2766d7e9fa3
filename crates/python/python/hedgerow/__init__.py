"""Whole file trees, fast: walks, Git working trees and packs, SquashFS images.

==========================  ==================================================================
:mod:`hedgerow.os`          ``walk`` and ``scandir``, drop-ins for those of the standard library
:func:`walk`                a tree as Arrow record batches, for pyarrow, polars, duckdb, pandas
:mod:`hedgerow.listing`     the same as Parquet and Arrow files, also in parts by several machines
:func:`checkout`            move a Git working tree to another commit
:func:`status`              what changed in a Git working tree
:class:`Repository`         history, objects and packs of a Git repository
:mod:`hedgerow.image`       images: create, also in parts, extract, verify, read
:mod:`hedgerow.filesystem`  images and commits as a file system of fsspec, ``hedgerow://``
:mod:`hedgerow.errors`      the exceptions that are no ``OSError``
==========================  ==================================================================

All of it releases the interpreter's lock while it works, and ends within a tenth of a second when
it is interrupted.
"""

from __future__ import annotations

import atexit as _atexit
import sys as _sys

from ._hedgerow import __version__
from ._hedgerow import ending as _ending

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os as _os
    from typing import Literal, Sequence, Union

    from . import errors as errors
    from . import image as image
    from . import listing as listing
    from . import os as os
    from ._hedgerow import Batch as Batch
    from ._hedgerow import Rows as Rows
    from .git import Change as Change
    from .git import CheckedOut as CheckedOut
    from .git import Commit as Commit
    from .git import Object as Object
    from .git import Pack as Pack
    from .git import Repository as Repository
    from .git import Status as Status
    from .git import checkout as checkout
    from .git import status as status

    _Path = Union[str, bytes, _os.PathLike[str], _os.PathLike[bytes]]

__all__ = [
    "Repository",
    "__version__",
    "checkout",
    "errors",
    "image",
    "listing",
    "os",
    "status",
    "walk",
]

# Imported when they are asked for: most programs use one of them.
_OF_GIT = {
    "Change",
    "CheckedOut",
    "Commit",
    "Object",
    "Pack",
    "Repository",
    "Status",
    "checkout",
    "status",
}
_MODULES = {"errors", "filesystem", "git", "image", "listing", "os"}


def _end() -> None:
    # Only Python 3.11 lets another interpreter of the process import this; its end is not the process's.
    if _sys.version_info < (3, 12):
        import _xxsubinterpreters as interpreters

        if interpreters.get_current() != interpreters.get_main():
            return
    _ending()


_atexit.register(_end)


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _MODULES:
        return import_module("." + name, __name__)
    if name in _OF_GIT:
        return getattr(import_module(".git", __name__), name)
    if name in ("Batch", "Rows"):
        return getattr(import_module("._hedgerow", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def walk(
    path: _Path,
    *,
    stat: bool = True,
    exclude: Sequence[str | bytes] = (),
    gitignore: bool = False,
    sort: bool = False,
    one_file_system: bool = False,
    max_depth: int | None = None,
    batch_rows: int = 65536,
    threads: int | None = None,
    errors: Literal["raise", "collect"] = "raise",
    record: bool = False,
) -> Rows:
    """List the tree below *path* as Arrow record batches, by as many threads as are useful.

    The result has ``__arrow_c_stream__``, so Arrow's users take it without a copy::

        table = pyarrow.table(hedgerow.walk("/data"))
        frame = polars.DataFrame(hedgerow.walk("/data"))
        rows = pyarrow.RecordBatchReader.from_stream(hedgerow.walk("/data"))
        duckdb.connect().execute("select type, sum(size_bytes) from rows group by type").fetchall()

    It can also be iterated, in batches. It can be taken once, in one of these ways: another reader, and
    who reads after ``close()``, gets an :class:`hedgerow.errors.Error`. The walk is under way when this
    returns; memory is bounded by a few batches. Links are not followed, and *path* itself is not listed.

    Columns: ``path`` (text, relative to *path*; bytes that are not UTF-8 are replaced),
    ``path_bytes`` (only where the path is not UTF-8), ``type`` (``file``, ``directory``, ``symlink``,
    ``fifo``, ``socket``, ``block_device``, ``character_device``); with *stat* also ``mode`` (the lower
    12 bits), ``nlink``, ``uid``, ``gid``, ``size_bytes``, ``mtime``, ``ctime``, ``atime``
    (nanoseconds, UTC; ``atime`` is null for directories), ``ino``, ``dev``, ``rdev`` and ``blocks``
    (of 512 bytes).

    :param stat: stat each entry. Without it, nothing is statted whose type the directory tells.
    :param exclude: patterns as in gitignore(5); what matches is left out, with everything below.
    :param gitignore: leave out what ``.gitignore`` files exclude, and ``.git``.
    :param sort: in canonical order instead of as found: directory by directory, names by their bytes, so
        ``a/x`` comes before ``a!``.
    :param one_file_system: do not enter other file systems.
    :param max_depth: list entries up to this depth; 1 for those of *path* itself.
    :param batch_rows: rows in a batch.
    :param threads: number of threads; by default as many as the file system keeps busy.
    :param errors: ``"raise"``: what cannot be read is an :class:`OSError` after the last batch;
        ``"collect"``: it is in the attribute ``errors`` of the result.
    :param record: record how many directories wait and how many threads work: for ``queue()`` and
        ``plot()`` of the result.
    :raises OSError: *path* cannot be opened.
    :raises ValueError: *max_depth*, *batch_rows* or *threads* makes no sense.
    """
    from ._arguments import number, number_or_none, several, threads_of
    from ._hedgerow import walk_rows

    if errors not in ("raise", "collect"):
        raise ValueError("errors is 'raise' or 'collect'")
    return walk_rows(
        path,
        stat=stat,
        exclude=several("exclude", exclude),
        gitignore=gitignore,
        sort=sort,
        one_file_system=one_file_system,
        max_depth=number_or_none("max_depth", max_depth),
        batch_rows=number("batch_rows", batch_rows, 1),
        threads=threads_of(threads),
        errors=errors,
        record=record,
    )
