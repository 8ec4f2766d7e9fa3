"""How much memory an image takes to make."""

import images
import packers
from cases.memory import Crowd
from contenders import hedgerow
from results import Outcome, amount_row

JOBS = 2
COMPRESSIONS = ("gzip", "zstd3", "xz")
NOTE = "peak of RssAnon, polled every millisecond"


def image_memory(setting):
    outcome = Outcome([])
    for compression in COMPRESSIONS:
        # xz takes minutes for the whole tree; a part fills the same buffers.
        with images.linux(setting, is_part=compression == "xz") as place:
            rivals = packers.of_directory(place.tree, place.image, compression)
            command = packers.ours(place.tree, place.image, compression, JOBS)
            amounts = [_megabytes(place.pack(command, watch_memory=True))
                       for _ in range((setting.pairs + 1) // 2)]
            theirs = {rival: _megabytes(place.pack(words(JOBS), watch_memory=True))
                      for rival, words in rivals.items()}
        name = f"image-memory-{compression}"
        title = "Part of Linux" if compression == "xz" else "Linux"
        told = ", ".join(f"{rival} {megabytes:.0f} MB" for rival, megabytes in theirs.items())
        outcome.rows.append(amount_row(
            name, f"{title}, {compression}, -j{JOBS}: peak memory", "MB", amounts, 64, 32,
            is_lower_better=True, note=f"{NOTE}; {told}"))
        outcome.details[name] = {"rivals_mb": theirs}
    return outcome


def image_memory_5m(setting):
    """5 million entries, all of them empty files but for their directories."""
    directories, files = (20, 50) if setting.is_smoke else (5_000, 999)
    with Crowd(directories, files) as place:
        # Not into the tree: its file system may be one of its own, and is packed.
        image = place.base / "image"
        command = packers.ours(place.tree, image, "zstd3", JOBS)
        samples = [place.run([command], watch_memory=True)
                   for _ in range((setting.pairs + 1) // 2)]
        place.output(hedgerow("image", "info", str(image)))
    row = amount_row("image-memory-5m", f"{directories} directories of {files} empty files, "
                     f"-j{JOBS}: peak memory", "MB", [_megabytes(sample) for sample in samples],
                     256, 32, is_lower_better=True, note=NOTE)
    return Outcome([row], {}, {"samples": [sample.to_json() for sample in samples]})


def _megabytes(sample):
    return round(sample.anon_kib * 1024 / 1e6, 1)
