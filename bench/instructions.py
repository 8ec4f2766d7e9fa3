#!/usr/bin/env python3
"""Counts the instructions that the hottest paths take, on fixed inputs, and compares them with those
that were recorded: a path that takes over 1 % more is an error. Needs valgrind. See bench/README.md."""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import contenders
from contenders import ROOT, TARGET, git
from made import MadeRepositories, commit
from places import output, remove
from skipped import Skipped

RECORD = Path(__file__).with_suffix(".json")
TOLERANCE = 0.01
FILES = 3000
CHANGED = 800
BUILD = "tests" if contenders.OF_TESTS else "release"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true", help="these are the counts from now on")
    parser.add_argument("--path", action="append", choices=list(PATHS), help="only this one")
    parser.add_argument("--since", metavar="COMMIT",
                        help="build and count every commit since this one: which cost what?")
    arguments = parser.parse_args()
    try:
        require_valgrind()
        names = arguments.path or list(PATHS)
        if arguments.since:
            tell_commits(arguments.since, names)
            return
        if contenders.OF_TESTS and not arguments.record:
            require_environment()
        contenders.build()
        counts = count_all(contenders.HEDGEROW, names)
    except Skipped as reason:
        print(f"skipped: instructions: {reason}")
        return
    if arguments.record:
        record(counts)
    elif not is_within(counts):
        sys.exit("error: more instructions than recorded; `bench/instructions.py --since COMMIT` says "
                 "which commit costs them, `--record` accepts them")


def require_environment():
    """Tests only compare: where nothing can be compared, nothing is counted."""
    others = differences(load().get(BUILD))
    if others:
        raise Skipped(f"recorded in another environment: {others}")


def require_valgrind():
    if shutil.which("valgrind") is None:
        raise Skipped("valgrind is not installed")


# What is counted: each takes a scene and returns the words, after making what they work on.

def checkout(scene):
    scene.empty()
    return scene.at(scene.tree, "checkout", "-q", "-f", "first")


def switch(scene):
    scene.checked_out("first")
    return scene.at(scene.tree, "switch", "-q", "--detach", "second")


def status_clean(scene):
    scene.checked_out("first")
    return scene.at(scene.tree, "status", "--porcelain")


def status_changed(scene):
    scene.checked_out("first")
    for number in range(0, FILES, 5):
        path = scene.tree / file_name(number)
        path.write_bytes(path.read_bytes() + b"edited\n")
        path.with_suffix(".new").touch()
    return scene.at(scene.tree, "status", "--porcelain", "--untracked-files=all")


def walk(scene):
    scene.checked_out("first")
    return scene.at(scene.tree, "walk", "--stat", "--summary", ".")


def index_pack(scene):
    repository = scene.repository()
    (repository / "packs").mkdir()
    pack = next((repository / "objects" / "pack").glob("*.pack"))
    copy = shutil.copy(pack, repository / "packs" / "copy.pack")
    return scene.at(repository, "index-pack", str(copy))


def rev_list(scene):
    return scene.at(scene.repository(), "rev-list", "--objects", "--all")


def count_by_bitmap(scene):
    repository = scene.repository()
    output(git("repack", "-a", "-d", "-b", "-q"), scene.env, repository)
    return scene.at(repository, "rev-list", "--objects", "--all", "--count", "--use-bitmap-index")


def write_bitmap(scene):
    return scene.at(scene.repository(), "repack", "-a", "-d", "-b", "-q")


def all_objects(scene):
    return scene.at(scene.repository(), "cat-file", "--batch-all-objects", "--batch-check")


def create_image(scene):
    scene.checked_out("first")
    return scene.at(scene.tree, "image", "create", "--compressor", "lz4", "-f", "src",
                         str(scene.base / "tree.sqfs"))


def extract_image(scene):
    scene.run(create_image(scene))
    remove(scene.base / "extracted")
    return scene.at(scene.tree, "image", "extract", str(scene.base / "tree.sqfs"),
                         str(scene.base / "extracted"))


PATHS = {path.__name__.replace("_", "-"): path for path in (
    checkout, switch, status_clean, status_changed, walk, index_pack, rev_list, count_by_bitmap,
    write_bitmap, all_objects, create_image, extract_image)}


class Scene:
    """A bare repository with two commits, `first` and `second`, and a working tree of it."""

    def __init__(self, made, program):
        self.program = program
        self.base = Path(made.home.name)
        self.env = made.env
        self.origin = made.repository("made.git", history())
        self.tree = self.base / "tree"
        output(["git", "clone", "-q", "--no-checkout", "--no-hardlinks", str(self.origin),
                str(self.tree)], self.env, self.base)

    def repository(self):
        """A copy of the bare repository, to be changed."""
        copy = self.base / "copy.git"
        remove(copy)
        shutil.copytree(self.origin, copy)
        return copy

    def at(self, directory, *words):
        return ["-C", str(directory), "-j1", *words]

    def run(self, words):
        """Runs hedgerow as it is."""
        output([str(self.program), *words], self.env, self.base)

    def empty(self):
        for path in self.tree.iterdir():
            if path.name != ".git":
                remove(path)
        (self.tree / ".git" / "index").unlink(missing_ok=True)

    def checked_out(self, revision):
        """The tree of the revision, with an index that is newer than all files."""
        self.empty()
        output(git("checkout", "-q", "-f", "--detach", revision), self.env, self.tree)
        for path in self.tree.rglob("*"):
            if ".git" not in path.parts and path.is_file():
                os.utime(path, (1_700_000_000, 1_700_000_000))
        output(git("update-index", "-q", "--refresh"), self.env, self.tree)

    def count(self, words):
        """The instructions that hedgerow takes with `words`."""
        valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no",
                    "--cachegrind-out-file=/dev/null"]
        done = subprocess.run([*valgrind, str(self.program), *words], env=self.env, cwd=self.base,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              check=False)
        found = re.search(r"I\s+refs:\s+([0-9,]+)", done.stderr)
        if done.returncode != 0 or found is None:
            raise RuntimeError(f"{' '.join(words)}: code {done.returncode}\n{done.stderr[-2000:]}")
        return int(found[1].replace(",", ""))


