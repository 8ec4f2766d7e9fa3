use bstr::BString;
use std::fmt;

/// The result of reading an image.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an image, or a part of it, cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be opened or read.
    #[error(transparent)]
    Fs(#[from] hedgerow_fs::Error),
    /// It has not the magic number of this format.
    #[error("not {0} image")]
    NotAnImage(&'static str),
    /// It needs something that is not supported.
    #[error("{0} is not supported")]
    Unsupported(String),
    /// It is an image of another version of the format.
    #[error("SquashFS {major}.{minor} is not supported, only 4.0")]
    Version {
        /// The number before the dot.
        major: u16,
        /// The number after the dot.
        minor: u16,
    },
    /// The superblock names a compressor that the format does not define.
    #[error("unknown compressor {0}")]
    Compressor(u16),
    /// The image contradicts itself.
    #[error(transparent)]
    Damaged(#[from] Damage),
    /// The image has no entry with this path.
    #[error("'{0}' is not in the image")]
    NotFound(BString),
    /// The entry with this path is not of the required kind.
    #[error("'{path}' is not a {expected}")]
    Kind {
        /// The path.
        path: BString,
        /// The required kind: `directory`, `regular file`.
        expected: &'static str,
    },
    /// The decompressor ran out of memory, or could not be created.
    #[error(transparent)]
    Codec(hedgerow_codec::block::BlockError),
}

/// A defect of an image. Those that may follow from others come behind all others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Damage {
    /// Whether it may follow from others: counts are wrong where a directory cannot be read.
    pub may_follow: bool,
    /// The part of the image.
    pub part: Part,
    /// The exact place, in bytes from the start of the image, of a metadata block or of a field.
    pub position: u64,
    /// The affected entry, if there is one and its path is known.
    pub path: Option<BString>,
    /// What is wrong.
    pub what: String,
}

impl Damage {
    /// Damage that is not attributed to an entry.
    pub fn new(part: Part, position: u64, what: impl Into<String>) -> Self {
        Damage {
            may_follow: false,
            part,
            position,
            path: None,
            what: what.into(),
        }
    }

    /// The same damage, which may follow from other.
    pub fn following(self) -> Self {
        Damage {
            may_follow: true,
            ..self
        }
    }

    /// The same damage, attributed to the entry at `path`.
    pub fn at(self, path: &[u8]) -> Self {
        Damage {
            path: Some(path.into()),
            ..self
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at {}: ", self.part, self.position)?;
        match &self.path {
            Some(path) if path.is_empty() => formatter.write_str("'/': ")?,
            Some(path) => write!(formatter, "'{path}': ")?,
            None => {}
        }
        formatter.write_str(&self.what)
    }
}

impl std::error::Error for Damage {}

/// The parts of an image, in the order in which they are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// The superblock.
    Superblock,
    /// The options of the compressor.
    OptionBlock,
    /// Blocks of files.
    Data,
    /// Fragment blocks: tails of files.
    Fragments,
    /// The inodes.
    InodeTable,
    /// The listings of directories.
    DirectoryTable,
    /// Positions of the fragment blocks.
    FragmentTable,
    /// References to the inodes, by inode number.
    ExportTable,
    /// Owners and groups.
    IdTable,
    /// Extended attributes.
    XattrTable,
    /// The blocks that a hash tree covers: the whole image, with its padding.
    VerityData,
    /// The superblock of the hash tree behind the image.
    VeritySuperblock,
    /// The hash tree.
    HashTree,
}

impl Part {
    /// All parts, in the order of the image.
    pub const ALL: [Part; 13] = [
        Part::Superblock,
        Part::OptionBlock,
        Part::Data,
        Part::Fragments,
        Part::InodeTable,
        Part::DirectoryTable,
        Part::FragmentTable,
        Part::ExportTable,
        Part::IdTable,
        Part::XattrTable,
        Part::VerityData,
        Part::VeritySuperblock,
        Part::HashTree,
    ];

    /// The name of the part in messages.
    pub fn name(self) -> &'static str {
        match self {
            Part::Superblock => "superblock",
            Part::OptionBlock => "compressor options",
            Part::Data => "data",
            Part::Fragments => "fragments",
            Part::InodeTable => "inode table",
            Part::DirectoryTable => "directory table",
            Part::FragmentTable => "fragment table",
            Part::ExportTable => "export table",
            Part::IdTable => "id table",
            Part::XattrTable => "xattr table",
            Part::VerityData => "dm-verity data",
            Part::VeritySuperblock => "dm-verity superblock",
            Part::HashTree => "dm-verity hash tree",
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
