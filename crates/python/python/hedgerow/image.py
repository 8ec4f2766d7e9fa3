"""Images: created from directories, archives and commits (in SquashFS), extracted, checked, and read
without being mounted or unpacked (in SquashFS and EROFS).

A directory is also packed in parts by several machines, and one merges them, to the bytes that one machine
would have written::

    for number in range(1, 9):                          # anywhere, in any order
        image.create("/data", f"s3://bucket/part{number}", part=(number, 8))
    image.merge([f"s3://bucket/part{number}" for number in range(1, 9)], "data.sqfs")

Files that are written or merged may be URLs that fsspec knows: what is written goes through a temporary
file of this machine. Credentials are where the implementation of fsspec looks for them.
"""

from __future__ import annotations

import io as _io
import os as _os
from concurrent.futures import ThreadPoolExecutor
from threading import Lock as _Lock
from typing import Any, BinaryIO, Iterable, Iterator, NamedTuple, Optional, Sequence, Union

from . import _hedgerow, _remote
from ._arguments import number, number_or_none, several, threads_of
from ._watch import Cancel, Progress
from .errors import PartialFailure

Path = Union[str, bytes, "_os.PathLike[str]", "_os.PathLike[bytes]"]

#: The highest level of each compressor that has levels.
_LEVELS = {"gzip": 9, "lzo": 9, "zstd": 22}
_COMPRESSORS = {"gzip", "lz4", "lzma", "lzo", "xz", "zstd"}
_MOST_PARTS = 2**32 - 1
_ARTICLES = {"commit": "a commit", "archive": "an archive"}

__all__ = [
    "Created",
    "Entry",
    "Image",
    "Merged",
    "Report",
    "Stat",
    "create",
    "extract",
    "merge",
    "open",
    "verify",
]


class Created(NamedTuple):
    """What an image consists of."""

    #: Size of the file, in bytes.
    bytes: int
    #: Number of inodes; hard links count once.
    inodes: int
    #: Number of distinct contents.
    contents: int
    #: Number of blocks that small files share.
    fragments: int


class Merged(NamedTuple):
    """What was merged."""

    #: What the image consists of.
    created: Created
    #: What the parts left out, in words.
    skipped: list[str]


class Report(NamedTuple):
    """What a check of an image found."""

    #: Each defect, in words.
    findings: list[str]
    #: Number of further ones.
    omitted: int
    #: Number of inodes read.
    inodes: int
    #: Size of all blocks, decompressed.
    content_bytes: int

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings


class Stat(NamedTuple):
    """What an image tells of an entry."""

    #: ``f``, ``d``, ``l``, ``p``, ``s``, ``b`` or ``c``, as ``find -printf %y`` prints it.
    kind: str
    #: Permission bits with setuid, setgid and sticky.
    mode: int
    uid: int
    gid: int
    #: Size in bytes; of a link, the length of its target.
    size: int
    #: Seconds since the epoch.
    mtime: int
    nlink: int
    inode: int
    #: The target of a symbolic link.
    target: Optional[str]


class Entry(NamedTuple):
    """An entry of a directory of an image."""

    name: str
    #: As :attr:`Stat.kind`.
    kind: str


