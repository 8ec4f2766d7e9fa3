"""Trees for the tests of archives: makes them, and lists them as Python sees them.

make DIR SEED PROFILE   a tree of the same shape for the same seed
disk DIR                what is in a directory, sorted by path
tar FILE                what is in an archive, in its order, as the module tarfile reads it

Profiles: old (what v7 can say), ustar (also special files and longer names), bsd (names of any
length, attributes), full (also times before 1970). Lines have nine fields with tabs between them; bytes are
in hexadecimal.
"""

import decimal
import os
import random
import stat
import sys
import tarfile
import zlib

KINDS = {
    tarfile.LNKTYPE: "h", tarfile.SYMTYPE: "l", tarfile.CHRTYPE: "c", tarfile.BLKTYPE: "b",
    tarfile.DIRTYPE: "d", tarfile.FIFOTYPE: "p",
}


def line(path, kind, mode, uid, gid, mtime_ns, size, target, crc, xattrs):
    pairs = ",".join(f"{name.hex()}={value.hex()}" for name, value in sorted(xattrs.items()))
    fields = (path.hex(), kind, f"{mode:o}", f"{uid}:{gid}", mtime_ns, size, target.hex(),
              f"{crc:08x}", pairs)
    print(*fields, sep="\t")


def normal(name):
    name = os.path.normpath(name)
    return b"" if name == b"." else name


def list_tar(file):
    def raw(text):
        return text.encode("utf-8", "surrogateescape")

    archive = tarfile.open(file, encoding="utf-8", errors="surrogateescape")
    for member in archive:
        kind = KINDS.get(member.type, "f")
        if member.isdir():
            kind = "d"
        crc = size = 0
        target = b""
        if kind == "f":
            size = member.size
            content = archive.extractfile(member)
            while piece := content.read(1 << 20):
                crc = zlib.crc32(piece, crc)
        elif kind in "lh":
            target = raw(member.linkname)
            target = normal(target) if kind == "h" else target
            size = len(target) if kind == "l" else 0
        elif kind in "cb":
            target = f"{member.devmajor},{member.devminor}".encode()
        text = member.pax_headers.get("mtime", str(int(member.mtime)))
        mtime_ns = int((decimal.Decimal(text) * 10**9).to_integral_value(decimal.ROUND_FLOOR))
        xattrs = {}
        for key, value in member.pax_headers.items():
            if key.startswith("SCHILY.xattr."):
                name = key[len("SCHILY.xattr."):].replace("%3D", "=").replace("%25", "%")
                xattrs[raw(name)] = raw(value)
        # Python takes the name that is made up for others if that is too long for its field.
        name = member.pax_headers.get("GNU.sparse.name", member.name)
        line(normal(raw(name)), kind, member.mode & 0o7777, member.uid, member.gid,
             mtime_ns, size, target, crc, xattrs)


def list_disk(root):
    root = os.fsencode(root)
    paths = []
    for directory, names, files in os.walk(root):
        paths += [os.path.join(directory, name) for name in names + files]
    first = {}
    for path in sorted(paths):
        short = os.path.relpath(path, root)
        state = os.lstat(path)
        kind, size, target, crc = stat.filemode(state.st_mode)[0], 0, b"", 0
        if kind == "-":
            kind, size = "f", state.st_size
            target = first.setdefault(state.st_ino, short)
            with open(path, "rb") as content:
                while piece := content.read(1 << 20):
                    crc = zlib.crc32(piece, crc)
        elif kind == "l":
            target = os.readlink(path)
            size = len(target)
        elif kind in "cb":
            target = f"{os.major(state.st_rdev)},{os.minor(state.st_rdev)}".encode()
        xattrs = {}
        for name in os.listxattr(path, follow_symlinks=False):
            if name.startswith("user."):
                xattrs[os.fsencode(name)] = os.getxattr(path, name, follow_symlinks=False)
        line(short, kind, stat.S_IMODE(state.st_mode), state.st_uid, state.st_gid,
             state.st_mtime_ns, size, target, crc, xattrs)


