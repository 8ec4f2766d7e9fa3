use bstr::BString;
use std::io;

/// The result of reading or writing an archive.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an archive could not be read or written. Positions are byte offsets in the decompressed
/// archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading the input failed.
    #[error("reading failed at byte {position}: {}", hedgerow_fs::reason(source))]
    Read {
        /// Where in the archive.
        position: u64,
        /// The cause.
        source: io::Error,
    },
    /// The input ends in the middle of an archive.
    #[error("the archive ends at byte {position}, within {part}")]
    Truncated {
        /// The length of the input.
        position: u64,
        /// What is truncated: a header, the content of a member.
        part: String,
    },
    /// The input does not start with a header; what it is, if that is known.
    #[error("this is {}", .0.unwrap_or(UNKNOWN))]
    NotTar(Option<&'static str>),
    /// A header is damaged, or the data before it does not have the stated length.
    #[error("the header at byte {position} has a wrong checksum")]
    Checksum {
        /// Where the header is.
        position: u64,
    },
    /// A header cannot be interpreted, so the position of the next one is unknown.
    #[error("the header at byte {position}: {reason}")]
    Malformed {
        /// Where the header is.
        position: u64,
        /// What is wrong with it.
        reason: Malformed,
    },
    /// A member that cannot be in a tree, or not in an archive.
    #[error("'{path}': {reason}")]
    Unusable {
        /// Its name in the archive.
        path: BString,
        /// What is wrong with it.
        reason: Unusable,
    },
    /// The content of a member does not have the stated length.
    #[error("'{path}': {actual} bytes of content instead of {expected}")]
    ContentLength {
        /// The path of the member.
        path: BString,
        /// The size in its header.
        expected: u64,
        /// The size given so far, including bytes that were refused.
        actual: u64,
    },
    /// The content of a member to be archived could not be read.
    #[error("cannot read the content of '{path}': {}", hedgerow_fs::reason(source))]
    Content {
        /// The path of the member.
        path: BString,
        /// The cause.
        source: io::Error,
    },
    /// Writing the output failed.
    #[error("cannot write the archive: {}", hedgerow_fs::reason(.0))]
    Write(io::Error),
}

/// The message for an unknown input.
const UNKNOWN: &str = "no tar archive, and not compressed with gzip, bzip2, xz or zstd";

/// The end of the second field of a header.
const MODE_END: usize = 108;

/// Where an EROFS image has its magic number, behind zeros; and that number.
const EROFS_START: u64 = 1024;
const EROFS_MAGIC: &[u8] = b"\xe2\xe1\xf5\xe0";

/// What an input is that starts with these bytes and is no archive, if that is known.
pub(crate) fn foreign(bytes: &[u8]) -> Option<&'static str> {
    const KNOWN: [(&[u8], &str); 12] = [
        (b"hsqs", "a SquashFS image, not a tar archive"),
        (b"PK\x03\x04", "a zip archive, not a tar archive"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive, not a tar archive"),
        (b"Rar!\x1a\x07", "a rar archive, not a tar archive"),
        (
            b"\x04\x22\x4d\x18",
            "compressed with lz4, which is not read",
        ),
        (b"LZIP", "compressed with lzip, which is not read"),
        (b"\x89LZO\0\r\n", "compressed with lzop, which is not read"),
        (b"\x1f\x9d", "compressed with compress, which is not read"),
        (b"070701", "a cpio archive, not a tar archive"),
        (b"!<arch>\n", "an ar archive, not a tar archive"),
        (b"# v2 git bundle\n", "a git bundle, not a tar archive"),
        (b"\x7fELF", "a program, not a tar archive"),
    ];
    let found = KNOWN.iter().find(|(magic, _)| bytes.starts_with(magic));
    let name = found.map(|(_, name)| *name);
    // At least one of the fields of a header up to the mode is padded with NUL. If the input ends
    // before that, it is a text if it has a line break, because names have none.
    let start = bytes.get(..MODE_END);
    let is_plain = match start {
        Some(start) => !start.contains(&0),
        None => bytes.contains(&b'\n') && !bytes.contains(&0),
    };
    name.or_else(|| is_plain.then_some("a plain file, not a tar archive"))
}

