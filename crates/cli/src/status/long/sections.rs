//! The lists of paths.

use super::Long;
use crate::environment;
use bstr::{BString, ByteSlice};
use hedgerow::display::{Table, RESET};
use hedgerow::status::Colors;
use hedgerow::status::{Change, ChangeKind, ConflictKind, IgnoredFiles, UntrackedFiles};
use std::time::Duration;

/// The width of the label before a changed path, and before one in conflict.
const CHANGE_WIDTH: usize = "typechange: ".len();
const CONFLICT_WIDTH: usize = "deleted by them: ".len();
/// A search that takes longer is called slow.
const SLOW_SEARCH: Duration = Duration::from_secs(2);

impl Long<'_> {
    /// Changes that a commit would record.
    pub(super) fn staged(&mut self) {
        let staged = |change: &&Change| change.staged.is_some();
        let changes: Vec<&Change> = self.status.changes.iter().filter(staged).collect();
        if changes.is_empty() {
            return;
        }
        self.header("Changes to be committed:");
        self.hint_to_unstage();
        let color = &self.options.colors.updated;
        for change in changes {
            self.change(color, change, change.staged, "");
        }
        self.trailer();
    }

    fn hint_to_unstage(&mut self) {
        match self.is_initial {
            _ if self.operation.special_commit => {}
            true => self.hint("  (use \"git rm --cached <file>...\" to unstage)"),
            false => self.hint("  (use \"git restore --staged <file>...\" to unstage)"),
        }
    }

    /// Conflicts that prevent the end of a merge.
    pub(super) fn unmerged(&mut self) {
        let conflict = |change: &Change| Some((change.path.clone(), change.conflict?.kind()));
        let conflicts: Vec<(BString, ConflictKind)> =
            self.status.changes.iter().filter_map(conflict).collect();
        if conflicts.is_empty() {
            return;
        }
        self.header("Unmerged paths:");
        self.hint_to_unstage();
        let has = |one: fn(ConflictKind) -> bool| conflicts.iter().any(|(_, kind)| one(*kind));
        let both_deleted = has(|kind| kind == ConflictKind::BothDeleted);
        let one_deleted = has(|kind| {
            matches!(
                kind,
                ConflictKind::DeletedByUs | ConflictKind::DeletedByThem
            )
        });
        let only_deleted = !has(|kind| kind != ConflictKind::BothDeleted);
        self.hint(match (both_deleted, one_deleted) {
            (false, false) => "  (use \"git add <file>...\" to mark resolution)",
            (true, false) if only_deleted => "  (use \"git rm <file>...\" to mark resolution)",
            _ => "  (use \"git add/rm <file>...\" as appropriate to mark resolution)",
        });
        for (path, kind) in &conflicts {
            let words = conflict_words(*kind);
            let mut text = format!("{words:CONFLICT_WIDTH$}").into_bytes();
            text.extend_from_slice(&self.options.shown.path(path));
            text.push(b'\n');
            self.lines.start(&self.options.colors.header, "\t");
            self.lines.more(&self.options.colors.unmerged, text);
        }
        self.trailer();
    }

    /// Changes in the working tree that are not staged.
    pub(super) fn unstaged(&mut self) {
        let unstaged = |change: &&Change| change.unstaged.is_some();
        let changes: Vec<&Change> = self.status.changes.iter().filter(unstaged).collect();
        if changes.is_empty() {
            return;
        }
        let deleted = |change: &&Change| change.unstaged == Some(ChangeKind::Deleted);
        let dirty = |change: &&Change| {
            let submodule = change.submodule.unwrap_or_default();
            submodule.modified || submodule.untracked
        };
        self.header("Changes not staged for commit:");
        self.hint(if !changes.iter().any(deleted) {
            "  (use \"git add <file>...\" to update what will be committed)"
        } else {
            "  (use \"git add/rm <file>...\" to update what will be committed)"
        });
        self.hint("  (use \"git restore <file>...\" to discard changes in working directory)");
        if changes.iter().any(dirty) {
            self.hint("  (commit or discard the untracked or modified content in submodules)");
        }
        let color = &self.options.colors.changed;
        for change in changes {
            self.change(color, change, change.unstaged, &inside(change));
        }
        self.trailer();
    }

    /// One changed path, followed by `extra`.
    fn change(&mut self, color: &str, change: &Change, kind: Option<ChangeKind>, extra: &str) {
        let Some(kind) = kind else { return };
        let words = words(kind);
        let shown = &self.options.shown;
        let mut text = format!("{words:CHANGE_WIDTH$}").into_bytes();
        let is_move = matches!(kind, ChangeKind::Renamed | ChangeKind::Copied);
        if let Some(rename) = change.rename.as_ref().filter(|_| is_move) {
            text.extend_from_slice(&shown.path(&rename.source));
            text.extend_from_slice(b" -> ");
        }
        text.extend_from_slice(&shown.path(&change.path));
        self.lines.start(&self.options.colors.header, "\t");
        self.lines.more(color, text);
        if !extra.is_empty() {
            self.lines.more(&self.options.colors.header, extra);
        }
        self.lines.end();
    }

    /// Untracked and ignored paths.
    pub(super) fn others(&mut self) {
        if self.options.untracked == UntrackedFiles::No {
            return;
        }
        self.paths("Untracked files:", "add", &self.status.untracked);
        if self.options.ignored != IgnoredFiles::No {
            self.paths("Ignored files:", "add -f", &self.status.ignored);
        }
        if self.options.advises_when_slow {
            self.slowness();
        }
    }

    /// How long the search for untracked files took, if that was long.
    fn slowness(&mut self) {
        let took = environment::search_time_to_report().unwrap_or(self.status.search_time);
        if took <= SLOW_SEARCH {
            return;
        }
        let took = format!(
            "It took {:.2} seconds to enumerate untracked files",
            took.as_secs_f64()
        );
        let lines = if self.options.is_monitored {
            format!("{took},\nbut the results were cached, and subsequent runs may be faster.")
        } else {
            format!("{took}.")
        };
        let help = "See 'git help status' for information on how to improve this.";
        for text in ["", &lines, help, ""] {
            self.lines.line("", text);
        }
    }

    /// The commits of changed submodules, without colors.
    pub(super) fn submodule_commits(&mut self) {
        for line in self.options.submodule_commits.lines_with_terminator() {
            if let Some(comment) = self.options.comment {
                let is_spaced = !line.starts_with(b"\n") && !line.starts_with(b"\t");
                let space: &[u8] = if is_spaced { b" " } else { b"" };
                self.lines.raw(&[comment.as_bytes(), space].concat());
            }
            self.lines.raw(line);
        }
    }

    fn paths(&mut self, title: &str, how: &str, paths: &[BString]) {
        if paths.is_empty() {
            return;
        }
        self.header(title);
        self.hint(&format!(
            "  (use \"git {how} <file>...\" to include in what will be committed)"
        ));
        match &self.options.table {
            Some(table) => self.table(table, paths),
            None => paths.iter().for_each(|path| self.path(path)),
        }
        self.lines.line("", "");
    }

    fn path(&mut self, path: &BString) {
        let colors = &self.options.colors;
        let text = [self.options.shown.path(path), b"\n".to_vec()].concat();
        self.lines.start(&colors.header, "\t");
        self.lines.more(&colors.untracked, text);
    }

    /// Paths in columns. The bytes of colors and of the comment mark, which git always writes as
    /// `#` here, reduce the width, and the first color does not end before the second begins.
    fn table(&mut self, table: &Table, paths: &[BString]) {
        let options = self.options;
        let shown = |path: &BString| BString::from(options.shown.path(path));
        let cells: Vec<BString> = paths.iter().map(shown).collect();
        let mark = options.comment.map_or("", |_| "#");
        let Colors {
            header, untracked, ..
        } = &options.colors;
        let indent = format!("{header}{mark}\t{untracked}");
        let end = if options.is_colored { RESET } else { "" };
        let lines = table.lines(&cells, indent.as_bytes(), format!("{end}\n").as_bytes());
        self.lines.raw(&lines);
    }

    pub(super) fn header(&mut self, words: &str) {
        self.lines.line(&self.options.colors.header, words);
    }

    /// A hint, if hints are enabled.
    pub(super) fn hint(&mut self, words: &str) {
        if self.options.hints {
            self.header(words);
        }
    }

    /// The empty line after a section.
    pub(super) fn trailer(&mut self) {
        self.header("");
    }
}

