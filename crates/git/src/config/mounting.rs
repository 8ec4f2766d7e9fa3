//! How working trees are mounted, as their owner configures it.

use super::Config;
use crate::{Error, Result};
use hedgerow_mounts::ImageKind;
use std::path::PathBuf;

/// `hedgerow.imageStoreSize` where it is not set, in bytes.
const STORE_BYTES: u64 = 20 << 30;
/// `hedgerow.imageDistance` where it is not set, in files.
const DISTANCE: u64 = 1000;

/// When a new working tree is mounted: `hedgerow.worktreeMount`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorktreeMount {
    /// Where it is asked for.
    #[default]
    Never,
    /// Where it is possible.
    Auto,
    /// Always; it is an error if that is not possible.
    Always,
}

/// Whether git is told what changed in a new mounted working tree: `hedgerow.worktreeMonitor`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorktreeMonitor {
    /// Never; git looks at every file.
    Never,
    /// Where it is faster, and other programs are sure to read the repository as before.
    #[default]
    Auto,
    /// Always.
    Always,
}

/// The settings of mounted working trees, which come from the merged configuration: whoever may write
/// it may run programs, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountSettings {
    /// `hedgerow.worktreeMount`.
    pub worktrees: WorktreeMount,
    /// `hedgerow.worktreeMonitor`.
    pub monitor: WorktreeMonitor,
    /// `hedgerow.imageStore`: a store of images that several repositories share.
    pub shared_store: Option<PathBuf>,
    /// `hedgerow.imageFormat`: the kind of new images; by default the best that the kernel mounts.
    pub image_kind: Option<ImageKind>,
    /// `hedgerow.imageStoreSize`: what all images of a store together may have, in bytes.
    pub store_bytes: u64,
    /// `hedgerow.imageDistance`: an image is taken as the base if that many files differ at most.
    pub distance: u64,
}

impl MountSettings {
    /// The settings.
    ///
    /// # Errors
    /// [`Error::Config`] if one of them has no value of its kind, or the path is not absolute.
    pub fn load(config: &Config) -> Result<Self> {
        const STORE: &str = "hedgerow.imageStore";
        const FORMAT: &str = "hedgerow.imageFormat";
        let bad = |reason: String| Err(Error::Config { reason });
        let worktrees = choice(
            config,
            "hedgerow.worktreeMount",
            [
                ("auto", WorktreeMount::Auto),
                ("always", WorktreeMount::Always),
                ("never", WorktreeMount::Never),
            ],
        )?;
        let monitor = choice(
            config,
            "hedgerow.worktreeMonitor",
            [
                ("auto", WorktreeMonitor::Auto),
                ("always", WorktreeMonitor::Always),
                ("never", WorktreeMonitor::Never),
            ],
        )?;
        let shared_store = config
            .path(STORE)?
            .filter(|path| !path.as_os_str().is_empty());
        if let Some(path) = shared_store.as_ref().filter(|path| !path.is_absolute()) {
            return bad(format!(
                "'{STORE}' is not an absolute path: '{}'",
                path.display()
            ));
        }
        let image_kind = match config.string(FORMAT) {
            None => None,
            Some(word) if word == "auto" => None,
            Some(word) => match ImageKind::ALL.iter().find(|kind| word == kind.name()) {
                Some(kind) => Some(*kind),
                None => {
                    return bad(format!(
                        "'{FORMAT}' is auto, erofs or squashfs, not '{word}'"
                    ))
                }
            },
        };
        Ok(MountSettings {
            image_kind,
            worktrees,
            monitor,
            shared_store,
            store_bytes: config
                .unsigned("hedgerow.imageStoreSize")?
                .unwrap_or(STORE_BYTES),
            distance: config
                .unsigned("hedgerow.imageDistance")?
                .unwrap_or(DISTANCE),
        })
    }
}

/// What the word that is set for `key` means, which is one of three; the default if it is not set.
fn choice<T: Copy + Default>(config: &Config, key: &str, words: [(&str, T); 3]) -> Result<T> {
    let Some(word) = config.string(key) else {
        return Ok(T::default());
    };
    let found = words.iter().find(|(known, _)| word == *known);
    found.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let [first, second, third] = words.map(|(known, _)| known);
        let reason = format!("'{key}' is {first}, {second} or {third}, not '{word}'");
        Error::Config { reason }
    })
}
