//! Porcelain version 2: git-status(1) under "Porcelain Format Version 2".

use hedgerow::display::PathStyle;
use hedgerow::repository::CurrentBranch;
use hedgerow::repository::Mode;
use hedgerow::status::{Change, Conflict, Status, Version};
use hedgerow::ObjectId;

/// Options of porcelain version 2.
#[derive(Debug)]
pub struct PorcelainOptions<'a> {
    pub shown: PathStyle<'a>,
    /// `-z`: entries end with NUL, and paths are relative to the root and unquoted.
    pub null: bool,
    /// The number of stash entries, if it is to be shown.
    pub stash: Option<usize>,
    /// The id of all zeros.
    pub null_id: ObjectId,
}

/// The status, a line for each path, after header lines for the branch if requested.
pub fn porcelain(
    status: &Status,
    branch: Option<&CurrentBranch>,
    options: &PorcelainOptions<'_>,
) -> Vec<u8> {
    let mut lines = Lines {
        text: Vec::new(),
        options,
    };
    if let Some(branch) = branch {
        lines.branch(branch);
    }
    if let Some(count) = options.stash.filter(|count| *count > 0) {
        lines.header(&format!("stash {count}"));
    }
    let (unmerged, changed): (Vec<_>, Vec<_>) = status
        .changes
        .iter()
        .partition(|change| change.conflict.is_some());
    changed.iter().for_each(|change| lines.changed(change));
    unmerged.iter().for_each(|change| lines.unmerged(change));
    for (letter, paths) in [("?", &status.untracked), ("!", &status.ignored)] {
        for path in paths {
            lines.add(letter);
            lines.path(path);
            lines.end();
        }
    }
    lines.text
}

struct Lines<'a> {
    text: Vec<u8>,
    options: &'a PorcelainOptions<'a>,
}

impl Lines<'_> {
    fn branch(&mut self, branch: &CurrentBranch) {
        match branch.id {
            Some(id) => self.header(&format!("branch.oid {id}")),
            None => self.header("branch.oid (initial)"),
        }
        let name = branch.short_name().map_or(&b"(detached)"[..], |name| name);
        self.text.extend_from_slice(b"# branch.head ");
        self.text.extend_from_slice(name);
        self.end();
        let Some(tracking) = &branch.tracking else {
            return;
        };
        self.text.extend_from_slice(b"# branch.upstream ");
        self.text.extend_from_slice(&branch.upstream);
        self.end();
        match (tracking.is_gone, tracking.ahead, tracking.behind) {
            (true, ..) => {}
            (_, ahead, behind) if branch.uncounted && (ahead, behind) != (0, 0) => {
                self.header("branch.ab +? -?");
            }
            (_, ahead, behind) => self.header(&format!("branch.ab +{ahead} -{behind}")),
        }
    }

    fn changed(&mut self, change: &Change) {
        let (staged, unstaged) = change.letters();
        self.add(if change.rename.is_some() { "2" } else { "1" });
        self.letters(staged, unstaged);
        let modes = [mode(change.head), mode(change.index), change.worktree];
        self.submodule(change, modes.contains(&Some(Mode::Gitlink)));
        modes.into_iter().for_each(|mode| self.mode(mode));
        [change.head, change.index]
            .into_iter()
            .for_each(|version| self.id(version));
        if let Some(rename) = &change.rename {
            let renamed = |kind: Option<hedgerow::status::ChangeKind>| {
                kind.map(|kind| kind.letter())
                    .filter(|letter| "RC".contains(*letter))
            };
            let letter = renamed(change.staged).or(renamed(change.unstaged));
            self.add(&format!("{}{}", letter.unwrap_or('R'), rename.similarity));
        }
        self.path(&change.path);
        if let Some(rename) = &change.rename {
            self.text.push(if self.options.null { 0 } else { b'\t' });
            let source = if self.options.null {
                rename.source.to_vec()
            } else {
                self.options.shown.path(&rename.source)
            };
            self.text.extend_from_slice(&source);
        }
        self.end();
    }

    fn unmerged(&mut self, change: &Change) {
        let (staged, unstaged) = change.letters();
        let Conflict { base, ours, theirs } = change.conflict.unwrap_or_default();
        let sides = [base, ours, theirs];
        self.add("u");
        self.letters(staged, unstaged);
        let is_submodule = [change.worktree, mode(change.index)].contains(&Some(Mode::Gitlink));
        self.submodule(change, is_submodule);
        sides.into_iter().for_each(|side| self.mode(mode(side)));
        self.mode(change.worktree);
        sides.into_iter().for_each(|side| self.id(side));
        self.path(&change.path);
        self.end();
    }

    fn header(&mut self, text: &str) {
        self.add("#");
        self.text.extend_from_slice(text.as_bytes());
        self.end();
    }

    /// Appends a field and a space.
    fn add(&mut self, field: &str) {
        self.text.extend_from_slice(field.as_bytes());
        self.text.push(b' ');
    }

    fn letters(&mut self, staged: char, unstaged: char) {
        let shown = |letter| if letter == ' ' { '.' } else { letter };
        self.add(&format!("{}{}", shown(staged), shown(unstaged)));
    }

    fn submodule(&mut self, change: &Change, is_submodule: bool) {
        let state = change.submodule.unwrap_or_default();
        let flag = |set: bool, letter| if set { letter } else { '.' };
        if !is_submodule {
            self.add("N...")
        } else {
            self.add(&format!(
                "S{}{}{}",
                flag(state.new_commits, 'C'),
                flag(state.modified, 'M'),
                flag(state.untracked, 'U')
            ))
        }
    }

    fn mode(&mut self, mode: Option<Mode>) {
        let mode = mode.map_or(0, Mode::to_u32);
        self.add(&format!("{mode:06o}"));
    }

    fn id(&mut self, version: Option<Version>) {
        let id = version.map_or(self.options.null_id, |version| version.id);
        self.add(&id.to_string());
    }

    fn path(&mut self, path: &[u8]) {
        if self.options.null {
            self.text.extend_from_slice(path)
        } else {
            self.text.extend_from_slice(&self.options.shown.path(path))
        }
    }

    fn end(&mut self) {
        self.text.push(if self.options.null { 0 } else { b'\n' });
    }
}

fn mode(version: Option<Version>) -> Option<Mode> {
    version.map(|version| version.mode)
}
