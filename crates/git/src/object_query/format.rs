//! The format of a line about an object: git-cat-file(1) under "BATCH OUTPUT".

use super::output::{push_hex, push_number};
use crate::display::Document;
use crate::{Error, Result};
use hedgerow_pack::{ObjectId, ObjectKind};

/// The name of the schema of JSON.
const SCHEMA: &str = "hedgerow.cat-file.v1";

/// A compiled format of a line.
#[derive(Clone, Debug)]
pub struct Format {
    pieces: Vec<Piece>,
    pub(super) needs: Needs,
}

/// What a format asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    pub kind: bool,
    pub size: bool,
    pub disk: bool,
    pub base: bool,
    pub rest: bool,
    pub mode: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(Vec<u8>),
    Name,
    Kind,
    Size,
    Disk,
    Base,
    Rest,
    Mode,
    Document,
}

/// What is known of an object. What was not asked for is left out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts<'a> {
    pub id: &'a [u8],
    pub kind: Option<ObjectKind>,
    pub size: u64,
    pub disk: u64,
    /// `None`: it is no delta.
    pub base: Option<ObjectId>,
    pub rest: &'a [u8],
    pub mode: Option<u32>,
}

impl Format {
    /// Compiles `text`; without one, the usual format.
    ///
    /// # Errors
    /// [`Error::Query`] if a placeholder is unknown or has no end.
    pub fn parse(text: Option<&[u8]>) -> Result<Self> {
        let mut rest = text.unwrap_or(b"%(objectname) %(objecttype) %(objectsize)");
        let mut format = Format {
            pieces: Vec::new(),
            needs: Needs::default(),
        };
        while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
            format.text(rest.get(..at).unwrap_or_default());
            let after = rest.get(at + 1..).unwrap_or_default();
            rest = match after.first() {
                Some(b'(') => format.atom(after)?,
                Some(b'%') => {
                    format.text(b"%");
                    after.get(1..).unwrap_or_default()
                }
                _ => {
                    format.text(b"%");
                    after
                }
            };
        }
        format.text(rest);
        Ok(format)
    }

    /// The id, type and size as a JSON object, schema `hedgerow.cat-file.v1`.
    pub fn json() -> Self {
        Format {
            pieces: vec![Piece::Document],
            needs: Needs {
                kind: true,
                size: true,
                ..Needs::default()
            },
        }
    }

    /// Whether lines are JSON objects.
    pub(super) fn is_json(&self) -> bool {
        self.pieces == [Piece::Document]
    }

    /// Takes an atom off `rest`, which starts with its parenthesis.
    fn atom<'t>(&mut self, rest: &'t [u8]) -> Result<&'t [u8]> {
        let Some(end) = rest.iter().position(|byte| *byte == b')') else {
            let rest = String::from_utf8_lossy(rest);
            let reason = format!("bad cat-file format: element '{rest}' does not end in ')'");
            return Err(Error::Query { reason });
        };
        let needs = &mut self.needs;
        let (piece, need) = match rest.get(1..end).unwrap_or_default() {
            b"objectname" => (Piece::Name, None),
            b"objecttype" => (Piece::Kind, Some(&mut needs.kind)),
            b"objectsize" => (Piece::Size, Some(&mut needs.size)),
            b"objectsize:disk" => (Piece::Disk, Some(&mut needs.disk)),
            b"deltabase" => (Piece::Base, Some(&mut needs.base)),
            b"rest" => (Piece::Rest, Some(&mut needs.rest)),
            b"objectmode" => (Piece::Mode, Some(&mut needs.mode)),
            _ => {
                let atom = String::from_utf8_lossy(rest.get(..=end).unwrap_or_default());
                let reason = format!("bad cat-file format: %{atom}");
                return Err(Error::Query { reason });
            }
        };
        if let Some(need) = need {
            *need = true;
        }
        self.pieces.push(piece);
        Ok(rest.get(end + 1..).unwrap_or_default())
    }

    fn text(&mut self, text: &[u8]) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::Text(before)) => before.extend_from_slice(text),
            _ => self.pieces.push(Piece::Text(text.to_vec())),
        }
    }

    /// Appends what it makes of `facts`.
    pub(super) fn write(&self, buffer: &mut Vec<u8>, facts: &Facts<'_>) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => buffer.extend_from_slice(text),
                Piece::Name => push_hex(buffer, facts.id),
                Piece::Kind => {
                    let name = facts.kind.map_or("", ObjectKind::name);
                    buffer.extend_from_slice(name.as_bytes());
                }
                Piece::Size => push_number(buffer, facts.size),
                Piece::Disk => push_number(buffer, facts.disk),
                Piece::Base => match &facts.base {
                    Some(base) => push_hex(buffer, base.as_slice()),
                    None => buffer.resize(buffer.len() + facts.id.len() * 2, b'0'),
                },
                Piece::Document => write_document(buffer, facts),
                Piece::Rest => buffer.extend_from_slice(facts.rest),
                Piece::Mode => {
                    let mode = facts.mode.map(|mode| format!("{mode:06o}"));
                    buffer.extend_from_slice(mode.unwrap_or_default().as_bytes());
                }
            }
        }
    }
}

fn write_document(buffer: &mut Vec<u8>, facts: &Facts<'_>) {
    let mut id = Vec::with_capacity(2 * facts.id.len());
    push_hex(&mut id, facts.id);
    let mut document = Document::begin(buffer, SCHEMA);
    document.bytes("object", &id);
    document.text("type", facts.kind.map_or("", ObjectKind::name));
    document.number("size_bytes", facts.size);
    if let Some(mode) = facts.mode {
        document.number("mode", mode.into());
    }
    document.end();
}

/// Appends that `name` leads to no object, for the reason that `word` says, and where it leads.
pub(super) fn write_nothing(buffer: &mut Vec<u8>, name: &[u8], word: &str, path: Option<&[u8]>) {
    let mut document = Document::begin(buffer, SCHEMA);
    document.bytes("name", name).text("problem", word);
    if let Some(path) = path {
        document.bytes("path", path);
    }
    document.end();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> std::result::Result<String, String> {
        let format = Format::parse(Some(text.as_bytes())).map_err(|error| error.to_string())?;
        let facts = Facts {
            id: &[0xab; 20],
            kind: Some(ObjectKind::Tree),
            size: 12,
            disk: 34,
            base: None,
            rest: b"a b",
            mode: None,
        };
        let mut buffer = Vec::new();
        format.write(&mut buffer, &facts);
        Ok(String::from_utf8(buffer).unwrap())
    }

    #[test]
    fn atoms_are_replaced() {
        let name = "ab".repeat(20);
        for (format, expected) in [
            ("", String::new()),
            ("100%% %x %", "100% %x %".into()),
            ("%(objectname) %(objecttype)", format!("{name} tree")),
            ("%(objectsize)/%(objectsize:disk)", "12/34".into()),
            ("%(deltabase)", "0".repeat(40)),
            ("[%(rest)%(objectmode)]", "[a b]".into()),
        ] {
            assert_eq!(written(format), Ok(expected), "{format}");
        }
        assert!(written("%(what)").unwrap_err().ends_with(": %(what)"));
        assert!(written("%(rest")
            .unwrap_err()
            .contains("does not end in ')'"));
    }
}
