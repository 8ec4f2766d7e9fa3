"""Objects listed by walking, without a bitmap, and many references, against git."""

from pathlib import Path

from cases.packs import Repository, add
from contenders import git, hedgerow
from made import MadeRepositories, commit
from measure import in_pairs, run
from results import Outcome, less_cpu_row, wall_row

REFERENCES = 50_000
LIST = ("rev-list", "--objects", "--all")


def rev_list_objects(setting):
    """The bitmap that is there is not asked for."""
    outcome = Outcome([])
    with Repository(setting.corpora.deep()) as repository:
        for name, title, words in (
            ("rev-list-objects", "rev-list --objects --all, the list", LIST),
            ("rev-list-objects-count", "the same with --count", (*LIST, "--count")),
        ):
            pairs = repository.paired(words, setting.pairs)
            add(outcome, wall_row, name, title, pairs, 1, 1.5)
            add(outcome, less_cpu_row, f"{name}-cpu", f"{title}, user+sys", pairs, 1, 1.5)
    return outcome


def many_refs(setting):
    """Every reference has a commit, a tree and a file of its own."""
    count = 200 if setting.is_smoke else REFERENCES
    outcome = Outcome([])
    with MadeRepositories() as made:
        path = _of_references(made, count)
        for name, title, words in (
            ("many-refs-count", "rev-list --objects --all --count", (*LIST, "--count")),
            ("many-refs-repack", "repack -a -d -b", ("repack", "-a", "-d", "-b", "-q")),
        ):
            pairs = in_pairs(lambda words=words: run(git(*words), made.env, path),
                             lambda words=words: run(hedgerow(*words), made.env, path),
                             setting.pairs)
            title = f"{count:,} references: {title}"
            add(outcome, wall_row, name, title, pairs, 1, 1.5)
            add(outcome, less_cpu_row, f"{name}-cpu", f"{title}, user+sys", pairs, 1, 1.5)
    return outcome


def _of_references(made, count):
    """The references are written packed: as many files take minutes on a disk."""
    marks = Path(made.home.name) / "marks"
    path = made.repository("references.git", _history(count), marks)
    ids = sorted((int(mark[1:]), id)
                 for mark, id in (line.split() for line in marks.read_text().splitlines()))
    lines = [f"{id} refs/heads/b{number:06}\n" for number, id in ids]
    header = "# pack-refs with: peeled fully-peeled sorted \n"
    (path / "packed-refs").write_text(header + "".join(lines))
    (path / "refs" / "heads" / "all").unlink()
    return path


def _history(count):
    for number in range(count):
        # Without parents, all on one branch that is then removed.
        yield b"reset refs/heads/all\n" + commit("refs/heads/all", mark=number + 1)
        content = b"%d\n" % number
        yield b"M 644 inline file\ndata %d\n%s\n" % (len(content), content)