fn words(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Added => "new file:",
        ChangeKind::Copied => "copied:",
        ChangeKind::Deleted => "deleted:",
        ChangeKind::Modified => "modified:",
        ChangeKind::Renamed => "renamed:",
        ChangeKind::TypeChanged => "typechange:",
    }
}

/// The changes inside a submodule, as they are shown after its path.
fn inside(change: &Change) -> String {
    let state = change.submodule.unwrap_or_default();
    let parts = [
        (state.new_commits, "new commits"),
        (state.modified, "modified content"),
        (state.untracked, "untracked content"),
    ];
    let differing = parts.iter().filter(|(differs, _)| *differs);
    let words: Vec<&str> = differing.map(|(_, words)| *words).collect();
    if words.is_empty() {
        String::new()
    } else {
        format!(" ({})", words.join(", "))
    }
}

/// The label of a path in conflict.
fn conflict_words(kind: ConflictKind) -> &'static str {
    match kind {
        ConflictKind::BothDeleted => "both deleted:",
        ConflictKind::AddedByUs => "added by us:",
        ConflictKind::DeletedByThem => "deleted by them:",
        ConflictKind::AddedByThem => "added by them:",
        ConflictKind::DeletedByUs => "deleted by us:",
        ConflictKind::BothAdded => "both added:",
        ConflictKind::BothModified => "both modified:",
    }
}
