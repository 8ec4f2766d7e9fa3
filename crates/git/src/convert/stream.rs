//! Conversion piece by piece, for files too large for memory.

use gix_hash::ObjectId;

use super::eol::CrlfStream;
use super::ident::IdentStream;

/// A running conversion to the working tree.
#[derive(Debug)]
pub struct StreamConversion {
    ident: Option<IdentStream>,
    crlf: Option<CrlfStream>,
    between: Vec<u8>,
}

impl StreamConversion {
    pub(super) fn new(ident: Option<&ObjectId>, crlf: bool) -> StreamConversion {
        StreamConversion {
            ident: ident.map(IdentStream::new),
            crlf: crlf.then(CrlfStream::default),
            between: Vec::new(),
        }
    }

    /// Whether nothing changes, so that the content needs no copy.
    pub fn is_identity(&self) -> bool {
        self.ident.is_none() && self.crlf.is_none()
    }

    /// Converts the next piece and appends the available output to `out`.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        self.pass(out, |ident, out| match ident {
            Some(ident) => ident.push(piece, out),
            None => out.extend_from_slice(piece),
        });
    }

    /// Appends the held-back output to `out`.
    pub fn finish(mut self, out: &mut Vec<u8>) {
        self.pass(out, |ident, out| {
            if let Some(ident) = ident {
                ident.finish(out);
            }
        });
    }

    /// Passes the output of `source` through the second stage.
    fn pass(
        &mut self,
        out: &mut Vec<u8>,
        source: impl FnOnce(&mut Option<IdentStream>, &mut Vec<u8>),
    ) {
        let Some(crlf) = &mut self.crlf else {
            source(&mut self.ident, out);
            return;
        };
        self.between.clear();
        source(&mut self.ident, &mut self.between);
        crlf.push(&self.between, out);
    }
}
