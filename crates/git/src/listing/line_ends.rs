//! How the lines of listed files end, and what attributes say about it: git-ls-files(1), `--eol`.

use super::model::{Line, Listed};
use crate::convert::{line_ends, Attributes};
use crate::index::{Index, Mode, Stage};
use crate::repository::Repository;
use crate::worktree::attribute_files::{directories_above, Direction};
use crate::worktree::Worktree;
use crate::Result;
use bstr::{BStr, ByteSlice};
use hedgerow_engine::Execution;
use hedgerow_fs::{Dir, FileKind};

/// The largest file that is read, in bytes.
const FILE_LIMIT_BYTES: u64 = isize::MAX as u64;

/// The line ends of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineEnds {
    /// Those of the file in the index; empty if that is no regular file.
    pub index: &'static str,
    /// Those of the file in the working tree, likewise.
    pub worktree: &'static str,
    /// The attributes about them.
    pub attributes: &'static str,
}

/// Finds the line ends of listed paths.
pub struct LineEndReader<'a> {
    repository: &'a Repository,
    index: Option<&'a Index>,
    /// Absent without a working tree.
    top: Option<Dir>,
    attributes: Option<Attributes>,
}

impl<'a> LineEndReader<'a> {
    /// Reads the attributes of everything that is listed. Also returns warnings about attribute
    /// files. A partial clone fetches what it lacks of the files that are listed.
    ///
    /// # Errors
    /// An attribute file cannot be read, or no remote gives what it has promised.
    pub fn new(
        repository: &'a Repository,
        listed: &'a Listed,
        execution: &Execution,
    ) -> Result<(Self, Vec<String>)> {
        let mut reader = LineEndReader {
            repository,
            index: listed.index.as_ref(),
            top: None,
            attributes: None,
        };
        let mut warnings = Vec::new();
        let entries = listed.lines().filter_map(|line| line.entry);
        let entries = entries.filter(|entry| is_regular(entry.mode));
        repository.fetch_missing(&entries.map(|entry| entry.id).collect::<Vec<_>>())?;
        if let (Some(top), Some(index)) = (repository.work_tree(), &listed.index) {
            let worktree = Worktree::open(repository, execution, "ls-files")?;
            let directories = directories_above(listed.lines().map(|line| line.path));
            let direction = Direction::CheckIn {
                listed: None,
                is_gone: &|_| false,
            };
            let (attributes, told) = repository.with_objects_read(|| {
                worktree.attributes(index, &directories, &direction, Attributes::new)
            })?;
            warnings.extend(told.into_values().flatten());
            reader.attributes = Some(attributes);
            reader.top = Some(Dir::open(top)?);
        }
        Ok((reader, warnings))
    }

    /// The line ends of a listed path. What cannot be read counts as git counts it: as empty in the
    /// index, as no file in the working tree.
    pub fn line_ends(&self, line: &Line<'_>) -> LineEnds {
        let in_index = line.entry.filter(|entry| is_regular(entry.mode));
        let attributes = self.attributes.as_ref();
        LineEnds {
            index: in_index.map_or("", |_| line_ends(&self.content_in_index(line.path))),
            worktree: self.in_worktree(line.path).unwrap_or_default(),
            attributes: attributes.map_or("", |known| known.line_end_words(line.path)),
        }
    }

    /// The content of the file in the index; our side's in a conflict.
    fn content_in_index(&self, path: &BStr) -> Vec<u8> {
        let stages = [Stage::Merged, Stage::Ours].into_iter();
        let entry = self.index.and_then(|index| {
            let mut rows = stages.filter_map(|stage| index.find(path, stage).ok());
            index.entries().get(rows.next()?)
        });
        let content = entry.and_then(|entry| self.repository.read_object(&entry.id).ok());
        content.map(|(_, content)| content).unwrap_or_default()
    }

    fn in_worktree(&self, path: &BStr) -> Option<&'static str> {
        let file = self.top.as_ref()?.open_file(path.as_bytes()).ok()?;
        file.stat()
            .ok()
            .filter(|stat| stat.kind == FileKind::File)?;
        let mut content = Vec::new();
        file.read_to_end(&mut content, FILE_LIMIT_BYTES).ok()?;
        Some(line_ends(&content))
    }
}

fn is_regular(mode: Mode) -> bool {
    matches!(mode, Mode::File | Mode::Executable)
}
