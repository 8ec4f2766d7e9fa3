//! The short format and porcelain version 1: git-status(1) under "Short Format".

use super::branch::Branch;
use super::letters::{letters, letters_of_short};
use super::paths::Shown;
use hedgerow_git::status::{Change, Status};

/// How the short format is written.
#[derive(Debug)]
pub struct ShortOptions<'a> {
    pub shown: Shown<'a>,
    /// `-z`: NUL ends entries, and paths are whole and unquoted.
    pub null: bool,
    /// Version 1 for programs: letters that never change.
    pub porcelain: bool,
}

/// The status, a line for each path, after a line for the branch if there is one.
pub fn short(status: &Status, branch: Option<&Branch>, options: &ShortOptions<'_>) -> Vec<u8> {
    let mut text = Vec::new();
    if let Some(branch) = branch {
        header(branch, &mut text);
        text.push(if options.null { 0 } else { b'\n' });
    }
    for change in &status.changes {
        changed(change, options, &mut text);
    }
    let lists = [("??", &status.untracked), ("!!", &status.ignored)];
    for (letters, paths) in lists {
        for path in paths {
            text.extend_from_slice(letters.as_bytes());
            text.push(b' ');
            end_path(path, options, &mut text);
        }
    }
    text
}

fn changed(change: &Change, options: &ShortOptions<'_>, text: &mut Vec<u8>) {
    let (staged, unstaged) = match options.porcelain {
        true => letters(change),
        false => letters_of_short(change),
    };
    text.extend_from_slice(&[staged as u8, unstaged as u8, b' ']);
    match (&change.rename, options.null) {
        (None, _) => end_path(&change.path, options, text),
        (Some(rename), true) => {
            end_path(&change.path, options, text);
            end_path(&rename.source, options, text);
        }
        (Some(rename), false) => {
            text.extend_from_slice(&options.shown.path_of_short(&rename.source));
            text.extend_from_slice(b" -> ");
            end_path(&change.path, options, text);
        }
    }
}

fn end_path(path: &[u8], options: &ShortOptions<'_>, text: &mut Vec<u8>) {
    if options.null {
        text.extend_from_slice(path);
        text.push(0);
    } else {
        text.extend_from_slice(&options.shown.path_of_short(path));
        text.push(b'\n');
    }
}

/// `## main...origin/main [ahead 1, behind 2]`.
fn header(branch: &Branch, text: &mut Vec<u8>) {
    text.extend_from_slice(b"## ");
    if branch.id.is_none() {
        text.extend_from_slice(b"No commits yet on ");
    }
    let Some(name) = branch.short_name() else {
        text.extend_from_slice(b"HEAD (no branch)");
        return;
    };
    text.extend_from_slice(name);
    let Some(tracking) = &branch.tracking else {
        return;
    };
    text.extend_from_slice(b"...");
    text.extend_from_slice(&branch.upstream);
    let (ahead, behind) = (tracking.ahead, tracking.behind);
    let relation = match (tracking.is_gone, ahead, behind) {
        (true, ..) => "gone".to_owned(),
        (_, 0, 0) => return,
        _ if branch.uncounted => "different".to_owned(),
        (_, ahead, 0) => format!("ahead {ahead}"),
        (_, 0, behind) => format!("behind {behind}"),
        (_, ahead, behind) => format!("ahead {ahead}, behind {behind}"),
    };
    text.extend_from_slice(format!(" [{relation}]").as_bytes());
}
