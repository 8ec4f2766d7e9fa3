"""The programs that make and read SquashFS and EROFS images, each at its best."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import debian
from contenders import PACK_LIMIT, hedgerow
from skipped import Skipped

PACKAGES = ("squashfs-tools", "squashfs-tools-ng", "erofs-utils")
BLOCK_BYTES = 128 << 10
# Several workers and deduplication are new in it.
MKFS_EROFS_AT_LEAST = (1, 8)


@dataclass(frozen=True)
class Compression:
    """A compressor and its settings, in everybody's words."""

    ours: tuple
    ng: tuple  # squashfs-tools-ng
    tools: tuple  # squashfs-tools
    limit: str  # pack_limit


COMPRESSIONS = {
    "gzip": Compression(("-c", "gzip", "-l", "9"), ("-c", "gzip", "-X", "level=9"),
                        ("-comp", "gzip", "-Xcompression-level", "9"), "gzip,level=9"),
    "zstd": Compression(("-c", "zstd", "-l", "15"), ("-c", "zstd", "-X", "level=15"),
                        ("-comp", "zstd", "-Xcompression-level", "15"), "zstd,level=15"),
    "zstd3": Compression(("-c", "zstd", "-l", "3"), ("-c", "zstd", "-X", "level=3"),
                         ("-comp", "zstd", "-Xcompression-level", "3"), "zstd,level=3"),
    "xz": Compression(("-c", "xz"), ("-c", "xz"), ("-comp", "xz"), "xz"),
    "lzma": Compression(("-c", "lzma"), ("-c", "lzma"), ("-comp", "lzma"), "lzma"),
    "lz4": Compression(("-c", "lz4"), ("-c", "lz4"), ("-comp", "lz4"), "lz4"),
    "lz4hc": Compression(("-c", "lz4", "-X", "hc"), ("-c", "lz4", "-X", "hc"),
                         ("-comp", "lz4", "-Xhc"), "lz4,hc"),
    "lzo": Compression(("-c", "lzo"), ("-c", "lzo"), ("-comp", "lzo"), "lzo"),
}


def program(name, variable="SQUASHFS_RIVALS"):
    """The words that start a rival: from the directory that the variable names, else from Debian
    unstable, else from the PATH. None if there is none."""
    named = os.environ.get(variable)
    if named:
        path = Path(named).resolve() / name
        return [str(path)] if path.exists() else None
    installed = shutil.which(name)
    return debian.program(name) or ([installed] if installed else None)


def prepare(is_smoke):
    """Gets the newest rivals, unless small inputs only show that everything runs."""
    if not is_smoke and not os.environ.get("SQUASHFS_RIVALS"):
        debian.unpack(PACKAGES)


def require(name):
    """As `program`; raises Skipped if there is none."""
    words = program(name)
    if words is None:
        raise Skipped(f"there is no {name}")
    return words


def versions():
    """What is compared, for the record."""
    found = {}
    for name, option in (("mksquashfs", "-version"), ("tar2sqfs", "--version")):
        words = program(name)
        if words is not None:
            done = subprocess.run([*words, option], capture_output=True, text=True, check=False)
            found[name] = (done.stdout or done.stderr).split("\n", 1)[0]
    words = program("mkfs.erofs", "EROFS_RIVALS")
    if words is not None:
        done = subprocess.run([*words, "-V"], capture_output=True, text=True, check=False)
        found["mkfs.erofs"] = done.stdout.split("\n", 1)[0]
    return found


def ours(source, image, compression, jobs=None, options=()):
    words = COMPRESSIONS[compression].ours
    return hedgerow("-q", "image", "create", "-f", *words, *options, str(source), str(image),
                    jobs=jobs)


def gensquashfs(source, image, compression, jobs, options=()):
    words = COMPRESSIONS[compression].ng
    return [*require("gensquashfs"), "-q", "-f", "-k", "-j", str(jobs), *words, *options,
            "-D", str(source), str(image)]


