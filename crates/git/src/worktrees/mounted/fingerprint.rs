//! What the content of an image depends on besides its tree.

use crate::repository::Repository;
use crate::worktree::conversion_options;
use crate::{Error, Result};
use bstr::{BString, ByteSlice};
use sha2::{Digest, Sha256};
use std::path::Path;

/// A change of what is put into an image, or beside it.
const VERSION: &str = "2";
const FILE_LIMIT_BYTES: u64 = 100 << 20;

/// Owner and permissions of the files of a checkout by this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ownership {
    pub owner: (u32, u32),
    pub umask: u32,
}

impl Ownership {
    /// Those of this process.
    pub(crate) fn own() -> Result<Self> {
        let umask = hedgerow_fs::umask().ok_or_else(|| Error::Setup {
            reason: "the system does not tell the umask".into(),
        })?;
        Ok(Ownership {
            owner: hedgerow_fs::effective_ids(),
            umask,
        })
    }
}

/// 16 hexadecimal digits that stand for all settings that a checkout of any tree in `repository`
/// depends on: conversions and the programs that do them, attributes outside the tree, the patterns
/// of a sparse checkout, replacements of objects, owner and permissions.
pub(crate) fn fingerprint(repository: &Repository, ownership: Ownership) -> Result<String> {
    let settings = repository.settings();
    let mut hash = Fields(Sha256::new());
    hash.add(VERSION.as_bytes());
    hash.add(format!("{ownership:?}").as_bytes());
    let conversions = conversion_options::options(repository)?;
    hash.add(format!("{conversions:?}").as_bytes());
    // What git-lfs puts in the place of pointers.
    let skip = repository.environment().lfs_skip_smudge.as_ref();
    hash.add(skip.map_or(b"", |value| value.as_slice()));
    for key in ["lfs.fetchinclude", "lfs.fetchexclude"] {
        let value = repository.config().string(key).unwrap_or_default();
        hash.add(&value);
    }
    hash.add(&[settings.symlinks.into(), settings.ignore_case.into()]);
    let (system, user) = (&settings.system_attributes_file, &settings.attributes_file);
    for (whose, path) in [("system", system), ("user", user)] {
        hash.add(whose.as_bytes());
        if let Some(path) = path {
            hash.add_file(path)?;
        }
    }
    hash.add(b"info");
    hash.add_file(&repository.common_dir().join("info/attributes"))?;
    hash.add(b"sparse");
    if settings.sparse_checkout {
        hash.add_file(&repository.git_dir().join("info/sparse-checkout"))?;
    }
    let mut replaced: Vec<BString> = repository
        .shared_objects()
        .replacements
        .iter()
        .map(|(from, to)| format!("{from} {to}").into())
        .collect();
    replaced.sort_unstable();
    replaced.iter().for_each(|line| hash.add(line.as_bytes()));
    let digest = hash.0.finalize();
    let digits = digest.iter().take(8).map(|byte| format!("{byte:02x}"));
    Ok(digits.collect())
}

/// A hash of fields of any length.
struct Fields(Sha256);

impl Fields {
    fn add(&mut self, field: &[u8]) {
        self.0.update((field.len() as u64).to_le_bytes());
        self.0.update(field);
    }

    /// Adds the content of a file; one that is missing differs from an empty one.
    fn add_file(&mut self, path: &Path) -> Result<()> {
        let content = hedgerow_fs::read_file(path, FILE_LIMIT_BYTES)?;
        self.add(&[content.is_some().into()]);
        self.add(content.as_deref().unwrap_or_default());
        Ok(())
    }
}
