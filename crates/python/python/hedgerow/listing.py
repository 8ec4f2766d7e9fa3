"""Listings of directory trees as Parquet and Arrow files, whole or in parts.

:func:`write_parquet` and :func:`write_arrow` write one for a tree. A tree that is too large for one
machine is listed in parts: :func:`walk_part` lists directories until a budget is spent and tells
which are left, whoever has time goes on with those, and :func:`merge` makes one file of all parts,
with the bytes that one machine would have written::

    from hedgerow import listing

    pending, parts = [None], []
    while pending:
        name = f"part{len(parts)}.parquet"
        part = listing.walk_part("/data", 100_000, name, rest=pending.pop())
        parts.append(name)
        pending.extend([directory] for directory in part.rest)
    listing.merge(parts, "data.parquet")

A listing has a row for each entry below its root, in canonical order: directory by directory, names by
their bytes, so ``a/x`` comes before ``a!``. (By the bytes of whole paths it would not: search by the key
``path.encode().split(b"/")``.) Columns and types are those of :func:`hedgerow.walk`, all statted. Its bytes depend on the tree alone, and are those of ``hedgerow
walk --format parquet``. Memory does not grow with the tree. A file gets its name when it is complete: after
an error or an interruption there is none.

Files may also be URLs that fsspec knows, like ``s3://bucket/part``: what is written goes through a
temporary file of this machine, and what is read is copied to one, in a directory ``hedgerow-*`` where
:mod:`tempfile` puts it; a process that is killed leaves it there. Credentials are where the
implementation of fsspec looks for them.
"""

from __future__ import annotations

import datetime as _datetime
import os as _os
from typing import Any, Iterable, Literal, NamedTuple, Optional, Sequence, Union

from . import _hedgerow, _remote
from ._arguments import number, number_or_none, several, threads_of
from ._watch import Cancel, Progress

Path = Union[str, bytes, "_os.PathLike[str]", "_os.PathLike[bytes]"]
_Errors = Union[Literal["raise"], Literal["collect"]]

__all__ = [
    "Listed",
    "Merged",
    "Part",
    "merge",
    "read_rest",
    "walk_part",
    "write_arrow",
    "write_parquet",
]


class Listed(NamedTuple):
    """What was listed."""

    #: Number of entries.
    rows: int
    #: What could not be read and is missing, each with ``errno`` and ``filename``.
    errors: list[OSError]


class Part(NamedTuple):
    """What a part has."""

    #: Number of entries.
    rows: int
    #: The directories that are left, relative to the root, in canonical order: for other parts.
    rest: list[str]
    #: What could not be read and is missing, each with ``errno`` and ``filename``.
    errors: list[OSError]


class Merged(NamedTuple):
    """What was merged."""

    #: Number of entries.
    rows: int
    #: What the parts could not read, as pairs of path and reason.
    failures: list[tuple[str, str]]


def write_parquet(
    root: Path,
    path: Path,
    *,
    exclude: Sequence[str | bytes] = (),
    gitignore: bool = False,
    one_file_system: bool = False,
    max_depth: int | None = None,
    replace: bool = False,
    threads: int | None = None,
    errors: _Errors = "raise",
    progress: Progress = None,
    cancel: Cancel = None,
    storage_options: dict[str, Any] | None = None,
) -> Listed:
    """Write a listing of the tree below *root* to the Parquet file *path*.

    :param exclude: patterns as in gitignore(5); what matches is left out, with everything below.
    :param gitignore: leave out what ``.gitignore`` files exclude, and ``.git``.
    :param one_file_system: do not enter other file systems.
    :param max_depth: list entries up to this depth; 1 for those of *root* itself.
    :param replace: replace an existing file.
    :param threads: number of threads; by default as many as the file system keeps busy.
    :param errors: ``"raise"``: the first thing that cannot be read ends it, with its
        :class:`OSError`; ``"collect"``: it is missing in the file, and in ``errors`` of the result.
    :param progress: called about ten times a second with the name of the stage, the number of entries, 0,
        and 0. What it raises ends the call.
    :param cancel: an event like :class:`threading.Event`. Once it is set, the call ends.
    :param storage_options: options of fsspec if *path* is a URL.
    :raises OSError: *root* or something below it cannot be read, *path* exists
        (:class:`FileExistsError`), or it cannot be written; with ``errno`` and ``filename``.
    :raises hedgerow.errors.Cancelled: *cancel* was set.
    """
    options = _options(exclude, gitignore, one_file_system, max_depth, threads, replace, errors)
    return _write("parquet", root, path, options, progress, cancel, storage_options)


def write_arrow(
    root: Path,
    path: Path,
    *,
    stream: bool = False,
    exclude: Sequence[str | bytes] = (),
    gitignore: bool = False,
    one_file_system: bool = False,
    max_depth: int | None = None,
    replace: bool = False,
    threads: int | None = None,
    errors: _Errors = "raise",
    progress: Progress = None,
    cancel: Cancel = None,
    storage_options: dict[str, Any] | None = None,
) -> Listed:
    """Write a listing of the tree below *root* to a file of Arrow's IPC format (Feather V2).

    The rest is as in :func:`write_parquet`.

    :param stream: use the format of streams, for pipes.
    """
    options = _options(exclude, gitignore, one_file_system, max_depth, threads, replace, errors)
    format = "arrow-stream" if stream else "arrow"
    return _write(format, root, path, options, progress, cancel, storage_options)


