//! Reads and checks everything in an image, and continues after errors.
//!
//! In this order: the metadata blocks of every table, the inode table from start to end, the tree
//! from its root, the smaller tables, and all data blocks. The result tells which bytes nothing
//! refers to, and which bytes no checksum covers.

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
use crate::{Error, Part};
use findings::Findings;
use hedgerow_engine::{Execution, Options};
pub(crate) use hedgerow_image::report::ended;
use hedgerow_image::report::{Coverage, Report, VerifyError};

/// Checks the image that starts at byte `offset`, with the workers of `execution`. The report is
/// the same for any number of workers.
///
/// # Errors
/// The source cannot be read or is not a supported image, the check was cancelled, or a worker
/// panicked. A damaged superblock is not an error but the only finding of the report.
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
        verity: None,
    })
}

/// A check in progress.
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
