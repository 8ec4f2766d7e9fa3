//! What words name an object: gitrevisions(7).
//!
//! The grammar is read from the right, as git does: a suffix applies to whatever the words before
//! it name. `None` among the private functions means that the words name nothing, so that another
//! rule may be tried; an error ends the search.

mod abbreviate;
mod filename;
mod follow;
mod index_paths;
mod message;
mod name;
mod path;
mod prefix;
mod suffix;

pub use abbreviate::Digits;
pub use follow::Followed;
pub use index_paths::IndexPaths;

use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_pack::{ObjectId, ObjectKind};
use std::cell::{Cell, RefCell};

/// Finds the object, and the mode, of a path at a stage (0 to 3) of the index.
pub type IndexLookup<'a> = dyn Fn(&BStr, u8) -> Result<Option<(ObjectId, u32)>> + 'a;

/// What kind of object is asked for: decides between several that an abbreviated id fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// Any kind.
    #[default]
    Any,
    /// A commit, or a tag of one.
    Commit,
    /// A tree, or what leads to one.
    Tree,
    /// A blob.
    Blob,
}

/// What words name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The object.
    pub id: ObjectId,
    /// Its mode in the tree or the index that the words name a path of.
    pub mode: Option<u32>,
    /// What git would warn of, in its words: an ambiguous name, a log that is too short.
    pub warnings: Vec<String>,
}

/// Why words name no object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RevisionProblem {
    /// These digits begin several ids of the kind that is wanted, or none of them.
    AmbiguousId(BString),
    /// They name nothing. In git's words.
    Unresolved(String),
}

impl std::fmt::Display for RevisionProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RevisionProblem::AmbiguousId(digits) => {
                write!(f, "short object ID {digits} is ambiguous")
            }
            RevisionProblem::Unresolved(reason) => f.write_str(reason),
        }
    }
}

/// One question, with what is noticed on the way to its answer.
struct Resolver<'a> {
    repository: &'a Repository,
    index: Option<&'a IndexLookup<'a>>,
    warnings: RefCell<Vec<String>>,
    mode: Cell<Option<u32>>,
    /// Why the words name nothing, where more is known than that.
    absence: RefCell<Option<Error>>,
}

impl Repository {
    /// The object that `spec` names.
    ///
    /// Understood are ids and their abbreviations, references, `@`, `@{N}`, `@{DATE}`, `@{-N}`,
    /// `@{upstream}`, `@{push}`, `^N`, `~N`, `^{}`, `^{KIND}`, `^{/TEXT}`, `:/TEXT`, `REV:PATH` and
    /// the output of git-describe(1). A range is not. Fails with [`Error::Revision`].
    pub fn resolve(&self, spec: &BStr) -> Result<ObjectId> {
        Ok(self.resolve_with(spec, Wanted::Any, None)?.id)
    }

    /// As [`Repository::resolve`], with the kind that is wanted, and with `:PATH` and `:N:PATH`
    /// looked up by `index`.
    pub fn resolve_with(
        &self,
        spec: &BStr,
        wanted: Wanted,
        index: Option<&IndexLookup<'_>>,
    ) -> Result<Resolved> {
        let resolver = Resolver::new(self, index);
        match resolver.resolve(spec, wanted)? {
            Some(id) => Ok(resolver.resolved(id)),
            None => Err(resolver.absence.into_inner().unwrap_or_else(|| {
                failed(spec, "unknown revision or path not in the working tree.")
            })),
        }
    }

    /// As [`Repository::resolve_with`]; `None` for words that name nothing,
    /// so that they may be meant as something else. An error ends the search in git, too.
    pub fn resolve_if_named(
        &self,
        spec: &BStr,
        wanted: Wanted,
        index: Option<&IndexLookup<'_>>,
    ) -> Result<Option<Resolved>> {
        let resolver = Resolver::new(self, index);
        let id = resolver.resolve(spec, wanted)?;
        Ok(id.map(|id| resolver.resolved(id)))
    }

    /// The commit that `spec` names, tags followed to it.
    pub fn resolve_commit(&self, spec: &BStr) -> Result<ObjectId> {
        let id = self.resolve_committish(spec)?;
        self.peel(&id, Some(ObjectKind::Commit))?
            .ok_or_else(|| failed(spec, "not a commit"))
    }

    /// The object that `spec` names where a commit is expected: an abbreviated id is that of a commit,
    /// or of a tag of one, if there is only one of these.
    pub(crate) fn resolve_committish(&self, spec: &BStr) -> Result<ObjectId> {
        Ok(self.resolve_with(spec, Wanted::Commit, None)?.id)
    }