def walk_part(
    root: Path,
    budget: int | str | _datetime.timedelta,
    path: Path,
    *,
    rest: Iterable[Path] | None = None,
    exclude: Sequence[str | bytes] = (),
    one_file_system: bool = False,
    max_depth: int | None = None,
    replace: bool = False,
    threads: int | None = None,
    errors: _Errors = "raise",
    progress: Progress = None,
    cancel: Cancel = None,
    storage_options: dict[str, Any] | None = None,
) -> Part:
    """List a part of the tree below *root* into the Parquet file *path*, and tell what is left.

    At least one directory is listed, and each is listed completely or left. A part may be made again,
    also at the same time elsewhere, and its maker may be killed: the merge takes each entry once. All
    parts are of the same *root*, by the same absolute path, and take the same *exclude*,
    *one_file_system* and *max_depth*: :func:`merge` refuses others.

    :param budget: a number of entries; or a time, in which it lists what it begins: a
        :class:`~datetime.timedelta`, or seconds as text, ``"60s"`` or ``"0.5s"``.
    :param rest: the directories to list, relative to *root*: some or all that an earlier part has left.
        By default, *root* itself.
    :param errors: ``"raise"``: the first thing that cannot be read ends it, also a directory of *rest*
        that vanished (:class:`FileNotFoundError`), and there is no file; ``"collect"``: it is noted in
        the part, in ``errors`` of the result, and told again by :func:`merge`.
    :raises OSError: as :func:`write_parquet`.
    :raises ValueError: *budget* or *rest* makes no sense.

    The others are those of :func:`write_parquet`.
    """
    entries, seconds = _budget(budget)
    options = _options(exclude, False, one_file_system, max_depth, threads, replace, errors)
    with _remote.output(path, storage_options, replace) as file:
        made = _hedgerow.listing_part(
            root,
            file,
            entries=entries,
            seconds=seconds,
            given=[""] if rest is None else several("rest", rest),
            options=options,
            watch=(progress, cancel),
        )
    return Part(*made)


def merge(
    parts: Iterable[Path],
    path: Path,
    *,
    format: Literal["parquet", "arrow", "arrow-stream"] = "parquet",
    replace: bool = False,
    progress: Progress = None,
    cancel: Cancel = None,
    storage_options: dict[str, Any] | None = None,
) -> Merged:
    """Merge the files *parts*, in any order, to the listing *path*, in canonical order.

    If the tree did not change meanwhile, the bytes are those of :func:`write_parquet`. Each part is
    checked against the digests in it.

    :param replace: replace an existing file.
    :param progress: as in :func:`write_parquet`.
    :param cancel: an event like :class:`threading.Event`. Once it is set, the call ends.
    :param storage_options: options of fsspec, for all that are URLs.
    :raises hedgerow.errors.ListingError: a part is damaged, or of another root or other options than
        the first; it is the ``filename``.
    :raises hedgerow.errors.IncompleteListing: directories were left by a part and listed by none.
    :raises OSError: a part cannot be read, or *path* cannot be written.
    :raises hedgerow.errors.Cancelled: *cancel* was set.
    """
    with _remote.inputs(several("parts", parts), storage_options) as files:
        with _remote.output(path, storage_options, replace) as file:
            merged = _hedgerow.listing_merge(
                files, file, format=format, replace=replace, watch=(progress, cancel)
            )
    return Merged(*merged)


def read_rest(path: Path, *, storage_options: dict[str, Any] | None = None) -> list[str]:
    """The directories that the part *path* has left; or those in a file that ``hedgerow walk --rest``
    wrote, whose first line is ``hedgerow.rest.v1``.

    :param storage_options: options of fsspec if *path* is a URL.
    :raises hedgerow.errors.ListingError: the file is damaged or incomplete.
    :raises OSError: it cannot be read.
    """
    with _remote.inputs([path], storage_options) as files:
        return _hedgerow.listing_rest(files[0])


def _write(
    format: str,
    root: Path,
    path: Path,
    options: _hedgerow.ListingOptions,
    progress: Progress,
    cancel: Cancel,
    storage_options: dict[str, Any] | None,
) -> Listed:
    with _remote.output(path, storage_options, options["replace"]) as file:
        written = _hedgerow.listing_write(
            root, file, format=format, options=options, watch=(progress, cancel)
        )
    return Listed(*written)


def _options(
    exclude: Sequence[str | bytes],
    gitignore: bool,
    one_file_system: bool,
    max_depth: int | None,
    threads: int | None,
    replace: bool,
    errors: str,
) -> _hedgerow.ListingOptions:
    if errors not in ("raise", "collect"):
        raise ValueError("errors is 'raise' or 'collect'")
    return {
        "exclude": several("exclude", exclude),
        "gitignore": gitignore,
        "one_file_system": one_file_system,
        "max_depth": number_or_none("max_depth", max_depth),
        "threads": threads_of(threads),
        "replace": replace,
        "raises": errors == "raise",
    }


def _budget(budget: int | str | _datetime.timedelta) -> tuple[Optional[int], Optional[float]]:
    if isinstance(budget, _datetime.timedelta):
        return None, budget.total_seconds()
    if not isinstance(budget, str):
        return number("budget", budget), None
    try:
        if budget.endswith("s"):
            return None, float(budget[:-1])
        return number("budget", int(budget)), None
    except ValueError:
        message = f"budget is a number of entries or a time, not {budget!r}"
        raise ValueError(message) from None
