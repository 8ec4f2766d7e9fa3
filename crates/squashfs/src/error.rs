use bstr::BString;
use std::fmt;

/// The result of reading an image.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something of an image cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be opened or read.
    #[error(transparent)]
    Fs(#[from] hedgerow_fs::Error),
    /// It has not the first bytes of an image.
    #[error("not a SquashFS image")]
    NotAnImage,
    /// It is an image of another version of the format.
    #[error("SquashFS {major}.{minor} is not supported, only 4.0")]
    Version {
        /// Before the dot.
        major: u16,
        /// Behind the dot.
        minor: u16,
    },
    /// A superblock names a compressor that the format does not have.
    #[error("unknown compressor {0}")]
    Compressor(u16),
    /// The image contradicts itself.
    #[error(transparent)]
    Damaged(#[from] Damage),
    /// There is no entry of this path.
    #[error("'{0}' is not in the image")]
    NotFound(BString),
    /// The entry of this path is not of the kind that is needed.
    #[error("'{path}' is not a {expected}")]
    Kind {
        /// The path.
        path: BString,
        /// What is needed: `directory`, `regular file`.
        expected: &'static str,
    },
    /// There is no memory for a decompressor.
    #[error(transparent)]
    Codec(hedgerow_codec::block::BlockError),
}

/// Something that is wrong in an image.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Damage {
    /// Where, roughly.
    pub part: Part,
    /// Where exactly: bytes from the start of the image, of a metadata block or a field.
    pub position: u64,
    /// The entry that it is about, if it is about one and its path is known.
    pub path: Option<BString>,
    /// What is wrong.
    pub what: String,
}

impl Damage {
    /// Damage of no particular entry.
    pub(crate) fn new(part: Part, position: u64, what: impl Into<String>) -> Self {
        Damage {
            part,
            position,
            path: None,
            what: what.into(),
        }
    }

    /// The same, known to be about the entry of this path.
    pub(crate) fn at(self, path: &[u8]) -> Self {
        Damage {
            path: Some(path.into()),
            ..self
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at {}: ", self.part, self.position)?;
        if let Some(path) = &self.path {
            write!(formatter, "'{path}': ")?;
        }
        formatter.write_str(&self.what)
    }
}

impl std::error::Error for Damage {}

/// The parts of an image, in the order in which they stand there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// The superblock.
    Superblock,
    /// What the compressor was told.
    OptionBlock,
    /// Blocks of files.
    Data,
    /// Blocks of tails of files.
    Fragments,
    /// The inodes.
    InodeTable,
    /// The listings of directories.
    DirectoryTable,
    /// Where the fragment blocks are.
    FragmentTable,
    /// Where the inodes are, by number.
    ExportTable,
    /// Owners and groups.
    IdTable,
    /// Extended attributes.
    XattrTable,
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 10] = [
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
    ];

    /// Its name, in words.
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
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
