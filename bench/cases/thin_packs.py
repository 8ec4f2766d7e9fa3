"""A thin pack whose deltas all need objects of the repository, completed, against git."""

import random
import subprocess
from pathlib import Path

from cases.packs import add
from contenders import git, hedgerow
from made import MadeRepositories, commit
from measure import in_pairs, run
from results import Outcome, less_cpu_row, wall_row

BASES = 80_000
FILES_PER_DIRECTORY = 200
# Of noise, so that no file is a delta of another and each has a base of its own.
NOISE_BYTES = 100


def fix_thin(setting):
    """The cost of each base must not depend on how many there are."""
    bases = 400 if setting.is_smoke else BASES
    outcome = Outcome([])
    with MadeRepositories() as made:
        sender = made.repository("sender.git", _history(bases, releases=2))
        receiver = made.repository("receiver.git", _history(bases, releases=1))
        pack = Path(made.home.name) / "thin.pack"
        with pack.open("wb") as out:
            subprocess.run(
                git("pack-objects", "--revs", "--thin", "--stdout", "-q"), env=made.env,
                cwd=sender, input=b"release2\n^release1\n", stdout=out, check=True)
        completed = Path(made.home.name) / "completed.pack"

        def complete(command):
            for suffix in (".pack", ".idx", ".rev"):
                completed.with_suffix(suffix).unlink(missing_ok=True)
            sample = run([*command, "--stdin", "--fix-thin", str(completed)], made.env, receiver,
                         stdin=str(pack))
            _require_bases(completed, bases)
            return sample

        pairs = in_pairs(lambda: complete(git("index-pack")),
                         lambda: complete(hedgerow("index-pack")), setting.pairs)
        title = f"index-pack --fix-thin, {bases:,} bases"
        add(outcome, wall_row, "fix-thin", f"{title}, wall", pairs, 1, 1.5)
        add(outcome, less_cpu_row, "fix-thin-cpu", f"{title}, user+sys", pairs, 1, 1.5)
    return outcome


def _require_bases(pack, bases):
    """The proof that the work was done: the pack has each file twice, as it was and as it is."""
    with pack.open("rb") as content:
        count = int.from_bytes(content.read(12)[8:], "big")
    if count < 2 * bases or not pack.with_suffix(".idx").exists():
        raise RuntimeError(f"{pack}: {count} objects, and not {2 * bases} or more, with an index")


def _history(files, releases):
    """The files, in the second release with a line more each."""
    for release in range(1, releases + 1):
        yield commit(f"refs/heads/release{release}")
        if release > 1:
            yield b"from refs/heads/release1\n"
        chance = random.Random(1)
        for number in range(files):
            content = chance.randbytes(NOISE_BYTES).hex().encode() + b"\n"
            if release > 1:
                content += b"changed %d\n" % number
            yield b"M 644 inline d%d/%s\ndata %d\n%s\n" % (
                number // FILES_PER_DIRECTORY, _name(number), len(content), content)


def _name(number):
    """Git looks for bases among files of like names, by a hash in which a letter has two bits: with
    four letters no two files are alike to it, and each finds its older self."""
    return bytes(b"abcd"[number >> 2 * place & 3] for place in range(9))
