use crate::dirstate::Entry;
use hedgerow_fs::{FileKind, Stat, Timestamp};

/// The result for a tracked path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing that could be tracked exists.
    Missing,
    /// A file or a symbolic link exists; its state was not requested.
    Present,
    /// It is unchanged.
    Clean,
    /// It has changed.
    Modified,
    /// Its content must be compared.
    Undecided,
}

impl Verdict {
    pub fn from_number(number: u8) -> Self {
        match number {
            1 => Verdict::Present,
            2 => Verdict::Clean,
            3 => Verdict::Modified,
            4 => Verdict::Undecided,
            _ => Verdict::Missing,
        }
    }

    pub fn number(self) -> u8 {
        self as u8
    }
}

/// Maximum distance of a file's time into the future, in seconds, for which the file is treated as
/// newer than the clock; later times come from a wrong clock.
const FUTURE_SECONDS: i64 = 24 * 60 * 60;

/// Judges a path by its kind alone, if that is enough.
pub(super) fn by_kind(entry: &Entry, kind: Option<FileKind>) -> Option<Verdict> {
    match kind {
        None => None,
        Some(FileKind::File | FileKind::Symlink) => {
            (!entry.may_be_clean()).then_some(Verdict::Present)
        }
        Some(_) => Some(Verdict::Missing),
    }
}

/// Judges a path by its stat data. `now` is a time not later than the stat call.
pub(super) fn by_stat(entry: &Entry, is_copy: bool, stat: &Stat, now: Timestamp) -> Verdict {
    let verdict = by_kind(entry, Some(stat.kind));
    verdict.unwrap_or_else(|| by_look(entry, is_copy, stat, now))
}

/// Judges a path in an ignored directory. Anything in the place of a tracked file counts as a file
/// there, because Mercurial does not check its kind.
pub(super) fn by_stat_of_anything(
    entry: &Entry,
    is_copy: bool,
    stat: &Stat,
    now: Timestamp,
) -> Verdict {
    if entry.may_be_clean() {
        by_look(entry, is_copy, stat, now)
    } else {
        Verdict::Present
    }
}

/// Judges a file that may be clean.
fn by_look(entry: &Entry, is_copy: bool, stat: &Stat, now: Timestamp) -> Verdict {
    let is_symlink = stat.kind == FileKind::Symlink;
    let Some(expected) = entry.expected else {
        return if is_copy {
            Verdict::Modified
        } else {
            Verdict::Undecided
        };
    };
    let is_same_size = expected.has_size(stat.size);
    if is_copy || !is_same_size || expected.executable != stat.is_executable() {
        // Some file systems report a size for links that differs from the length of their target.
        return if is_symlink && !is_same_size {
            Verdict::Undecided
        } else {
            Verdict::Modified
        };
    }
    if expected
        .symlink
        .is_some_and(|symlink| symlink != is_symlink)
    {
        return Verdict::Modified;
    }
    let is_unchanged = entry.mtime.is_some_and(|mtime| mtime.is(stat.mtime));
    if is_unchanged && is_past(stat.mtime, now) {
        Verdict::Clean
    } else {
        Verdict::Undecided
    }
}

/// Whether a file with this time could not be changed again without getting a later time.
fn is_past(time: Timestamp, now: Timestamp) -> bool {
    match time.seconds - now.seconds {
        0 => time.nanoseconds != 0 && time.nanoseconds < now.nanoseconds,
        later => !(1..FUTURE_SECONDS).contains(&later),
    }
}
