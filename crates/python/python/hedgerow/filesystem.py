"""Images and commits as file systems of fsspec: ``hedgerow://``.

A file of an image, which may be anywhere that fsspec reaches::

    fsspec.open("hedgerow://usr/bin/env::s3://bucket/root.sqfs")
    fsspec.filesystem("hedgerow", fo="root.sqfs")

A commit of a Git repository::

    fsspec.filesystem("hedgerow", repository="/src/linux", revision="v6.9")

They cannot be written.
"""

from __future__ import annotations

import datetime as _datetime
import errno as _errno
import os as _os
import stat as _stat
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fsspec.spec import AbstractBufferedFile, AbstractFileSystem

from . import image as _image
from .git import Repository

_KINDS = {"f": "file", "d": "directory", "l": "link"}


class HedgerowFileSystem(AbstractFileSystem):  # type: ignore[misc]
    """A read-only file system over an image or a commit.

    :param fo: the image: a path, a URL, or a binary file.
    :param repository: a path in a Git repository, in place of an image.
    :param revision: the commit or tree of the repository.
    :param target_protocol: where the image is, if that is not part of *fo*.
    :param target_options: options of fsspec for that place.
    """

    protocol = "hedgerow"
    root_marker = ""
    cachable = False

    def __init__(
        self,
        fo: Any = None,
        *,
        repository: Any = None,
        revision: str = "HEAD",
        target_protocol: str | None = None,
        target_options: dict[str, Any] | None = None,
        threads: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        if (fo is None) == (repository is None):
            raise ValueError("either an image or a repository is needed")
        self._threads = threads
        if fo is None:
            self._source: _Image | _Commit = _Commit(Repository(repository), revision)
            return
        if isinstance(fo, str) and target_protocol and "://" not in fo:
            if target_protocol not in ("file", "local"):
                fo = f"{target_protocol}://{fo}"
        self._source = _Image(
            _image.open(fo, threads=threads, storage_options=target_options or {})
        )

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        stripped = super()._strip_protocol(path)
        if isinstance(stripped, list):
            return [path.strip("/") for path in stripped]
        return stripped.strip("/")

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        return self._source.info(self._strip_protocol(path))

    def ls(self, path: str, detail: bool = True, **_: Any) -> Any:
        path = self._strip_protocol(path)
        info = self.info(path)
        entries = [info] if info["type"] != "directory" else self._source.entries(path)
        return entries if detail else [entry["name"] for entry in entries]

    def modified(self, path: str) -> _datetime.datetime:
        mtime = self.info(path).get("mtime")
        if mtime is None:
            raise NotImplementedError("Git keeps no times of files")
        return _datetime.datetime.fromtimestamp(mtime, _datetime.timezone.utc)

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **_: Any
    ) -> bytes:
        path = self._strip_protocol(path)
        if start is not None and start < 0 or end is not None and end < 0:
            size = self.info(path)["size"]
            start = max(0, size + start) if start is not None and start < 0 else start
            end = max(0, size + end) if end is not None and end < 0 else end
        return self._source.read(path, start or 0, end)

    def cat_ranges(
        self,
        paths: list[str],
        starts: Any,
        ends: Any,
        max_gap: int | None = None,
        on_error: str = "return",
        **_: Any,
    ) -> list[Any]:
        if not isinstance(starts, list):
            starts = [starts] * len(paths)
        if not isinstance(ends, list):
            ends = [ends] * len(paths)

        def read(wanted: tuple[str, int, int]) -> Any:
            try:
                return self.cat_file(*wanted)
            except Exception as error:
                if on_error != "return":
                    raise
                return error

        with ThreadPoolExecutor(self._threads or min(32, 2 * (_os.cpu_count() or 1))) as pool:
            return list(pool.map(read, zip(paths, starts, ends)))

    def _refuse(self, path: str, *_: Any, **__: Any) -> Any:
        raise OSError(_errno.EROFS, _os.strerror(_errno.EROFS), path)

    # What fsspec does nothing for, or says nothing of, where a file system leaves it out.
    mkdir = makedirs = rmdir = _rm = rm = rm_file = cp_file = mv = touch = _refuse
    pipe_file = put_file = _refuse

    def _open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        autocommit: bool = True,
        cache_options: dict[str, Any] | None = None,
        **options: Any,
    ) -> HedgerowFile:
        if mode != "rb":
            raise OSError(_errno.EROFS, _os.strerror(_errno.EROFS), path)
        info = self.info(path)
        if info["type"] == "directory":
            raise IsADirectoryError(_errno.EISDIR, _os.strerror(_errno.EISDIR), path)
        return HedgerowFile(
            self,
            path,
            mode,
            block_size or "default",
            cache_options=cache_options,
            size=info["size"],
        )


class HedgerowFile(AbstractBufferedFile):  # type: ignore[misc]
    """A file of an image or a commit."""

    def _fetch_range(self, start: int, end: int) -> bytes:
        content: bytes = self.fs.cat_file(self.path, start, end)
        return content


class _Image:
    def __init__(self, image: _image.Image) -> None:
        self.image = image

    def info(self, path: str) -> dict[str, Any]:
        stat = self.image.stat(path)
        return {
            "name": path,
            "size": stat.size,
            "type": _KINDS.get(stat.kind, "other"),
            "mode": stat.mode,
            "uid": stat.uid,
            "gid": stat.gid,
            "mtime": stat.mtime,
            "nlink": stat.nlink,
            "ino": stat.inode,
            "islink": stat.kind == "l",
            "destination": stat.target,
        }

    def entries(self, path: str) -> list[dict[str, Any]]:
        prefix = path + "/" if path else ""
        return [self.info(prefix + entry.name) for entry in self.image.listdir(path)]

    def read(self, path: str, start: int, end: int | None) -> bytes:
        length = None if end is None else max(0, end - start)
        return self.image.read(path, start, length)


class _Commit:
    def __init__(self, repository: Repository, revision: str) -> None:
        self.repository = repository
        # One commit for as long as the file system lives, whatever becomes of a branch.
        self.id = repository.resolve(revision)

    def rows(self, path: str) -> list[dict[str, Any]]:
        prefix = path + "/" if path else ""
        rows = self.repository._tree(f"{self.id}:{path}", True)
        return [
            {
                "name": prefix + name,
                "size": size or 0,
                "type": _kind_of_mode(mode),
                "mode": mode & 0o777,
                "id": id,
                "islink": _stat.S_ISLNK(mode),
            }
            for name, mode, id, size in rows
        ]

    def info(self, path: str) -> dict[str, Any]:
        if not path:
            return {"name": "", "size": 0, "type": "directory", "islink": False}
        parent = path.rpartition("/")[0]
        missing = FileNotFoundError(_errno.ENOENT, _os.strerror(_errno.ENOENT), path)
        if parent and self.info(parent)["type"] != "directory":
            raise missing
        for row in self.rows(parent):
            if row["name"] == path:
                return row
        raise missing

    def entries(self, path: str) -> list[dict[str, Any]]:
        return self.rows(path)

    def read(self, path: str, start: int, end: int | None) -> bytes:
        info = self.info(path)
        if info["type"] == "directory":
            raise IsADirectoryError(_errno.EISDIR, _os.strerror(_errno.EISDIR), path)
        found = self.repository.cat_file([info["id"]])
        return found[0].content[start:end]


def _kind_of_mode(mode: int) -> str:
    if _stat.S_ISDIR(mode):
        return "directory"
    if _stat.S_ISLNK(mode):
        return "link"
    # A submodule is a commit of another repository.
    return "file" if _stat.S_ISREG(mode) else "other"
