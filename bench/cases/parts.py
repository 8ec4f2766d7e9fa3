"""Commands that ask for a part of something large, against git: what they take must not grow with the
rest of it."""

from dataclasses import dataclass

from cases.packs import add
from contenders import git, hedgerow
from made import MadeRepositories, commit
from measure import in_pairs
from places import Place, require_free, tmpfs
from results import Outcome, less_cpu_row, wall_row


@dataclass
class Sizes:
    """How large the repository is, and how far back its history is asked for."""

    commits: int = 100_000
    references: int = 100_000
    directories: int = 20_000
    untracked: int = 1_600
    patterns: int = 500

    @property
    def back(self):
        return self.commits // 2


SMALL = Sizes(commits=40, references=40, directories=40, untracked=20, patterns=10)
FILES_PER_DIRECTORY = 2


def parts(setting):
    sizes = SMALL if setting.is_smoke else Sizes()
    outcome = Outcome([])
    require_free(tmpfs(), 100 if setting.is_smoke else 2000)
    with MadeRepositories() as made:
        history = made.repository("history.git", _history(sizes))
        with Place(tmpfs(), history, "origin/main") as place:
            _refer(place, sizes)
            for name, what, words in (
                ("ancestor", "an ancestor's type", ("cat-file", "-t", f"HEAD~{sizes.back}")),
                ("newest", "five commits in topological order",
                 ("rev-list", "--topo-order", "-n", "5", "HEAD")),
                ("reference", "one reference of many", ("cat-file", "-e", "refs/tags/t7")),
            ):
                _compare(outcome, setting, place, name, what, words)
        tree = made.repository("tree.git", _tree(sizes))
        with Place(tmpfs(), tree, "origin/main") as place:
            place.git("checkout", "-q", "-f", "--detach", "HEAD")
            place.settle_index()
            path = _name(sizes.directories // 2, 0)
            for name, what, words in (
                ("changed", "one file compared", ("diff-files", "--", path)),
                ("status-path", "the status of one file", ("status", "--porcelain", "--", path)),
                ("restore-path", "one file of another commit",
                 ("restore", "-q", "-s", "HEAD~1", "--", path)),
                ("reset-keep", "reset --keep to the same commit",
                 ("reset", "-q", "--keep", "HEAD")),
                ("read-tree", "read-tree -m -u of the same commit",
                 ("read-tree", "-m", "-u", "HEAD")),
            ):
                _compare(outcome, setting, place, name, what, words)
            _lessen(place, sizes)
            _compare(outcome, setting, place, "sparse-patterns",
                     f"reset --hard with {sizes.patterns} patterns of a sparse checkout",
                     ("reset", "-q", "--hard"))
        with Place(tmpfs(), history, "origin/main") as place:
            place.git("checkout", "-q", "-f", "--detach", "HEAD")
            _make_untracked(place.tree, sizes)
            place.settle_index()
            _compare(outcome, setting, place, "untracked-directory",
                     "the status beside an untracked directory", ("status", "--porcelain"))
    return outcome


def _compare(outcome, setting, place, name, what, words):
    if place.output(git(*words)) != place.output(hedgerow(*words)):
        raise RuntimeError(f"{words}: not what git says")
    pairs = in_pairs(lambda: place.run([git(*words)]), lambda: place.run([hedgerow(*words)]),
                     2 * setting.pairs)
    title = f"A part: {what}"
    add(outcome, wall_row, f"part-{name}", title, pairs, 1, 1.5)
    add(outcome, less_cpu_row, f"part-{name}-cpu", f"{title}, user+sys", pairs, 1, 1.5)


def _history(sizes):
    for number in range(sizes.commits):
        yield commit("refs/heads/main")
        content = b"%d\n" % number
        yield b"M 644 inline file\ndata %d\n%s\n" % (len(content), content)


def _refer(place, sizes):
    """Packed references, and a commit-graph, as maintenance leaves them."""
    head = place.git("rev-parse", "HEAD").strip()
    lines = sorted(f"{head} refs/tags/t{number}\n" for number in range(sizes.references))
    header = "# pack-refs with: peeled fully-peeled sorted \n"
    (place.git_dir / "packed-refs").write_text(header + "".join(lines))
    place.git("commit-graph", "write", "--reachable")


def _tree(sizes):
    """Two commits; the second changes every tenth directory."""
    for release in (1, 2):
        yield commit("refs/heads/main")
        step = 1 if release == 1 else 10
        for directory in range(0, sizes.directories, step):
            for number in range(FILES_PER_DIRECTORY):
                content = b"%d %d %d\n" % (release, directory, number)
                name = _name(directory, number).encode()
                yield b"M 644 inline %s\ndata %d\n%s\n" % (name, len(content), content)


def _name(directory, number):
    return f"a{directory // 200}/b{directory}/f{number}"


def _lessen(place, sizes):
    """A sparse checkout of everything but some files, each named by a pattern of its own."""
    patterns = ["/*"] + [f"!/a*/**/b{number}q*" for number in range(sizes.patterns)]
    place.git("sparse-checkout", "set", "--no-cone", *patterns)
    place.settle_index()


def _make_untracked(tree, sizes):
    for directory in range(sizes.untracked):
        at = tree / "modules" / f"p{directory}" / "lib"
        at.mkdir(parents=True)
        for number in range(20):
            (at / f"f{number}").touch()
