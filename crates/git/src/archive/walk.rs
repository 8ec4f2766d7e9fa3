//! The entries of a tree, depth first and in canonical order. Memory holds one list of entries for
//! each directory on the path from the top.

use super::rules::{RuleMaker, Rules, FILE_LIMIT_BYTES, FILE_NAME};
use crate::convert::Conversion;
use crate::repository::{Objects, Repository};
use crate::tree::entries;
use crate::tree::limits::{depth_limit, DEPTH_EXCEEDED, DIRECTORY_LIMIT, ENTRY_LIMIT};
use crate::worktree::pathspecs::Pathspecs;
use crate::worktree::sparse::SparsePatterns;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_engine::CancelToken;
use hedgerow_pack::{ObjectId, ObjectKind, Reader};
use hedgerow_tree::{EntryKind, NameRules};
use std::sync::Arc;

/// Limit for the attribute files that are parsed, in bytes; those of the directories above count
/// again for each directory that has its own.
const ATTRIBUTES_LIMIT_BYTES: u64 = 4 << 30;

/// An entry that is part of the archive.
pub(super) struct ArchiveEntry {
    pub path: BString,
    pub kind: EntryKind,
    pub id: ObjectId,
    /// The change to the content of a file, if any.
    pub change: Option<Change>,
}

/// The change to the content of a file.
#[derive(Clone)]
pub(super) struct Change {
    pub rules: Arc<Rules>,
    pub conversion: Conversion,
    /// Whether placeholders are expanded.
    pub subst: bool,
}

/// A walk through a tree.
pub(super) struct Walk<'r> {
    objects: Objects<'r>,
    reader: Reader<'r>,
    hash: gix_hash::Kind,
    names: NameRules,
    maker: RuleMaker,
    /// Whether there is a commit to expand placeholders with.
    has_commit: bool,
    selection: Selection,
    cancel: CancelToken,
    depth_limit: u32,
    levels: Vec<Level>,
    /// The path of the current directory, with a slash at its end unless it is the top.
    path: Vec<u8>,
    /// Counts so far, for the limits.
    directories: u32,
    entries: u64,
    attribute_bytes: u64,
    /// Git's messages about attributes.
    pub messages: Vec<String>,
}

/// Which entries are found, and in which order.
#[derive(Clone, Default)]
pub(super) struct Selection {
    /// In the order of Git's trees, where a directory is sorted as if its name ended in a slash,
    /// instead of canonical order.
    pub in_tree_order: bool,
    /// Only what these match.
    pub pathspecs: Option<Pathspecs>,
    /// Only what these do not leave out.
    pub sparse: Option<Arc<SparsePatterns>>,
}

impl Selection {
    fn leads_into(&self, directory: &BStr) -> bool {
        let pathspecs = self.pathspecs.as_ref();
        pathspecs.is_none_or(|specs| specs.lead_into(directory))
    }

    fn holds(&self, path: &BStr, kind: EntryKind) -> bool {
        let pathspecs = self.pathspecs.as_ref();
        let sparse = self.sparse.as_ref();
        pathspecs.is_none_or(|specs| specs.fits(path, kind.into()))
            && sparse.is_none_or(|patterns| !patterns.excludes(path))
    }
}

/// A directory on the path from the top.
struct Level {
    entries: std::vec::IntoIter<Listed>,
    names: Vec<u8>,
    rules: Arc<Rules>,
    id: ObjectId,
    /// Whether an entry was returned for the directory itself: directories without files get none.
    is_told: bool,
    /// Length of the parent directory's part of the walk's path.
    above: usize,
}

/// An entry of a directory.
#[derive(Clone, Copy)]
struct Listed {
    name: (u32, u32),
    kind: EntryKind,
    id: ObjectId,
}

