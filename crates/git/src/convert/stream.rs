//! Conversion piece by piece, for files too large for memory.

use gix_hash::ObjectId;

use super::eol::CrlfStream;
use super::ident::IdentStream;

/// A conversion to the working tree that is under way.
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

    /// Whether nothing changes, and the content may go where it goes without a copy.
    pub fn is_identity(&self) -> bool {
        self.ident.is_none() && self.crlf.is_none()
    }

    /// Takes the next piece, and appends what is ready to `out`.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        self.pass(out, |ident, out| match ident {
            Some(ident) => ident.push(piece, out),
            None => out.extend_from_slice(piece),
        });
    }

    /// Appends what was held back to `out`.
    pub fn finish(mut self, out: &mut Vec<u8>) {
        self.pass(out, |ident, out| {
            if let Some(ident) = ident {
                ident.finish(out);
            }
        });
    }

    /// Sends what `source` writes through the second stage.
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
