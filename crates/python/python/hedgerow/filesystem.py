"""Images and commits as file systems of fsspec: ``hedgerow://``.

A file of an image, which may be anywhere that fsspec reaches::

    fsspec.open("hedgerow://usr/bin/env::s3://bucket/root.sqfs")
    fsspec.filesystem("hedgerow", fo="root.sqfs")

A commit of a Git repository::

    fsspec.filesystem("hedgerow", repository="/src/linux", revision="v6.9")

They cannot be written. Links are followed inside the image or the commit, whose root an absolute target
begins at; a link that leads nowhere is shown as itself.
"""

from __future__ import annotations

import datetime as _datetime
import errno as _errno
import os as _os
import stat as _stat
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable

from fsspec.callbacks import NoOpCallback
from fsspec.spec import AbstractBufferedFile, AbstractFileSystem

from . import image as _image
from .git import Repository

_KINDS = {"f": "file", "d": "directory", "l": "link"}
_NO_CALLBACK = NoOpCallback()
#: What a path may be refused with that leads through a link.
_OF_LINKS = {_errno.ENOENT, _errno.ENOTDIR, _errno.EINVAL, _errno.ELOOP}
#: As many links as Linux follows for one path.
_MOST_LINKS = 40


# Where nothing is known of fsspec's types, a metaclass is: Python takes that of the base all the same.
class HedgerowFileSystem(AbstractFileSystem, metaclass=type):  # type: ignore[misc]
    """A read-only file system over an image or a commit.

    :param fo: the image: a path, a URL, or a binary file.
    :param repository: a path in a Git repository, in place of an image.
    :param revision: the commit or tree of the repository.
    :param target_protocol: where the image is, if that is not part of *fo*.
    :param target_options: options of fsspec for that place.
    :param threads: number of threads that read, or decompress a large read.
    :raises hedgerow.errors.ImageError: it is no image.
    :raises hedgerow.errors.GitError: there is no such repository or revision.
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

    def info(
        self, path: str, *, follow_symlinks: bool = True, **_: Any
    ) -> dict[str, Any]:
        """What is known of *path*: ``name``, ``size``, ``type`` and more. Of a link, this is what it leads
        to, with ``islink`` and ``destination``, unless it leads nowhere: then, and without
        *follow_symlinks*, the type is ``"link"``.

        :raises FileNotFoundError: there is nothing.
        """
        path = self._strip_protocol(path)
        if follow_symlinks:
            return self._find(path)[1]
        parent, _slash, name = path.rpartition("/")
        real = self._real(parent) if parent else ""
        return {**self._source.info(f"{real}/{name}" if real else name), "name": path}

    def ls(self, path: str, detail: bool = True, **_: Any) -> Any:
        """The entries of a directory. Links are shown as themselves, with the type ``"link"``.

        :param detail: dictionaries like those of :meth:`info`, not names alone.
        :raises FileNotFoundError: there is nothing.
        """
        path = self._strip_protocol(path)
        real, info = self._find(path)
        entries = [info]
        if info["type"] == "directory":
            entries = self._source.entries(real)
            if real != path:
                for entry in entries:
                    entry["name"] = f"{path}/{entry['name'].rpartition('/')[2]}"
        return entries if detail else [entry["name"] for entry in entries]

    def _find(self, path: str) -> tuple[str, dict[str, Any]]:
        """Where *path* leads to, and what is there. A link that leads nowhere leads to itself."""
        try:
            info = self._source.info(path)
        except OSError as error:
            if error.errno not in _OF_LINKS or "/" not in path:
                raise
            real = self._real(path)
            return real, {**self._source.info(real), "name": path}
        if info["type"] != "link":
            return path, info
        link = {"name": path, "islink": True, "destination": self._source.target(info)}
        try:
            real = self._real(path)
            return real, {**self._source.info(real), **link}
        except OSError as error:
            if error.errno not in _OF_LINKS:
                raise
            return path, {**info, **link}

    def _real(self, path: str) -> str:
        """*path* without links. The root is its own parent, as in a changed root."""
        pending = path.split("/")[::-1]
        done: list[str] = []
        links = 0
        while pending:
            name = pending.pop()
            if name in ("", "."):
                continue
            if name == "..":
                del done[-1:]
                continue
            try:
                info = self._source.info("/".join([*done, name]))
            except FileNotFoundError:
                raise _error(_errno.ENOENT, path) from None
            if info["type"] != "link":
                done.append(name)
                if pending and info["type"] != "directory":
                    raise _error(_errno.ENOTDIR, path)
                continue
            links += 1
            if links > _MOST_LINKS:
                raise _error(_errno.ELOOP, path)
            target = self._source.target(info)
            if target.startswith("/"):
                done = []
            pending.extend(reversed(target.split("/")))
        return "/".join(done)

    def modified(self, path: str) -> _datetime.datetime:
        """When *path* was last modified.

        :raises NotImplementedError: of a commit: Git keeps no times of files.
        """
        mtime = self.info(path).get("mtime")
        if mtime is None:
            raise NotImplementedError("Git keeps no times of files")
        return _datetime.datetime.fromtimestamp(mtime, _datetime.timezone.utc)

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **_: Any
    ) -> bytes:
        """The content of a file, or the bytes from *start* to *end*; negative numbers count from its end.

        :raises OSError: it is no file, or cannot be read.
        """
        path = self._strip_protocol(path)
        if start is not None and start < 0 or end is not None and end < 0:
            size = self.info(path)["size"]
            start = max(0, size + start) if start is not None and start < 0 else start
            end = max(0, size + end) if end is not None and end < 0 else end
        try:
            return self._source.read(path, start or 0, end)
        except OSError as error:
            if error.errno not in _OF_LINKS:
                raise
            real = self._real(path)
            if real == path:
                raise
        return self._source.read(real, start or 0, end)

    def get(
        self,
        rpath: Any,
        lpath: Any,
        recursive: bool = False,
        callback: Any = _NO_CALLBACK,
        maxdepth: int | None = None,
        **options: Any,
    ) -> None:
        """Copy files to this machine.

        A file is copied for a link to one, and an empty directory made for a link to a directory, as fsspec
        does for local files. With *recursive* or a pattern, links that lead nowhere are left out, and so is
        what is neither a file nor a directory; where it is named, that is an error.
        """
        several = [rpath] if isinstance(rpath, str) else rpath
        options["skips_others"] = recursive or any("*" in p or "?" in p or "[" in p for p in several)
        super().get(rpath, lpath, recursive, callback, maxdepth, **options)

    def get_file(
        self,
        rpath: str,
        lpath: Any = None,
        callback: Any = _NO_CALLBACK,
        outfile: Any = None,
        *,
        skips_others: bool = False,
        **options: Any,
    ) -> None:
        """Copy one file to this machine.

        :param skips_others: do nothing for what is neither a file nor a directory.
        """
        if skips_others and self.info(rpath)["type"] not in ("file", "directory"):
            return
        super().get_file(rpath, lpath, callback, outfile, **options)

    def cat_ranges(
        self,
        paths: list[str],
        starts: Any,
        ends: Any,
        max_gap: int | None = None,
        on_error: str = "return",
        **_: Any,
    ) -> list[Any]:
        """Ranges of files, read in parallel: for each path, the bytes from its start to its end.

        :param on_error: ``"return"``: an exception is in the place of what cannot be read; else it is raised.
        """
        if not isinstance(paths, list):
            raise TypeError("paths is a list")
        if not isinstance(starts, list):
            starts = [starts] * len(paths)
        if not isinstance(ends, list):
            ends = [ends] * len(paths)
        if not len(starts) == len(ends) == len(paths):
            raise ValueError("as many starts and ends as paths are needed")

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
        """Nothing is written: raises :class:`OSError` with ``EROFS``."""
        raise _error(_errno.EROFS, path)

    # What fsspec does nothing for, or says nothing of, where a file system leaves it out.
    mkdir: Callable[..., Any] = _refuse
    makedirs: Callable[..., Any] = _refuse
    rmdir: Callable[..., Any] = _refuse
    _rm: Callable[..., Any] = _refuse
    rm: Callable[..., Any] = _refuse
    rm_file: Callable[..., Any] = _refuse
    cp_file: Callable[..., Any] = _refuse
    mv: Callable[..., Any] = _refuse
    touch: Callable[..., Any] = _refuse
    pipe_file: Callable[..., Any] = _refuse
    put_file: Callable[..., Any] = _refuse

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
            raise _error(_errno.EROFS, path)
        info = self.info(path)
        if info["type"] == "directory":
            raise _error(_errno.EISDIR, path)
        if info["type"] == "link":
            # This says what is in the way.
            self._real(self._strip_protocol(path))
        if info["type"] != "file":
            raise _error(_errno.EINVAL, path)
        return HedgerowFile(
            self,
            path,
            mode,
            block_size or "default",
            cache_options=cache_options,
            size=info["size"],
        )


class HedgerowFile(AbstractBufferedFile, metaclass=type):  # type: ignore[misc]
    """A file of an image or a commit."""

    def _fetch_range(self, start: int, end: int) -> bytes:
        content: bytes = self.fs.cat_file(self.path, start, end)
        return content


def _error(number: int, path: str) -> OSError:
    return OSError(number, _os.strerror(number), path)


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

    def target(self, link: dict[str, Any]) -> str:
        return link["destination"] or ""

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

    def rows(
        self, path: str, only: str | None = None, *, sizes: bool = True
    ) -> list[dict[str, Any]]:
        prefix = path + "/" if path else ""
        rows = self.repository._tree(f"{self.id}:{path}", sizes, only)
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
        return self.row(path, sizes=True)

    def row(self, path: str, *, sizes: bool) -> dict[str, Any]:
        if not path:
            return {"name": "", "size": 0, "type": "directory", "islink": False}
        parent, _slash, name = path.rpartition("/")
        if parent and self.row(parent, sizes=False)["type"] != "directory":
            raise _error(_errno.ENOENT, path)
        for row in self.rows(parent, name, sizes=sizes):
            return row
        raise _error(_errno.ENOENT, path)

    def target(self, link: dict[str, Any]) -> str:
        return _os.fsdecode(self.repository.cat_file([link["id"]])[0].content)

    def entries(self, path: str) -> list[dict[str, Any]]:
        return self.rows(path)

    def read(self, path: str, start: int, end: int | None) -> bytes:
        info = self.row(path, sizes=False)
        if info["type"] == "directory":
            raise _error(_errno.EISDIR, path)
        if info["type"] != "file":
            raise _error(_errno.EINVAL, path)
        found = self.repository.cat_file([info["id"]])
        return found[0].content[start:end]


def _kind_of_mode(mode: int) -> str:
    if _stat.S_ISDIR(mode):
        return "directory"
    if _stat.S_ISLNK(mode):
        return "link"
    # A submodule is a commit of another repository.
    return "file" if _stat.S_ISREG(mode) else "other"