impl<'r> Walk<'r> {
    pub fn new(
        repository: &'r Repository,
        tree: ObjectId,
        maker: RuleMaker,
        has_commit: bool,
        selection: Selection,
        cancel: CancelToken,
    ) -> Result<Self> {
        let settings = repository.settings();
        let mut walk = Walk {
            objects: repository.shared_objects(),
            reader: Reader::new(repository.objects()),
            hash: repository.hash_kind(),
            names: NameRules {
                protect_ntfs: settings.protect_ntfs,
                protect_hfs: settings.protect_hfs,
            },
            maker,
            has_commit,
            selection,
            cancel,
            depth_limit: depth_limit(repository)?,
            levels: Vec::new(),
            path: Vec::new(),
            directories: 0,
            entries: 0,
            attribute_bytes: 0,
            messages: Vec::new(),
        };
        walk.enter(tree, 0)?;
        if let Some(top) = walk.levels.first_mut() {
            top.is_told = true;
        }
        Ok(walk)
    }

    /// Finds entries until there are `count` of them or no more; parent directories of the last one
    /// may exceed that.
    pub fn find(&mut self, count: usize) -> Result<Vec<ArchiveEntry>> {
        let mut found = Vec::with_capacity(count);
        while found.len() < count {
            let Some(level) = self.levels.last_mut() else {
                break;
            };
            let Some(listed) = level.entries.next() else {
                self.path.truncate(level.above);
                self.levels.pop();
                continue;
            };
            let (start, end) = listed.name;
            let name = &level.names[start as usize..end as usize];
            let above = self.path.len();
            self.path.extend_from_slice(name);
            let rules = level.rules.clone();
            let path = self.path.as_bstr();
            let is_directory = listed.kind == EntryKind::Directory;
            let is_one = is_directory || listed.kind == EntryKind::Gitlink;
            let export = rules.export(path, is_one);
            if is_directory && !export.ignore {
                self.path.push(b'/');
                if self.selection.leads_into(self.path.as_bstr()) {
                    self.enter(listed.id, above)?;
                } else {
                    self.path.truncate(above);
                }
                continue;
            }
            let is_selected = !is_directory && self.selection.holds(path, listed.kind);
            // As in git, even a file that is left out makes its directories appear.
            if is_selected {
                tell_directories(&mut self.levels, &self.path, &mut found);
            }
            if is_selected && !export.ignore {
                found.push(ArchiveEntry {
                    path: path.to_owned(),
                    kind: listed.kind,
                    id: listed.id,
                    change: match listed.kind {
                        EntryKind::File | EntryKind::Executable => {
                            let subst = export.subst && self.has_commit;
                            change(rules, path, subst)
                        }
                        _ => None,
                    },
                });
            }
            self.path.truncate(above);
        }
        Ok(found)
    }

    /// Reads the tree `id`, to which the walk's path leads.
    fn enter(&mut self, id: ObjectId, above: usize) -> Result<()> {
        let path = self.path.strip_suffix(b"/").unwrap_or(&self.path);
        let directory = BString::from(path);
        if self.cancel.is_cancelled() {
            return Err(Error::Interrupted);
        }
        let unreadable = |reason: String| Error::Tree {
            path: directory.clone(),
            reason,
        };
        if self.levels.len() > self.depth_limit as usize {
            return Err(unreadable(DEPTH_EXCEEDED.to_owned()));
        }
        let content = self.objects.read_tree(&mut self.reader, id);
        let content = content.map_err(|error| unreadable(error.to_string()))?;
        let listed = entries(content, self.hash, self.names)
            .map_err(|reason| unreadable(format!("corrupt tree object {id}: {reason}")))?;
        self.directories += 1;
        self.entries += listed.len() as u64;
        if self.directories > DIRECTORY_LIMIT || self.entries > ENTRY_LIMIT {
            let reason = format!(
                "trees list more than {ENTRY_LIMIT} entries or {DIRECTORY_LIMIT} directories"
            );
            return Err(unreadable(reason));
        }
        let mut names = Vec::with_capacity(listed.iter().map(|entry| entry.name.len()).sum());
        let mut own: Vec<Listed> = Vec::with_capacity(listed.len());
        let mut attributes = None;
        for entry in listed {
            let start = names.len() as u32;
            names.extend_from_slice(entry.name);
            let id = entry.id.to_owned();
            let is_file = matches!(entry.kind, EntryKind::File | EntryKind::Executable);
            if is_file && entry.name == FILE_NAME {
                attributes = Some(id);
            }
            own.push(Listed {
                name: (start, names.len() as u32),
                kind: entry.kind,
                id,
            });
        }
        // git sorts a directory as if its name ended in a slash.
        let name = |listed: &Listed| names.get(listed.name.0 as usize..listed.name.1 as usize);
        if !self.selection.in_tree_order {
            own.sort_unstable_by(|a, b| name(a).cmp(&name(b)));
        }
        let rules = self.rules(&directory, attributes)?;
        self.levels.push(Level {
            entries: own.into_iter(),
            names,
            rules,
            id,
            is_told: false,
            above,
        });
        Ok(())
    }

