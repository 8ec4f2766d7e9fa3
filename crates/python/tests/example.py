"""What mypy --strict checks: each public function is used as its users do."""

from __future__ import annotations

import hedgerow
from hedgerow import image, listing
from hedgerow import os as hos


def files(top: str) -> int:
    total = 0
    for path, directories, names in hos.walk(top, onerror=print):
        directories[:] = [name for name in directories if not name.startswith(".")]
        total += len(path) and len(names)
    for path_bytes, _, _ in hos.walk(b"/", topdown=False, followlinks=True):
        total += path_bytes.count(b"/")
    with hos.scandir(top, stat=True) as entries:
        return total + sum(entry.stat().st_size for entry in entries if entry.is_file())


def rows(top: str) -> int:
    return sum(batch.num_rows for batch in hedgerow.walk(top, exclude=["*.o", b"tmp"], sort=True))


def tell(stage: str, done: int, total: int, size: int) -> None:
    print(stage, done, total, size)


def work(path: str) -> list[str]:
    written: int = hedgerow.checkout(path, "v1", progress=tell).written
    changed = [change.path for change in hedgerow.status(path).changes if change.staged != " "]
    repository = hedgerow.Repository(path)
    content: bytes = repository.cat_file("HEAD:README").content
    many = [found.content for found in repository.cat_file(["HEAD", b"HEAD^"])]
    sizes = [pack.stored_bytes for pack in repository.packs()]
    return changed + repository.rev_list("HEAD") + [str((written, content, many, sizes))]


def pack(tree: str, path: str) -> bytes:
    if image.create(tree, path).bytes and not image.verify(path).is_sound:
        raise hedgerow.errors.ImageError(path)
    with image.open(path) as opened:
        return opened.read("file", 0, 10) + b"".join(opened.read_many(["a", "b"]))


def parts(top: str) -> int:
    pending: list[list[str] | None] = [None]
    made: list[str] = []
    while pending:
        part = listing.walk_part(top, "60s", f"part{len(made)}", rest=pending.pop(), errors="collect")
        made.append(f"part{len(made)}")
        pending.extend([directory] for directory in part.rest)
    whole = listing.write_parquet(top, "s3://bucket/whole", progress=tell).rows
    return whole - listing.merge(made, "merged", format="arrow").rows