def create(
    source: Path,
    image: Path,
    *,
    repository: Path | None = None,
    compressor: str = "zstd",
    level: int | None = None,
    block_size: int = 131072,
    part: tuple[int, int] | None = None,
    replace: bool = False,
    threads: int | None = None,
    progress: Progress = None,
    cancel: Cancel = None,
    storage_options: dict[str, Any] | None = None,
) -> Created:
    """Make an image of a directory, of a tar archive, or of the commit *source* of *repository*.

    The same source and options give the same bytes, with any number of threads. The file gets its
    name when it is complete.

    :param repository: a path in a Git repository: then *source* is a revision of it.
    :param compressor: ``gzip``, ``xz``, ``lzma``, ``lzo``, ``lz4`` or ``zstd``.
    :param level: the level of the compressor: 1 to 9 for gzip and lzo, 1 to 22 for zstd; the others have
        none. By default, the compressor's own.
    :param block_size: in bytes, a power of two from 4 KiB to 1 MiB.
    :param part: a number from 1 on and the number of parts: only this part of the image of a directory
        is made, for :func:`merge`. All parts take the same options.
    :param replace: replace an existing file.
    :param threads: number of threads; by default as many as are useful.
    :param progress: called about ten times a second with the name of a stage, the steps done, the steps in
        all (0 while that is unknown) and bytes. What it raises ends the call.
    :param cancel: an event like :class:`threading.Event`. Once it is set, the call ends.
    :param storage_options: options of fsspec if *image* is a URL.
    :raises FileExistsError: there is such a file, and *replace* is false.
    :raises NotADirectoryError: *source* is neither a directory nor an archive.
    :raises ValueError: *compressor*, *level*, *block_size* or *part* makes no sense, or *part* is given for
        an archive or a commit.
    :raises OSError: the source cannot be read, or the image cannot be written.
    :raises hedgerow.errors.Error: under fakeroot or pseudo, whose owners and devices of a directory are
        not seen: make the image of an archive that ``fakeroot tar -c`` writes.
    :raises hedgerow.errors.GitError: there is no such repository or revision.
    :raises hedgerow.errors.Cancelled: *cancel* was set.
    """
    if repository is not None:
        kind = "commit"
    elif _os.path.isdir(source):
        kind = "directory"
    else:
        kind = "archive"
    if part is not None and kind != "directory":
        raise ValueError(
            f"only a directory can be packed in parts, and this is {_ARTICLES[kind]}: leave out part"
        )
    if part is not None:
        part = (number("part", part[0], 1, _MOST_PARTS), number("part", part[1], 1, _MOST_PARTS))
    if level is not None and compressor in _COMPRESSORS:
        if compressor not in _LEVELS:
            raise ValueError(f"{compressor} has no levels")
        number("level", level, 1, _LEVELS[compressor])
    settings = (
        compressor,
        number_or_none("level", level, 0, 2**32 - 1),
        number("block_size", block_size, 4096, 1 << 20),
    )
    threads = threads_of(threads)
    with _remote.output(image, storage_options, replace) as file:
        made = _hedgerow.image_create(
            source,
            file,
            kind=kind,
            repository=repository,
            settings=settings,
            part=part,
            replace=replace,
            threads=threads,
            watch=(progress, cancel),
        )
    return Created(*made)


def merge(
    parts: Iterable[Path],
    image: Path,
    *,
    replace: bool = False,
    threads: int | None = None,
    progress: Progress = None,
    cancel: Cancel = None,
    storage_options: dict[str, Any] | None = None,
) -> Merged:
    """Merge the parts of an image that :func:`create` made, in any order.

    Nearly all blocks are copied, compressed as they are; the bytes are those that :func:`create` writes
    without *part*.

    :param replace: replace an existing file.
    :param threads: number of threads; by default as many as are useful.
    :param progress: called about ten times a second with the name of a stage, the steps done, the steps in
        all (0 while that is unknown) and bytes. What it raises ends the call.
    :param cancel: an event like :class:`threading.Event`. Once it is set, the call ends.
    :param storage_options: options of fsspec, for all that are URLs.
    :raises hedgerow.errors.Error: a part is damaged or missing, they are not of one tree in one state, or
        the command line made them, which keeps other notes in its parts: ``hedgerow image merge`` reads those.
    :raises OSError: a part cannot be read, or *image* cannot be written.
    :raises hedgerow.errors.Cancelled: *cancel* was set.
    """
    threads = threads_of(threads)
    with _remote.inputs(several("parts", parts), storage_options) as files:
        with _remote.output(image, storage_options, replace) as file:
            created, skipped = _hedgerow.image_merge(
                files, file, replace=replace, threads=threads, watch=(progress, cancel)
            )
    return Merged(Created(*created), skipped)


