use bstr::BString;
use std::io;

/// The result of reading or writing an archive.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an archive could not be read or written. Positions are bytes from the beginning of the
/// archive, after decompression.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input failed.
    #[error("reading failed at byte {position}: {}", hedgerow_fs::reason(source))]
    Read {
        /// Where.
        position: u64,
        /// Why.
        source: io::Error,
    },
    /// The input ends where an archive cannot.
    #[error("the archive ends at byte {position}, within {part}")]
    Truncated {
        /// The length of what is there.
        position: u64,
        /// What is cut: a header, the content of a member.
        part: String,
    },
    /// What the input begins with is no header; what it is, if that is known.
    #[error("this is {}", .0.unwrap_or(UNKNOWN))]
    NotTar(Option<&'static str>),
    /// A header is damaged, or what came before it is longer or shorter than it said.
    #[error("the header at byte {position} has a wrong checksum")]
    Checksum {
        /// Where the header is.
        position: u64,
    },
    /// A header is not understood, and with it where the next one begins.
    #[error("the header at byte {position}: {reason}")]
    Malformed {
        /// Where the header is.
        position: u64,
        /// What is wrong with it.
        reason: Malformed,
    },
    /// A member that no tree can have, or no archive.
    #[error("'{path}': {reason}")]
    Unusable {
        /// Its name as the archive tells it.
        path: BString,
        /// What is wrong with it.
        reason: Unusable,
    },
    /// A member's content is not as long as was said.
    #[error("'{path}': {actual} bytes of content instead of {expected}")]
    ContentLength {
        /// The member.
        path: BString,
        /// What its header says.
        expected: u64,
        /// What came, or was about to.
        actual: u64,
    },
    /// Content that was to be archived could not be read.
    #[error("cannot read the content of '{path}': {}", hedgerow_fs::reason(source))]
    Content {
        /// The member.
        path: BString,
        /// Why.
        source: io::Error,
    },
    /// The output failed.
    #[error("cannot write the archive: {}", hedgerow_fs::reason(.0))]
    Write(io::Error),
}

/// What is said of an input that is nothing known.
const UNKNOWN: &str = "no tar archive, and not compressed with gzip, bzip2, xz or zstd";

/// Where the second field of a header ends.
const MODE_END: usize = 108;

/// What an input is that begins with these bytes and is no archive, if that is known.
pub(crate) fn foreign(bytes: &[u8]) -> Option<&'static str> {
    const KNOWN: [(&[u8], &str); 12] = [
        (b"hsqs", "a SquashFS image, no tar archive"),
        (b"PK\x03\x04", "a zip archive, no tar archive"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive, no tar archive"),
        (b"Rar!\x1a\x07", "a rar archive, no tar archive"),
        (
            b"\x04\x22\x4d\x18",
            "compressed with lz4, which is not read",
        ),
        (b"LZIP", "compressed with lzip, which is not read"),
        (b"\x89LZO\0\r\n", "compressed with lzop, which is not read"),
        (b"\x1f\x9d", "compressed with compress, which is not read"),
        (b"070701", "a cpio archive, no tar archive"),
        (b"!<arch>\n", "an ar archive, no tar archive"),
        (b"# v2 git bundle\n", "a git bundle, no tar archive"),
        (b"\x7fELF", "a program, no tar archive"),
    ];
    let found = KNOWN.iter().find(|(magic, _)| bytes.starts_with(magic));
    let name = found.map(|(_, name)| *name);
    // Some field of a header, the mode at the latest, is filled up with a NUL byte; and of what is
    // cut off before that, a name has no line in it.
    let start = bytes.get(..MODE_END);
    let is_plain = match start {
        Some(start) => !start.contains(&0),
        None => bytes.contains(&b'\n') && !bytes.contains(&0),
    };
    name.or_else(|| is_plain.then_some("a plain file, no tar archive"))
}

/// What is wrong with a header that makes everything behind it unreadable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// A number cannot be read, or is out of range.
    #[error("the {0} is not a number that is possible there")]
    Number(&'static str),
    /// A record of an extended header has no length, no `=`, or no end.
    #[error("a record of an extended header cannot be read")]
    Record,
    /// An extended header or a long name is larger than the limit.
    #[error("{part} of {bytes} bytes, more than the limit of {limit}")]
    TooLarge {
        /// What is too large.
        part: &'static str,
        /// How large it says it is.
        bytes: u64,
        /// How large it may be.
        limit: u64,
    },
    /// The map of a sparse file is out of order or does not fit what it maps.
    #[error("the map of a sparse file makes no sense")]
    SparseMap,
    /// The map of a sparse file is longer than the limit.
    #[error("the map of a sparse file has more than {0} segments")]
    SparseMapTooLong(usize),
    /// An encoding of sparse files that GNU tar has not defined.
    #[error("sparse files in an unknown encoding")]
    SparseVersion,
    /// A long name or an extended header that no member follows.
    #[error("no member follows an extended header")]
    Dangling,
    /// The archive begins or goes on in another file.
    #[error("a part of an archive of several volumes")]
    MultiVolume,
}

/// What is wrong with one member; those behind it can be read nevertheless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unusable {
    /// It has no name.
    #[error("an empty name")]
    Empty,
    /// Its name begins with a slash.
    #[error("an absolute name")]
    Absolute,
    /// Its name has `..` for a component.
    #[error("a name that leaves its directory")]
    Traversal,
    /// Its name has a NUL byte.
    #[error("a name with a NUL byte")]
    Nul,
    /// Its name has a component of more than 255 bytes.
    #[error("a name with a component of more than 255 bytes")]
    LongComponent,
    /// The root of the tree, as something else than a directory.
    #[error("the root of the archive is not a directory")]
    Root,
    /// A file that is called as only directories are.
    #[error("a file with content and a slash behind its name")]
    DirectoryWithContent,
    /// The target of a hard link is none of the names that members may have.
    #[error("a hard link to a place outside the archive")]
    HardLinkTarget,
    /// The target of a symbolic link is empty or has a NUL byte.
    #[error("a symbolic link with an impossible target")]
    SymlinkTarget,
    /// A number in its header is out of range.
    #[error("the {0} is out of range")]
    Number(&'static str),
    /// An extended attribute that cannot be decoded, or not be encoded.
    #[error("an extended attribute that makes no sense")]
    Xattr,
    /// A kind of member that is not known.
    #[error("members of type '{}' are not known", char::from(*.0).escape_default())]
    Type(u8),
    /// A socket, which archives cannot have.
    #[error("a socket cannot be archived")]
    Socket,
}

/// Something that was passed over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// A member that [`ReadOptions::skip_unusable`](crate::ReadOptions::skip_unusable) skipped.
    #[error("skipped '{path}': {reason}")]
    Skipped {
        /// Its name as the archive tells it.
        path: BString,
        /// What is wrong with it.
        reason: Unusable,
    },
    /// The label of a volume.
    #[error("ignored the volume label '{0}'")]
    VolumeLabel(BString),
    /// One block of zeros where two end an archive; nothing behind it was read.
    #[error("a lone block of zeros at byte {0} ends the archive")]
    LoneZeroBlock(u64),
    /// The archive has no end mark: it may be cut.
    #[error("the archive ends at byte {0} without an end mark")]
    NoEndMark(u64),
}
