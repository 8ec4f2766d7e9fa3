"""Git working trees and repositories."""

from __future__ import annotations

import os as _os
from typing import Iterable, NamedTuple, Optional, Sequence, Union, overload

from . import _hedgerow
from ._arguments import number_or_none, threads_of
from ._watch import Cancel, Progress
from .errors import PartialFailure

Path = Union[str, bytes, "_os.PathLike[str]", "_os.PathLike[bytes]"]
Name = Union[str, bytes]

__all__ = [
    "Change",
    "CheckedOut",
    "Commit",
    "Object",
    "Pack",
    "Repository",
    "Status",
    "checkout",
    "status",
]


class CheckedOut(NamedTuple):
    """What a checkout did."""

    #: Files, links and directories of submodules written.
    written: int
    #: Files removed.
    removed: int
    #: Size of what was written, in bytes.
    bytes: int
    #: Warnings that did not prevent anything.
    warnings: list[str]


class Change(NamedTuple):
    """A tracked path that differs."""

    #: The path from the top of the working tree; for a rename, the new one.
    path: str
    #: The letter for HEAD against the index; a space if there is no difference.
    staged: str
    #: The letter for the index against the working tree.
    unstaged: str
    #: Whether it is in conflict.
    is_conflict: bool
    #: Where the content came from, if it was renamed or copied.
    source: Optional[str]


class Status(NamedTuple):
    """What changed in a working tree."""

    #: Tracked paths that differ, ascending.
    changes: list[Change]
    #: Untracked paths; a directory that stands for all its content ends with a slash.
    untracked: list[str]
    #: Ignored paths, if they were asked for.
    ignored: list[str]
    #: Directories that could not be read, and the like.
    warnings: list[str]


class Object(NamedTuple):
    """An object with its content."""

    id: str
    #: ``commit``, ``tree``, ``blob`` or ``tag``.
    kind: str
    content: bytes


class Commit(NamedTuple):
    """An object that a walk through history reaches."""

    id: str
    #: ``commit``, ``tree``, ``blob`` or ``tag``.
    kind: str
    #: The path where it was met; empty for a commit.
    path: str


class Pack(NamedTuple):
    """A pack of a repository."""

    path: str
    objects: int
    #: Size of all its entries, in bytes.
    stored_bytes: int
    #: Size of the largest entry, in bytes.
    largest_bytes: int


def checkout(
    path: Path,
    revision: Name,
    *,
    force: bool = False,
    detach: bool = False,
    threads: int | None = None,
    progress: Progress = None,
    cancel: Cancel = None,
) -> CheckedOut:
    """Move the working tree at *path* to *revision*, a branch or a commit, like ``git checkout``.

    :param force: overwrite local changes, and untracked files that are in the way.
    :param detach: do not follow a branch.
    :param threads: number of threads; by default as many as are useful.
    :param progress: called about ten times a second with the name of a stage, the steps done, the steps in
        all (0 while that is unknown) and bytes. What it raises ends the call.
    :param cancel: an event like :class:`threading.Event`. Once it is set, the call ends.
    :raises hedgerow.errors.CheckoutRejected: local changes would be lost; nothing was touched.
    :raises hedgerow.errors.PartialFailure: some files could not be written; all others were.
    :raises hedgerow.errors.GitError: there is no such repository or revision.
    :raises OSError: a system call failed.
    :raises hedgerow.errors.Cancelled: *cancel* was set.
    """
    written, removed, size, failures, warnings = _hedgerow.checkout(
        path,
        revision,
        force=force,
        detach=detach,
        threads=threads_of(threads),
        watch=(progress, cancel),
    )
    if failures:
        raise PartialFailure(f"{len(failures)} files could not be written", failures)
    return CheckedOut(written, removed, size, warnings)


def status(
    path: Path = ".",
    *,
    untracked: str = "normal",
    ignored: bool = False,
    threads: int | None = None,
    progress: Progress = None,
    cancel: Cancel = None,
) -> Status:
    """What changed in the working tree at *path*, like ``git status``.

    :param untracked: ``"no"``; ``"normal"``: files, and directories that hold nothing tracked;
        ``"all"``: every file.
    :param ignored: list ignored files, too.
    :param threads: number of threads; by default as many as are useful.
    :param progress: called about ten times a second with the name of a stage, the steps done, the steps in
        all (0 while that is unknown) and bytes. What it raises ends the call.
    :param cancel: an event like :class:`threading.Event`. Once it is set, the call ends.
    :raises hedgerow.errors.PartialFailure: some paths could not be examined.
    :raises hedgerow.errors.GitError: there is no repository.
    :raises OSError: a system call failed.
    :raises hedgerow.errors.Cancelled: *cancel* was set.
    """
    rows = _hedgerow.status(
        path,
        untracked=untracked,
        ignored=ignored,
        threads=threads_of(threads),
        watch=(progress, cancel),
    )
    if rows["failures"]:
        failures = [("", reason) for reason in rows["failures"]]
        raise PartialFailure("some paths could not be examined", failures)
    return Status(
        [Change(*change) for change in rows["changes"]],
        rows["untracked"],
        rows["ignored"],
        rows["warnings"],
    )


