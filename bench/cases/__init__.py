"""The cases, in the order of the table: each is a function of a `Setting` that gives an
`Outcome`, or raises `Skipped`."""

from dataclasses import dataclass

from corpora import Corpora


@dataclass
class Setting:
    """How cases are run."""

    corpora: Corpora
    pairs: int
    is_smoke: bool

    @property
    def search_rounds(self):
        """Runs of each candidate when the best is looked for."""
        return 1 if self.is_smoke else 2


def all_cases():
    """Name and function of each case."""
    from cases import (article, attributes, automatic, builds, calling, cleaning, cloning,
                       committing, directory, empty_tree, equal_sizes, erofs, extracting, family,
                       image_latency, image_memory, latency, linux_packs, memory, mercurial,
                       mounting, pack_writing, packing, packs, parts, perf_scripts, promised, python,
                       rebuilding, restore, rev_lists, serving, statuses, submodules, switching,
                       tables, thin_packs, walking)

    return {
        "linux-tmpfs": empty_tree.linux_tmpfs,
        "linux-serial": empty_tree.linux_serial,
        "linux-disk": empty_tree.linux_disk,
        "linux-loose": empty_tree.linux_loose,
        "k8s-switch": switching.k8s_switch,
        "small-switch": switching.small_switch,
        "deep-history": empty_tree.deep_history,
        "restore": restore.restore,
        "latency": latency.latency,
        "auto-local": latency.auto_local,
        "auto": latency.auto,
        "memory": memory.memory,
        "walk-local": walking.walk_local,
        "fixed-walk": walking.fixed_walk,
        "walk-latency": walking.walk_latency,
        "directory-100k": directory.directory_100k,
        "automatic-walk": automatic.automatic_walk,
        "memory-5m": memory.memory_5m,
        "table-5m": tables.table_5m,
        "cluster": tables.cluster,
        "python-walk": python.python_walk,
        "python-small": python.python_small,
        "python-latency": python.python_latency,
        "python-import": python.python_import,
        "article": article.article,
        "article-latency": article.article_latency,
        "reset-hard": family.reset_hard,
        "reset-latency": family.reset_latency,
        "restore-dot": family.restore_some,
        "worktree-add": family.worktree_add,
        "worktree-mount": mounting.worktree_mount,
        "worktree-mount-disk": mounting.worktree_mount_disk,
        "stash": family.stash,
        "sparse": family.sparse,
        "untracked-files": family.untracked_files,
        "blobless": promised.blobless,
        "clones": cloning.clones,
        "clone-https": cloning.clone_https,
        "clone-across": cloning.clone_across,
        "clone-bundles": cloning.clone_bundles,
        "clone-latency": cloning.clone_latency,
        "submodules": submodules.submodules,
        "submodules-latency": submodules.submodules_latency,
        "fetch": calling.fetching,
        "handing-over": calling.handing_over,
        "build-job": builds.build_job,
        "build-job-latency": builds.build_job_latency,
        "clean-tmpfs": cleaning.clean_tmpfs,
        "clean-latency": cleaning.clean_latency,
        "status-local": statuses.status_local,
        "status-latency": statuses.status_latency,
        "hg-local": mercurial.hg_local,
        "hg-latency": mercurial.hg_latency,
        "pack-gzip": packing.pack_gzip,
        "pack-zstd": packing.pack_zstd,
        "pack-xz": packing.pack_xz,
        "pack-lzma": packing.pack_lzma,
        "pack-lz4": packing.pack_lz4,
        "pack-lz4hc": packing.pack_lz4hc,
        "pack-lzo": packing.pack_lzo,
        "pack-commit": committing.pack_commit,
        "erofs-directory": erofs.erofs_directory,
        "erofs-commit": erofs.erofs_commit,
        "erofs-reading": erofs.erofs_reading,
        "equal-sizes": equal_sizes.equal_sizes,
        "xattr-heavy": attributes.xattr_heavy,
        "reuse": rebuilding.reuse,
        "extract": extracting.extract,
        "extract-disk": extracting.extract_disk,
        "verify": extracting.verify,
        "image-memory": image_memory.image_memory,
        "image-memory-5m": image_memory.image_memory_5m,
        "image-latency": image_latency.image_latency,
        "pack-queries": packs.pack_queries,
        "pack-making": packs.pack_making,
        "p5310": perf_scripts.p5310,
        "p5326": perf_scripts.p5326,
        "linux-packs": linux_packs.linux_packs,
        "pack-indexing": pack_writing.pack_indexing,
        "fix-thin": thin_packs.fix_thin,
        "rev-list-objects": rev_lists.rev_list_objects,
        "many-refs": rev_lists.many_refs,
        "parts": parts.parts,
        "bitmap-writing": pack_writing.bitmap_writing,
        "repacking": pack_writing.repacking,
        "reverse-index": pack_writing.reverse_index,
        "pack-serving": serving.pack_serving,
    }
