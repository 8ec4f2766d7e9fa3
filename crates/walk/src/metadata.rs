use hedgerow_fs::Stat;
use hedgerow_tree::Metadata;

/// Permission bits, setuid, setgid and sticky.
const MODE_MASK: u32 = 0o7777;

/// Converts stat data to the metadata of a tree entry.
pub(crate) fn metadata(stat: &Stat) -> Metadata {
    Metadata {
        mode: stat.mode & MODE_MASK,
        uid: stat.uid,
        gid: stat.gid,
        size_bytes: stat.size,
        mtime_s: stat.mtime.seconds,
        mtime_ns: stat.mtime.nanoseconds,
        nlink: stat.nlink,
        ino: stat.ino,
        dev: stat.dev,
        rdev: stat.rdev,
        blocks: stat.blocks,
    }
}