def extract(
    image: Path,
    directory: Path,
    *,
    paths: Iterable[Path] = (),
    replace: bool = False,
    strip_components: int = 0,
    threads: int | None = None,
    progress: Progress = None,
    cancel: Cancel = None,
) -> int:
    """Extract *image* into *directory*, which is made if it does not exist. Returns the number of entries.

    Nothing is written outside of *directory*, whatever the image contains.

    :param paths: only these, with everything below them.
    :param replace: replace what is in the directory; otherwise it has to be empty.
    :param strip_components: leave out so many components at the beginning of each path, and what has no more.
    :param threads: number of threads; by default as many as are useful.
    :param progress: called about ten times a second with the name of a stage, the steps done, the steps in
        all (0 while that is unknown) and bytes. What it raises ends the call.
    :param cancel: an event like :class:`threading.Event`. Once it is set, the call ends.
    :raises FileExistsError: the directory is not empty, and *replace* is false.
    :raises OSError: the image cannot be read, or the file system is full.
    :raises hedgerow.errors.ImageError: the image is broken.
    :raises hedgerow.errors.PartialFailure: some entries could not be written; all others were.
    :raises hedgerow.errors.Cancelled: *cancel* was set.
    """
    entries, failures = _hedgerow.image_extract(
        image,
        directory,
        paths=several("paths", paths),
        replace=replace,
        strip_components=number("strip_components", strip_components),
        threads=threads_of(threads),
        watch=(progress, cancel),
    )
    if failures:
        raise PartialFailure(f"{len(failures)} entries could not be extracted", failures)
    return entries


def verify(
    image: Path,
    *,
    threads: int | None = None,
    progress: Progress = None,
    cancel: Cancel = None,
) -> Report:
    """Check a whole image: structure, blocks, checksums.

    :param threads: number of threads; by default as many as are useful.
    :param progress: called about ten times a second with the name of a stage, the steps done, the steps in
        all (0 while that is unknown) and bytes. What it raises ends the call.
    :param cancel: an event like :class:`threading.Event`. Once it is set, the call ends.
    :raises hedgerow.errors.ImageError: it is no image at all.
    :raises OSError: it cannot be read.
    :raises hedgerow.errors.Cancelled: *cancel* was set.
    """
    checked = _hedgerow.image_verify(
        image, threads=threads_of(threads), watch=(progress, cancel)
    )
    return Report(*checked)


def open(
    image: Union[Path, BinaryIO],
    *,
    offset: int = 0,
    threads: int | None = None,
    storage_options: dict[str, Any] | None = None,
) -> Image:
    """Open an image, of SquashFS or EROFS, to read its members.

    *image* is a path, a URL that fsspec knows (``s3://bucket/tree.sqfs``), of which only the ranges that
    are needed are read, or a binary file that can seek.

    :param offset: where the image begins in the file, in bytes.
    :param threads: number of threads that decompress a large read.
    :param storage_options: options of fsspec for a URL.
    :raises hedgerow.errors.ImageError: it is no image.
    :raises OSError: it cannot be read.
    :raises TypeError: *image* is a file of text, or no file.
    """
    offset, threads = number("offset", offset), threads_of(threads)
    if isinstance(image, (str, bytes, _os.PathLike)):
        name = _os.fspath(image)
        if isinstance(name, str) and _remote.is_url(name):
            return Image(_of_url(name, storage_options or {}, offset, threads), name)
        return Image(_hedgerow.RawImage(image, offset, threads), _os.fsdecode(name))
    if not (hasattr(image, "seek") and hasattr(image, "read")):
        raise TypeError(f"an image is a path or a binary file, not {type(image).__name__}")
    if isinstance(image, _io.TextIOBase):
        raise TypeError("an image is a binary file, not a text file: open it with the mode 'rb'")
    return Image(_of_file(image, offset, threads), getattr(image, "name", "<file>"))


def _of_url(
    url: str, options: dict[str, Any], offset: int, threads: int | None
) -> _hedgerow.RawImage:
    read_at, length = _remote.ranges(url, options)
    return _hedgerow.RawImage(url, offset, threads, read_at, length)


def _of_file(file: BinaryIO, offset: int, threads: int | None) -> _hedgerow.RawImage:
    lock = _Lock()

    def read_at(position: int, count: int) -> bytes:
        with lock:
            file.seek(position)
            content = bytes(file.read(count))
            # A raw file may give less than it has.
            while 0 < len(content) < count:
                more = file.read(count - len(content))
                if not more:
                    break
                content += more
            return content

    length = file.seek(0, _os.SEEK_END)
    name = getattr(file, "name", None)
    if not isinstance(name, (str, bytes)):
        name = None
    return _hedgerow.RawImage(name, offset, threads, read_at, length)


#: No file has more bytes.
_MOST = 2**63