def tar2sqfs(image, compression, jobs, options=()):
    """Reads the archive from its standard input."""
    words = COMPRESSIONS[compression].ng
    return [*require("tar2sqfs"), "-q", "-f", "-j", str(jobs), *words, *options, str(image)]


def mksquashfs(source, image, compression, jobs, options=()):
    words = COMPRESSIONS[compression].tools
    return [*require("mksquashfs"), str(source), str(image), "-noappend", *_quietly(jobs), *words,
            *options]


def sqfstar(image, compression, jobs, options=()):
    """Reads the archive from its standard input; the image must not be there."""
    words = COMPRESSIONS[compression].tools
    return [*require("sqfstar"), *_quietly(jobs), *words, *options, str(image)]


def _quietly(jobs):
    return ["-quiet", "-no-progress", "-processors", str(jobs)]


def erofs(source, image, jobs=None, options=()):
    """An EROFS image by hedgerow."""
    return hedgerow("-q", "image", "create", "-f", "--format", "erofs", "-c", "lz4", *options,
                    str(source), str(image), jobs=jobs)


def mkfs_erofs():
    """What makes the command of an EROFS image of a directory. Raises Skipped."""
    words = program("mkfs.erofs", "EROFS_RIVALS")
    if words is None:
        raise Skipped("there is no mkfs.erofs")
    done = subprocess.run([*words, "-V"], capture_output=True, text=True, check=False)
    version = re.search(r"(\d+)\.(\d+)", done.stdout)
    if version is None or tuple(map(int, version.groups())) < MKFS_EROFS_AT_LEAST:
        at_least = ".".join(map(str, MKFS_EROFS_AT_LEAST))
        raise Skipped(f"mkfs.erofs {at_least} or newer is needed")
    return lambda source, image, jobs, options=(): [
        *words, "--quiet", f"--workers={jobs}", "-zlz4", *options, str(image), str(source)]


# Name and options of what is tried: defaults, and tuned. A longer queue lets squashfs-tools-ng use
# its workers better.
_NG = (("", ()), (" -Q 200", ("-Q", "200")))
_TOOLS = (("", ()), (" -no-xattrs", ("-no-xattrs",)))
_READER = (" -single-reader -no-xattrs", ("-single-reader", "-no-xattrs"))


def of_directory(source, image, compression):
    """Name and command by number of jobs, of everything that packs a directory and can be had."""
    tools = (*_TOOLS, _READER) if chooses_readers() else _TOOLS
    return _named((("gensquashfs", _NG, lambda *words: gensquashfs(source, image, *words)),
                   ("mksquashfs", tools, lambda *words: mksquashfs(source, image, *words))),
                  compression)


def chooses_readers():
    """Whether mksquashfs can be told with how many threads to read: from 4.7 on."""
    words = program("mksquashfs")
    if words is None:
        return False
    done = subprocess.run([*words, "-help-all"], capture_output=True, text=True, check=False)
    return "-small-readers" in done.stdout + done.stderr


def of_tar(image, compression):
    """Likewise of everything that packs the archive on its standard input."""
    return _named((("tar2sqfs", _NG, lambda *words: tar2sqfs(image, *words)),
                   ("sqfstar", _TOOLS, lambda *words: sqfstar(image, *words))), compression)


def _named(programs, compression):
    def command(make, options):
        return lambda jobs: make(compression, jobs, options)

    found = {name + suffix: command(make, options)
             for name, tried, make in programs if program(name) is not None
             for suffix, options in tried}
    if not found:
        raise Skipped(f"there is no {' or '.join(name for name, _, _ in programs)}")
    return found


def limit(place, compression, threads, block_bytes=BLOCK_BYTES):
    """What compressing all blocks of the tree takes from memory, by number of threads."""
    words = COMPRESSIONS[compression].limit
    return {str(count): json.loads(place.output(
        [str(PACK_LIMIT), str(place.tree), str(block_bytes), str(count), words]))
        for count in threads}
