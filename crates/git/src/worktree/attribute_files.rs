//! The `.gitattributes` files that apply to some paths: those of the working tree, of the index, or
//! of the one tree that the configuration names.

use super::survey::{survey, PathState};
use super::unanswered::is_unanswered;
use super::Worktree;
use crate::convert::{AttributeSources, MAX_FILE_BYTES};
use crate::index::{Index, Mode, Stage};
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::{run_tasks, Scope};
use hedgerow_fs::Dir;
use hedgerow_pack::{ObjectKind, Reader};
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

const NAME: &[u8] = b".gitattributes";
/// The byte order mark of a file; in a blob it belongs to the first line.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The attribute files outside of any tree.
#[derive(Debug, Default)]
pub(crate) struct OuterAttributes {
    system: Option<Vec<u8>>,
    user: Option<Vec<u8>>,
    info: Option<Vec<u8>>,
}

impl OuterAttributes {
    /// Reads those that count in `repository`.
    ///
    /// # Errors
    /// If one that is there and may be read cannot be, or is too large to be one.
    pub(crate) fn read(repository: &Repository) -> Result<Self> {
        let read = |path: &Path| repository.read_rules(path, MAX_FILE_BYTES as u64);
        let chosen = |path: &Option<PathBuf>| path.as_deref().map_or(Ok(None), read);
        let settings = repository.settings();
        Ok(OuterAttributes {
            system: chosen(&settings.system_attributes_file)?,
            user: chosen(&settings.attributes_file)?,
            info: read(&repository.common_dir().join("info/attributes"))?,
        })
    }

    /// All sources, with the files of a tree, by directory.
    pub(crate) fn with<'a>(
        &'a self,
        directories: Vec<(&'a BStr, &'a [u8])>,
        ignore_case: bool,
    ) -> AttributeSources<'a> {
        AttributeSources {
            system: self.system.as_deref(),
            global: self.user.as_deref(),
            directories,
            info: self.info.as_deref(),
            ignore_case,
        }
    }
}

/// Which attributes take precedence if both the working tree and the index have some.
pub(crate) enum Direction<'a> {
    /// Files are compared, or written because a path names them: the working tree's attributes win.
    /// `listed` are the directories that may have some there besides those of the index, if known.
    /// `is_gone` tells which attribute files are removed by then.
    CheckIn {
        listed: Option<&'a [BString]>,
        is_gone: &'a dyn Fn(&BStr) -> bool,
    },
    /// A switch writes files: the index's attributes win. `is_removed` tells which attribute files
    /// are removed.
    CheckOut {
        is_removed: &'a dyn Fn(&BStr) -> bool,
    },
}

/// The attribute files' contents, and warnings about them.
#[derive(Debug, Default)]
pub(crate) struct AttributeFiles {
    /// Directories with the content of their files.
    pub directories: Vec<(BString, Vec<u8>)>,
    /// Warnings about the files of directories, in git's words.
    pub warnings: BTreeMap<BString, Vec<String>>,
}

/// The directories above `paths`, the root's first.
pub(crate) fn directories_above<'a>(paths: impl Iterator<Item = &'a BStr>) -> BTreeSet<&'a BStr> {
    let mut directories = BTreeSet::new();
    let mut last = None;
    for mut path in paths {
        let parent = hedgerow_tree::split_path(path).0;
        // Most files are beside the one before.
        if path.is_empty() || last.replace(parent) == Some(parent) {
            continue;
        }
        while !path.is_empty() {
            path = hedgerow_tree::split_path(path).0.as_bstr();
            if !directories.insert(path) {
                break;
            }
        }
    }
    directories
}

