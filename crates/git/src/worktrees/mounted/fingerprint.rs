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
    /// Directories hand their group on.
    pub set_group: bool,
}

const SET_GROUP_ID: u32 = 0o2000;

impl Ownership {
    /// Those of this process, in a new working tree of `repository`.
    pub(crate) fn own(repository: &Repository) -> Result<Self> {
        let umask = hedgerow_fs::umask().ok_or_else(|| Error::Setup {
            reason: "the system does not tell the umask".into(),
        })?;
        let sharing = repository.settings().sharing;
        Ok(Ownership {
            owner: hedgerow_fs::effective_ids(),
            umask,
            set_group: sharing.hands_group_on(0o777 & !umask),
        })
    }

    /// Those of this process in the directory `top`, which may hand its group on.
    pub(crate) fn within(top: &Path, repository: &Repository) -> Result<Self> {
        let own = Ownership::own(repository)?;
        let Some(stat) = hedgerow_fs::stat(top)? else {
            return Ok(own);
        };
        let set_group = stat.mode & SET_GROUP_ID != 0;
        let (user, group) = own.owner;
        Ok(Ownership {
            owner: (user, if set_group { stat.gid } else { group }),
            set_group,
            ..own
        })
    }
}

/// What stands for all settings that a checkout of any tree in a repository depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    /// 16 hexadecimal digits for all of them.
    pub digits: String,
    /// KEY=VALUE for each kind of them: the owner and the umask as they are, of others a hash.
    pub parts: String,
}

/// What the keys of [`Fingerprint::parts`] stand for, to users.
const PARTS: [(&str, &str); 7] = [
    ("owner", "the user"),
    ("umask", "the umask"),
    (
        "setgid",
        "the group of new directories (core.sharedRepository)",
    ),
    (
        "conversions",
        "conversions (such as core.autocrlf, core.symlinks, filters, LFS)",
    ),
    ("attributes", "attributes outside of the tree"),
    ("sparse", "the patterns of the sparse checkout"),
    ("replaced", "replaced objects"),
];

impl Fingerprint {
    /// What differs between settings that were written down and these; nothing if that is not known.
    pub(crate) fn changed_since(&self, noted: &str) -> Vec<&'static str> {
        let noted: Vec<&str> = noted.split_ascii_whitespace().collect();
        let changed = self.parts.split(' ').filter(|part| {
            let key = part.split('=').next().unwrap_or(part);
            let mut same_kind = noted
                .iter()
                .filter(|other| other.split('=').next() == Some(key));
            same_kind.any(|other| other != part)
        });
        let named = changed.filter_map(|part| {
            let key = part.split('=').next()?;
            PARTS
                .iter()
                .find(|(known, _)| *known == key)
                .map(|(_, words)| *words)
        });
        named.collect()
    }

    /// The settings of `repository` for checkouts by whoever has this ownership: conversions and the
    /// programs that do them, attributes outside the tree, the patterns of a sparse checkout,
    /// replacements of objects, owner and permissions. `is_sparse`: the patterns count.
    pub(crate) fn new(
        repository: &Repository,
        ownership: Ownership,
        is_sparse: bool,
    ) -> Result<Self> {
        let settings = repository.settings();
        let mut hash = Fields::default();
        hash.add(VERSION.as_bytes());
        let (user, group) = ownership.owner;
        hash.add(format!("{ownership:?}").as_bytes());
        hash.name(&format!("owner={user}:{group}"));
        hash.name(&format!("umask={:o}", ownership.umask));
        hash.name(&format!("setgid={}", u8::from(ownership.set_group)));
        hash.begin();
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
        hash.end("conversions");
        hash.begin();
        let (system, user) = (&settings.system_attributes_file, &settings.attributes_file);
        for (whose, path) in [("system", system), ("user", user)] {
            hash.add(whose.as_bytes());
            if let Some(path) = path {
                hash.add_file(path)?;
            }
        }
        hash.add(b"info");
        hash.add_file(&repository.common_dir().join("info/attributes"))?;
        hash.end("attributes");
        hash.begin();
        hash.add(b"sparse");
        if is_sparse {
            hash.add_file(&repository.git_dir().join("info/sparse-checkout"))?;
        }
        hash.end("sparse");
        hash.begin();
        let mut replaced: Vec<BString> = repository
            .shared_objects()
            .replacements
            .iter()
            .map(|(from, to)| format!("{from} {to}").into())
            .collect();
        replaced.sort_unstable();
        replaced.iter().for_each(|line| hash.add(line.as_bytes()));
        hash.end("replaced");
        Ok(Fingerprint {
            digits: digits(hash.all),
            parts: hash.parts.join(" "),
        })
    }
}

impl Ownership {
    /// What settings that were written down say of it.
    pub(crate) fn noted(parts: &str) -> Option<Self> {
        let value = |key: &str| {
            let mut parts = parts.split_ascii_whitespace();
            parts.find_map(|part| part.strip_prefix(key)?.strip_prefix('='))
        };
        let (user, group) = value("owner")?.split_once(':')?;
        Some(Ownership {
            owner: (user.parse().ok()?, group.parse().ok()?),
            umask: u32::from_str_radix(value("umask")?, 8).ok()?,
            set_group: value("setgid") == Some("1"),
        })
    }
}

fn digits(hash: Sha256) -> String {
    let digest = hash.finalize();
    let digits = digest.iter().take(8).map(|byte| format!("{byte:02x}"));
    digits.collect()
}

/// A hash of fields of any length, and one of a part of them.
#[derive(Default)]
struct Fields {
    all: Sha256,
    part: Sha256,
    parts: Vec<String>,
}

impl Fields {
    fn add(&mut self, field: &[u8]) {
        for hash in [&mut self.all, &mut self.part] {
            hash.update((field.len() as u64).to_le_bytes());
            hash.update(field);
        }
    }

    fn name(&mut self, part: &str) {
        self.parts.push(part.to_owned());
    }

    /// The next fields are a part.
    fn begin(&mut self) {
        self.part = Sha256::new();
    }

    fn end(&mut self, key: &str) {
        let part = digits(std::mem::take(&mut self.part));
        self.name(&format!("{key}={part}"));
    }

    /// Adds the content of a file; one that is missing differs from an empty one.
    fn add_file(&mut self, path: &Path) -> Result<()> {
        let content = hedgerow_fs::read_file(path, FILE_LIMIT_BYTES)?;
        self.add(&[content.is_some().into()]);
        self.add(content.as_deref().unwrap_or_default());
        Ok(())
    }
}
