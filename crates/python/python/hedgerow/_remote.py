"""Files that may be URLs of fsspec: written to and read from temporary files of this machine."""

from __future__ import annotations

import errno as _errno
import os as _os
import tempfile as _tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Callable, Union

from .errors import Error as _Error

Path = Union[str, bytes, "_os.PathLike[str]", "_os.PathLike[bytes]"]

# Where a file is visible while it is written; object stores show an object when all of it is there.
_RENAMED = {"file", "local", "sftp", "ssh", "smb", "hdfs", "memory"}


def is_url(path: object) -> bool:
    """Whether fsspec is asked for it."""
    return isinstance(path, str) and ("://" in path or "::" in path)


@contextmanager
def output(path: Path, options: dict[str, Any] | None, replace: bool) -> Iterator[Path]:
    """The file to write for *path*. What is behind a URL is sent when it is complete.

    :raises FileExistsError: there is a file already, before anything is read for the new one.
    """
    if not is_url(path):
        if not replace and _os.path.isfile(path):
            raise FileExistsError(_errno.EEXIST, _os.strerror(_errno.EEXIST), _os.fspath(path))
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


def ranges(url: str, options: dict[str, Any]) -> tuple[Callable[[int, int], bytes], int]:
    """A function for the bytes of *url* at a position, that threads may call, and their number.

    Where the store tells one state of an object from another, as S3 does, all bytes are of the same
    one, or an :class:`OSError` is raised.
    """
    from fsspec.spec import AbstractBufferedFile

    system, path = _located(url, options)
    with _naming({}, url):
        file = system.open(path, "rb", cache_type="none")
        if isinstance(file, AbstractBufferedFile):
            # What every cache of fsspec calls for such a file, also from several threads.
            fetch, length = file._fetch_range, file.size
        else:
            file.close()
            length = system.size(path)

            def fetch(start: int, end: int) -> Any:
                return system.cat_file(path, start=start, end=end)

    def read_at(position: int, count: int) -> bytes:
        with _naming({}, url):
            return bytes(fetch(position, min(position + count, length)))

    return read_at, length


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


@contextmanager
def _naming(urls: dict[str, Path], url: Path | None) -> Iterator[None]:
    """Errors name the URL, not the temporary file; those of the system have a number."""
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
    except _Error as error:
        error.args = tuple(_told_of(urls, told) for told in error.args)
        raise


def _told_of(urls: dict[str, Path], told: object) -> object:
    if isinstance(told, str):
        for file, url in urls.items():
            told = told.replace(f"'{file}'", f"'{_os.fsdecode(url)}'")
    return told
