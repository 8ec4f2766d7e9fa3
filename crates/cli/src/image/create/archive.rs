//! An image of a tar archive.

use hedgerow_fs::ReadFile;
use hedgerow_squashfs::{CreateOptions, Created, Item, WriteError};
use hedgerow_tar::{nodes_of_archive, NodeOptions, Warning};
use hedgerow_tree::Node;
use hedgerow_walk::Patterns;
use std::path::{Path, PathBuf};

/// An image that is to be made of an archive.
pub struct ArchiveImage<'a> {
    pub file: ReadFile,
    pub archive: NodeOptions,
    /// What is left out.
    pub exclude: Patterns,
    /// Whether members that were skipped are no more than something to warn of.
    pub skips_quietly: bool,
    /// Whether extended attributes that SquashFS cannot hold are errors.
    pub xattrs_must_fit: bool,
    pub target: &'a Path,
    pub options: &'a CreateOptions,
}

impl ArchiveImage<'_> {
    /// Makes it, of entries as `change` wants them. `warn` is told what is strange.
    pub fn create<I: Into<Item>>(
        self,
        change: impl Fn(Node) -> I + Sync,
        warn: &dyn Fn(String),
    ) -> Result<Created, WriteError> {
        let mut nodes = nodes_of_archive(self.file, &self.archive)?;
        if self.skips_quietly {
            let skipped = nodes.take_skipped();
            skipped.iter().for_each(|error| warn(error.to_string()));
        }
        for warning in nodes.warnings() {
            // A label says nothing about what is in the archive.
            if !matches!(warning, Warning::VolumeLabel(_)) {
                warn(warning.to_string());
            }
        }
        let lists = nodes.access_control_lists();
        if lists > 0 && self.options.xattrs {
            warn(format!(
                "SquashFS has no access control lists: those of {lists} members are left out"
            ));
        }
        if self.xattrs_must_fit && self.options.xattrs {
            if let Some(name) = nodes.xattr_names().find(|name| !fits(name)) {
                return Err(WriteError::Limit {
                    reason: format!("SquashFS has no room for attributes such as '{name}'"),
                });
            }
        }
        let exclude = self.exclude;
        let nodes = nodes.without(move |path, is_directory| exclude.excludes(path, is_directory));
        let items = nodes.map(|node| node.map(&change));
        hedgerow_squashfs::create(items, self.target, self.options)
    }
}

/// Whether SquashFS has a number for the prefix of an attribute's name.
fn fits(name: &[u8]) -> bool {
    let prefixes: [&[u8]; 3] = [b"user.", b"trusted.", b"security."];
    prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// The directory in which a file is to be.
pub fn directory_of(target: &Path) -> PathBuf {
    target.parent().map(Path::to_owned).unwrap_or_default()
}
