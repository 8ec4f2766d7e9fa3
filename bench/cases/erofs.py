"""EROFS images: of a directory, of a commit, and how fast the kernel reads them."""

import os
import random
import subprocess

import images
import packers
from contenders import git, hedgerow
from measure import find_best, in_pairs
from places import Place, require_free, tmpfs
from results import Outcome, amount_row, wall_row
from skipped import Skipped
from stopping import undisturbed

JOBS = 2
CHECKOUT_WORKERS = 2
# What mkfs.erofs is tried with: its default clusters, and ones as large as hedgerow's.
CLUSTERS = ((), ("-C65536",))
DEDUPLICATION = "-Ededupe"
# Everything else that makes its images smaller.
SMALLEST = "-Ededupe,all-fragments,ztailpacking"
SEED = 1


def erofs_directory(setting):
    """Against mkfs.erofs at its faster setting, without and with deduplication."""
    mkfs = packers.mkfs_erofs()
    outcome = Outcome([])
    with images.linux(setting) as place:
        ours = packers.erofs(place.tree, place.image)
        for name, title, options, goal in [
                ("plain", "without deduplication", (), (1.5, 2)),
                ("dedupe", "with deduplication", (DEDUPLICATION,), (5, 10))]:
            rivals = {" ".join(["mkfs.erofs", *options, *clusters]):
                      mkfs(place.tree, place.image, JOBS, (*options, *clusters))
                      for clusters in CLUSTERS}
            best, seconds = find_best(
                lambda rival, timeout_s, rivals=rivals: place.pack(rivals[rival],
                                                                   timeout_s=timeout_s),
                rivals, 1)
            pairs = in_pairs(lambda command=rivals[best]: place.pack(command),
                             lambda: place.pack(ours), setting.pairs)
            outcome.details[name] = {"rivals_s": seconds}
            _add(outcome, f"erofs-{name}", f"Linux, EROFS lz4, directory: against mkfs.erofs {title}",
                 pairs, goal, best)
        _sizes(place, mkfs, ours, outcome)
    return outcome


def _sizes(place, mkfs, ours, outcome):
    """How large the images are, with clusters of one size."""
    commands = {"hedgerow": ours} | {
        " ".join(["mkfs.erofs", *options]): mkfs(place.tree, place.image, JOBS, options)
        for options in [CLUSTERS[1], (*CLUSTERS[1], DEDUPLICATION), (*CLUSTERS[1], SMALLEST)]}
    sizes = {}
    for name, command in commands.items():
        place.pack(command)
        sizes[name] = place.image_bytes()
    ours_bytes = sizes["hedgerow"]
    outcome.details["image_bytes"] = sizes
    for name, option, goal in [("size", DEDUPLICATION, (1.02, 1.0)), ("smallest", SMALLEST, (None, None))]:
        rival = " ".join(["mkfs.erofs", *CLUSTERS[1], option])
        outcome.rows.append(amount_row(
            f"erofs-{name}", f"Linux, EROFS lz4: image size against {option}", "of size",
            [ours_bytes / sizes[rival]], *goal, is_lower_better=True, rival=rival,
            note=f"{ours_bytes} and {sizes[rival]} bytes"))


def erofs_commit(setting):
    """Straight from the packs, against a checkout and mkfs.erofs."""
    mkfs = packers.mkfs_erofs()
    outcome = Outcome([])
    repository = setting.corpora.linux()
    require_free(tmpfs(), 100 if setting.is_smoke else images.LINUX_ROOM_MIB)
    with Place(tmpfs(), repository) as place:
        image = place.base / "image"
        commands = [git("checkout", "-q", workers=CHECKOUT_WORKERS),
                    mkfs(".", image, JOBS, ("--exclude-path=.git",))]

        def theirs():
            image.unlink(missing_ok=True)
            place.empty()
            return place.run(commands)

        pairs = in_pairs(theirs, lambda: place.run([packers.erofs("git:HEAD", image)]), setting.pairs)
    _add(outcome, "erofs-commit", "Linux from its commit, EROFS lz4: against a checkout", pairs, (3, 5),
         "git checkout, mkfs.erofs")
    return outcome


def erofs_reading(setting):
    """From a fresh mount: all entries statted, and all files read in random order. What it says of
    the two formats, both by hedgerow."""
    outcome = Outcome([])
    with images.linux(setting) as place:
        made = {"squashfs": packers.ours(place.tree, place.base / "squashfs", "lz4"),
                "erofs": packers.erofs(place.tree, place.base / "erofs")}
        for command in made.values():
            place.output(command)
        paths = sorted(str(path.relative_to(place.tree)) for path in place.tree.rglob("*")
                       if path.is_file() and not path.is_symlink())
        random.Random(SEED).shuffle(paths)
        (place.base / "list").write_text("\0".join(paths))
        point = place.base / "mount"
        point.mkdir()
        read = ["sh", "-c", 'cd "$0" && xargs -0 cat <"$1"', str(point), str(place.base / "list")]
        walk = hedgerow("walk", "--stat", "--summary", str(point))

        def mounted(kind, command):
            with undisturbed():
                done = subprocess.run(["mount", "-t", kind, "-o", "loop,ro", str(place.base / kind),
                                       str(point)], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise Skipped(f"{kind} is not mounted: {done.stderr.strip()}")
            try:
                return place.run([command])
            finally:
                with undisturbed():
                    subprocess.run(["umount", str(point)], check=True)

        if os.geteuid() != 0:
            raise Skipped("mounting needs the rights of root")
        for name, title, command in [("stat", "every entry statted", walk),
                                     ("read", "every file read in random order", read)]:
            pairs = in_pairs(lambda command=command: mounted("squashfs", command),
                             lambda command=command: mounted("erofs", command), setting.pairs)
            _add(outcome, f"erofs-reading-{name}",
                 f"Linux, lz4 images mounted afresh: {title}, EROFS against SquashFS", pairs,
                 (None, None), "hedgerow's SquashFS image")
    return outcome


def _add(outcome, name, title, pairs, goal, rival):
    outcome.rows.append(wall_row(name, title, pairs, *goal, rival=rival))
    outcome.pairs[name] = pairs