class Maker:
    def __init__(self, root, seed, profile):
        self.root = os.fsencode(root)
        self.random = random.Random(seed)
        self.full = profile in ("full", "bsd")
        self.early = profile == "full"
        self.old = profile == "old"
        self.is_root = os.geteuid() == 0
        self.count = 0

    def name(self):
        self.count += 1
        choice = self.random.random()
        if self.full and choice < 0.15:
            return b"%d-" % self.count + b"n" * self.random.randrange(80, 250)
        if self.full and choice < 0.25:
            return "é\n\t ü-%d".encode() % self.count
        if self.full and choice < 0.3:
            return b"\xff\xfe%d" % self.count
        if not self.old and choice < 0.4:
            return b"%d-" % self.count + b"u" * self.random.randrange(10, 30)
        return b"%c%d" % (self.random.choice(b"abcXYZ._-"), self.count)

    def content(self, path):
        size = self.random.choice([0, 1, 511, 512, 513, 1024, 4096, 10240, 100000])
        with open(path, "wb") as file:
            if self.random.random() < 0.35:
                for _ in range(self.random.choice([0, 1, 2, 5, 30])):
                    file.seek(self.random.randrange(100) * 4096)
                    file.write(self.random.randbytes(self.random.randrange(1, 9000)))
                if self.random.random() < 0.5:
                    file.truncate(self.random.randrange(1, 1 << 19))
            else:
                file.write(self.random.randbytes(size))

    def target(self):
        if self.full and self.random.random() < 0.3:
            return b"../" * self.random.randrange(20, 100) + b"t"
        return self.random.choice([b"a", b"../x", b"/dev/null", b"t" * 99])

    def entry(self, directory, files):
        path = os.path.join(directory, self.name())
        choice = self.random.random()
        if choice < 0.1 and files:
            file = self.random.choice(files)
            if self.full or max(len(file), len(path)) - len(self.root) < 95:
                os.link(file, path)
                return
        if choice < 0.2:
            os.symlink(self.target(), path)
        elif choice < 0.25 and not self.old:
            os.mkfifo(path)
        elif choice < 0.3 and not self.old and self.is_root:
            kind = self.random.choice([stat.S_IFCHR, stat.S_IFBLK])
            os.mknod(path, kind | 0o600, os.makedev(self.random.randrange(1, 400),
                                                    self.random.randrange(70000)))
        else:
            self.content(path)
            files.append(path)
        self.finish(path)

    def finish(self, path):
        is_link = os.path.islink(path)
        if self.is_root:
            ids = [0, 1000, 0o777777] + [0o7777777, 0o10000000, 0x7ffffffe] * self.full
            os.chown(path, self.random.choice(ids), self.random.choice(ids), follow_symlinks=False)
        if not is_link:
            modes = [0o644, 0o755, 0o600, 0o444] + [0o4755, 0o2755, 0o1777] * self.is_root
            os.chmod(path, self.random.choice(modes) | 0o700 * os.path.isdir(path))
        is_plain = os.path.isfile(path) or os.path.isdir(path)
        if self.full and is_plain and not is_link and self.random.random() < 0.3:
            try:
                os.setxattr(path, "user.a", self.random.randbytes(self.random.randrange(300)))
                # bsdtar writes this name as GNU tar does and does not read it so.
                name = "user.b=c%d" if self.early else "user.b"
                os.setxattr(path, name, b"line\nline=\0")
            except OSError:
                pass
        times = [0, 1, 1700000000, 0o17777777777] + [-1, -86400 * 365] * self.early
        mtime = self.random.choice(times) * 10**9
        mtime += self.random.choice([0, 500000000, 123456789, 999999999])
        os.utime(path, ns=(mtime, mtime), follow_symlinks=False)

    def directory(self, directory, depth):
        files = []
        for _ in range(self.random.randrange(2, 10)):
            if depth and self.random.random() < 0.3:
                path = os.path.join(directory, self.name())
                os.mkdir(path)
                self.directory(path, depth - 1)
            else:
                self.entry(directory, files)
        self.finish(directory)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        os.umask(0o022)
        maker = Maker(*sys.argv[2:])
        maker.directory(maker.root, 4)
    elif sys.argv[1] == "disk":
        list_disk(sys.argv[2])
    else:
        list_tar(sys.argv[2])
