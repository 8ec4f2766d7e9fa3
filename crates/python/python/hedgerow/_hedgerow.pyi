import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Optional, TypedDict, Union, final, type_check_only

from ._watch import Cancel, Progress
from .os import DirEntry as DirEntry
from .os import scandir as scandir

_Path = Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]
_Name = Union[str, bytes]
_Watch = tuple[Progress, Cancel]

__all__ = [
    "__version__",
    "DirEntry",
    "ScandirIterator",
    "Walker",
    "scandir",
    "ending",
    "before_fork",
    "after_fork_in_parent",
    "after_fork_in_child",
    "Rows",
    "Batch",
    "walk_rows",
    "listing_write",
    "listing_part",
    "listing_merge",
    "listing_rest",
    "RawRepository",
    "checkout",
    "status",
    "RawImage",
    "image_create",
    "image_merge",
    "image_extract",
    "image_verify",
    "panic_for_tests",
]

__version__: str

@final
class Rows:
    """The rows of a walk, which is under way. They are taken once, as a stream or in batches."""

    @property
    def errors(self) -> list[OSError]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __iter__(self) -> Iterator[Batch]: ...
    def __next__(self) -> Batch: ...
    def queue(self) -> list[tuple[float, int, int, int]]: ...
    def plot(self) -> str: ...
    def close(self) -> None: ...
    def __enter__(self) -> Rows: ...
    def __exit__(self, *exception: object) -> None: ...

@final
class Batch:
    """Some rows of a walk."""

    @property
    def num_rows(self) -> int: ...
    def __len__(self) -> int: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...

def walk_rows(
    path: _Path,
    *,
    stat: bool,
    exclude: Sequence[_Name],
    gitignore: bool,
    sort: bool,
    one_file_system: bool,
    max_depth: int | None,
    batch_rows: int,
    threads: int | None,
    errors: str,
    record: bool,
) -> Rows: ...

@type_check_only
class ListingOptions(TypedDict):
    exclude: Sequence[_Name]
    gitignore: bool
    one_file_system: bool
    max_depth: int | None
    threads: int | None
    replace: bool
    raises: bool

def listing_write(
    root: _Path, path: _Path, *, format: str, options: ListingOptions, watch: _Watch
) -> tuple[int, list[OSError]]: ...
def listing_part(
    root: _Path,
    path: _Path,
    *,
    entries: int | None,
    seconds: float | None,
    given: Sequence[_Path],
    options: ListingOptions,
    watch: _Watch,
) -> tuple[int, list[str], list[OSError]]: ...
def listing_merge(
    parts: Sequence[_Path], path: _Path, *, format: str, replace: bool, watch: _Watch
) -> tuple[int, list[tuple[str, str]]]: ...
def listing_rest(path: _Path) -> list[str]: ...

@type_check_only
class _StatusRows(TypedDict):
    changes: list[tuple[str, str, str, bool, Optional[str]]]
    untracked: list[str]
    ignored: list[str]
    warnings: list[str]
    failures: list[str]

def checkout(
    path: _Path,
    revision: _Name,
    *,
    force: bool,
    detach: bool,
    threads: int | None,
    watch: _Watch,
) -> tuple[int, int, int, list[tuple[str, str]], list[str]]: ...
def status(
    path: _Path, *, untracked: str, ignored: bool, threads: int | None, watch: _Watch
) -> _StatusRows: ...

@final
class RawRepository:
    def __new__(cls, path: _Path) -> RawRepository: ...
    @property
    def git_dir(self) -> str: ...
    @property
    def work_tree(self) -> str | None: ...
    def resolve(self, revision: _Name) -> str: ...
    def rev_list(
        self,
        revisions: Sequence[_Name],
        *,
        objects: bool,
        max_count: int | None,
        first_parent: bool,
        reverse: bool,
        watch: _Watch,
    ) -> list[Any]: ...
    def cat_file(
        self, names: Sequence[_Name], threads: int | None, watch: _Watch
    ) -> list[tuple[str, str, bytes]]: ...
    def tree(
        self, spec: _Name, sizes: bool, only: _Name | None = None
    ) -> list[tuple[str, int, str, Optional[int]]]: ...
    def packs(self) -> list[tuple[str, int, int, int]]: ...

@final
class RawImage:
    def __new__(
        cls,
        path: _Path | None,
        offset: int,
        threads: int | None,
        read_at: Callable[[int, int], bytes] | None = None,
        length: int = 0,
    ) -> RawImage: ...
    def list(self, path: _Path) -> list[tuple[str, str]]: ...
    def stat(
        self, path: _Path
    ) -> tuple[str, int, int, int, int, int, int, int, Optional[str]]: ...
    def read(self, path: _Path, start: int, length: int) -> bytes: ...
    def close(self) -> None: ...

def image_create(
    source: _Path,
    target: _Path,
    *,
    kind: str,
    repository: _Path | None,
    settings: tuple[str, int | None, int],
    part: tuple[int, int] | None,
    replace: bool,
    threads: int | None,
    watch: _Watch,
) -> tuple[int, int, int, int]: ...
def image_merge(
    parts: Sequence[_Path],
    target: _Path,
    *,
    replace: bool,
    threads: int | None,
    watch: _Watch,
) -> tuple[tuple[int, int, int, int], list[str]]: ...
def image_extract(
    image: _Path,
    target: _Path,
    *,
    paths: Sequence[_Path],
    replace: bool,
    strip_components: int,
    threads: int | None,
    watch: _Watch,
) -> tuple[int, list[tuple[str, str]]]: ...
def image_verify(
    image: _Path, *, threads: int | None, watch: _Watch
) -> tuple[list[str], int, int, int]: ...
def panic_for_tests() -> None: ...

@final
class ScandirIterator:
    def __iter__(self) -> ScandirIterator: ...
    def __next__(self) -> DirEntry[Any]: ...
    def close(self) -> None: ...
    def __enter__(self) -> ScandirIterator: ...
    def __exit__(self, *exception: object) -> None: ...

@final
class Walker:
    def __new__(
        cls,
        top: _Name,
        topdown: bool,
        onerror: Callable[[OSError], object] | None,
        followlinks: bool,
    ) -> Walker: ...
    def __iter__(self) -> Walker: ...
    def __next__(self) -> tuple[Any, list[Any], list[Any]]: ...
    def close(self) -> None: ...

def ending() -> None: ...
def before_fork() -> None: ...
def after_fork_in_parent() -> None: ...
def after_fork_in_child() -> None: ...