class Image:
    """An open image. Paths are relative to its root, and links are not followed. Several threads may
    read it. Made by :func:`open`."""

    def __init__(self, raw: _hedgerow.RawImage, name: str) -> None:
        self._raw = raw
        self.name = name

    def __repr__(self) -> str:
        return f"<Image {self.name!r}>"

    def __enter__(self) -> Image:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close it. Files that were opened from it cannot be read any more."""
        self._raw.close()

    def listdir(self, path: Path = "") -> list[Entry]:
        """The entries of a directory, sorted by the bytes of their names.

        :raises FileNotFoundError: there is none.
        :raises NotADirectoryError: it is something else.
        """
        return [Entry(*row) for row in self._raw.list(path)]

    def stat(self, path: Path) -> Stat:
        """What the image tells of an entry.

        :raises FileNotFoundError: there is none.
        """
        return Stat(*self._raw.stat(path))

    def walk(self, path: Path = "") -> Iterator[tuple[str, list[str], list[str]]]:
        """Yield paths, names of directories and other names, like :func:`os.walk`. Names may be taken
        out of the list of directories.

        :raises OSError: as :meth:`listdir`.
        """
        pending = [_os.fsdecode(path).strip("/")]
        while pending:
            directory = pending.pop()
            entries = self.listdir(directory)
            directories = [entry.name for entry in entries if entry.kind == "d"]
            yield directory, directories, [entry.name for entry in entries if entry.kind != "d"]
            pending.extend(
                f"{directory}/{name}" if directory else name for name in reversed(directories)
            )

    def read(self, path: Path, start: int = 0, length: int | None = None) -> bytes:
        """The content of a file, or *length* bytes from *start* on. Only the blocks that hold them are
        read; many blocks are decompressed in parallel.

        :raises FileNotFoundError: there is none.
        :raises OSError: it is no file (:class:`IsADirectoryError` for a directory), or cannot be read.
        :raises hedgerow.errors.ImageError: its blocks are damaged.
        :raises ValueError: *start* or *length* is negative, or the image is closed.
        """
        if start < 0 or (length is not None and length < 0):
            raise ValueError("start and length must not be negative")
        length = _MOST if length is None else min(length, _MOST)
        return self._raw.read(path, min(start, _MOST), length)

    def read_many(
        self, paths: Sequence[Path], *, threads: int | None = None
    ) -> list[bytes]:
        """The contents of several files, read in parallel.

        :param threads: number of threads; by default two for each processor, and at most 32.
        :raises OSError: as :meth:`read`, for the first that cannot be read.
        """
        count = threads_of(threads) or min(32, 2 * (_os.cpu_count() or 1))
        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(self.read, several("paths", paths)))

    def open(self, path: Path, *, buffering: int = 131072) -> BinaryIO:
        """Open a file for reading bytes, with ``seek``.

        :param buffering: size of the buffer in bytes.
        :raises OSError: as :meth:`read`.
        """
        stat = self.stat(path)
        if stat.kind == "d":
            self.read(path, 0, 1)
        return _io.BufferedReader(_Member(self, path, stat.size), buffering)


class _Member(_io.RawIOBase):
    """A file of an image."""

    def __init__(self, image: Image, path: Path, size: int) -> None:
        self._image = image
        self._path = path
        self._size = size
        self._position = 0
        self.name = _os.fspath(path)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        self._checkClosed()
        return self._position

    def seek(self, offset: int, whence: int = _os.SEEK_SET) -> int:
        self._checkClosed()
        bases = {_os.SEEK_SET: 0, _os.SEEK_CUR: self._position, _os.SEEK_END: self._size}
        if whence not in bases:
            raise ValueError(f"whence value {whence} unsupported")
        base = bases[whence]
        if base + offset < 0:
            raise ValueError("negative seek position")
        self._position = base + offset
        return self._position

    def readinto(self, buffer: Any) -> int:
        self._checkClosed()
        view = memoryview(buffer).cast("B")
        content = self._image.read(self._path, self._position, len(view))
        view[: len(content)] = content
        self._position += len(content)
        return len(content)

    def readall(self) -> bytes:
        self._checkClosed()
        content = self._image.read(self._path, self._position)
        self._position += len(content)
        return content
