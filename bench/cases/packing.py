"""A tree into an image, by each compressor, against the best of the programs that do."""

import images
import packers
from measure import CommandFailed, find_best, in_pairs, median
from results import Outcome, amount_row, less_cpu_row, share_row, wall_row
from skipped import Skipped

JOBS = 2
WHOLE, PART = "Linux", "Part of Linux"


def pack_gzip(setting):
    return _pack(setting, "gzip", is_part=False, cpu=(2.2, 3), size=(1.0, 1.0))


def pack_zstd(setting):
    return _pack(setting, "zstd", cpu=(1.0, 1.15), size=(1.001, 1.0), is_scaling=True)


def pack_xz(setting):
    return _pack(setting, "xz", cpu=(1.0, 1.15), size=(1.001, 1.0), is_scaling=True)


def pack_lzma(setting):
    return _pack(setting, "lzma", cpu=(1.0, 1.15), size=(1.001, 1.0), is_scaling=True)


def pack_lz4(setting):
    return _pack(setting, "lz4", is_part=False, wall_reach=1.2)


def pack_lz4hc(setting):
    return _pack(setting, "lz4hc", cpu=(1.0, 1.3), size=(1.01, 1.0))


def pack_lzo(setting):
    return _pack(setting, "lzo", cpu=(1.0, 1.3), size=(1.01, 1.0))


def _pack(setting, compression, is_part=True, cpu=(None, None), size=(None, None),
          wall_reach=None, is_scaling=False):
    """From the directory against what packs directories, and from the archive likewise."""
    outcome = Outcome([])
    # A whole tree takes minutes with each.
    rounds = setting.search_rounds if is_part else 1
    with images.linux(setting, is_part) as place:
        limit = packers.limit(place, compression, (1, JOBS))
        outcome.details["limit_by_threads"] = limit
        case = _Case(place, setting, compression, f"{PART if is_part else WHOLE}, {compression}",
                     rounds, limit[str(JOBS)]["seconds"], outcome)
        case.against("directory", place.tree,
                     packers.of_directory(place.tree, place.image, compression),
                     cpu, size, None)
        if is_scaling:
            case.scaling()
        place.archive()
        try:
            images.require_tar(place)
            source, kind = place.tar, "tar"
        except Skipped as reason:
            print(f"skipped: the archive: {reason}; the directory is packed instead", flush=True)
            source, kind = place.tree, "tar, hedgerow from the directory"
        case.against(kind, source, packers.of_tar(place.image, compression), cpu, size, wall_reach)
    return outcome


class _Case:
    def __init__(self, place, setting, compression, title, rounds, limit_s, outcome):
        self.place, self.setting, self.compression = place, setting, compression
        self.title, self.rounds = title, rounds
        self.limit_s, self.outcome = limit_s, outcome

    def against(self, kind, source, rivals, cpu, size, wall_reach):
        """Everything about one kind of source: CPU and wall at -j2 and -j1, size, memory."""
        place = self.place
        best, seconds = find_best(
            lambda rival, timeout_s: place.pack(rivals[rival](JOBS), timeout_s=timeout_s),
            rivals, self.rounds)
        name = f"pack-{self.compression}-{kind.split(',')[0]}"
        title = f"{self.title}, {kind}"
        for jobs in (JOBS, 1):
            pairs = in_pairs(lambda: place.pack(rivals[best](jobs)),
                             lambda: place.pack(self._ours(source, jobs)),
                             self.setting.pairs if jobs == JOBS else (self.setting.pairs + 1) // 2)
            self.outcome.pairs[f"{name}-j{jobs}"] = pairs
            # Asked for with all processors; with one it is told.
            goal = cpu if jobs == JOBS else (None, None)
            self.outcome.rows.append(less_cpu_row(
                f"{name}-cpu-j{jobs}", f"{title}, -j{jobs}: user+sys", pairs, *goal, rival=best))
            wall = (None, None)
            if wall_reach and jobs == JOBS:
                limit = median([run.wall_s for run in pairs.rival]) / self.limit_s
                wall = (wall_reach, max(wall_reach, limit))
            self.outcome.rows.append(wall_row(
                f"{name}-wall-j{jobs}", f"{title}, -j{jobs}: wall", pairs, *wall, rival=best,
                limit_s=self.limit_s if jobs == JOBS else None))
        self.outcome.details[name] = {"rivals_s": seconds, **self._sizes(name, title, source, rivals,
                                                                         size)}

    def _sizes(self, name, title, source, rivals, goal):
        """One more run of each: how large the image is, and how much memory it took."""
        images_bytes, memory = {}, {}
        for rival, command in {**rivals, "hedgerow": lambda jobs: self._ours(source, jobs)}.items():
            try:
                sample = self.place.pack(command(JOBS), watch_memory=True)
            except CommandFailed:
                if rival == "hedgerow":
                    raise
                # That was said when the best was looked for.
                continue
            images_bytes[rival] = self.place.image_bytes()
            memory[rival] = round(sample.anon_kib * 1024 / 1e6, 1)
        smallest = min(images_bytes.keys() - {"hedgerow"}, key=images_bytes.get)
        self.outcome.rows.append(amount_row(
            f"{name}-size", f"{title}: image size", "of size",
            [images_bytes["hedgerow"] / images_bytes[smallest]], *goal, is_lower_better=True,
            rival=smallest, note=f"{images_bytes['hedgerow']} and {images_bytes[smallest]} bytes"))
        return {"image_bytes": images_bytes, "peak_memory_mb": memory}

    def scaling(self):
        """Twice the time of two workers against the time of one."""
        source = self.place.tree
        pairs = in_pairs(lambda: self.place.pack(self._ours(source, 1)),
                         lambda: self.place.pack(self._ours(source, JOBS)), self.setting.pairs)
        name = f"pack-{self.compression}-scaling"
        halves = [JOBS * share for share in pairs.shares("wall_s")]
        limits = [found["seconds"] for found in self.outcome.details["limit_by_threads"].values()]
        self.outcome.rows.append(share_row(
            name, f"{self.title}: wall of -j2 against half of -j1", "of half", pairs, halves, 1.03,
            1.0, rival="hedgerow -j1",
            note=f"the bare compressor: {JOBS * limits[1] / limits[0]:.3f}"))
        self.outcome.pairs[name] = pairs

    def _ours(self, source, jobs):
        return packers.ours(source, self.place.image, self.compression, jobs)