impl Worktree<'_> {
    /// The attribute files in `directories` that apply.
    pub(crate) fn attribute_files(
        &self,
        index: &Index,
        directories: &BTreeSet<&BStr>,
        direction: &Direction<'_>,
    ) -> Result<AttributeFiles> {
        let mut blobs = Blobs {
            worktree: self,
            reader: Reader::new(self.repository.shared_objects().store),
            found: AttributeFiles::default(),
        };
        // A configured tree replaces both the index and the working tree.
        if let Some(tree) = self.attributes_tree()? {
            for directory in directories {
                let spec = BString::from([tree.as_slice(), b":", &file_in(directory)].concat());
                if let Ok(id) = self.repository.resolve(spec.as_bstr()) {
                    blobs.read(directory, &id)?;
                }
            }
            return Ok(blobs.found);
        }
        let entries: BTreeMap<&BStr, ObjectId> = directories
            .iter()
            .filter_map(|directory| Some((*directory, entry(index, directory)?)))
            .collect();
        match direction {
            Direction::CheckOut { is_removed } => {
                // The index first; where it has no file, the working tree.
                let mut others = Vec::new();
                for directory in directories.iter().copied() {
                    let is_known = match entries.get(directory) {
                        Some(id) => blobs.read(directory, id)?,
                        None => false,
                    };
                    if !is_known && !is_removed(file_in(directory).as_bstr()) {
                        others.push(directory);
                    }
                }
                blobs.found.add(self.files_present(others)?);
            }
            Direction::CheckIn { listed, is_gone } => {
                // The working tree first; where it has no file, the index.
                let is_there = |directory: &&BStr| !is_gone(file_in(directory).as_bstr());
                let files = match listed {
                    Some(listed) => {
                        let listed = listed.iter().map(|path| path.as_bstr());
                        let listed = listed.filter(|path| directories.contains(path));
                        let all: BTreeSet<_> = listed.chain(entries.keys().copied()).collect();
                        self.files_in(all.into_iter().filter(is_there).collect())?
                    }
                    None => {
                        self.files_present(directories.iter().copied().filter(is_there).collect())?
                    }
                };
                let known: BTreeSet<BString> = files
                    .directories
                    .iter()
                    .map(|(path, _)| path.clone())
                    .collect();
                blobs.found.add(files);
                for (directory, id) in &entries {
                    if !known.contains(*directory) {
                        blobs.read(directory, id)?;
                    }
                }
            }
        }
        Ok(blobs.found)
    }

    /// The tree that attributes are read from instead, if any. A tree named by the configuration
    /// may be missing, one named by the environment may not.
    fn attributes_tree(&self) -> Result<Option<BString>> {
        let Some(name) = &self.settings().attributes_tree else {
            return Ok(None);
        };
        match self.repository.resolve_tree(name.as_bstr()) {
            Ok(id) => Ok(Some(id.to_string().into())),
            Err(_) if self.repository.environment().attr_source.is_none() => Ok(None),
            Err(_) => Err(Error::Setup {
                reason: "bad --attr-source or GIT_ATTR_SOURCE".into(),
            }),
        }
    }

    /// The files of those of `directories` that have one. Nothing below a missing directory is
    /// looked up.
    fn files_present(&self, directories: Vec<&BStr>) -> Result<AttributeFiles> {
        let mut places: Vec<(BString, &BStr)> = directories
            .into_iter()
            .map(|directory| (file_in(directory), directory))
            .collect();
        places.sort_unstable();
        let is_there = |_: usize, found: PathState<'_>| match found {
            PathState::Absent | PathState::Blocked => 0,
            PathState::Present(_) | PathState::Unknown => 1,
        };
        let path = |at: usize| places[at].0.as_slice();
        let found = survey(&self.root, places.len(), path, is_there, &self.engine())?;
        let there = places.iter().zip(found.answered()?.verdicts);
        let there = there.filter(|(_, there)| *there != 0);
        self.files_in(there.map(|((_, directory), _)| *directory).collect())
    }

    /// The files of those of `directories` that have one.
    fn files_in(&self, directories: Vec<&BStr>) -> Result<AttributeFiles> {
        let found = Mutex::new(AttributeFiles::default());
        let root = &self.root;
        let work = |_: &mut (), directory: &BStr, _: &Scope<'_, &BStr>| {
            let file = attributes_in(root, directory);
            if let Ok(mut found) = found.lock() {
                match file {
                    Ok(None) => {}
                    Ok(Some(content)) => found.directories.push((directory.into(), content)),
                    Err(Unread::Ignored(warning)) => found.warn(directory, warning),
                    Err(Unread::Unanswered(error)) => return Err(error.into()),
                }
            }
            Ok::<(), Error>(())
        };
        if !directories.is_empty() {
            run_tasks(&self.engine(), directories, |_| (), work).map_err(Error::from)?;
        }
        let mut found = found.into_inner().map_err(|_| Error::Internal {
            reason: "a lock was poisoned".into(),
        })?;
        found.directories.sort_unstable();
        Ok(found)
    }
}

impl AttributeFiles {
    fn add(&mut self, other: AttributeFiles) {
        self.directories.extend(other.directories);
        for (directory, warnings) in other.warnings {
            self.warnings.entry(directory).or_default().extend(warnings);
        }
    }

    fn warn(&mut self, directory: &BStr, warning: String) {
        self.warnings
            .entry(directory.into())
            .or_default()
            .push(warning);
    }
}

/// Reads attribute files from blobs.
struct Blobs<'a> {
    worktree: &'a Worktree<'a>,
    reader: Reader<'a>,
    found: AttributeFiles,
}

