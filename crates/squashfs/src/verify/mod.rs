//! Reads and checks everything in an image, and goes on whatever is wrong.
//!
//! The order: metadata blocks of every table, the inode table from its beginning to its end, the
//! tree from its root, the smaller tables, and every block of data. Afterwards it is known which
//! bytes nobody refers to, and which ones no checksum covers.

mod blocks;
mod checksum;
mod directories;
mod extents;
mod findings;
mod inodes;
mod ranges;
mod tables;
mod xattrs;

use crate::reader::{Image, ReadAt};
use crate::{Damage, Error, Part};
use findings::Findings;
use hedgerow_engine::{Execution, Options};

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What is wrong, in the order of the parts and of the positions in them.
    pub findings: Vec<Damage>,
    /// How many findings more there were than are worth keeping.
    pub omitted: u64,
    /// What checksums cover, for every part that the image has.
    pub coverage: Vec<Coverage>,
    /// Inodes that were read.
    pub inodes: u64,
    /// Bytes of data and fragment blocks, decompressed.
    pub content_bytes: u64,
}

/// How much of a part is covered by checksums of the compressor. Blocks of gzip, of xz, and those
/// of zstd that were written so have one; others, and blocks stored as they are, have not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// The part.
    pub part: Part,
    /// Bytes, as stored, in which no change goes unnoticed that changes what is read.
    pub checksummed_bytes: u64,
    /// Bytes, as stored, in which changes show only if they make no sense.
    pub unchecked_bytes: u64,
}

/// Why nothing can be said about an image.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// It cannot be read at all.
    #[error(transparent)]
    Open(#[from] Error),
    /// The user asked for the end.
    #[error("interrupted")]
    Cancelled,
    /// A defect of this program, in the words of the panic.
    #[error("a worker panicked: {0}")]
    Panicked(String),
}

/// Checks the image that begins at `offset` bytes, by the workers of `execution`. The report is the
/// same for any number of them.
///
/// # Errors
/// What has no superblock that makes sense is not checked.
pub fn verify(
    source: Box<dyn ReadAt>,
    offset: u64,
    execution: &Execution,
) -> Result<Report, VerifyError> {
    let opened = Image::new_damaged(source, offset);
    let (image, damage) = match opened {
        Err(Error::Damaged(damage)) => return Ok(Report::only(damage)),
        other => other?,
    };
    let mut check = Check {
        image: &image,
        options: &execution.options("verify"),
        findings: Findings::default(),
        coverage: Vec::new(),
    };
    damage
        .into_iter()
        .for_each(|damage| check.findings.add(damage));
    check.superblock();
    let tables = check.tables()?;
    let inodes = check.inodes();
    let (inodes, extents) = check.directories(inodes, &tables);
    check.export(&inodes);
    check.xattrs(&inodes, &tables);
    let content_bytes = check.extents(extents)?;
    let (findings, omitted) = check.findings.into_sorted(&image);
    let mut coverage = check.coverage;
    coverage.sort_by_key(|coverage| coverage.part);
    Ok(Report {
        findings,
        omitted,
        coverage,
        inodes: inodes.len() as u64,
        content_bytes,
    })
}

impl Report {
    fn only(damage: Damage) -> Self {
        Report {
            findings: vec![damage],
            omitted: 0,
            coverage: Vec::new(),
            inodes: 0,
            content_bytes: 0,
        }
    }
}

/// A check under way.
struct Check<'i> {
    image: &'i Image,
    options: &'i Options,
    findings: Findings,
    coverage: Vec<Coverage>,
}

impl Check<'_> {
    fn cover(&mut self, part: Part, checksummed_bytes: u64, unchecked_bytes: u64) {
        let known = self
            .coverage
            .iter_mut()
            .find(|coverage| coverage.part == part);
        match known {
            Some(coverage) => {
                coverage.checksummed_bytes += checksummed_bytes;
                coverage.unchecked_bytes += unchecked_bytes;
            }
            None => self.coverage.push(Coverage {
                part,
                checksummed_bytes,
                unchecked_bytes,
            }),
        }
    }
}

/// The error of a run whose work does not fail.
fn ended(failure: hedgerow_engine::Failure<VerifyError>) -> VerifyError {
    match failure {
        hedgerow_engine::Failure::Cancelled => VerifyError::Cancelled,
        hedgerow_engine::Failure::Panicked(message) => VerifyError::Panicked(message),
        hedgerow_engine::Failure::Failed(error) => error,
    }
}
