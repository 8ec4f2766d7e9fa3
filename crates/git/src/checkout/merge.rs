//! What happens to one path when HEAD moves: the rules of git's two-way merge (documented in
//! git-read-tree(1)) and of its one-way reset, as pure functions.

use super::rejects::Reason;
use crate::tree::Side;

/// The index's content at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Current {
    /// Nothing.
    Absent,
    /// One entry, not in conflict.
    Merged(Side),
    /// Several stages of an unfinished merge.
    Unmerged,
}

/// What to do at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Leave index and file as they are.
    Keep,
    /// Write this to the index and the file. The file must match the index, or be absent if the
    /// index has no entry.
    Write(Side),
    /// Remove it from both. The file must match the index.
    Remove,
    /// It is and stays out of the index; nothing may be in its place.
    StayAbsent,
    /// It is and stays out of the index, whatever is in its place.
    Ignore,
    /// Refuse: something would be lost.
    Reject(Reason),
}

/// Two-way merge from the tree `old` to the tree `new` that carries staged changes along.
/// `initial`: there was no index before, so nothing can be staged.
pub(crate) fn two_way(
    current: Current,
    old: Option<Side>,
    new: Option<Side>,
    initial: bool,
) -> Action {
    match current {
        Current::Absent => match (old, new) {
            (Some(_), Some(_)) if initial => new.map_or(Action::Ignore, Action::Write),
            (Some(old), Some(new)) if old == new => Action::Ignore,
            (Some(_), Some(_)) => Action::Reject(Reason::WouldOverwrite),
            (None, Some(new)) => Action::Write(new),
            (Some(_), None) => Action::StayAbsent,
            (None, None) => Action::Ignore,
        },
        Current::Unmerged => Action::Reject(Reason::WouldOverwrite),
        Current::Merged(current) => match (old, new) {
            (None, None) => Action::Keep,
            (_, Some(new)) if new == current => Action::Keep,
            (Some(old), Some(new)) if old == new => Action::Keep,
            (Some(old), Some(new)) if old == current => Action::Write(new),
            (Some(old), None) if old == current => Action::Remove,
            _ => Action::Reject(Reason::WouldOverwrite),
        },
    }
}

/// One-way reset: the index becomes `new`, whatever it has. `dirty`: the file does not match the
/// index.
pub(crate) fn one_way(current: Current, new: Option<Side>, dirty: bool) -> Action {
    match (current, new) {
        (Current::Absent, None) => Action::Ignore,
        (_, None) => Action::Remove,
        (Current::Merged(current), Some(new)) if current == new && !dirty => Action::Keep,
        (_, Some(new)) => Action::Write(new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_tree::EntryKind;

    fn side(byte: u8) -> Side {
        Side {
            kind: EntryKind::File,
            id: gix_hash::ObjectId::Sha1([byte; 20]),
        }
    }

    /// The cases of the table in git-read-tree(1), by their numbers there.
    #[test]
    fn the_two_way_table_holds() {
        let (a, b, c) = (side(1), side(2), side(3));
        let have = Current::Merged;
        let reject = Action::Reject(Reason::WouldOverwrite);
        let cases = [
            ("0", Current::Absent, None, None, Action::Ignore),
            ("1", Current::Absent, None, Some(a), Action::Write(a)),
            ("2", Current::Absent, Some(a), None, Action::StayAbsent),
            ("3 same", Current::Absent, Some(a), Some(a), Action::Ignore),
            ("3 differs", Current::Absent, Some(a), Some(b), reject),
            ("4", have(a), None, None, Action::Keep),
            ("6", have(a), None, Some(a), Action::Keep),
            ("8", have(a), None, Some(b), reject),
            ("10", have(a), Some(a), None, Action::Remove),
            ("12", have(a), Some(b), None, reject),
            ("14", have(a), Some(b), Some(b), Action::Keep),
            ("16", have(a), Some(b), Some(c), reject),
            ("18", have(a), Some(b), Some(a), Action::Keep),
            ("20", have(a), Some(a), Some(b), Action::Write(b)),
        ];
        for (case, current, old, new, expected) in cases {
            assert_eq!(two_way(current, old, new, false), expected, "case {case}");
        }
    }

    #[test]
    fn a_first_checkout_has_no_staged_deletions() {
        let a = side(1);
        assert_eq!(
            two_way(Current::Absent, Some(a), Some(a), true),
            Action::Write(a)
        );
    }

    #[test]
    fn a_change_of_mode_alone_is_a_change() {
        let file = side(1);
        let executable = Side {
            kind: EntryKind::Executable,
            ..file
        };
        let action = two_way(Current::Merged(file), Some(file), Some(executable), false);
        assert_eq!(action, Action::Write(executable));
    }

    #[test]
    fn a_reset_overrides_everything_but_what_is_right_already() {
        let (a, b) = (side(1), side(2));
        let have = Current::Merged;
        assert_eq!(one_way(have(a), Some(a), false), Action::Keep);
        assert_eq!(one_way(have(a), Some(a), true), Action::Write(a));
        assert_eq!(one_way(have(a), Some(b), false), Action::Write(b));
        assert_eq!(one_way(have(a), None, true), Action::Remove);
        assert_eq!(one_way(Current::Unmerged, Some(a), false), Action::Write(a));
        assert_eq!(one_way(Current::Unmerged, None, false), Action::Remove);
        assert_eq!(one_way(Current::Absent, Some(a), false), Action::Write(a));
    }
}
