//! Reading references: gitrepository-layout(5), gitrevisions(7) under `<refname>`.

use super::packed_refs::broken_packed;
use super::Repository;
use crate::discover::read_line_file;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::FileKind;
use hedgerow_pack::ObjectId;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A chain of symbolic references may have so many links, the last reference included, as in git.
const SYMBOLIC_DEPTH: usize = 5;
/// A reference is a line; more than this is none.
const REFERENCE_LIMIT_BYTES: u64 = 64 << 10;
/// Directories of references nested deeper are refused.
const NESTING_LIMIT: usize = 256;

/// Why what is in a file is no reference.
const NO_ID: &str = "it holds no object id";

/// What a short name may stand for, in git's order: the first that exists wins.
pub(crate) const NAME_RULES: [(&str, &str); 6] = [
    ("", ""),
    ("refs/", ""),
    ("refs/tags/", ""),
    ("refs/heads/", ""),
    ("refs/remotes/", ""),
    ("refs/remotes/", "/HEAD"),
];

/// A reference as it is found, symbolic ones followed to their end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The full name it was found by.
    pub name: BString,
    /// The full name at the end of the chain, if it is symbolic.
    pub target: Option<BString>,
    /// What it points to, tags unpeeled; `None` if it is symbolic and its target does not exist.
    pub id: Option<ObjectId>,
}

/// What `HEAD` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// A branch is checked out.
    Branch {
        /// Its full name, `refs/heads/...`.
        name: BString,
        /// Its commit; `None` if the branch is not born yet.
        id: Option<ObjectId>,
    },
    /// A commit is checked out and no branch.
    Detached {
        /// The commit.
        id: ObjectId,
    },
}

impl Head {
    /// The commit that is checked out, if any.
    pub fn id(&self) -> Option<ObjectId> {
        match self {
            Head::Branch { id, .. } => *id,
            Head::Detached { id } => Some(*id),
        }
    }

    /// The full name of the branch that is checked out, if any.
    pub fn branch(&self) -> Option<&BStr> {
        match self {
            Head::Branch { name, .. } => Some(name.as_ref()),
            Head::Detached { .. } => None,
        }
    }
}

/// A reference found by a short name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedReference {
    /// The reference.
    pub reference: Reference,
    /// Whether the name also fits others, so that git warns `refname 'x' is ambiguous`.
    pub is_ambiguous: bool,
}

enum Raw {
    Id(ObjectId),
    Symbolic(BString),
}

impl Repository {
    /// What `HEAD` says. A `HEAD` that names no reference or an endless chain is an error.
    pub fn head(&self) -> Result<Head> {
        let found = self.reference("HEAD".into())?;
        match found {
            Some(Reference {
                target: Some(name),
                id,
                ..
            }) => Ok(Head::Branch { name, id }),
            Some(Reference { id: Some(id), .. }) => Ok(Head::Detached { id }),
            _ => Err(broken("HEAD".into(), "there is none")),
        }
    }

    /// The reference with the full name `name`; `None` if there is none or `name` cannot be one.
    pub fn reference(&self, name: &BStr) -> Result<Option<Reference>> {
        let mut current = name.to_owned();
        for followed in 0..SYMBOLIC_DEPTH {
            let end = |id| Reference {
                name: name.to_owned(),
                target: (followed > 0).then(|| current.clone()),
                id,
            };
            match self.read_reference(current.as_ref())? {
                Some(Raw::Id(id)) => return Ok(Some(end(Some(id)))),
                Some(Raw::Symbolic(next)) => current = next,
                None if followed == 0 => return Ok(None),
                None => return Ok(Some(end(None))),
            }
        }
        Err(broken(name, "too many levels of symbolic references"))
    }

    /// The reference that the short name `name` stands for by git's rules: as it is, then below
    /// `refs/`, `refs/tags/`, `refs/heads/`, `refs/remotes/` and as a remote's `HEAD`. What is
    /// broken or dangling is passed over.
    pub fn find_reference(&self, name: &BStr) -> Result<Option<NamedReference>> {
        let mut found: Option<NamedReference> = None;
        for (before, after) in NAME_RULES {
            let full = BString::from([before.as_bytes(), name, after.as_bytes()].concat());
            let reference = match self.reference(full.as_ref()) {
                Ok(Some(reference)) if reference.id.is_some() => reference,
                Ok(_) | Err(Error::Reference { .. }) => continue,
                Err(error) => return Err(error),
            };
            match &mut found {
                None => {
                    found = Some(NamedReference {
                        reference,
                        is_ambiguous: false,
                    });
                }
                Some(first) => first.is_ambiguous = true,
            }
        }
        Ok(found)
    }

