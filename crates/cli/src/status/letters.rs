//! The two status letters of a change.

use hedgerow::status::{Change, Conflict};

/// The letters for HEAD against the index and for the index against the working tree; a space means
/// no difference.
pub fn letters(change: &Change) -> (char, char) {
    if let Some(conflict) = &change.conflict {
        return of_conflict(conflict);
    }
    let letter = |kind: Option<hedgerow::status::ChangeKind>| kind.map_or(' ', |k| k.letter());
    (letter(change.staged), letter(change.unstaged))
}

/// The same, but changes inside a submodule have letters of their own, as in the short format.
pub fn letters_of_short(change: &Change) -> (char, char) {
    let (staged, unstaged) = letters(change);
    match &change.submodule {
        Some(state) if change.conflict.is_none() && change.unstaged.is_some() => {
            let inside = match (state.new_commits, state.modified, state.untracked) {
                (true, ..) => 'M',
                (_, true, _) => 'm',
                (.., true) => '?',
                _ => unstaged,
            };
            (staged, inside)
        }
        _ => (staged, unstaged),
    }
}

fn of_conflict(conflict: &Conflict) -> (char, char) {
    let (base, ours) = (conflict.base.is_some(), conflict.ours.is_some());
    match (base, ours, conflict.theirs.is_some()) {
        (true, false, false) => ('D', 'D'),
        (false, true, false) => ('A', 'U'),
        (true, true, false) => ('U', 'D'),
        (false, false, true) => ('U', 'A'),
        (true, false, true) => ('D', 'U'),
        (false, true, true) => ('A', 'A'),
        _ => ('U', 'U'),
    }
}
