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
    /// It is and stays out of the index; nothing may be in the place of this, which the tree before
    /// has.
    StayAbsent(Side),
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
            (Some(old), None) => Action::StayAbsent(old),
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

/// What a tree has at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InTree {
    /// Nothing.
    Absent,
    /// A directory there, or a file in the place of a directory above.
    Conflict,
    /// A file.
    Entry(Side),
}

impl InTree {
    /// The file.
    pub(crate) fn side(self) -> Option<Side> {
        match self {
            InTree::Entry(side) => Some(side),
            InTree::Absent | InTree::Conflict => None,
        }
    }

    /// Whether it is known to equal `side`.
    fn equals(self, side: Option<Side>) -> bool {
        self != InTree::Conflict && self.side() == side
    }
}

/// Result of a merge of three trees at one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThreeWay {
    /// It is resolved, or refused.
    Action(Action),
    /// It is left to be merged: the stages 1 to 3. The file must match the index.
    Stages([Option<Side>; 3]),
}

/// Three-way merge of `head` and `remote`, whose common ancestors are `ancestors`: the table in
/// git-read-tree(1). `aggressive`: resolves deletions, too.
pub(crate) fn three_way(
    current: Current,
    ancestors: &[InTree],
    (head_tree, remote_tree): (InTree, InTree),
    aggressive: bool,
) -> ThreeWay {
    let (head, remote) = (head_tree.side(), remote_tree.side());
    let differ = head != remote;
    let matched = |side| differ && ancestors.iter().any(|ancestor| ancestor.equals(side));
    let (head_matches, remote_matches) = (matched(head), matched(remote));
    let is_there = current != Current::Absent;
    let is = |side: Option<Side>| side.is_some_and(|side| current == Current::Merged(side));
    let reject = ThreeWay::Action(Action::Reject(Reason::WouldOverwrite));
    let take = |side: Side| {
        ThreeWay::Action(if current == Current::Merged(side) {
            Action::Keep
        } else {
            Action::Write(side)
        })
    };
    // Cases 14, 14ALT and 2ALT: the index may have the result already.
    if let (Some(remote), true, false) = (remote, head_matches, remote_matches) {
        if head_tree != InTree::Conflict {
            let fits = !is_there || is(Some(remote)) || is(head);
            return if fits { take(remote) } else { reject };
        }
    }
    if is_there && !is(head) {
        return reject;
    }
    if let Some(ours) = head {
        // Cases 5ALT and 15, then 13 and 3ALT.
        let is_unchanged = remote_tree != InTree::Conflict && remote_matches && !head_matches;
        if !differ || is_unchanged {
            return take(ours);
        }
    }
    let is_missing = |ancestor: &InTree| ancestor.side().is_none();
    if head.is_none() && remote.is_none() && ancestors.iter().any(is_missing) {
        return ThreeWay::Action(Action::Ignore);
    }
    let is_deleted = match (head, remote) {
        (None, None) => true,
        (None, Some(_)) => remote_matches,
        (Some(_), None) => head_matches,
        (Some(_), Some(_)) => false,
    };
    if aggressive && is_deleted {
        return ThreeWay::Action(match (is_there, head) {
            (true, _) => Action::Remove,
            (false, Some(head)) => Action::StayAbsent(head),
            (false, None) => Action::Ignore,
        });
    }
    let base = ancestors.iter().find_map(|ancestor| ancestor.side());
    let base = base.filter(|_| !head_matches || !remote_matches);
    ThreeWay::Stages([base, head, remote])
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
            ("2", Current::Absent, Some(a), None, Action::StayAbsent(a)),
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

    /// The cases of the table in git-read-tree(1), by their numbers there.
    #[test]
    fn the_three_way_table_holds() {
        let (a, b, c) = (side(1), side(2), side(3));
        let none = InTree::Absent;
        let [ta, tb, tc] = [a, b, c].map(InTree::Entry);
        let have = Current::Merged;
        let gone = Current::Absent;
        let action = ThreeWay::Action;
        let reject = action(Action::Reject(Reason::WouldOverwrite));
        let stages = |base, head, remote| ThreeWay::Stages([base, head, remote]);
        for (case, current, base, head, remote, expected) in [
            ("2", gone, none, none, ta, action(Action::Write(a))),
            ("2ALT", have(a), none, none, ta, action(Action::Keep)),
            ("2 other", have(b), none, none, ta, reject),
            ("3", gone, none, ta, none, action(Action::Write(a))),
            ("3ALT", have(a), none, ta, none, action(Action::Keep)),
            ("3 other", have(b), none, ta, none, reject),
            ("4", have(a), none, ta, tb, stages(None, Some(a), Some(b))),
            ("4 other", have(c), none, ta, tb, reject),
            ("5ALT", have(a), none, ta, ta, action(Action::Keep)),
            ("5 absent", gone, none, ta, ta, action(Action::Write(a))),
            ("5 other", have(b), none, ta, ta, reject),
            ("6", gone, ta, none, none, stages(Some(a), None, None)),
            ("6 there", have(a), ta, none, none, reject),
            ("7", gone, ta, none, tb, stages(Some(a), None, Some(b))),
            ("7 there", have(a), ta, none, tb, reject),
            ("8", gone, ta, none, ta, stages(Some(a), None, Some(a))),
            ("9", have(b), ta, tb, none, stages(Some(a), Some(b), None)),
            ("9 other", have(c), ta, tb, none, reject),
            ("10", have(a), ta, ta, none, stages(Some(a), Some(a), None)),
            ("11", have(b), ta, tb, tc, stages(Some(a), Some(b), Some(c))),
            ("11 other", have(a), ta, tb, tc, reject),
            ("13", have(b), ta, tb, ta, action(Action::Keep)),
            ("13 other", have(c), ta, tb, ta, reject),
            ("14", have(a), ta, ta, tb, action(Action::Write(b))),
            ("14ALT", have(b), ta, ta, tb, action(Action::Keep)),
            ("14 other", have(c), ta, ta, tb, reject),
            ("15", have(b), ta, tb, tb, action(Action::Keep)),
            ("15 other", have(a), ta, tb, tb, reject),
            (
                "D/F",
                gone,
                none,
                ta,
                InTree::Conflict,
                stages(None, Some(a), None),
            ),
        ] {
            let found = three_way(current, &[base], (head, remote), false);
            assert_eq!(found, expected, "case {case}");
        }
        // Several ancestors: case 16.
        let found = three_way(have(a), &[ta, tb], (ta, tb), false);
        assert_eq!(found, stages(None, Some(a), Some(b)));
    }

    #[test]
    fn aggressive_merges_resolve_deletions() {
        let a = side(1);
        let (none, there) = (InTree::Absent, InTree::Entry(a));
        let merged =
            |current, base, head, remote| three_way(current, &[base], (head, remote), true);
        let action = ThreeWay::Action;
        let gone = Current::Absent;
        assert_eq!(merged(gone, there, none, none), action(Action::Ignore));
        assert_eq!(merged(gone, there, none, there), action(Action::Ignore));
        assert_eq!(
            merged(gone, there, there, none),
            action(Action::StayAbsent(a))
        );
        let have = Current::Merged(a);
        assert_eq!(merged(have, there, there, none), action(Action::Remove));
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
