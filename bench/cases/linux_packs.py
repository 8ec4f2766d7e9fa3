"""The Linux tree as a repository of one commit: what packs cost where files are many and history is
none."""

from cases.pack_writing import index_rows
from cases.packs import CLONE, EVERYTHING, SIZES, Repository, add
from results import Outcome, less_cpu_row, wall_row


def linux_packs(setting):
    outcome = Outcome([])
    with Repository(setting.corpora.linux()) as repository:
        repository.settle()
        paired = lambda words: repository.paired(words, setting.pairs)
        add(outcome, less_cpu_row, "linux-clone", "Linux: simulated clone, user+sys",
            paired(CLONE), 3, 5)
        add(outcome, wall_row, "linux-blobless", "Linux: the same, --filter=blob:none",
            paired((*CLONE, "--filter=blob:none")), None, None)
        for name, title, words, reach, aim in (
            ("linux-objects", "rev-list --count --objects --all", EVERYTHING, 1.5, 3),
            ("linux-blob-none", "the same, blob:none", (*EVERYTHING, "--filter=blob:none"), 1.5, 3),
            ("linux-blob-limit", "the same, blob:limit=1k",
             (*EVERYTHING, "--filter=blob:limit=1k"), 1.5, 3),
            ("linux-sizes", "cat-file, sizes on disk of all objects", SIZES, 2, 4),
        ):
            add(outcome, wall_row, name, f"Linux: {title}", paired(words), reach, aim)
        index_rows(outcome, repository, setting, "linux-index-pack", "Linux: index-pack")
        add(outcome, wall_row, "linux-repack", "Linux: repack -a -d -b",
            paired(("repack", "-a", "-d", "-b", "-q")), 1, 1.5)
    return outcome