    /// The rules of the directory whose attribute file is the blob `own`.
    fn rules(&mut self, directory: &BString, own: Option<ObjectId>) -> Result<Arc<Rules>> {
        let above = self.levels.last().map(|level| level.rules.clone());
        let content = match own {
            _ if self.maker.reads_worktree() => self.maker.in_worktree(directory.as_bstr()),
            Some(id) => self.attributes(directory, id)?,
            None => None,
        };
        if let (None, Some(above)) = (&content, &above) {
            return Ok(above.clone());
        }
        let content = content.as_deref();
        let above_bytes = above.as_deref().map_or(0, Rules::attribute_bytes);
        self.attribute_bytes += above_bytes + content.map_or(0, |content| content.len() as u64);
        if self.attribute_bytes > ATTRIBUTES_LIMIT_BYTES {
            return Err(Error::Tree {
                path: directory.clone(),
                reason: format!(
                    "attributes files have more than {ATTRIBUTES_LIMIT_BYTES} bytes together"
                ),
            });
        }
        let (rules, messages) = self
            .maker
            .rules(above.as_deref(), directory.as_bstr(), content);
        for message in messages {
            if !self.messages.contains(&message) {
                self.messages.push(message);
            }
        }
        Ok(Arc::new(rules))
    }

    /// The content of an attribute file. One that is too large is ignored, as by git.
    fn attributes(&mut self, directory: &BString, id: ObjectId) -> Result<Option<Vec<u8>>> {
        let read = (|| {
            let id = self.objects.replacement(&id)?;
            let location = self.objects.store.locate(&id)?;
            let location = location.ok_or(hedgerow_pack::Error::Missing { id })?;
            if self.reader.size_bytes(&id, location)? >= FILE_LIMIT_BYTES {
                return Ok(None);
            }
            Ok::<_, Error>(match self.reader.read(&id, location)? {
                (ObjectKind::Blob, content) => Some(content.to_vec()),
                _ => Some(Vec::new()),
            })
        })();
        let content = read.map_err(|error| Error::Tree {
            path: directory.clone(),
            reason: format!("cannot read .gitattributes: {error}"),
        })?;
        if content.is_none() {
            let path = if directory.is_empty() {
                ".gitattributes".into()
            } else {
                format!("{directory}/.gitattributes")
            };
            let ignored = format!("ignoring overly large gitattributes blob '{path}'");
            self.messages.push(ignored);
        }
        Ok(content)
    }
}

/// The change to a file under these rules, if any.
fn change(rules: Arc<Rules>, path: &BStr, subst: bool) -> Option<Change> {
    let conversion = rules.conversion(path);
    let is_identity = conversion.is_identity_to_worktree() && !subst;
    (!is_identity).then_some(Change {
        rules,
        conversion,
        subst,
    })
}

/// Adds the directories on the way to `path` that have no entry yet.
fn tell_directories(levels: &mut [Level], path: &[u8], found: &mut Vec<ArchiveEntry>) {
    let untold = levels
        .iter()
        .rev()
        .take_while(|level| !level.is_told)
        .count();
    if untold == 0 {
        return;
    }
    // A directory's path, with its slash, ends where the names of its entries start.
    let first = levels.len() - untold;
    let mut ends: Vec<usize> = levels
        .iter()
        .skip(first + 1)
        .map(|level| level.above)
        .collect();
    let own = path.rfind_byte(b'/').map_or(0, |slash| slash + 1);
    ends.push(own);
    for (level, end) in levels.iter_mut().skip(first).zip(ends) {
        level.is_told = true;
        let path = &path[..end.saturating_sub(1)];
        found.push(ArchiveEntry {
            path: path.into(),
            kind: EntryKind::Directory,
            id: level.id,
            change: None,
        });
    }
}