    /// The tree that `spec` names: a tree, or that of a commit or of a tag of either.
    pub fn resolve_tree(&self, spec: &BStr) -> Result<ObjectId> {
        let id = self.resolve_with(spec, Wanted::Tree, None)?.id;
        self.peel(&id, Some(ObjectKind::Tree))?
            .ok_or_else(|| failed(spec, "not a tree object"))
    }

    /// Replaces what stands for the name of a branch: `-` and `@{-N}` by the branch (or commit)
    /// that was left `N` switches ago, `NAME@{upstream}` by the full name of what is followed, `@`
    /// by `HEAD`. Other names stay as they are.
    pub fn expand_branch_name(&self, name: &BStr) -> Result<BString> {
        let name = if name == "-" { "@{-1}".into() } else { name };
        let resolver = Resolver::new(self, None);
        Ok(resolver
            .substitute(name, 0)?
            .unwrap_or_else(|| name.to_owned()))
    }

    /// Replaces what stands for the short name of a branch of this repository: `@{-N}` as above,
    /// `NAME@{upstream}` and `NAME@{push}` only where that is no branch of a remote.
    pub fn local_branch_name(&self, name: &BStr) -> Result<BString> {
        let resolver = Resolver::new(self, None);
        Ok(resolver
            .substitute_local(name, 0)?
            .unwrap_or_else(|| name.to_owned()))
    }
}

impl<'a> Resolver<'a> {
    fn new(repository: &'a Repository, index: Option<&'a IndexLookup<'a>>) -> Self {
        Resolver {
            repository,
            index,
            warnings: RefCell::default(),
            mode: Cell::default(),
            absence: RefCell::default(),
        }
    }

    fn resolved(self, id: ObjectId) -> Resolved {
        Resolved {
            id,
            mode: self.mode.get(),
            warnings: self.warnings.into_inner(),
        }
    }
}

impl Resolver<'_> {
    fn resolve(&self, spec: &BStr, wanted: Wanted) -> Result<Option<ObjectId>> {
        if let Some(id) = self.object(spec, wanted)? {
            return Ok(Some(id));
        }
        if let Some(rest) = spec.strip_prefix(b":") {
            return match rest.strip_prefix(b"/") {
                Some(b"") => Ok(None),
                Some(pattern) => self.find_message(pattern.as_bstr(), None),
                None => self.in_index(rest.as_bstr()),
            };
        }
        let Some(colon) = colon_outside_braces(spec) else {
            return Ok(None);
        };
        let (tree, path) = spec.split_at(colon);
        let tree_spec = tree.as_bstr();
        let Some(tree) = self.object(tree_spec, Wanted::Tree)? else {
            return Ok(self.absent(spec, &format!("invalid object name '{tree_spec}'.")));
        };
        let path = path[1..].as_bstr();
        self.in_tree(tree_spec, &tree, path)
    }

    /// Nothing, and why.
    fn absent<T>(&self, spec: &BStr, reason: &str) -> Option<T> {
        self.absence.replace(Some(failed(spec, reason)));
        None
    }

    /// What words without a path name: a plain name, with the suffixes after it applied.
    fn object(&self, spec: &BStr, wanted: Wanted) -> Result<Option<ObjectId>> {
        let mut name = spec;
        let mut suffixes = Vec::new();
        while let Some((inner, suffix)) = suffix::last(name) {
            suffixes.push(suffix);
            name = inner;
        }
        let wanted = suffixes.last().map_or(wanted, |first| first.wanted());
        let mut found = self.plain(name, wanted)?;
        while let (Some(id), Some(suffix)) = (found, suffixes.pop()) {
            found = self.apply(&id, suffix)?;
        }
        Ok(found)
    }

    fn plain(&self, name: &BStr, wanted: Wanted) -> Result<Option<ObjectId>> {
        if let Some(id) = self.named(name)? {
            return Ok(Some(id));
        }
        if let Some(digits) = suffix::described(name) {
            if let Some(id) = self.abbreviated(digits, Wanted::Commit)? {
                return Ok(Some(id));
            }
        }
        self.abbreviated(name, wanted)
    }

    fn warn(&self, warning: String) {
        let mut warnings = self.warnings.borrow_mut();
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
}

fn colon_outside_braces(spec: &BStr) -> Option<usize> {
    let mut depth = 0usize;
    for (position, byte) in spec.iter().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b':' if depth == 0 => return Some(position),
            _ => {}
        }
    }
    None
}

fn failed(spec: &BStr, reason: &str) -> Error {
    Error::Revision {
        spec: spec.to_owned(),
        reason: RevisionProblem::Unresolved(reason.to_owned()),
    }
}
