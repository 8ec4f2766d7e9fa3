//! `REV:PATH` with the symbolic links on the way followed: `--follow-symlinks` of git-cat-file(1).

use super::{colon_outside_braces, failed, IndexLookup, Resolved, Resolver, Wanted};
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_pack::{ObjectId, ObjectKind, Reader};

/// So many links are followed, as git does.
const LINK_LIMIT: usize = 40;
/// No link is longer than this.
const LINK_LIMIT_BYTES: u64 = 1 << 20;

/// What words name when symbolic links are followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Followed {
    /// An object of the repository.
    Object(Resolved),
    /// Something outside of the tree: what is left of the path there.
    Outside(BString),
    /// What a link leads to is not there.
    Dangling,
    /// There are too many links.
    Loop,
    /// A file is used as a directory.
    NotDirectory,
}

/// What a walk along a path has come to.
struct Path<'r> {
    repository: &'r Repository,
    /// The trees from the first one to the current one.
    trees: Vec<ObjectId>,
    rest: BString,
    /// That of the entry that was found last.
    mode: Option<u32>,
    links: usize,
}

/// What became of a step.
enum Step {
    Next,
    Found(ObjectId),
    Absent,
    Other(Followed),
}

impl Repository {
    /// As [`Repository::resolve_with`] for any kind of object, but symbolic links are followed in
    /// `REV:PATH`: those on the way, and the last one. In the index none are.
    ///
    /// # Errors
    /// [`Error::Revision`] if the words name nothing, and no link was followed.
    pub fn resolve_following(&self, spec: &BStr, index: &IndexLookup<'_>) -> Result<Followed> {
        let resolver = Resolver::new(self, Some(index));
        let colon = colon_outside_braces(spec).filter(|colon| *colon > 0);
        let colon = match colon {
            Some(_) if resolver.object(spec, Wanted::Any)?.is_some() => None,
            colon => colon,
        };
        let Some(colon) = colon else {
            let resolved = self.resolve_with(spec, Wanted::Any, Some(index));
            return Ok(Followed::Object(resolved?));
        };
        let (tree, path) = spec.split_at(colon);
        let absent = || failed(spec, "unknown revision or path not in the working tree.");
        let tree = resolver.object(tree.as_bstr(), Wanted::Tree)?;
        let tree = tree.ok_or_else(absent)?;
        let rest = resolver.relative(path[1..].as_bstr())?;
        let mut path = Path {
            repository: self,
            trees: Vec::new(),
            rest,
            mode: None,
            links: 0,
        };
        match path.follow(&tree, &resolver)? {
            Step::Found(id) => Ok(Followed::Object(Resolved {
                id,
                mode: path.mode,
                warnings: resolver.warnings.into_inner(),
            })),
            Step::Other(other) => Ok(other),
            Step::Absent | Step::Next if path.links > 0 => Ok(Followed::Dangling),
            Step::Absent | Step::Next => Err(absent()),
        }
    }
}

impl Path<'_> {
    fn follow(&mut self, first: &ObjectId, resolver: &Resolver<'_>) -> Result<Step> {
        let mut step = self.enter(first)?;
        while let Step::Next = step {
            step = self.step(resolver)?;
        }
        Ok(step)
    }

    /// Goes into the tree that `id` leads to.
    fn enter(&mut self, id: &ObjectId) -> Result<Step> {
        if !self.repository.has_object(id)? {
            self.repository.fetch_missing(&[*id])?;
        }
        let tree = if id.is_empty_tree() {
            Ok(Some(*id))
        } else {
            self.repository.peel(id, Some(ObjectKind::Tree))
        };
        let tree = match tree {
            Ok(Some(tree)) => tree,
            Ok(None) | Err(Error::Pack(hedgerow_pack::Error::Missing { .. })) => {
                return Ok(Step::Absent)
            }
            Err(error) => return Err(error),
        };
        if self.rest.is_empty() {
            return Ok(Step::Found(tree));
        }
        if tree.is_empty_tree() {
            return Ok(Step::Absent);
        }
        self.trees.push(tree);
        Ok(Step::Next)
    }

    /// Takes the first name off the rest of the path.
    fn step(&mut self, resolver: &Resolver<'_>) -> Result<Step> {
        let slashes = self.rest.iter().take_while(|byte| **byte == b'/').count();
        self.rest.drain(..slashes);
        let length = self.rest.find_byte(b'/').unwrap_or(self.rest.len());
        let is_last = length == self.rest.len();
        let Some(tree) = self.trees.last().copied() else {
            return Ok(Step::Absent);
        };
        let (name, _) = self.rest.split_at(length);
        if name == b".." {
            if self.trees.len() == 1 {
                let rest = std::mem::take(&mut self.rest);
                return Ok(Step::Other(Followed::Outside(rest)));
            }
            self.trees.pop();
            self.pass(length);
            return Ok(Step::Next);
        }
        if name.is_empty() {
            return Ok(Step::Found(tree));
        }
        let Some((id, mode)) = resolver.entry(&tree, name.as_bstr())? else {
            return Ok(Step::Absent);
        };
        self.mode = Some(mode);
        match mode & 0o170_000 {
            0o040_000 | 0o100_000 if is_last => Ok(Step::Found(id)),
            0o040_000 => {
                self.pass(length);
                self.enter(&id)
            }
            0o100_000 => Ok(Step::Other(Followed::NotDirectory)),
            0o120_000 => self.link(&id, length),
            _ => Ok(Step::Absent),
        }
    }

    /// Passes over a name and the slash behind it.
    fn pass(&mut self, length: usize) {
        let end = (length + 1).min(self.rest.len());
        self.rest.drain(..end);
    }

    /// Puts what the link `id` says in the place of its name.
    fn link(&mut self, id: &ObjectId, length: usize) -> Result<Step> {
        if self.links == LINK_LIMIT {
            return Ok(Step::Other(Followed::Loop));
        }
        self.links += 1;
        let Some(mut target) = self.read_link(id)? else {
            return Ok(Step::Absent);
        };
        // A path ends at a NUL, and so does the rest behind it.
        let end = target.find_byte(0);
        target.truncate(end.unwrap_or(target.len()));
        if target.first() == Some(&b'/') {
            return Ok(Step::Other(Followed::Outside(target.into())));
        }
        if end.is_none() {
            target.extend(&self.rest[length..]);
        }
        self.rest = target.into();
        Ok(Step::Next)
    }

    /// `None` for a link that is nowhere.
    fn read_link(&self, id: &ObjectId) -> Result<Option<Vec<u8>>> {
        let found = self.repository.replacement(id)?;
        let store = self.repository.objects();
        let mut location = store.locate(&found)?;
        if location.is_none() {
            self.repository.fetch_missing(&[found])?;
            location = store.locate(&found)?;
        }
        let Some(location) = location else {
            return Ok(None);
        };
        if Reader::new(store).header(&found, location)?.size > LINK_LIMIT_BYTES {
            return Err(Error::CorruptObject {
                kind: "symbolic link",
                id: *id,
                reason: "it is too long".into(),
            });
        }
        Ok(Some(store.read(&found)?.1))
    }
}
