#!/usr/bin/env python3
"""Measures how time and memory grow with what is worked on, each size several times the one
before: writes bench/out/growth.json, .md and .svg. See bench/README.md."""

import json
import math
import subprocess
import sys
import traceback
from dataclasses import dataclass

import contenders
import plot
import results
from cases import Setting
from cases.memory import Crowd
from contenders import git, hedgerow
from corpora import Corpora
from made import MadeRepositories, commit
from measure import CommandFailed, median, run
from places import MadePlace, Place, disk, remove, require_free, tmpfs
from skipped import Skipped
from stopping import exit_when_stopped, started

# Time that grows with a lower power of the size than this is called linear: caches get colder.
LINEAR = 1.1
# Runs of one size; what takes longer than LONG_S runs once.
RUNS, LONG_S = 3, 20
FILES_PER_DIRECTORY = 999
MIB = 1 << 20
AUTHOR = ("-c", "user.name=A U Thor", "-c", "user.email=author@example.com")


@dataclass(frozen=True)
class Sizes:
    """What is measured; the small ones only show that everything runs."""

    parts: tuple  # of the Linux tree: one file of so many
    files: tuple
    entries: tuple  # of one directory
    references: tuple
    commits: tuple  # each of three objects
    blob_mib: tuple


FULL = Sizes((8, 4, 2, 1), (10_000, 100_000, 1_000_000, 10_000_000), (10_000, 100_000, 1_000_000),
             (1_000, 10_000, 100_000, 1_000_000), (3_333, 33_333, 333_333, 3_333_333),
             (64, 512, 2048, 8192))
SMOKE = Sizes((2, 1), (1_000, 2_000), (100, 200), (100, 200), (100, 200), (1, 2))


class Growth:
    """What was found: by title, the unit of the sizes and a point for each size."""

    def __init__(self):
        self.series = {}

    def add(self, title, unit, size, measured):
        """`measured()` gives a sample, with memory watched."""
        samples = [measured()]
        while samples[0].wall_s < LONG_S and len(samples) < RUNS:
            samples.append(measured())
        point = {"size": size, "wall_s": round(median([sample.wall_s for sample in samples]), 4),
                 "cpu_s": round(median([sample.cpu_s for sample in samples]), 4),
                 "peak_mb": round(median([sample.anon_kib for sample in samples]) * 1024 / 1e6, 1)}
        print(f"   {title}, {size:,} {unit}: {point['wall_s']} s, user+sys {point['cpu_s']} s, "
              f"{point['peak_mb']} MB", flush=True)
        self.series.setdefault(title, {"unit": unit, "points": []})["points"].append(point)


def main():
    exit_when_stopped()
    subjects = {"parts": of_parts, "files": of_files, "directory": of_one_directory,
                "references": of_references, "objects": of_objects, "blob": of_blobs}
    parser = results.parser_of(__doc__, "small inputs, into bench/out/smoke: does it still run?")
    parser.add_argument("--subject", action="append", choices=subjects,
                        help="only this one; may be repeated; the others are kept")
    arguments = parser.parse_args()
    out = results.place_of(arguments, "growth")
    contenders.build()
    setting = Setting(Corpora(arguments.smoke), 1, arguments.smoke)
    found = kept(out) if arguments.subject else {}
    failed = []
    for name in arguments.subject or subjects:
        print(f"== {name}", flush=True)
        growth = Growth()
        try:
            subjects[name](setting, SMOKE if arguments.smoke else FULL, growth)
        except Skipped as reason:
            print(f"skipped: {name}: {reason}", flush=True)
        except (CommandFailed, RuntimeError, OSError, subprocess.CalledProcessError):
            traceback.print_exc()
            failed.append(name)
        found.update(growth.series)
    write(out, found)
    print(out.with_suffix(".md").read_text())
    if failed:
        sys.exit(f"error: failed: {' '.join(failed)}")


def of_parts(setting, sizes, growth):
    """Files of the Linux tree as they are, checked out and their status."""
    repository = setting.corpora.linux()
    require_free(tmpfs(), 100 if setting.is_smoke else 4000)
    with Place(tmpfs(), repository) as place:
        whole = place.git("rev-parse", "HEAD").strip()
        listed = place.git("ls-tree", "-r", "-z", whole).split("\0")[:-1]
        for part in sizes.parts:
            count = len(listed[::part])
            revision = whole if part == 1 else _commit(place, listed[::part])

            def checked_out(revision=revision):
                place.empty()
                return place.run([hedgerow("checkout", "-q", "--detach", revision)], watch_memory=True)

            growth.add("checkout of Linux", "files", count, checked_out)
            place.settle_index()
            place.require_clean()
            growth.add("status of Linux", "files", count,
                       lambda: place.run([hedgerow("status", "--porcelain")], watch_memory=True))


