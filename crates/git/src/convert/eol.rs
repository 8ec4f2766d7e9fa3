//! Line ends.

use bstr::ByteSlice;

use super::options::{Eol, SafeCrlf};
use super::text_stats::TextStats;

/// What happens to the line ends of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EolAction {
    /// Nothing, either way.
    #[default]
    Keep,
    /// It is text, with these line ends in the working tree.
    Text(Eol),
    /// If it looks like text, it has these line ends in the working tree.
    Auto(Eol),
}

impl EolAction {
    fn is_auto(self) -> bool {
        matches!(self, EolAction::Auto(_))
    }

    /// Whether lines can get a carriage return in the working tree.
    pub(super) fn writes_crlf(self) -> bool {
        matches!(
            self,
            EolAction::Text(Eol::CrLf) | EolAction::Auto(Eol::CrLf)
        )
    }

    /// Whether a file with `stats` gets carriage returns in the working tree. Content that has
    /// any already is not guessed to be text: the way back would take them all.
    fn adds_cr(self, stats: &TextStats) -> bool {
        self.writes_crlf()
            && stats.lone_lf > 0
            && !(self.is_auto() && (stats.lone_cr > 0 || stats.crlf > 0 || stats.is_binary()))
    }
}

/// Appends `content` as the working tree has it to `out`; false if it needs no change.
pub(super) fn to_worktree(action: EolAction, content: &[u8], out: &mut Vec<u8>) -> bool {
    if !action.writes_crlf() || content.is_empty() {
        return false;
    }
    let lone_lf = if action.is_auto() {
        let stats = TextStats::of(content);
        if !action.adds_cr(&stats) {
            return false;
        }
        stats.lone_lf
    } else {
        let mut previous_is_cr = false;
        let mut count = 0;
        for &byte in content {
            count += usize::from(byte == b'\n' && !previous_is_cr);
            previous_is_cr = byte == b'\r';
        }
        count
    };
    if lone_lf == 0 {
        return false;
    }
    out.reserve(content.len() + lone_lf);
    let mut crlf = CrlfStream::default();
    crlf.push(content, out);
    true
}

/// Adds a carriage return to each line feed that has none, piece by piece.
#[derive(Debug, Default)]
pub(super) struct CrlfStream {
    previous_is_cr: bool,
}

impl CrlfStream {
    pub(super) fn push(&mut self, content: &[u8], out: &mut Vec<u8>) {
        let mut start = 0;
        for at in content.find_iter(b"\n") {
            let after_cr = match at.checked_sub(1).and_then(|before| content.get(before)) {
                Some(byte) => *byte == b'\r',
                None => self.previous_is_cr,
            };
            if !after_cr {
                out.extend_from_slice(&content[start..at]);
                out.push(b'\r');
                start = at;
            }
        }
        out.extend_from_slice(&content[start..]);
        if let Some(last) = content.last() {
            self.previous_is_cr = *last == b'\r';
        }
    }
}

/// What [`to_git`] says besides its content.
pub(super) enum RoundTrip {
    /// The conversion can be undone, or nobody asks.
    Safe,
    /// A checkout would give other line ends; the message says which.
    Lossy(&'static str),
}

/// Appends `content` as the repository has it to `out`, and tells whether it did (no change is
/// needed otherwise) and whether a later checkout gives the content back.
///
/// `index_has_crlf` tells whether the file in the index is text with carriage returns; it is
/// asked only if that matters.
pub(super) fn to_git(
    action: EolAction,
    content: &[u8],
    safe: SafeCrlf,
    out: &mut Vec<u8>,
    index_has_crlf: &mut dyn FnMut() -> crate::Result<bool>,
) -> crate::Result<(bool, RoundTrip)> {
    if action == EolAction::Keep || content.is_empty() {
        return Ok((false, RoundTrip::Safe));
    }
    let stats = TextStats::of(content);
    let mut strip = stats.crlf > 0;
    if action.is_auto() {
        if stats.is_binary() {
            return Ok((false, RoundTrip::Safe));
        }
        strip = strip && !index_has_crlf()?;
    }
    let round_trip = match safe {
        SafeCrlf::False => RoundTrip::Safe,
        _ => round_trip(action, &stats, strip),
    };
    if !strip {
        return Ok((false, round_trip));
    }
    out.reserve(content.len() - stats.crlf);
    let mut rest = content;
    while let Some(at) = rest.find(b"\r\n") {
        out.extend_from_slice(&rest[..at]);
        out.push(b'\n');
        rest = &rest[at + 2..];
    }
    out.extend_from_slice(rest);
    Ok((true, round_trip))
}

/// Compares the line ends before adding with those after adding and checking out.
fn round_trip(action: EolAction, before: &TextStats, strip: bool) -> RoundTrip {
    let mut after = *before;
    if strip {
        after.lone_lf += after.crlf;
        after.crlf = 0;
    }
    if action.adds_cr(&after) {
        after.crlf += after.lone_lf;
        after.lone_lf = 0;
    }
    if before.crlf > 0 && after.crlf == 0 {
        RoundTrip::Lossy("CRLF will be replaced by LF")
    } else if before.lone_lf > 0 && after.lone_lf == 0 {
        RoundTrip::Lossy("LF will be replaced by CRLF")
    } else {
        RoundTrip::Safe
    }
}

/// Whether `content`, of the index, is text with carriage returns in it.
pub(super) fn has_crlf(content: &[u8]) -> bool {
    content.contains(&b'\r') && {
        let stats = TextStats::of(content);
        !stats.is_binary() && stats.crlf > 0
    }
}
