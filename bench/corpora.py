"""The repositories that are checked out. What is made is kept in target/bench-corpus."""

import os
import random
import shutil
import subprocess
from pathlib import Path

from contenders import OF_TESTS, PROGRAMS, ROOT, TARGET
from skipped import Skipped

CACHE = TARGET / "bench-corpus"
SHARED = ROOT.parent / "shared"
LINUX_PACKAGE = "linux-source-6.1"


class Corpora:
    """Finds or makes each repository when it is first asked for. With `is_smoke` they are all
    small and made up: enough to see that the benchmarks run, of no use for numbers."""

    def __init__(self, is_smoke):
        self.is_smoke = is_smoke

    def linux(self):
        """The Linux source tree, one commit, one pack: 78.6 k files, 5,095 directories."""
        if self.is_smoke:
            return made_up()
        return _named("LINUX") or _once("linux.git", _make_linux)

    def linux_revisions(self):
        """The Linux source tree with two more commits: `far`, then `middle` with 60 % of the files
        changed, then `near` with 10 % of them changed."""
        if self.is_smoke:
            return _once("made-up-revisions.git", lambda at: _add_revisions(made_up(), at))
        return _once("linux-revisions.git", lambda at: _add_revisions(self.linux(), at))

    def k8s(self):
        """Five tagged releases of Kubernetes, 6 to 8 k files each."""
        if self.is_smoke:
            return made_up()
        source = _named("K8S") or SHARED / "corpus" / "k8s.bundle"
        if not source.exists():
            raise Skipped("no k8s.bundle: name a bundle or a clone with K8S=path")
        if source.is_dir():
            return source
        return _once("k8s.git", lambda at: _clone(source, at))

    def k8s_releases(self):
        """The three releases that are used: from, to, and the one for empty trees."""
        return ("v1", "v3", "v2") if self.is_smoke else ("v1.28.0", "v1.32.0", "v1.30.0")

    def deep(self):
        """A repository of more than 100 k objects with long delta chains."""
        if self.is_smoke:
            return made_up()
        source = _named("DEEP")
        if source is None:
            raise Skipped("no repository with a deep history: name a clone with DEEP=path")
        return _once("deep.git", lambda at: _clone(source, at))

    def small(self):
        """Some hundred files in three releases: what most repositories are like."""
        return made_up()

    def latencyfs(self):
        """The file system with round trips: a program."""
        program = _named("LATENCYFS") or _build_latencyfs()
        if not os.access("/dev/fuse", os.W_OK):
            raise Skipped("there is no /dev/fuse")
        return program


def made_up():
    """Some hundred files with a short history."""
    def make(at):
        subprocess.run(["bash", str(ROOT / "scripts" / "make-repository.sh"), "400", "3", str(at)],
                       check=True)
    return _once("made-up", make)


def _named(variable):
    path = os.environ.get(variable)
    if not path:
        return None
    path = Path(path).resolve()
    if not path.exists():
        raise Skipped(f"{variable}={path}: there is nothing")
    return path


def _once(name, make):
    at = CACHE / name
    if not at.exists():
        partial = CACHE / f"{name}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        CACHE.mkdir(parents=True, exist_ok=True)
        print(f"making {at} ...", flush=True)
        make(partial)
        partial.rename(at)
    return at


def _clone(source, at):
    # Not by copying files: the clone gets one pack of its own, without what nothing refers to.
    subprocess.run(["git", "clone", "-q", "--bare", "--no-local", str(source), str(at)],
                   check=True)


def _add_revisions(source, at):
    """A clone with two made-up commits on top."""
    _clone(source, at)
    files = list_files(at)
    parent = "HEAD"
    for number, (tag, share) in enumerate([("middle", 0.6), ("near", 0.1)], 1):
        chosen = random.Random(number).sample(files, int(len(files) * share))
        parent = add_commit(at, tag, parent, chosen, number)
    _git(at, "update-ref", "refs/tags/far", "HEAD")
    _git(at, "repack", "-a", "-d", "-q")


