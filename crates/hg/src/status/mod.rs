//! The differences between a working copy and its first parent, as `hg status` shows them.

mod compare;
mod judge;
mod model;
mod select;
mod visit;

pub use model::{Options, State, States, Status, STATES};

use crate::astray::Ancestors;
use crate::dirstate::{Dirstate, Entry};
use crate::ignore::Ignore;
use crate::{Repository, Result};
use bstr::{BString, ByteSlice};
use compare::Comparison;
use hedgerow_fs::{FileKind, OpenDirectory};
use judge::Verdict;
use select::{is_at_or_below, Selection};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use visit::{UnknownPaths, Visit};

/// Compares the working copy of `repository` with its first parent.
///
/// Makes one parallel pass over the tree. Files whose content must be compared are compared with
/// the content that Mercurial returns, if [`Options::program`] names it; otherwise they stay
/// undecided. Nothing is written anywhere.
pub fn status(repository: &Repository, options: &Options) -> Result<Status> {
    let dirstate = repository.dirstate()?;
    let subrepositories = repository.subrepositories(&dirstate)?;
    let selection = Selection::below(repository.root(), options.paths.clone());
    let mut status = Status::default();
    let wants_unknown = options.states.has(State::Unknown);
    let wants_ignored = options.states.has(State::Ignored);
    // Mercurial reads no patterns if it asks for no path what they say.
    let is_unasked = wants_ignored && selection.is_absent();
    let ignore = if (wants_unknown || wants_ignored) && !is_unasked {
        Ignore::read(
            repository.root(),
            &repository.ignore_files()?,
            &mut status.warnings,
        )?
    } else {
        Ignore::default()
    };
    // Taken before the pass, so that it is not later than any stat.
    let now = hedgerow_fs::file_time();
    let mut visit = Visit::new(&dirstate, &ignore, &selection, &subrepositories, now);
    visit.wants_unknown = wants_unknown;
    visit.wants_ignored = wants_ignored;
    let root = OpenDirectory::open(repository.root())
        .map_err(|source| hedgerow_fs::Error::new("open", repository.root(), source))?;
    let scan = hedgerow_walk::Options {
        engine: options.execution.options("status"),
        ..hedgerow_walk::Options::default()
    };
    hedgerow_walk::scan(root, visit.root()?, &visit, &scan)?;
    let (verdicts, mut found) = visit.end();
    let nested = std::mem::take(&mut found.nested);

    let judged = Judged {
        repository,
        dirstate: &dirstate,
        selection: &selection,
        nested: &nested,
        wants_unknown,
    };
    judged.tracked(&verdicts, now, options, &mut status)?;
    judged.untracked(found, &mut status);
    judged.not_there(&mut status)?;
    Ok(status)
}

/// The results of the pass over the tree, from which the [`Status`] is made.
struct Judged<'j> {
    repository: &'j Repository,
    dirstate: &'j Dirstate,
    selection: &'j Selection,
    nested: &'j [BString],
    wants_unknown: bool,
}

