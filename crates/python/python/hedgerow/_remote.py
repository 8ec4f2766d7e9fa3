"""Files that may be URLs of fsspec: written to and read from temporary files of this machine."""

from __future__ import annotations

import errno as _errno
import os as _os
import tempfile as _tempfile
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Union

Path = Union[str, bytes, "_os.PathLike[str]", "_os.PathLike[bytes]"]

# Where a file is visible while it is written; object stores show an object when all of it is there.
_RENAMED = {"file", "local", "sftp", "ssh", "smb", "hdfs", "memory"}


def is_url(path: object) -> bool:
    """Whether fsspec is asked for it."""
    return isinstance(path, str) and ("://" in path or "::" in path)


@contextmanager
def output(path: Path, options: dict[str, Any] | None, replace: bool) -> Iterator[Path]:
    """The file to write for *path*. What is behind a URL is sent when it is complete."""
    if not is_url(path):
        yield path
        return
    system, target = _located(path, options)
    with _tempfile.TemporaryDirectory(prefix="hedgerow-") as directory:
        file = _os.path.join(directory, "output")
        with _naming({file: path}, path):
            if not replace and system.exists(target):
                raise FileExistsError(_errno.EEXIST, _os.strerror(_errno.EEXIST), path)
            yield file
            _send(system, file, target)


@contextmanager
def inputs(paths: Iterable[Path], options: dict[str, Any] | None) -> Iterator[list[Path]]:
    """The files to read for *paths*."""
    with _tempfile.TemporaryDirectory(prefix="hedgerow-") as directory:
        files: list[Path] = []
        urls: dict[str, Path] = {}
        for number, path in enumerate(paths):
            if not is_url(path):
                files.append(path)
                continue
            file = _os.path.join(directory, str(number))
            system, source = _located(path, options)
            with _naming({}, path):
                system.get_file(source, file)
            files.append(file)
            urls[file] = path
        with _naming(urls, None):
            yield files


def _send(system: Any, file: str, target: str) -> None:
    protocols = {system.protocol} if isinstance(system.protocol, str) else set(system.protocol)
    if not protocols & _RENAMED:
        system.put_file(file, target)
        return
    partial = f"{target}.{_os.getpid()}.partial"
    try:
        system.put_file(file, partial)
        system.mv(partial, target)
    except BaseException:
        if system.exists(partial):
            system.rm_file(partial)
        raise


def _located(url: Any, options: dict[str, Any] | None) -> tuple[Any, str]:
    import fsspec.core

    system, path = fsspec.core.url_to_fs(url, **(options or {}))
    return system, path


def naming(url: Path) -> AbstractContextManager[None]:
    """Within it, errors of the system name *url* if they name nothing."""
    return _naming({}, url)


@contextmanager
def _naming(urls: dict[str, Path], url: Path | None) -> Iterator[None]:
    """Errors of the system name the URL, not the temporary file, and have a number."""
    try:
        yield
    except OSError as error:
        if isinstance(error.filename, str) and error.filename in urls:
            error.filename = urls[error.filename]
        elif error.errno is None and error.filename is None and url is not None:
            for kind, number in (
                (FileNotFoundError, _errno.ENOENT),
                (PermissionError, _errno.EACCES),
            ):
                if isinstance(error, kind):
                    raise kind(number, _os.strerror(number), url) from error
        elif error.filename is None and url is not None:
            error.filename = url
        raise
