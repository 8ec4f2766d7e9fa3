//! How changed files are named.

use crate::display::quoted;
use crate::index::Mode;
use crate::status::rename::{Filepair, Side};
use bstr::ByteSlice;

/// The name of a changed file: a path, or where it came from and where it went. With a remark about
/// what else changed if that is `compact`.
pub(super) fn shown(pair: &Filepair, high: bool, compact: bool) -> Vec<u8> {
    let mut name = moved(pair, high);
    if let Some(remark) = remark(pair).filter(|_| compact) {
        name.extend_from_slice(format!(" ({remark})").as_bytes());
    }
    name
}

/// The path; of a renamed or copied file both, with what they have in common written once.
pub(super) fn moved(pair: &Filepair, high: bool) -> Vec<u8> {
    let path = |side: &Option<Side>| side.as_ref().map(|side| side.path.clone());
    let (old, new) = (path(&pair.old), path(&pair.new));
    match (pair.origin, old, new) {
        (Some(_), Some(old), Some(new)) => joined(&old, &new, high),
        (_, old, new) => quoted(&new.or(old).unwrap_or_default(), high),
    }
}

/// `old => new`, with the directories that both begin or end with outside of braces.
fn joined(old: &[u8], new: &[u8], high: bool) -> Vec<u8> {
    let shown = [quoted(old, high), quoted(new, high)];
    if shown[0] != old || shown[1] != new {
        return shown.join(&b" => "[..]);
    }
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let start = old[..same].rfind_byte(b'/').map_or(0, |slash| slash + 1);
    // The slash that ends the common start may also begin the common end.
    let from = start.saturating_sub(1);
    let tails = old[from..].iter().rev().zip(new[from..].iter().rev());
    let same = tails.take_while(|(a, b)| a == b).count();
    let tail = &old[old.len() - same..];
    let end = tail.find_byte(b'/').map_or(0, |slash| same - slash);
    let middle = |path: &[u8]| path[start..(path.len() - end).max(start)].to_vec();
    let between = [middle(old), middle(new)].join(&b" => "[..]);
    if start + end == 0 {
        return between;
    }
    [&old[..start], b"{", &between, b"}", &old[old.len() - end..]].concat()
}

fn remark(pair: &Filepair) -> Option<&'static str> {
    let mode = |side: &Option<Side>| side.as_ref().map(|side| side.mode);
    match (mode(&pair.old), mode(&pair.new)) {
        (None, Some(Mode::Symlink)) => Some("new +l"),
        (None, Some(Mode::Executable)) => Some("new +x"),
        (None, Some(_)) => Some("new"),
        (Some(_), None) => Some("gone"),
        (Some(Mode::Symlink), Some(Mode::Symlink)) => None,
        (Some(Mode::Symlink), Some(_)) => Some("mode -l"),
        (Some(_), Some(Mode::Symlink)) => Some("mode +l"),
        (Some(Mode::File), Some(Mode::Executable)) => Some("mode +x"),
        (Some(Mode::Executable), Some(Mode::File)) => Some("mode -x"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_paths_have_in_common_is_written_once() {
        for (old, new, expected) in [
            ("a", "b", "a => b"),
            ("d/a", "d/b", "d/{a => b}"),
            ("a/f", "b/f", "{a => b}/f"),
            ("x/a/f", "x/b/f", "x/{a => b}/f"),
            ("a/f", "a/b/f", "a/{ => b}/f"),
            ("a/b/f", "a/f", "a/{b => }/f"),
            ("f", "a/f", "f => a/f"),
            ("a/a/f", "a/f", "a/{a => }/f"),
            ("xf", "yf", "xf => yf"),
            ("t\tb", "c", "\"t\\tb\" => c"),
        ] {
            let found = joined(old.as_bytes(), new.as_bytes(), true);
            assert_eq!(found.as_bstr(), expected, "{old} {new}");
        }
    }
}
