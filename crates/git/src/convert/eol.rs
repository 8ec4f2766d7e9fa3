//! Conversion of line ends.

use bstr::ByteSlice;

use super::options::{Eol, SafeCrlf};
use super::text_stats::TextStats;

/// The conversion of a file's line ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EolAction {
    /// No conversion, in either direction.
    #[default]
    Keep,
    /// The file is text, with these line ends in the working tree.
    Text(Eol),
    /// If the file looks like text, it has these line ends in the working tree.
    Auto(Eol),
}

impl EolAction {
    pub(super) fn is_auto(self) -> bool {
        matches!(self, EolAction::Auto(_))
    }

    /// Whether lines can get a carriage return in the working tree.
    pub(super) fn writes_crlf(self) -> bool {
        matches!(
            self,
            EolAction::Text(Eol::CrLf) | EolAction::Auto(Eol::CrLf)
        )
    }

    /// Whether a file with `stats` gets carriage returns in the working tree. Content that already
    /// has some is not taken for text, because the way back would remove all of them.
    fn adds_cr(self, stats: &TextStats) -> bool {
        self.writes_crlf()
            && stats.lone_lf > 0
            && !(self.is_auto() && (stats.lone_cr > 0 || stats.crlf > 0 || stats.is_binary()))
    }
}

/// Converts `content` for the working tree and appends it to `out`; false if it needs no change.
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

/// Adds a carriage return to each line feed without one, piece by piece.
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

/// Whether a conversion by [`to_git`] can be undone.
pub(super) enum RoundTrip {
    /// It can be undone, or that is not checked.
    Safe,
    /// A checkout would produce other line ends; with the message.
    Lossy(&'static str),
}

/// Converts `content` for the repository and appends it to `out`. Returns whether it did (otherwise
/// no change is needed), and whether a later checkout restores the content.
///
/// `index_has_crlf` returns whether the file in the index is text with carriage returns; it is
/// called only if needed.
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
        // As in git, a file with carriage returns in the index keeps them.
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

/// How the lines of `content` end, in the words of git-ls-files(1) under `%(eolinfo)`.
pub(crate) fn line_ends(content: &[u8]) -> &'static str {
    let stats = TextStats::of(content);
    match (stats.lone_lf > 0, stats.crlf > 0) {
        _ if stats.is_binary() => "-text",
        (true, true) => "mixed",
        (true, false) => "lf",
        (false, true) => "crlf",
        (false, false) => "none",
    }
}

/// Whether `content`, from the index, is text with carriage returns.
pub(super) fn has_crlf(content: &[u8]) -> bool {
    content.contains(&b'\r') && {
        let stats = TextStats::of(content);
        !stats.is_binary() && stats.crlf > 0
    }
}
