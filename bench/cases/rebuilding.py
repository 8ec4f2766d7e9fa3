"""An image made again after one file changed, with what the old image holds."""

import filecmp

import images
import packers
from measure import find_best, in_pairs
from results import Outcome, wall_row

COMPRESSION = "zstd"
JOBS = 2
# Each run of a rival takes minutes: of its settings, those that packed best before.
RIVALS = ("gensquashfs -Q 200", "mksquashfs -no-xattrs")


def reuse(setting):
    with images.linux(setting) as place:
        images.require_option(place, "--reuse")
        old = place.base / "old"
        place.output(packers.ours(place.tree, old, COMPRESSION))
        changed = _change(place)
        ours = packers.ours(place.tree, place.image, COMPRESSION, None, ("--reuse", str(old)))
        rivals = packers.of_directory(place.tree, place.image, COMPRESSION)
        best, seconds = find_best(
            lambda rival, timeout_s: place.pack(rivals[rival](JOBS), timeout_s=timeout_s),
            [rival for rival in RIVALS if rival in rivals] or rivals, 1)
        pairs = in_pairs(lambda: place.pack(rivals[best](JOBS)), lambda: place.pack(ours),
                         (setting.pairs + 1) // 2)
        _require_same(place)
    row = wall_row("reuse", "Linux, zstd 15, one file changed: made again with --reuse", pairs, 10,
                   30, rival=f"{best}, all anew")
    return Outcome([row], {"reuse": pairs}, {"rivals_s": seconds, "changed": changed})


def _change(place):
    """A line more in a file in the middle of the tree."""
    files = sorted(path for path in place.tree.rglob("*.[ch]") if path.is_file())
    files = files or sorted(path for path in place.tree.rglob("*") if path.is_file())
    changed = files[len(files) // 2]
    with changed.open("a") as out:
        out.write("/* changed */\n")
    return str(changed.relative_to(place.tree))


def _require_same(place):
    """The proof that nothing but time was saved: the same bytes as without the old image."""
    full = place.base / "full"
    place.output(packers.ours(place.tree, full, COMPRESSION))
    if not filecmp.cmp(full, place.image, shallow=False):
        raise RuntimeError("made with --reuse, the image is another")
