//! What a check of a whole image found.

use crate::damage::{Damage, Error, Part};
use crate::verity::Verity;

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Defects, ordered by part and by position in it.
    pub findings: Vec<Damage>,
    /// Number of further findings, which are only counted.
    pub omitted: u64,
    /// How much of each part of the image checksums cover.
    pub coverage: Vec<Coverage>,
    /// Number of inodes read.
    pub inodes: u64,
    /// Decompressed size of all data and fragment blocks in bytes.
    pub content_bytes: u64,
    /// The hash tree behind the image, if one was found and checked.
    pub verity: Option<Verity>,
}

/// How much of a part is covered by the compressor's checksums. Blocks of gzip and of xz have one,
/// and blocks of zstd if they were written with it. Blocks of other compressors, and uncompressed
/// blocks, have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// The part.
    pub part: Part,
    /// Stored bytes in which every change that alters the content is detected.
    pub checksummed_bytes: u64,
    /// Stored bytes in which a change is detected only if the result is invalid.
    pub unchecked_bytes: u64,
}

/// Why an image could not be checked.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The image cannot be read at all.
    #[error(transparent)]
    Open(#[from] Error),
    /// The user cancelled the check.
    #[error("interrupted")]
    Cancelled,
    /// A worker panicked, which is a defect of this program; the message of the panic.
    #[error("a worker panicked: {0}")]
    Panicked(String),
}

impl Report {
    /// A report with a single finding.
    pub fn only(damage: Damage) -> Self {
        Report {
            findings: vec![damage],
            omitted: 0,
            coverage: Vec::new(),
            inodes: 0,
            content_bytes: 0,
            verity: None,
        }
    }
}

/// Converts the failure of a run.
pub fn ended(failure: hedgerow_engine::Failure<VerifyError>) -> VerifyError {
    match failure {
        hedgerow_engine::Failure::Cancelled => VerifyError::Cancelled,
        hedgerow_engine::Failure::Panicked(message) => VerifyError::Panicked(message),
        hedgerow_engine::Failure::Failed(error) => error,
    }
}
