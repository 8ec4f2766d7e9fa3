//! `--format`: what is shown of each file of the index.

use super::lines::Lines;
use super::model::Line;
use crate::index::{Entry, Mode};
use crate::{Error, Result};
use bstr::{BStr, ByteSlice};

/// The width of a size that is padded.
const SIZE_WIDTH: usize = 7;

/// A format, taken apart.
#[derive(Debug)]
pub(super) struct Format {
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Text(Vec<u8>),
    Mode,
    Name,
    Kind,
    Size { padded: bool },
    Stage,
    Path,
    LineEndsInIndex,
    LineEndsInWorktree,
    LineEndAttributes,
}

/// Whether `format` may show how lines end.
pub fn shows_line_ends(format: &BStr) -> bool {
    format.contains_str("%(eol")
}

/// Whether `format` may show sizes of objects.
pub(super) fn shows_sizes(format: &BStr) -> bool {
    format.contains_str("%(objectsize")
}

/// Whether the size of the object of `entry` is shown.
pub(super) fn has_size(entry: &Entry) -> bool {
    kind(entry.mode) == "blob"
}

impl Format {
    /// Takes a format apart.
    pub(super) fn parse(format: &BStr) -> Result<Self> {
        let mut parts = Vec::new();
        let mut rest: &[u8] = format;
        while let Some(at) = rest.find_byte(b'%') {
            parts.push(Part::Text(rest[..at].to_vec()));
            rest = &rest[at + 1..];
            let (part, taken) = part(rest)?;
            parts.push(part);
            rest = &rest[taken..];
        }
        parts.push(Part::Text(rest.to_vec()));
        Ok(Format { parts })
    }

    /// Appends what is shown of `entry`.
    pub(super) fn show(
        &self,
        lines: &Lines<'_>,
        line: &Line<'_>,
        entry: &Entry,
        text: &mut Vec<u8>,
    ) -> Result<()> {
        let line_ends = lines.line_ends.as_ref();
        let line_ends = line_ends
            .map(|reader| reader.line_ends(line))
            .unwrap_or_default();
        for part in &self.parts {
            match part {
                Part::Text(content) => text.extend_from_slice(content),
                Part::Mode => {
                    let mode = format!("{:06o}", entry.mode.to_u32());
                    text.extend_from_slice(mode.as_bytes());
                }
                Part::Name => text.extend_from_slice(lines.id(&entry.id)?.as_bytes()),
                Part::Kind => text.extend_from_slice(kind(entry.mode).as_bytes()),
                Part::Size { padded } => {
                    let size = size(lines, entry)?;
                    let width = if *padded { SIZE_WIDTH } else { 0 };
                    text.extend_from_slice(format!("{size:>width$}").as_bytes());
                }
                Part::Stage => text.push(b'0' + entry.flags.stage.number()),
                Part::Path => lines.path(line.path, text),
                Part::LineEndsInIndex => text.extend_from_slice(line_ends.index.as_bytes()),
                Part::LineEndsInWorktree => text.extend_from_slice(line_ends.worktree.as_bytes()),
                Part::LineEndAttributes => text.extend_from_slice(line_ends.attributes.as_bytes()),
            }
        }
        Ok(())
    }
}

/// The part that begins after a percent sign, and how many bytes it takes.
fn part(rest: &[u8]) -> Result<(Part, usize)> {
    let text = |byte: u8, taken| Ok((Part::Text(vec![byte]), taken));
    match rest {
        [b'%', ..] => return text(b'%', 1),
        [b'n', ..] => return text(b'\n', 1),
        [b'x', high, low, ..] => {
            let digits = std::str::from_utf8(&rest[1..3]).ok();
            let digits = digits.filter(|_| high.is_ascii_hexdigit() && low.is_ascii_hexdigit());
            if let Some(byte) = digits.and_then(|it| u8::from_str_radix(it, 16).ok()) {
                return text(byte, 3);
            }
        }
        _ => {}
    }
    let shown = rest.as_bstr();
    if !rest.starts_with(b"(") {
        return Err(refused(format!(
            "bad ls-files format: element '{shown}' does not start with '('"
        )));
    }
    let Some(end) = rest.find_byte(b')') else {
        return Err(refused(format!(
            "bad ls-files format: element '{shown}' does not end in ')'"
        )));
    };
    let part = match &rest[1..end] {
        b"objectmode" => Part::Mode,
        b"objectname" => Part::Name,
        b"objecttype" => Part::Kind,
        b"objectsize" => Part::Size { padded: false },
        b"objectsize:padded" => Part::Size { padded: true },
        b"stage" => Part::Stage,
        b"path" => Part::Path,
        b"eolinfo:index" => Part::LineEndsInIndex,
        b"eolinfo:worktree" => Part::LineEndsInWorktree,
        b"eolattr" => Part::LineEndAttributes,
        _ => {
            let element = rest[..=end].as_bstr();
            return Err(refused(format!("bad ls-files format: %{element}")));
        }
    };
    Ok((part, end + 1))
}

fn refused(reason: String) -> Error {
    Error::Setup { reason }
}

fn kind(mode: Mode) -> &'static str {
    match mode {
        Mode::Gitlink => "commit",
        Mode::SparseDirectory => "tree",
        _ => "blob",
    }
}

fn size(lines: &Lines<'_>, entry: &Entry) -> Result<String> {
    if !has_size(entry) {
        return Ok("-".into());
    }
    match lines.repository.object_size(&entry.id) {
        Ok(size) => Ok(size.to_string()),
        Err(_) => Err(refused(format!(
            "could not get object info about '{}'",
            entry.id
        ))),
    }
}