def _commit(place, listed):
    """A commit with what `git ls-tree` has listed."""
    env = {**place.env, "GIT_INDEX_FILE": str(place.base / "part-index")}

    def asked(*words, given=None):
        return subprocess.run(git(*words), env=env, cwd=place.tree, input=given, text=True,
                              capture_output=True, check=True).stdout.strip()

    asked("read-tree", "--empty")
    asked("update-index", "-z", "--index-info", given="\0".join(listed) + "\0")
    return asked(*AUTHOR, "commit-tree", "-m", "part", asked("write-tree"))


def of_files(setting, sizes, growth):
    """Empty files in directories of a thousand entries: walked, packed, and their status."""
    del setting
    for count in sizes.files:
        directories = max(count // (FILES_PER_DIRECTORY + 1), 1)
        entries = directories * (FILES_PER_DIRECTORY + 1)
        try:
            with Crowd(directories, FILES_PER_DIRECTORY) as place:
                _walked(place, entries, growth, "files in directories of a thousand")
                _status(place, entries, growth, [
                    f"directory{directory:06}/file{file:04}" for directory in range(directories)
                    for file in range(FILES_PER_DIRECTORY)])
        except Skipped as reason:
            print(f"skipped: {count:,} files: {reason}", flush=True)


def _walked(place, entries, growth, what):
    image = place.base / "image"
    for title, words in [
            ("walk --stat --summary", ("walk", "--stat", "--summary", ".")),
            ("walk --sort", ("walk", "--sort", ".")),
            ("image create, lz4", ("-q", "image", "create", "-f", "-c", "lz4", ".", str(image)))]:
        growth.add(f"{title}: {what}", "entries", entries,
                   lambda words=words: place.run([hedgerow(*words)], watch_memory=True))
    image.unlink()


def _status(place, entries, growth, paths):
    place.output(git("init", "-q"))
    empty = place.output(git("hash-object", "-w", "/dev/null")).strip()
    with started(git("update-index", "-z", "--index-info"), cwd=place.tree, env=place.env,
                 stdin=subprocess.PIPE, text=True) as process:
        for path in paths:
            process.stdin.write(f"100644 {empty} 0\t{path}\0")
        process.stdin.close()
        if process.wait() != 0:
            raise RuntimeError("git update-index failed")
    place.output(git(*AUTHOR, "commit", "-q", "-m", "all"))
    place.settle_index()
    place.require_clean()
    growth.add("status: files in directories of a thousand", "entries", entries,
               lambda: place.run([hedgerow("status", "--porcelain")], watch_memory=True))


def of_one_directory(setting, sizes, growth):
    """Empty files, all in one directory."""
    del setting
    for count in sizes.entries:
        require_free(tmpfs(), 100 + count // 500)
        with Crowd(1, count) as place:
            _walked(place, count + 1, growth, "one directory")


def of_references(setting, sizes, growth):
    """References in packed-refs, each to one of a few commits."""
    del setting
    for count in sizes.references:
        with MadeRepositories() as made:
            path = made.repository("references.git", _history(10))
            listed = subprocess.run(git("rev-list", "--all"), env=made.env, cwd=path, check=True,
                                    capture_output=True, text=True).stdout.split()
            lines = [f"{listed[at % len(listed)]} refs/heads/b{at:07}\n" for at in range(count)]
            (path / "packed-refs").write_text("# pack-refs with: peeled fully-peeled sorted \n"
                                              + "".join(lines))
            for title, words in [("rev-list --all --count", ("rev-list", "--all", "--count")),
                                 ("repack -a -d -b", ("repack", "-a", "-d", "-b", "-q")),
                                 ("clone --bare", ("clone", "-q", "--bare", "--no-local",
                                                   f"file://{path}", "clone.git"))]:
                def measured(words=words, path=path, made=made):
                    remove(path / "clone.git")
                    return run(hedgerow(*words), made.env, path, watch_memory=True)

                growth.add(f"{title}: references", "references", count, measured)


def of_objects(setting, sizes, growth):
    """A line of commits, each with a tree and a file of its own."""
    del setting
    for count in sizes.commits:
        with MadeRepositories() as made:
            path = made.repository("objects.git", _history(count))
            pack = next(path.glob("objects/pack/*.pack"))
            commands = [
                ("index-pack", ("index-pack", "-o", str(path / "again.idx"), str(pack))),
                ("rev-list --objects --all --count", ("rev-list", "--objects", "--all", "--count")),
                ("repack -a -d -b", ("repack", "-a", "-d", "-b", "-q")),
                ("count with the bitmap", ("rev-list", "--objects", "--all", "--count",
                                           "--use-bitmap-index"))]
            for title, words in commands:
                growth.add(f"{title}: objects", "objects", 3 * count,
                           lambda words=words: run(hedgerow(*words), made.env, path, watch_memory=True))


def _history(count):
    """Commits on one branch; a file's content, and with it the tree, is new in each."""
    for number in range(count):
        content = b"%d\n" % number
        yield commit("refs/heads/main") + b"M 644 inline file\ndata %d\n%s\n" % (len(content), content)


def of_blobs(setting, sizes, growth):
    """One file that becomes larger, of text that repeats: checked out, packed, extracted."""
    del setting
    line = b"".join(b"%d is a number of this file\n" % number for number in range(3000))[:MIB // 16]
    for mib in sizes.blob_mib:
        # The file, or what is extracted; its pack; its image.
        try:
            require_free(tmpfs(), 100 + 2 * mib)
            parent = tmpfs()
        except Skipped:
            require_free(disk(), 100 + 2 * mib)
            parent = disk()
        with MadePlace(parent, lambda place: None) as place:
            place.output(git("init", "-q", "repository"))
            repository = place.tree / "repository"
            with started(git("-c", "fastimport.unpackLimit=0", "fast-import", "--quiet"),
                         cwd=repository, env=place.env, stdin=subprocess.PIPE) as importer:
                importer.stdin.write(commit("refs/heads/main")
                                     + b"M 644 inline file\ndata %d\n" % (mib * MIB))
                for _ in range(mib * MIB // len(line)):
                    importer.stdin.write(line)
                importer.stdin.write(b"\n")
                importer.stdin.close()
                if importer.wait() != 0:
                    raise RuntimeError("git fast-import failed")
            place.output(git("-C", "repository", "symbolic-ref", "HEAD", "refs/heads/main"))
            image, out = str(place.base / "image"), place.base / "out"

            def cleared(words, repository=repository, out=out, place=place):
                for path in (repository / "file", out):
                    remove(path)
                if words[0] == "-C":
                    (repository / ".git/index").unlink(missing_ok=True)
                return place.run([hedgerow(*words)], watch_memory=True)

            checkout = ("-C", "repository", "checkout", "-q")
            growth.add("checkout of a large file", "MiB", mib, lambda: cleared(checkout))
            place.run([hedgerow("-C", "repository", "checkout", "-q", "-f")])
            growth.add("image create, lz4, of a large file", "MiB", mib, lambda: place.run(
                [hedgerow("-q", "image", "create", "-f", "-c", "lz4", "repository", image,
                          "--exclude", ".git")], watch_memory=True))
            growth.add("image extract of a large file", "MiB", mib,
                       lambda: cleared(("-q", "image", "extract", image, str(out))))


def kept(out):
    """What was found before."""
    path = out.with_suffix(".json")
    return json.loads(path.read_text())["series"] if path.exists() else {}


def exponent(points, key):
    """The power of the size with which something grew over the last step; None where nothing can be
    said, because it was near nothing."""
    if len(points) < 2:
        return None
    before, last = points[-2:]
    if min(before[key], last[key]) <= 0:
        return None
    return math.log(last[key] / before[key]) / math.log(last["size"] / before["size"])


def write(out, found):
    out.parent.mkdir(parents=True, exist_ok=True)
    document = {"machine": results.machine(), "versions": contenders.versions(), "series": found}
    out.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
    out.with_suffix(".svg").write_text(plot.growth(found))
    out.with_suffix(".md").write_text(page(found))


def page(found):
    lines = [
        "| what | sizes | user+sys | peak memory | grows with the power (time; memory) | |",
        "|---|---|---|---|---|---|",
    ]
    for title, series in found.items():
        points = series["points"]
        sizes = ", ".join(f"{point['size']:,}" for point in points)
        seconds = ", ".join(f"{point['cpu_s']:.2f}" for point in points)
        megabytes = ", ".join(f"{point['peak_mb']:.0f}" for point in points)
        powers = [exponent(points, key) for key in ("cpu_s", "peak_mb")]
        told = "; ".join("-" if power is None else f"{power:.2f}" for power in powers)
        verdict = "" if powers[0] is None else "linear" if powers[0] < LINEAR else "worse"
        lines.append(f"| {title} | {sizes} {series['unit']} | {seconds} s | {megabytes} MB | {told} "
                     f"| {verdict} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