    /// All references whose full name starts with `prefix` (which ends in `/`), by name; broken
    /// ones are left out.
    pub fn references_below(&self, prefix: &BStr) -> Result<Vec<Reference>> {
        let mut references = Vec::new();
        for (name, packed) in self.reference_names(prefix)? {
            match self.listed(name, packed) {
                Ok(found) => references.extend(found),
                Err(Error::Reference { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(references)
    }

    /// All references whose full name starts with `prefix` (which ends in `/`), by name, for those
    /// who follow them: one whose file holds no object id has the null id, which names nothing. A
    /// symbolic one that leads nowhere is left out, as by git.
    pub fn references_to_follow(&self, prefix: &BStr) -> Result<Vec<Reference>> {
        let mut references = Vec::new();
        for (name, packed) in self.reference_names(prefix)? {
            match self.listed(name.clone(), packed) {
                Ok(found) => references.extend(found),
                Err(Error::Reference { reason, .. }) if reason == NO_ID => {
                    references.push(Reference {
                        name,
                        target: None,
                        id: Some(self.hash.null()),
                    });
                }
                Err(Error::Reference { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(references)
    }

    /// All references, by name: for those who delete what none reaches.
    ///
    /// # Errors
    /// [`Error::Reference`] if one is broken: what it reaches is not known. A symbolic one whose
    /// target does not exist is not.
    pub fn all_references(&self) -> Result<Vec<Reference>> {
        let names = self.reference_names("refs/".into())?.into_iter();
        let found: Result<Vec<_>> = names
            .map(|(name, packed)| self.listed(name, packed))
            .collect();
        Ok(found?.into_iter().flatten().collect())
    }

    /// The reference `name`, which was listed, and which is `packed` if it is not in a file.
    fn listed(&self, name: BString, packed: Option<ObjectId>) -> Result<Option<Reference>> {
        match packed {
            Some(_) if self.reference_path(name.as_ref()).is_none() => Ok(None),
            Some(id) => Ok(Some(Reference {
                name,
                target: None,
                id: Some(id),
            })),
            None => self.reference(name.as_ref()),
        }
    }

    /// The names of all references that start with `prefix`, with what those are that are packed
    /// and have no file. Files come first: one that is packed in between is found all the same.
    fn reference_names(&self, prefix: &BStr) -> Result<BTreeMap<BString, Option<ObjectId>>> {
        let mut loose = Vec::new();
        for base in [&self.common_dir, &self.git_dir] {
            let directory = base.join(OsStr::from_bytes(prefix));
            list_loose(&directory, prefix, 0, &mut loose)?;
        }
        let mut names = BTreeMap::new();
        if let Some(packed) = self.packed.now()? {
            let records = packed
                .iter_prefixed(prefix.to_owned())
                .map_err(|error| broken_packed(&error))?;
            for record in records {
                let record = record.map_err(|error| broken_packed(&error))?;
                names.insert(record.name.as_bstr().to_owned(), Some(record.target()));
            }
        }
        names.extend(loose.into_iter().map(|name| (name, None)));
        Ok(names)
    }

    fn read_reference(&self, name: &BStr) -> Result<Option<Raw>> {
        let Some(path) = self.reference_path(name) else {
            return Ok(None);
        };
        let stat = hedgerow_fs::lstat(&path)?;
        if stat.is_some_and(|stat| stat.kind == FileKind::Symlink) {
            if let Some(target) = symlink_target(&path)? {
                return Ok(Some(Raw::Symbolic(target)));
            }
        }
        if stat.is_some_and(|stat| stat.kind != FileKind::Directory) {
            match hedgerow_fs::read_file(&path, REFERENCE_LIMIT_BYTES) {
                Ok(Some(content)) => return self.parse(name, &content).map(Some),
                // A link may lead to a directory, and a name without a slash to any file.
                Err(error) if is_no_reference(name, &error) => {}
                // Larger than any reference.
                Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                    return Err(broken(name, &error.to_string()));
                }
                // That it cannot be read does not mean that there is none.
                Err(error) => return Err(error.into()),
                Ok(None) => {}
            }
        }
        self.read_packed(name)
    }

    fn parse(&self, name: &BStr, content: &[u8]) -> Result<Raw> {
        if let Some(target) = content.strip_prefix(b"ref:") {
            let line = target.lines().next().unwrap_or_default();
            let target = line.trim().as_bstr();
            if !is_safe_name(target) {
                return Err(broken(name, &format!("it points to '{target}'")));
            }
            return Ok(Raw::Symbolic(target.to_owned()));
        }
        let length = self.hash.len_in_hex();
        let (digits, rest) = content
            .split_at_checked(length)
            .ok_or_else(|| broken(name, NO_ID))?;
        if rest.first().is_some_and(|byte| !byte.is_ascii_whitespace()) {
            return Err(broken(name, NO_ID));
        }
        match ObjectId::from_hex(digits) {
            Ok(id) if !id.is_null() => Ok(Raw::Id(id)),
            _ => Err(broken(name, NO_ID)),
        }
    }

    fn read_packed(&self, name: &BStr) -> Result<Option<Raw>> {
        if !name.starts_with(b"refs/") {
            return Ok(None);
        }
        let Ok(name) = <&gix_ref::FullNameRef>::try_from(name) else {
            return Ok(None);
        };
        let Some(packed) = self.packed.now()? else {
            return Ok(None);
        };
        let found = packed
            .try_find(name)
            .map_err(|error| broken_packed(&error))?;
        Ok(found.map(|found| Raw::Id(found.target())))
    }

    /// The file of a loose reference; `None` for what cannot be a reference's name. Some
    /// references belong to a working tree, the rest to the repository.
    pub(crate) fn reference_path(&self, name: &BStr) -> Option<PathBuf> {
        if !is_safe_name(name) {
            return None;
        }
        let own = !name.contains(&b'/')
            || [
                b"refs/bisect/".as_slice(),
                b"refs/worktree/",
                b"refs/rewritten/",
            ]
            .iter()
            .any(|prefix| name.starts_with(prefix));
        if own {
            return Some(self.git_dir.join(OsStr::from_bytes(name)));
        }
        let name = name.strip_prefix(b"main-worktree/").unwrap_or(name);
        Some(self.common_dir.join(OsStr::from_bytes(name)))
    }
}

/// Whether it is no wonder that a file cannot be read as a reference: it is a directory after all,
/// or it is not below `refs/` and may be anything.
fn is_no_reference(name: &BStr, error: &hedgerow_fs::Error) -> bool {
    let is_reference = name.starts_with(b"refs/") || name == "HEAD";
    !is_reference || error.kind() == std::io::ErrorKind::IsADirectory
}

/// Whether `name` is well-formed (git-check-ref-format(1)); such a name has no part that leads
/// out of the directory.
pub(crate) fn is_safe_name(name: &BStr) -> bool {
    <&gix_ref::PartialNameRef>::try_from(name).is_ok()
}

/// The branch that the file `HEAD` of `git_dir` names, without looking whether it exists.
pub(crate) fn head_branch(git_dir: &Path) -> Result<Option<BString>> {
    let path = git_dir.join("HEAD");
    if let Some(target) = symlink_target(&path)? {
        return Ok(Some(target));
    }
    let line = read_line_file(&path)?.unwrap_or_default();
    let target = line
        .strip_prefix(b"ref:")
        .map(|target| target.trim().as_bstr());
    Ok(target
        .filter(|target| is_safe_name(target))
        .map(ToOwned::to_owned))
}

/// The reference that a symbolic link names; `None` for other files, and for none.
fn symlink_target(path: &Path) -> Result<Option<BString>> {
    use std::io::ErrorKind::{InvalidInput, NotADirectory, NotFound};
    let target = match hedgerow_fs::read_link(path) {
        Ok(target) => target,
        Err(error) if [InvalidInput, NotADirectory, NotFound].contains(&error.kind()) => {
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    let target = target.as_os_str().as_bytes().as_bstr();
    let is_reference = target.starts_with(b"refs/") && is_safe_name(target);
    Ok(is_reference.then(|| target.to_owned()))
}

fn list_loose(
    directory: &Path,
    prefix: &BStr,
    depth: usize,
    names: &mut Vec<BString>,
) -> Result<()> {
    if depth > NESTING_LIMIT {
        return Err(broken(prefix, "nested too deeply"));
    }
    for entry in hedgerow_fs::list_directory(directory)?.unwrap_or_default() {
        let path = directory.join(OsStr::from_bytes(&entry.name));
        let mut name = BString::from([prefix.as_bytes(), &entry.name].concat());
        let kind = match entry.kind {
            Some(kind) => Some(kind),
            None => hedgerow_fs::lstat(&path)?.map(|stat| stat.kind),
        };
        match kind {
            Some(FileKind::Directory) => {
                name.push(b'/');
                list_loose(&path, name.as_ref(), depth + 1, names)?;
            }
            Some(FileKind::File | FileKind::Symlink) if !entry.name.ends_with(b".lock") => {
                names.push(name);
            }
            _ => {}
        }
    }
    Ok(())
}

pub(crate) fn broken(name: &BStr, reason: &str) -> Error {
    Error::Reference {
        name: name.to_owned(),
        reason: reason.to_owned(),
    }
}
