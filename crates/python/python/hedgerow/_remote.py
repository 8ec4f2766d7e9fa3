"""Files that may be URLs of fsspec: written to and read from temporary files of this machine."""

from __future__ import annotations

import errno as _errno
import inspect as _inspect
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
            if not replace and _is_there(system, target):
                raise _exists(path)
            yield file
            if replace:
                _send(system, file, target)
            else:
                _send_new(system, file, target, path)


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
                _forget_listings(system, source)
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
        _forget_listings(system, path)
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


def _forget_listings(system: Any, path: str) -> None:
    """What fsspec has listed may be of long ago, for as long as the process lives: the store is asked."""
    system.invalidate_cache(path)


def _is_there(system: Any, path: str) -> bool:
    """Whether the store has something at *path*. Unlike ``exists`` of fsspec, this takes neither an old
    listing nor a failure for an answer."""
    _forget_listings(system, path)
    try:
        system.info(path)
    except OSError as error:
        if isinstance(error, FileNotFoundError) or error.errno == _errno.ENOENT:
            return False
        raise
    return True


def _exists(path: Path) -> FileExistsError:
    return FileExistsError(_errno.EEXIST, _os.strerror(_errno.EEXIST), path)


def _send_new(system: Any, file: str, target: str, path: Path) -> None:
    """Sends what must replace nothing, also nothing that others have written meanwhile: the store sees to
    that where it can, as S3 does. Elsewhere it is looked for just before; what is written between that
    look and the end of the sending is replaced."""
    if _writes_new_alone(system) and _sent_as_new(system, file, target, path):
        return
    if _is_there(system, target):
        raise _exists(path)
    _send(system, file, target)


def _writes_new_alone(system: Any) -> bool:
    """Whether the store can be told to write only what is not there: those whose ``put_file`` takes a
    *mode* of its own, like that of s3fs since 2024.12."""
    put = getattr(system, "_put_file", None)
    if put is None or _is_renamed(system):
        return False
    try:
        return "mode" in _inspect.signature(put).parameters
    except (TypeError, ValueError):
        return False


def _sent_as_new(system: Any, file: str, target: str, path: Path) -> bool:
    """Whether it was sent on the condition that nothing is there; not if the store knows no conditions."""
    try:
        system.put_file(file, target, mode="create")
    except FileExistsError as error:
        raise _exists(path) from error
    except Exception as error:
        # A botocore before 1.35.21 knows no condition, and neither do some stores that are like S3.
        number = error.errno if isinstance(error, OSError) else _errno.EIO
        if number == _errno.ENOSYS or type(error).__name__ == "ParamValidationError":
            return False
        # Not all say which condition failed, or with an exception of the system.
        if number in (_errno.EINVAL, _errno.EIO) and _is_there(system, target):
            raise _exists(path) from error
        raise
    return True


def _is_renamed(system: Any) -> bool:
    protocols = {system.protocol} if isinstance(system.protocol, str) else set(system.protocol)
    return bool(protocols & _RENAMED)


def _send(system: Any, file: str, target: str) -> None:
    if not _is_renamed(system):
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