impl Judged<'_> {
    fn tracked(
        &self,
        verdicts: &[Verdict],
        now: hedgerow_fs::Timestamp,
        options: &Options,
        status: &mut Status,
    ) -> Result<()> {
        let mut undecided = Vec::new();
        for (entry, verdict) in self.dirstate.entries().iter().zip(verdicts) {
            let path = self.dirstate.path(entry);
            if !self.selection.has(path) {
                continue;
            }
            let verdict = match verdict {
                Verdict::Missing if entry.tracked && !self.wants_unknown => {
                    self.looked_for(entry, now)?
                }
                verdict => *verdict,
            };
            match state(entry, verdict) {
                Some(state) => put(status, options, state, path),
                None => undecided.push(entry),
            }
            if let (true, Some(source)) = (entry.tracked, self.dirstate.copy_source(entry)) {
                status.copies.insert(path.into(), source.into());
            }
        }
        let wanted = |state| options.states.has(state);
        if !wanted(State::Modified) && !wanted(State::Clean) {
            self.keep_refused(&mut undecided)?;
        }
        if undecided.is_empty() {
            return Ok(());
        }
        self.compare(&undecided, options, status)
    }

    /// Keeps the files at paths that Mercurial refuses: it compares contents whatever is
    /// requested, and then fails.
    fn keep_refused(&self, entries: &mut Vec<&Entry>) -> Result<()> {
        let mut ancestors = Ancestors::new(self.repository.root());
        let mut refused = Vec::new();
        for entry in entries.drain(..) {
            if ancestors.refusal(self.dirstate.path(entry))?.is_some() {
                refused.push(entry);
            }
        }
        *entries = refused;
        Ok(())
    }

    fn compare(&self, entries: &[&Entry], options: &Options, status: &mut Status) -> Result<()> {
        let comparison = Comparison::new(self.repository, self.dirstate, options);
        let outcome = comparison.run(entries)?;
        status.compared = outcome.verdicts.len();
        for (entry, verdict) in entries.iter().zip(&outcome.verdicts) {
            let path = self.dirstate.path(entry);
            match state(entry, *verdict) {
                Some(state) => put(status, options, state, path),
                None => status.undecided.push(path.into()),
            }
        }
        if !status.undecided.is_empty() {
            status.undecided_reason = outcome.reason;
        }
        for state in [State::Modified, State::Deleted, State::Clean] {
            if let Some(paths) = status.paths.get_mut(state as usize) {
                paths.sort_unstable();
            }
        }
        Ok(())
    }

    /// If unknown files are not requested, Mercurial looks each tracked file up by its path, even
    /// through links that replaced directories, and in other repositories.
    fn looked_for(&self, entry: &Entry, now: hedgerow_fs::Timestamp) -> Result<Verdict> {
        let path = self.dirstate.path(entry);
        let path = self.repository.root().join(OsStr::from_bytes(path));
        // If it cannot be statted for any reason, it does not exist for Mercurial.
        let Ok(Some(stat)) = hedgerow_fs::lstat(&path) else {
            return Ok(Verdict::Missing);
        };
        let is_copy = self.dirstate.copy_source(entry).is_some();
        Ok(judge::by_stat(entry, is_copy, &stat, now))
    }

    fn is_nested(&self, path: &[u8]) -> bool {
        let in_it = |nested: &BString| is_at_or_below(path, nested);
        self.nested.iter().any(in_it)
    }

    fn untracked(&self, mut found: UnknownPaths, status: &mut Status) {
        for (state, mut paths) in [
            (State::Unknown, std::mem::take(&mut found.unknown)),
            (State::Ignored, std::mem::take(&mut found.ignored)),
        ] {
            paths.retain(|path| !self.is_nested(path));
            paths.sort_unstable();
            if let Some(list) = status.paths.get_mut(state as usize) {
                *list = paths;
            }
        }
        found.failed.sort_unstable();
        let current = self.repository.current_directory();
        status
            .warnings
            .extend(found.failed.iter().map(|(path, reason)| {
                let path = crate::environment::relative(current, path);
                format!("{path}: {reason}")
            }));
    }

    /// Whether the dirstate has `path` or something below it.
    fn is_known(&self, path: &[u8]) -> bool {
        let mut entries = self.dirstate.entries().iter();
        entries.any(|entry| is_at_or_below(self.dirstate.path(entry), path))
    }

    /// Warns about named paths that neither exist nor are tracked, and have nothing tracked below
    /// them.
    fn not_there(&self, status: &mut Status) -> Result<()> {
        let current = self.repository.current_directory();
        for path in self.selection.paths() {
            let full = self.repository.root().join(OsStr::from_bytes(path));
            let reason = match hedgerow_fs::stat_path(&full, false) {
                Ok(stat) => match stat.kind {
                    FileKind::Directory | FileKind::File | FileKind::Symlink => continue,
                    _ => "unsupported file type",
                },
                Err(_) if self.is_known(path) => continue,
                Err(error) if error.kind() == ErrorKind::NotADirectory => "Not a directory",
                Err(error) if hedgerow_fs::is_missing(&error) => "No such file or directory",
                Err(source) => return Err(hedgerow_fs::Error::new("stat", &full, source).into()),
            };
            if self.is_known(path) {
                continue;
            }
            let path = crate::environment::relative(current, path);
            status.warnings.push(format!("{path}: {reason}"));
        }
        Ok(())
    }
}

/// The state of an entry; `None` if its content must be compared.
fn state(entry: &Entry, verdict: Verdict) -> Option<State> {
    Some(match verdict {
        _ if !entry.tracked => State::Removed,
        Verdict::Missing => State::Deleted,
        _ if entry.merged => State::Modified,
        _ if !entry.in_first_parent => State::Added,
        Verdict::Modified => State::Modified,
        Verdict::Clean => State::Clean,
        Verdict::Present | Verdict::Undecided => return None,
    })
}

fn put(status: &mut Status, options: &Options, state: State, path: &[u8]) {
    if options.states.has(state) {
        if let Some(paths) = status.paths.get_mut(state as usize) {
            paths.push(path.as_bstr().to_owned());
        }
    }
}