impl Blobs<'_> {
    /// Adds the blob `id` as the file of a directory. Returns whether it counts: one that is too
    /// large is ignored.
    fn read(&mut self, directory: &BStr, id: &ObjectId) -> Result<bool> {
        let objects = self.worktree.repository.shared_objects();
        let id = objects.replacement(id)?;
        let location = objects.store.locate(&id)?;
        let location = location.ok_or(hedgerow_pack::Error::Missing { id })?;
        let header = self.reader.header(&id, location)?;
        if header.kind != ObjectKind::Blob {
            return Ok(false);
        }
        if header.size >= MAX_FILE_BYTES as u64 {
            let path = file_in(directory);
            let warning = format!("ignoring overly large gitattributes blob '{path}'");
            self.found.warn(directory, warning);
            return Ok(false);
        }
        let (_, content) = self.reader.read(&id, location)?;
        self.found
            .directories
            .push((directory.into(), content.to_vec()));
        Ok(true)
    }
}

/// Why an attribute file was not read.
enum Unread {
    /// It is ignored; with git's warning.
    Ignored(String),
    /// A system error: its content is unknown, and so are the attributes of the files below.
    Unanswered(hedgerow_fs::Error),
}

/// The content of the attribute file in a directory, if there is one. To git, a directory of that
/// name is an empty file.
fn attributes_in(root: &Dir, directory: &BStr) -> std::result::Result<Option<Vec<u8>>, Unread> {
    let path = file_in(directory);
    let cannot = |error: hedgerow_fs::Error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(None),
        ErrorKind::IsADirectory => Ok(Some(Vec::new())),
        _ if is_unanswered(&error.source) => Err(Unread::Unanswered(error)),
        _ => Err(Unread::Ignored(format!(
            "unable to access '{path}': {}",
            error.reason()
        ))),
    };
    let file = match root.open_dir(directory).and_then(|dir| dir.open_file(NAME)) {
        Ok(file) => file,
        Err(error) => return cannot(error),
    };
    match file.stat() {
        Ok(stat) if stat.size >= MAX_FILE_BYTES as u64 => {
            let warning = format!("ignoring overly large gitattributes file '{path}'");
            return Err(Unread::Ignored(warning));
        }
        Ok(_) => {}
        Err(error) => return cannot(error),
    }
    let mut content = Vec::new();
    match file.read_to_end(&mut content, MAX_FILE_BYTES as u64) {
        Ok(()) => Ok(Some(lines_of_file(content))),
        Err(error) => cannot(error),
    }
}

/// The path of the attribute file in a directory.
fn file_in(directory: &BStr) -> BString {
    if directory.is_empty() {
        NAME.into()
    } else {
        [directory.as_bytes(), b"/", NAME].concat().into()
    }
}

/// The blob of a directory's attribute file; in a conflict, our side's. As with git, the target of
/// a link counts as its content.
fn entry(index: &Index, directory: &BStr) -> Option<ObjectId> {
    let path = file_in(directory);
    let row = [Stage::Merged, Stage::Ours]
        .into_iter()
        .find_map(|stage| index.find(path.as_bstr(), stage).ok())?;
    let entry = &index.entries()[row];
    let is_blob = matches!(entry.mode, Mode::File | Mode::Executable | Mode::Symlink);
    is_blob.then_some(entry.id)
}

/// A file's content, rewritten so that it means the same as a blob: without a byte order mark, and
/// with each line cut at a NUL. (In a blob, a NUL ends the whole content.)
fn lines_of_file(content: Vec<u8>) -> Vec<u8> {
    let text = content.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&content);
    if text.len() == content.len() && !text.contains(&0) {
        return content;
    }
    let lines = text.split(|byte| *byte == b'\n');
    let lines = lines.map(|line| line.split(|byte| *byte == 0).next().unwrap_or_default());
    lines.collect::<Vec<_>>().join(&b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_cut_into_lines_as_git_does() {
        let lines = |content: &[u8]| BString::from(lines_of_file(content.to_vec()));
        assert_eq!(lines(b"a text\nb"), "a text\nb");
        assert_eq!(lines(b"\xef\xbb\xbfa text\n"), "a text\n");
        assert_eq!(lines(b"a\0x text\nb text\0\n"), "a\nb text\n");
    }

    #[test]
    fn directories_above_paths_are_listed_once() {
        let paths = ["a/b/c", "a/b/d", "e"].map(BStr::new);
        let directories = directories_above(paths.into_iter());
        assert_eq!(
            directories.into_iter().collect::<Vec<_>>(),
            ["", "a", "a/b"]
        );
    }
}
