//! Which paths the patterns of a listing ignore.

use super::Options;
use crate::index::Index;
use crate::status::exclusion::{Level, Rules, Source, Tracked};
use crate::worktree::Worktree;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::FileKind;
use hedgerow_walk::Patterns;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// The patterns that `options` name.
pub(super) fn rules<'w>(worktree: &'w Worktree<'_>, options: &Options) -> Result<Rules<'w>> {
    let mut rules = if options.exclude_standard {
        Rules::standard(worktree)?
    } else {
        Rules::none(worktree)
    };
    if let Some(name) = &options.exclude_per_directory {
        rules.per_directory = Some(name.clone());
    }
    let ignore_case = rules.ignore_case;
    let given = options.excludes.iter().map(|pattern| pattern.as_slice());
    rules.command_line = Patterns::of(given).ignoring_case(ignore_case);
    let top = worktree.repository.require_work_tree()?;
    for path in &options.exclude_from {
        let read = hedgerow_fs::read_file(&top.join(path), Patterns::FILE_LIMIT_BYTES);
        let Ok(Some(content)) = read else {
            let reason = format!("cannot use {} as an exclude file", path.display());
            return Err(Error::Setup { reason });
        };
        let patterns = Patterns::parse(&content).ignoring_case(ignore_case);
        rules.outer.push(patterns);
    }
    Ok(rules)
}

/// Tells which entries of an index are ignored. Directories are looked at once.
pub(super) struct ExcludedEntries<'a> {
    rules: &'a Rules<'a>,
    tracked: Tracked<'a>,
    work_tree: &'a Path,
    levels: HashMap<BString, Arc<Level>>,
    /// The directory of the last entry.
    last: Option<(BString, Arc<Level>)>,
}

impl<'a> ExcludedEntries<'a> {
    pub(super) fn new(
        worktree: &Worktree<'a>,
        index: &'a Index,
        rules: &'a Rules<'a>,
    ) -> Result<Self> {
        let mut entries = index.entries().iter();
        Ok(ExcludedEntries {
            rules,
            work_tree: worktree.repository.require_work_tree()?,
            tracked: Tracked {
                index,
                objects: worktree.repository.shared_objects(),
                has_skipped: entries.any(|entry| entry.flags.skip_worktree),
            },
            levels: HashMap::new(),
            last: None,
        })
    }

    /// Whether the entry `path` is ignored. As with git, a pattern for directories fits it if there
    /// is a directory at the path now.
    pub(super) fn has(&mut self, path: &BStr) -> bool {
        let path = path.strip_suffix(b"/").unwrap_or(path).as_bstr();
        let slash = path.rfind_byte(b'/').unwrap_or(0);
        let directory = path[..slash].as_bstr();
        let level = match self.last.take() {
            Some((last, level)) if last == directory => (last, level),
            _ => (directory.to_owned(), self.level(directory)),
        };
        let (_, level) = self.last.insert(level);
        level.excludes_unless(path, self.rules, || {
            let found = hedgerow_fs::lstat(&self.work_tree.join(OsStr::from_bytes(path)));
            matches!(found, Ok(Some(stat)) if stat.kind == FileKind::Directory)
        })
    }

    /// The patterns of a directory in the working tree. As with git, a directory that was replaced
    /// by a link to another one has the patterns of that one.
    fn in_work_tree(&self, directory: &BStr) -> Source {
        let Some(name) = &self.rules.per_directory else {
            return Source::Nowhere;
        };
        let directory = self.work_tree.join(OsStr::from_bytes(directory));
        let path = directory.join(OsStr::from_bytes(name));
        match hedgerow_fs::lstat(&path) {
            Ok(Some(stat)) if stat.kind == FileKind::File => {}
            Ok(Some(_)) => return Source::File,
            _ => return Source::Nowhere,
        }
        match hedgerow_fs::read_file(&path, Patterns::FILE_LIMIT_BYTES) {
            Ok(Some(content)) => Source::Content(content),
            Ok(None) => Source::Nowhere,
            // Reading it again tells the user why it cannot be read.
            Err(_) => Source::File,
        }
    }

    fn level(&mut self, directory: &BStr) -> Arc<Level> {
        if let Some(level) = self.levels.get(directory) {
            return level.clone();
        }
        let above = if directory.is_empty() {
            None
        } else {
            let slash = directory.rfind_byte(b'/').unwrap_or(0);
            Some(self.level(directory[..slash].as_bstr()))
        };
        let name = self.rules.per_directory.as_ref();
        let source = match name.map(|name| self.tracked.patterns(directory, name.as_bstr())) {
            None => Source::Nowhere,
            Some(Source::Nowhere) => self.in_work_tree(directory),
            Some(source) => source,
        };
        let level = Arc::new(Level::new(above, directory, source, true));
        self.levels.insert(directory.to_owned(), level.clone());
        level
    }
}
