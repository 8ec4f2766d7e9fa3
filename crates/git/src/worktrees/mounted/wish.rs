//! Whether a new working tree is mounted.

use super::maker::ImageMaker;
use crate::config::{MountSettings, WorktreeMount};
use crate::repository::Repository;
use crate::worktrees::AddOptions;
use crate::{Error, Result};
use hedgerow_mounts::{hindrance, Hindrance};

/// What of a umask counts for the owner of files.
const OWNERS: u32 = 0o700;

/// A working tree that is to be mounted.
pub(crate) struct MountWish<'a> {
    pub maker: &'a dyn ImageMaker,
    /// It is refused if it cannot be mounted; otherwise its files are written.
    pub is_required: bool,
}

/// What is wished for a working tree, with the reason if it cannot be had.
pub(crate) enum Wish<'a> {
    /// Its files are written.
    Ordinary,
    /// Its files are written because it cannot be mounted.
    Hindered(String),
    /// It is mounted.
    Mount(MountWish<'a>),
}

/// What `options`, or else `hedgerow.worktreeMount`, ask for.
///
/// # Errors
/// [`Error::Setup`] if it must be mounted and cannot be.
pub(crate) fn mount_wish<'a>(
    repository: &Repository,
    options: &AddOptions,
    images: Option<&'a dyn ImageMaker>,
) -> Result<Wish<'a>> {
    let settings = MountSettings::load(repository.config())?;
    let is_required = settings.worktrees == WorktreeMount::Always;
    let is_wished = options
        .mount
        .unwrap_or(settings.worktrees != WorktreeMount::Never);
    if options.orphan && options.mount == Some(true) && !is_required {
        return Ok(Wish::Hindered(
            "a branch without commits has no files".into(),
        ));
    }
    let Some(maker) = images.filter(|_| is_wished && options.checkout && !options.orphan) else {
        return Ok(Wish::Ordinary);
    };
    let Some(reason) = reason_against(repository) else {
        return Ok(Wish::Mount(MountWish { maker, is_required }));
    };
    if is_required {
        return Err(required(&reason));
    }
    Ok(Wish::Hindered(reason))
}

/// The error of a working tree that must be mounted and cannot be.
pub(crate) fn required(reason: &str) -> Error {
    Error::Setup {
        reason: format!(
            "the working tree cannot be mounted: {reason} ('hedgerow.worktreeMount' is 'always')"
        ),
    }
}

fn reason_against(repository: &Repository) -> Option<String> {
    if repository.settings().attributes_tree.is_some() {
        return Some("attributes come from another tree (attr.tree)".into());
    }
    // Its index would say of executable files what the files do not.
    if let Some(umask) = hedgerow_fs::umask().filter(|umask| umask & OWNERS != 0) {
        return Some(format!(
            "the umask {umask:04o} takes permissions from the owner of files"
        ));
    }
    match hindrance() {
        // An image that is mounted already can be used.
        None | Some(Hindrance::UserNamespace) => None,
        Some(hindrance) => Some(hindrance.reason().into()),
    }
}
