//! The short format and porcelain version 1: git-status(1) under "Short Format".

use hedgerow::display::paint;
use hedgerow::display::PathStyle;
use hedgerow::repository::CurrentBranch;
use hedgerow::status::Colors;
use hedgerow::status::{Change, Status};

/// Options of the short format.
#[derive(Debug)]
pub struct ShortOptions<'a> {
    pub shown: PathStyle<'a>,
    /// `-z`: entries end with NUL, and paths are relative to the root and unquoted.
    pub null: bool,
    /// Whether to write porcelain version 1, whose letters never change.
    pub porcelain: bool,
    pub colors: &'a Colors,
}

/// The status, a line for each path, after a line for the branch if it is given.
pub fn short(
    status: &Status,
    branch: Option<&CurrentBranch>,
    options: &ShortOptions<'_>,
) -> Vec<u8> {
    let mut text = Vec::new();
    if let Some(branch) = branch {
        header(branch, options.colors, &mut text);
        text.push(if options.null { 0 } else { b'\n' });
    }
    for change in &status.changes {
        changed(change, options, &mut text);
    }
    for (letters, paths) in [(b"??", &status.untracked), (b"!!", &status.ignored)] {
        for path in paths {
            paint(&mut text, &options.colors.untracked, &[letters]);
            text.push(b' ');
            end_path(path, options, &mut text);
        }
    }
    text
}

fn changed(change: &Change, options: &ShortOptions<'_>, text: &mut Vec<u8>) {
    let (staged, unstaged) = if options.porcelain {
        change.letters()
    } else {
        change.letters_of_short()
    };
    let (staged, unstaged) = (staged as u8, unstaged as u8);
    let colors = options.colors;
    if change.conflict.is_some() {
        paint(text, &colors.unmerged, &[&[staged, unstaged]]);
    } else {
        for (letter, color) in [(staged, &colors.updated), (unstaged, &colors.changed)] {
            match letter {
                b' ' => text.push(letter),
                _ => paint(text, color, &[&[letter]]),
            }
        }
    }
    text.push(b' ');
    match (&change.rename, options.null) {
        (None, _) => end_path(&change.path, options, text),
        (Some(rename), true) => {
            end_path(&change.path, options, text);
            end_path(&rename.source, options, text);
        }
        (Some(rename), false) => {
            options.shown.push_path_of_short(&rename.source, text);
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
        options.shown.push_path_of_short(path, text);
        text.push(b'\n');
    }
}

/// `## main...origin/main [ahead 1, behind 2]`.
fn header(branch: &CurrentBranch, colors: &Colors, text: &mut Vec<u8>) {
    let Colors {
        header,
        local_branch,
        remote_branch,
        ..
    } = colors;
    paint(text, header, &[b"## "]);
    if branch.id.is_none() {
        paint(text, header, &[b"No commits yet on "]);
    }
    let Some(name) = branch.short_name() else {
        return paint(text, &colors.no_branch, &[b"HEAD (no branch)"]);
    };
    paint(text, local_branch, &[name]);
    let Some(tracking) = &branch.tracking else {
        return;
    };
    paint(text, header, &[b"..."]);
    paint(text, remote_branch, &[&branch.upstream]);
    let (ahead, behind) = (tracking.ahead, tracking.behind);
    if !tracking.is_gone && ahead == 0 && behind == 0 {
        return;
    }
    paint(text, header, &[b" ["]);
    if tracking.is_gone {
        paint(text, header, &[b"gone"]);
    } else if branch.uncounted {
        paint(text, header, &[b"different"]);
    } else {
        if ahead > 0 {
            paint(text, header, &[b"ahead "]);
            paint(text, local_branch, &[ahead.to_string().as_bytes()]);
        }
        if behind > 0 {
            let link: &[u8] = if ahead > 0 { b", " } else { b"" };
            paint(text, header, &[link, b"behind "]);
            paint(text, remote_branch, &[behind.to_string().as_bytes()]);
        }
    }
    paint(text, header, &[b"]"]);
}
