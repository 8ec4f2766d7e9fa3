//! What a repository says it uses, and what of that hedgerow reads:
//! `hg help internals.requirements`.

use crate::{Error, Result};
use bstr::{BString, ByteSlice};
use std::path::Path;

/// A file of requirements larger than this is refused.
const FILE_BYTES: u64 = 1 << 20;

/// Requirements that change nothing about the working copy: they are about the store, its
/// compression and its caches, which are not read here, or are looked at by name.
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

/// Requirements that change what the working copy holds, and why they are not done.
const REFUSED: [(&str, &str); 3] = [
    ("exp-sparse", "sparse working copies are not supported"),
    ("narrowhg-experimental", "narrow clones are not supported"),
    ("largefiles", "the extension 'largefiles' is not supported"),
];

/// What a repository requires.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Requirements {
    names: Vec<BString>,
}

impl Requirements {
    /// Adds those that the file at `path` lists; none if there is no such file.
    ///
    /// Fails for the first that is unknown or known not to be done.
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
