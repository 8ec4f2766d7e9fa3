"""Drop-ins for ``os.scandir`` and ``os.walk``.

Both take what the functions of the standard library take, yield the same types in the same order,
and raise the same errors::

    from hedgerow import os as hos

    for path, directories, files in hos.walk("/data"):
        directories[:] = [name for name in directories if name != ".snapshot"]

With ``scandir(path, stat=True)``, entries are statted when they are listed, by threads where that takes
long: ``entry.stat(follow_symlinks=False)`` and, for what is no link, ``entry.stat()`` give what was so
then, without asking again.

:func:`walk` lists directories ahead of the caller, by as many native threads as the file system needs
to be busy. Nothing is statted that the caller does not ask for.
"""

from __future__ import annotations

import os as _os
import sys as _sys

from ._hedgerow import DirEntry, Walker as _Walker, scandir
from ._hedgerow import (
    after_fork_in_child as _after_fork_in_child,
    after_fork_in_parent as _after_fork_in_parent,
    before_fork as _before_fork,
)

__all__ = ["DirEntry", "scandir", "walk"]

_os.register_at_fork(
    before=_before_fork,
    after_in_parent=_after_fork_in_parent,
    after_in_child=_after_fork_in_child,
)


def walk(top, topdown=True, onerror=None, followlinks=False):
    """Walk a directory tree like :func:`os.walk`, with directories listed ahead by native threads.

    Yields a tuple ``(path, directories, files)`` for each directory, ``top`` included. With *topdown*,
    the caller may remove names from ``directories``, or reorder them, before taking the next tuple.

    A directory that changed since it was listed ahead is listed again when its turn comes: the caller
    sees what ``os.walk`` would have shown.

    :param top: ``str``, ``bytes`` or :class:`os.PathLike`; paths and names are ``str`` or ``bytes``
        accordingly.
    :param topdown: whether a directory comes before its subdirectories.
    :param onerror: called with the :class:`OSError` of a directory that cannot be listed; by default
        such directories are left out.
    :param followlinks: whether links to directories are followed.
    """
    _sys.audit("os.walk", top, topdown, onerror, followlinks)
    return _walk(_Walker(_os.fspath(top), bool(topdown), onerror, bool(followlinks)))


def _walk(walker):
    try:
        yield from walker
    finally:
        walker.close()
