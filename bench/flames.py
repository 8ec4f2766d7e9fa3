#!/usr/bin/env python3
"""Where the processors' time goes in a checkout, an image, an index-pack and a clone: writes a flame
graph of each (SVG) and the shares of time, to bench/out/flames or docs/src/images/flames. Needs perf; draws
with inferno, which cargo installs into target/tools. See bench/README.md."""

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import contenders
import images
import packers
import results
from cases import Setting
from contenders import ROOT, TARGET, hedgerow
from corpora import Corpora
from places import Place, tmpfs
from skipped import Skipped

INFERNO_VERSION = "0.12.8"
PER_SECOND = 499
# Of the stack of each sample, so many bytes are kept to find the callers in.
STACK_BYTES = 16 << 10
OUT = Path(__file__).resolve().parent / "out" / "flames"
PUBLISHED = ROOT / "docs" / "src" / "images" / "flames"

# Frames that every stack has, and that say nothing.
RUNTIME = re.compile(r"^(std::|core::|alloc::|<alloc::|<core::|__libc|_start$|clone3?$|start_thread|"
                     r"\[unknown\]|crossbeam|_dl_start_user)")
SYSTEM_CALL = re.compile(r"^(?:__(?:x64|arm64)_sys|ksys)_(\w+)")
# The first that matches the innermost frame in the program names the kind of work.
KINDS = (
    ("inflating", re.compile(r"libdeflate|deflate_decompress|inflate|decode_table|adler32", re.I)),
    ("compressing", re.compile(r"^(ZSTD|LZ4|HUF|FSE|HIST|lzma|deflate)", re.I)),
    ("hashing", re.compile(r"blake3|sha1|sha2|xxh", re.I)),
    ("copying and clearing memory", re.compile(r"mem(move|cpy|set|cmp|chr)")),
    ("allocating", re.compile(r"malloc|calloc|realloc|_int_free|^c?free$|unlink_chunk|rdl_alloc")),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--publish", action="store_true", help="into docs/src/images/flames")
    parser.add_argument("--job", action="append", choices=list(JOBS), help="only this one")
    parser.add_argument("--smoke", action="store_true",
                        help="small made-up inputs: does it still run?")
    arguments = parser.parse_args()
    out = PUBLISHED if arguments.publish else OUT
    out.mkdir(parents=True, exist_ok=True)
    contenders.build()
    setting = Setting(Corpora(arguments.smoke), 1, arguments.smoke)
    try:
        flamegraph = find_inferno()
        found = {}
        for name in arguments.job or JOBS:
            print(f"{name} ...", flush=True)
            title, stacks = JOBS[name](setting, OUT / "perf.data")
            draw(flamegraph, title, stacks, out / f"{name}.svg")
            found[name] = {"title": title, "shares": shares(stacks)}
            for kind, share in found[name]["shares"].items():
                print(f"  {share:6.1%}  {kind}")
    except Skipped as reason:
        sys.exit(f"skipped: {reason}")
    document = {"machine": results.machine(), "versions": contenders.versions(), "found": found}
    (out / "flames.json").write_text(json.dumps(document, indent=1) + "\n")


def checkout(setting, data):
    with Place(tmpfs(), setting.corpora.linux()) as place:
        place.empty()
        return ("hedgerow checkout: Linux into an empty tree, tmpfs",
                record(place, hedgerow("checkout", "-q"), data))


def image(setting, data):
    with images.linux(setting) as place:
        command = packers.ours(place.tree, place.image, "zstd3", 2)
        return "hedgerow image create: Linux, zstd 3, tmpfs", record(place, command, data)


def index_pack(setting, data):
    with Place(tmpfs(), setting.corpora.deep()) as place:
        pack, = (place.git_dir / "objects" / "pack").glob("*.pack")
        # Outside the repository: there every object would be compared with itself.
        command = hedgerow("-C", str(place.base), "index-pack", "-o", str(place.base / "made.idx"),
                           str(pack))
        return "hedgerow index-pack: git.git", record(place, command, data)


def clone(setting, data):
    with Place(tmpfs(), setting.corpora.deep()) as place:
        source = f"file://{place.git_dir}"
        command = hedgerow("clone", "-q", source, str(place.base / "clone"))
        return "hedgerow clone: git.git from the same machine", record(place, command, data)


JOBS = {"checkout": checkout, "image": image, "index-pack": index_pack, "clone": clone}


def find_inferno():
    """The program that draws; installed if it is not there."""
    tools = TARGET / "tools"
    path = shutil.which("inferno-flamegraph") or tools / "bin" / "inferno-flamegraph"
    if not Path(path).exists():
        print(f"installing inferno {INFERNO_VERSION} into target/tools with cargo", flush=True)
        done = subprocess.run(["cargo", "install", "--locked", "-q", "--root", str(tools),
                               "--no-default-features", "--features", "cli",
                               "--version", INFERNO_VERSION, "inferno"], check=False)
        if done.returncode != 0:
            raise Skipped("inferno is not here and cannot be installed")
    return str(path)


def record(place, command, data):
    """The stacks in which the command and its children were met, outermost frame first, counted."""
    if shutil.which("perf") is None:
        raise Skipped("there is no perf")
    data.parent.mkdir(parents=True, exist_ok=True)
    place.output(["perf", "record", "-q", "-e", "cpu-clock", "-F", str(PER_SECOND), "--call-graph",
                  f"dwarf,{STACK_BYTES}", "-o", str(data), *command])
    told = place.output(["perf", "script", "--no-inline", "-F", "comm,ip,sym,dso", "-i", str(data)])
    data.unlink()
    stacks = Counter()
    for sample in told.split("\n\n"):
        lines = sample.strip("\n").splitlines()
        if lines:
            stacks[stack_of(lines[0].strip(), lines[1:])] += 1
    del stacks[()]
    return stacks


def stack_of(thread, lines):
    """The frames that say something; what happens in the kernel becomes one of them."""
    frames = []
    for line in lines:
        _, _, name = line.strip().partition(" ")
        name, _, place = name.rpartition(" (")
        call = SYSTEM_CALL.match(name)
        if place.startswith("[kernel"):
            if call:
                frames = [f"kernel: {call[1]}"]
            elif name.startswith("asm_exc_page_fault"):
                frames = ["kernel: page fault"]
            elif not frames:
                frames = ["kernel: other"]
        elif not RUNTIME.match(name):
            frames.append(plain(name))
    if not frames or thread.startswith("perf"):
        return ()
    frames.append(re.sub(r"-\d+$", "", thread))
    return tuple(reversed(frames))


def plain(name):
    """The name of a function without what it is generic over, and without the implementing type's
    trait."""
    name = re.sub(r"::\{\{?closure[^}]*\}?\}", "", name)
    while True:
        shorter = re.sub(r"<([\w:]+)(?: as [^<>]*)?>", lambda found: found[1], name)
        if shorter == name:
            break
        name = shorter
    name = re.sub(r"<[^<>]*>", "", name)
    return name.replace("hedgerow_", "").replace(";", ",") or "unnamed"


def shares(stacks):
    """Shares of the time by kind of work, largest first; below one percent, they are left out."""
    counts = Counter()
    for stack, count in stacks.items():
        counts[kind_of(stack[-1])] += count
    total = sum(counts.values())
    return {kind: round(count / total, 4) for kind, count in counts.most_common()
            if count >= total / 100}


def kind_of(frame):
    if frame.startswith("kernel: "):
        return frame
    for kind, pattern in KINDS:
        if pattern.search(frame):
            return kind
    crate, found, _ = frame.partition("::")
    return f"own code: {crate}" if found else "other"


def draw(flamegraph, title, stacks, path):
    folded = "".join(f"{';'.join(stack)} {count}\n" for stack, count in sorted(stacks.items()))
    drawn = subprocess.run([flamegraph, "--title", title, "--countname", "samples",
                            "--minwidth", "0.4", "--hash", "--fontsize", "11"],
                           input=folded.encode(), capture_output=True, check=True)
    path.write_bytes(drawn.stdout)


if __name__ == "__main__":
    main()