def history():
    """What git-fast-import reads: files of words, of which the second commit changes some."""
    draw = random.Random(20)
    words = [bytes(draw.choices(b"abcdefghijklmnopqrstuvwxyz_", k=draw.randint(2, 9)))
             for _ in range(900)]

    def text():
        lines = [b" ".join(draw.choices(words, k=draw.randint(0, 9)))
                 for _ in range(draw.randint(3, 120))]
        return b"\n".join(lines) + b"\n"

    contents = [text() for _ in range(FILES)]
    yield commit("refs/tags/first")
    yield from (change(number, content) for number, content in enumerate(contents))
    yield commit("refs/tags/second") + b"from refs/tags/first\n"
    for number in sorted(draw.sample(range(FILES), CHANGED)):
        yield change(number, contents[number] + text())


def change(number, content):
    return b"M 100644 inline %s\ndata %d\n%s\n" % (file_name(number).encode(), len(content), content)


def file_name(number):
    return f"src/part-{number // 200}/directory-{number // 20}/file-{number}.c"


def count_all(program, names):
    """The count of each path: the same in every run, to a two-thousandth."""
    with MadeRepositories() as made:
        scene = Scene(made, program)
        return {name: scene.count(PATHS[name](scene)) for name in names}


def environment():
    """What else decides about the counts."""
    def first_line(*command):
        return output(list(command), os.environ, ROOT).split("\n", 1)[0]

    cpu = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    return {
        "rustc": first_line("rustc", "--version"),
        "valgrind": first_line("valgrind", "--version"),
        "libc": first_line("ldd", "--version"),
        "git": first_line("git", "--version"),
        "cpu": cpu[1] if cpu else "",
        "cpus": os.cpu_count(),
    }


def differences(recorded):
    """How the environment in which counts were recorded differs from this one; empty if it does not."""
    known = recorded["environment"] if recorded else {}
    return "; ".join(f"{name} {known.get(name)}, here {value}" for name, value in environment().items()
                     if known and known.get(name) != value)


def load():
    return json.loads(RECORD.read_text()) if RECORD.exists() else {}


def record(counts):
    recorded = load()
    known = recorded.get(BUILD, {}).get("counts", {})
    recorded[BUILD] = {"environment": environment(), "counts": {**known, **counts}}
    RECORD.write_text(json.dumps(recorded, indent=1) + "\n")
    print(f"recorded: {RECORD}")


def is_within(counts):
    """Tells how the counts compare with those recorded; whether none is over the tolerance."""
    recorded = load().get(BUILD)
    if recorded is None:
        print(f"skipped: instructions: nothing is recorded for the build '{BUILD}'")
        return True
    others = differences(recorded)
    is_good = True
    for name, count in counts.items():
        known = recorded["counts"].get(name)
        if known is None:
            print(f"{name:16} {count:14,}  not recorded")
            continue
        part = count / known - 1
        is_more = part > TOLERANCE
        is_good &= not is_more
        remark = "MORE" if is_more else "fewer: record it" if part < -TOLERANCE else ""
        print(f"{name:16} {count:14,}  recorded {known:14,}  {part:+8.2%}  {remark}")
    if others:
        print(f"skipped: instructions: recorded in another environment: {others}")
    return is_good or bool(others)


def tell_commits(since, names):
    """Builds each commit since that one in a working tree of its own, and tells what it changed."""
    listed = output(["git", "rev-list", "--reverse", f"{since}^..HEAD"], os.environ, ROOT)
    place = TARGET / "instructions"
    env = {**os.environ, "CARGO_TARGET_DIR": str(place / "target")}
    tree = place / "tree"
    before = None
    for commit_id in listed.split():
        remove(tree)
        output(["git", "worktree", "prune"], os.environ, ROOT)
        output(["git", "worktree", "add", "-q", "--detach", str(tree), commit_id], os.environ, ROOT)
        release = [] if contenders.OF_TESTS else ["--release"]
        subprocess.run(["cargo", "build", "--locked", "-q", "-p", "hedgerow-cli", *release],
                       cwd=tree, env=env, check=True)
        program = place / "target" / ("release" if release else "debug") / "hedgerow"
        counts = count_all(program, names)
        title = output(["git", "log", "-1", "--format=%h %s", commit_id], os.environ, ROOT).strip()
        changes = [f"{name} {count / before[name] - 1:+.2%}" for name, count in counts.items()
                   if before and abs(count / before[name] - 1) > TOLERANCE / 4]
        print(f"{title[:70]}: {', '.join(changes) or 'the same' if before else 'to compare with'}",
              flush=True)
        before = counts
    remove(tree)
    output(["git", "worktree", "prune"], os.environ, ROOT)


if __name__ == "__main__":
    main()