/// What an input is that has nothing but zeros before these bytes.
pub(crate) fn behind_zeros(position: u64, start: &[u8]) -> &'static str {
    match (position, start) {
        (EROFS_START, EROFS_MAGIC) => "an EROFS image, not a tar archive",
        _ => "no tar archive: zeros that would end it come first, and then other bytes",
    }
}

/// What is wrong with a header, so that everything after it is unreadable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// A number is invalid or out of range.
    #[error("the {0} is not a number that is possible there")]
    Number(&'static str),
    /// A record of an extended header without a length, a `=` or an end.
    #[error("a record of an extended header cannot be read")]
    Record,
    /// An extended header or a long name is larger than the limit.
    #[error("{part} of {bytes} bytes, more than the limit of {limit}")]
    TooLarge {
        /// What is too large.
        part: &'static str,
        /// The stated size in bytes.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The map of a sparse file is not in order or does not fit the file.
    #[error("the map of a sparse file is invalid")]
    SparseMap,
    /// The map of a sparse file is longer than the limit.
    #[error("the map of a sparse file has more than {0} segments")]
    SparseMapTooLong(usize),
    /// An encoding of sparse files that GNU tar does not define.
    #[error("sparse files in an unknown encoding")]
    SparseVersion,
    /// A long name or an extended header is not followed by a member.
    #[error("no member follows an extended header")]
    Dangling,
    /// The archive starts or continues in another file.
    #[error("a part of an archive of several volumes")]
    MultiVolume,
}

/// What is wrong with a member. The members after it can still be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unusable {
    /// The name is empty.
    #[error("an empty name")]
    Empty,
    /// The name starts with a slash.
    #[error("an absolute name")]
    Absolute,
    /// The name has a `..` component.
    #[error("a name that leaves its directory")]
    Traversal,
    /// The name has a NUL byte.
    #[error("a name with a NUL byte")]
    Nul,
    /// The name has a component of more than 255 bytes.
    #[error("a name with a component of more than 255 bytes")]
    LongComponent,
    /// The root of the tree is not a directory.
    #[error("the root of the archive is not a directory")]
    Root,
    /// A file with content whose name ends with a slash.
    #[error("a file with content and a slash behind its name")]
    DirectoryWithContent,
    /// The target of a hard link is not a possible name of a member.
    #[error("a hard link to a place outside the archive")]
    HardLinkTarget,
    /// The target of a symbolic link is empty or has a NUL byte.
    #[error("a symbolic link with an impossible target")]
    SymlinkTarget,
    /// A number in the header is out of range.
    #[error("the {0} is out of range")]
    Number(&'static str),
    /// An extended attribute cannot be decoded or encoded.
    #[error("an invalid extended attribute")]
    Xattr,
    /// The type of the member is unknown.
    #[error("members of type '{}' are not known", char::from(*.0).escape_default())]
    Type(u8),
    /// A socket, which archives cannot store.
    #[error("a socket cannot be archived")]
    Socket,
}

/// Something that was skipped or ignored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// A member that [`ReadOptions::skip_unusable`](crate::ReadOptions::skip_unusable) skipped.
    #[error("skipped '{path}': {reason}")]
    Skipped {
        /// Its name in the archive.
        path: BString,
        /// What is wrong with it.
        reason: Unusable,
    },
    /// A volume label.
    #[error("ignored the volume label '{0}'")]
    VolumeLabel(BString),
    /// Only one block of zeros where two end an archive; nothing after it was read.
    #[error("a lone block of zeros at byte {0} ends the archive")]
    LoneZeroBlock(u64),
    /// The archive has no end mark and may be truncated.
    #[error("the archive ends at byte {0} without an end mark")]
    NoEndMark(u64),
}
