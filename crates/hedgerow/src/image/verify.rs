//! Checks images of all kinds, and the hash trees behind them.

use super::Kind;
use hedgerow_engine::{Execution, Stage};
use hedgerow_erofs as erofs;
use hedgerow_fs::ReadFile;
use hedgerow_image::report::{Report, VerifyError};
use hedgerow_image::verity::{check, inspect, Digest, Verity};
use hedgerow_image::{Damage, Error, Part, ReadAt};
use hedgerow_squashfs as squashfs;
use std::path::Path;
use std::sync::Arc;

/// Checks the image of any kind that starts at byte `offset`, and the hash tree of dm-verity behind
/// it, if there is one. The report is the same for any number of workers.
///
/// # Errors
/// The source cannot be read or is no image, the check was cancelled, or a worker panicked.
pub fn verify(
    source: Box<dyn ReadAt>,
    offset: u64,
    execution: &Execution,
) -> Result<Report, VerifyError> {
    verify_with(source, offset, None, execution)
}

/// Like [`verify`]; [`Stage::Entries`] has what was read in the end. If `root_hash` is given, an image without a hash tree, or with another root, is
/// damaged.
///
/// # Errors
/// Like [`verify`].
pub fn verify_with(
    source: Box<dyn ReadAt>,
    offset: u64,
    root_hash: Option<&Digest>,
    execution: &Execution,
) -> Result<Report, VerifyError> {
    let source: Arc<dyn ReadAt> = source.into();
    let image_bytes = image_bytes(&*source, offset)?;
    let checked = check(&*source, offset, image_bytes, root_hash, execution)?;
    let report = match Kind::of(&*source, offset) {
        Ok(Kind::SquashFs) => squashfs::verify(Box::new(source), offset, execution),
        Ok(Kind::Erofs) => erofs::verify(Box::new(source), offset, execution),
        Err(error) => Err(error.into()),
    };
    if let Ok(report) = &report {
        let steps = execution.progress.stage(Stage::Entries);
        steps.step(report.inodes);
        steps.add_bytes(report.content_bytes);
    }
    let Some(checked) = checked else {
        return report;
    };
    let mut report = match report {
        // That there was an image is what the tree tells.
        Err(VerifyError::Open(error)) if checked.verity.is_some() && is_of_image(&error) => {
            Report::only(Damage::new(Part::Superblock, 0, error.to_string()))
        }
        report => report?,
    };
    report.findings.extend(checked.findings);
    report.findings.sort();
    report.omitted += checked.omitted;
    report.coverage.extend(checked.coverage);
    report.verity = checked.verity;
    Ok(report)
}

/// The hash tree behind the image at byte `offset` of the file at `path`, unchecked: its root hash is
/// what the tree itself has. The inner result tells why a tree cannot be used.
///
/// # Errors
/// The file cannot be read.
pub fn verity_of(path: &Path, offset: u64) -> Result<Option<Result<Verity, Damage>>, Error> {
    let file = ReadFile::open(path)?;
    let image_bytes = image_bytes(&file, offset)?;
    inspect(&file, offset, image_bytes)
}

/// Whether an error is about the bytes of an image, and not about reading them.
fn is_of_image(error: &Error) -> bool {
    !matches!(error, Error::Fs(_) | Error::Codec(_))
}

/// The size of the image that its superblock tells; `None` if there is no superblock.
fn image_bytes(source: &dyn ReadAt, offset: u64) -> Result<Option<u64>, Error> {
    match Kind::of(source, offset) {
        Ok(Kind::SquashFs) => {
            let mut bytes = [0; squashfs::format::SUPERBLOCK_BYTES as usize];
            source.read_at(&mut bytes, offset)?;
            Ok(Some(
                squashfs::format::Superblock::from_bytes(&bytes).bytes_used,
            ))
        }
        Ok(Kind::Erofs) => {
            let mut bytes = [0; erofs::format::SUPERBLOCK_BYTES];
            let position = offset.saturating_add(erofs::format::SUPERBLOCK_OFFSET);
            source.read_at(&mut bytes, position)?;
            let superblock = erofs::format::Superblock::from_bytes(&bytes);
            let superblock = superblock.filter(|found| found.block_bits < u32::BITS as u8);
            Ok(superblock.map(|found| u64::from(found.blocks) << found.block_bits))
        }
        Err(Error::Fs(error)) => Err(error.into()),
        Err(_) => Ok(None),
    }
}
