"""A commit into an image: straight from the packs, against the ways there are without that."""

import json

import images
import packers
from contenders import git, hedgerow
from measure import in_pairs
from places import Place, require_free, tmpfs
from results import Outcome, wall_row

CHECKOUT_WORKERS = 2
JOBS = 2


def pack_commit(setting):
    outcome = Outcome([])
    repository = setting.corpora.linux()
    require_free(tmpfs(), 100 if setting.is_smoke else images.LINUX_ROOM_MIB)
    with Place(tmpfs(), repository) as place:
        images.require_commit(place)
        for compression in ("zstd3", "lz4"):
            _against_archive(place, setting, compression, outcome)
            _against_checkout(place, setting, compression, outcome)
    return outcome


def _against_archive(place, setting, compression, outcome):
    image = place.base / "image"
    words = packers.tar2sqfs(image, compression, JOBS, ("-Q", "200"))
    pipe = ["sh", "-c", 'git archive HEAD | "$@"', "sh", *words]
    pairs = in_pairs(lambda: place.run([pipe]), lambda: _ours(place, image, compression),
                     setting.pairs)
    place.run([pipe])
    theirs = _inodes(place, image)
    _ours(place, image, compression)
    if _inodes(place, image) != theirs:
        raise RuntimeError(f"{_inodes(place, image)} inodes, and {theirs} of the archive")
    _add(outcome, f"pack-commit-{compression}-archive",
         f"Linux from its commit, {compression}: against the archive", pairs,
         "git archive, tar2sqfs -Q 200")


def _against_checkout(place, setting, compression, outcome):
    image = place.base / "image"
    commands = [git("checkout", "-q", workers=CHECKOUT_WORKERS),
                packers.mksquashfs(".", image, compression, JOBS, ("-no-xattrs", "-e", ".git"))]

    def theirs():
        place.empty()
        return place.run(commands)

    pairs = in_pairs(theirs, lambda: _ours(place, image, compression), setting.pairs)
    place.empty()
    _add(outcome, f"pack-commit-{compression}-checkout",
         f"Linux from its commit, {compression}: against a checkout", pairs,
         "git checkout, mksquashfs")


def _ours(place, image, compression):
    return place.run([packers.ours("git:HEAD", image, compression)])


def _inodes(place, image):
    return json.loads(place.output(hedgerow("--json", "image", "info", str(image))))["inodes"]


def _add(outcome, name, title, pairs, rival):
    outcome.rows.append(wall_row(name, title, pairs, 2, 4, rival=rival))
    outcome.pairs[name] = pairs
