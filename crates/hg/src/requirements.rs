//! The requirements of a repository, and which of them hedgerow supports:
//! `hg help internals.requirements`.

use crate::{Error, Result};
use bstr::{BString, ByteSlice};
use std::path::Path;

/// Upper size limit of a requirements file, in bytes; a larger one is refused.
const FILE_BYTES: u64 = 1 << 20;

/// Requirements that do not affect the working copy: they concern the store, its compression and
/// its caches, which are not read here, or are checked by name.
const HARMLESS: [&str; 27] = [
    "bookmarksinstore",
    "delta-info-revlog",
    "dirstate-tracked-key-v1",
    "dirstate-v2",
    "dotencode",
    "exp-archived-phase",
    "exp-changelog-v2",
    "exp-copies-sidedata-changeset",
    "exp-revlogv2.2",
    "exp-very-fragile-and-unsafe-plain-store-encoding",
    "fileindex-v1",
    "fncache",
    "generaldelta",
    "internal-phase",
    "internal-phase-2",
    "lfs",
    "parentdelta",
    "persistent-nodemap",
    "relshared",
    "revlog-compression-none",
    "revlog-compression-zstd",
    "revlogv1",
    "share-safe",
    "shared",
    "sparserevlog",
    "store",
    "treemanifest",
];

/// Requirements that change the content of the working copy, and why they are not supported.
const REFUSED: [(&str, &str); 3] = [
    ("exp-sparse", "sparse working copies are not supported"),
    ("narrowhg-experimental", "narrow clones are not supported"),
    ("largefiles", "the extension 'largefiles' is not supported"),
];

/// The requirements of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Requirements {
    names: Vec<BString>,
}

impl Requirements {
    /// Adds the requirements listed in the file at `path`; none if it does not exist.
    ///
    /// Fails for the first one that is unknown or unsupported.
    pub fn read(&mut self, path: &Path) -> Result<()> {
        let content = hedgerow_fs::read_file(path, FILE_BYTES)?.unwrap_or_default();
        for name in content.lines().filter(|name| !name.is_empty()) {
            if !HARMLESS.iter().any(|known| name == known.as_bytes())
                && !name.starts_with(b"exp-compression-")
            {
                let refused = REFUSED.iter().find(|(known, _)| name == known.as_bytes());
                return Err(Error::Requirement {
                    path: path.to_owned(),
                    requirement: name.into(),
                    reason: refused.map_or("it is not known to hedgerow", |(_, reason)| reason),
                });
            }
            self.names.push(name.into());
        }
        Ok(())
    }

    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }
}