class Repository:
    """The Git repository that *path* is in. It may be used by several threads.

    In a partial clone, objects that are missing and promised by a remote are fetched when they are needed,
    those of one call at once, unless ``GIT_NO_LAZY_FETCH`` is set.

    :raises hedgerow.errors.GitError: there is none.
    """

    def __init__(self, path: Path = ".") -> None:
        self._raw = _hedgerow.RawRepository(path)

    def __repr__(self) -> str:
        return f"<Repository {self.git_dir!r}>"

    @property
    def git_dir(self) -> str:
        """The path of the directory ``.git``."""
        return self._raw.git_dir

    @property
    def work_tree(self) -> str | None:
        """The path of the working tree, unless it is bare."""
        return self._raw.work_tree

    def resolve(self, revision: Name) -> str:
        """The id of the object that *revision* names, in the notation of gitrevisions(7).

        :raises hedgerow.errors.GitError: it names nothing.
        """
        return self._raw.resolve(revision)

    def rev_list(
        self,
        *revisions: Name,
        max_count: int | None = None,
        first_parent: bool = False,
        reverse: bool = False,
        cancel: Cancel = None,
    ) -> list[str]:
        """The ids of the commits that *revisions* reach, in git's order.

        *revisions* are as for git-rev-list(1): ``v1``, ``^v1``, ``v1..v2``, ``v1...v2``, ``--all``.

        :param max_count: at most so many commits.
        :param first_parent: follow the first parent of merges alone.
        :param reverse: the oldest first.
        :param cancel: an event like :class:`threading.Event`. Once it is set, the call ends.
        :raises hedgerow.errors.GitError: a revision or an object is missing, or damaged.
        :raises hedgerow.errors.Cancelled: *cancel* was set.
        """
        found: list[str] = self._raw.rev_list(
            list(revisions),
            objects=False,
            max_count=number_or_none("max_count", max_count),
            first_parent=first_parent,
            reverse=reverse,
            watch=(None, cancel),
        )
        return found

    def rev_list_objects(
        self, *revisions: Name, max_count: int | None = None, cancel: Cancel = None
    ) -> list[Commit]:
        """The commits that *revisions* reach, and all their objects.

        :param max_count: at most so many commits.
        :param cancel: an event like :class:`threading.Event`. Once it is set, the call ends.
        :raises hedgerow.errors.GitError: a revision or an object is missing, or damaged.
        :raises hedgerow.errors.Cancelled: *cancel* was set.
        """
        rows = self._raw.rev_list(
            list(revisions),
            objects=True,
            max_count=number_or_none("max_count", max_count),
            first_parent=False,
            reverse=False,
            watch=(None, cancel),
        )
        return [Commit(*row) for row in rows]

    @overload
    def cat_file(  # type: ignore[overload-overlap]
        self, names: Name, *, threads: int | None = None, cancel: Cancel = None
    ) -> Object: ...

    @overload
    def cat_file(
        self, names: Iterable[Name], *, threads: int | None = None, cancel: Cancel = None
    ) -> list[Object]: ...

    def cat_file(
        self,
        names: Union[Name, Iterable[Name]],
        *,
        threads: int | None = None,
        cancel: Cancel = None,
    ) -> Union[Object, list[Object]]:
        """The object that a name stands for or, for several names, a list of objects in their order.

        Objects of one call are read in parallel: many names in one call are much faster than many
        calls. A name is as in gitrevisions(7), for example ``HEAD:README``.

        :param threads: number of threads; by default as many as are useful.
        :param cancel: an event like :class:`threading.Event`. Once it is set, the call ends.
        :raises hedgerow.errors.GitError: a name stands for nothing, or its object is missing or damaged.
        :raises hedgerow.errors.Cancelled: *cancel* was set.
        """
        watch = (None, cancel)
        threads = threads_of(threads)
        if isinstance(names, (str, bytes)):
            return Object(*self._raw.cat_file([names], threads, watch)[0])
        return [Object(*row) for row in self._raw.cat_file(list(names), threads, watch)]

    def packs(self) -> list[Pack]:
        """The packs of the repository.

        :raises OSError: a pack or its index cannot be read.
        :raises hedgerow.errors.GitError: one of them is damaged.
        """
        return [Pack(*row) for row in self._raw.packs()]

    def _tree(
        self, spec: Name, sizes: bool, only: Name | None = None
    ) -> Sequence[tuple[str, int, str, Optional[int]]]:
        return self._raw.tree(spec, sizes, only)