def list_files(repository, revision="HEAD"):
    """Name, mode and object id of each regular file, as bytes."""
    listed = _git(repository, "ls-tree", "-r", "-z", revision)
    entries = [entry.split(b"\t", 1) for entry in listed.rstrip(b"\0").split(b"\0")]
    named = [(name, *fields.split()) for fields, name in entries]
    return [(name, mode, id) for name, mode, _, id in named if mode.startswith(b"100")]


def add_commit(repository, tag, parent, chosen, number=1):
    """A commit on top of `parent` in which each of the `chosen` files has one more line; `tag`
    refers to it. Returns its id."""
    parent = _git(repository, "rev-parse", f"{parent}^{{commit}}")
    # From the parent's id, which is followed by a line end.
    stream = [b"commit refs/tags/%s\ncommitter A U Thor <author@example.com> %d +0000\n"
              b"data 0\nfrom %s" % (tag.encode(), 1700000000 + number, parent)]
    contents = _git(repository, "cat-file", "--batch",
                    input=b"".join(id + b"\n" for _, _, id in chosen))
    at_byte = 0
    for name, mode, _ in chosen:
        end = contents.index(b"\n", at_byte)
        size = int(contents[at_byte:end].split()[2])
        content = contents[end + 1:end + 1 + size] + b"/* changed */\n"
        at_byte = end + size + 2
        stream += [b"M ", mode, b" inline ", _quoted(name), b"\ndata %d\n" % len(content),
                   content, b"\n"]
    _git(repository, "fast-import", "--quiet", input=b"".join(stream))
    return _git(repository, "rev-parse", tag).decode().strip()


def _git(repository, *words, input=None):
    done = subprocess.run(["git", "-C", str(repository), *words], input=input, check=True,
                          stdout=subprocess.PIPE)
    return done.stdout


def _quoted(name):
    escaped = name.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + escaped + b'"'


def _make_linux(at):
    """From the Debian package, committed as it is: the tree's own .gitignore must not hide files."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise Skipped(f"no Debian here to get {LINUX_PACKAGE} from: name a clone with LINUX=path")
    work = CACHE / "linux-work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        fetched = subprocess.run(["apt-get", "download", LINUX_PACKAGE], cwd=work, check=False)
        packages = list(work.glob("*.deb"))
        if fetched.returncode != 0 or not packages:
            raise Skipped(f"cannot download {LINUX_PACKAGE}: name a clone with LINUX=path")
        subprocess.run(["dpkg-deb", "-x", str(packages[0]), "package"], cwd=work, check=True)
        archive = next((work / "package" / "usr" / "src").glob("linux-source-*.tar.*"))
        (work / "tree").mkdir()
        subprocess.run(["tar", "xf", str(archive), "--strip-components=1", "-C", "tree"],
                       cwd=work, check=True)
        _commit_everything(work / "tree", at)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _commit_everything(tree, at):
    # No gc in the background, which would leave a second pack beside that of repack.
    options = ["-c", "user.name=A U Thor", "-c", "user.email=author@example.com",
              "-c", "gc.auto=0", "-c", "maintenance.auto=false"]
    for words in (
        ["init", "-q"],
        ["add", "-f", "."],
        [*options, "commit", "-q", "-m", LINUX_PACKAGE],
        ["repack", "-a", "-d", "-f", "-q"],
        ["config", "core.bare", "true"],
    ):
        subprocess.run(["git", *words], cwd=tree, check=True)
    shutil.move(tree / ".git", at)


def _build_latencyfs():
    if not OF_TESTS:
        done = subprocess.run(["cargo", "build", "--locked", "--release", "-q",
                               "-p", "hedgerow-latencyfs"], cwd=ROOT, check=False)
        if done.returncode != 0:
            raise Skipped("latencyfs does not build")
    return PROGRAMS / "latencyfs"
