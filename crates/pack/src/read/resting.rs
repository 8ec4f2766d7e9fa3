//! A reader without its store.

use super::bases::Base;
use super::bases::SharedBases;
use super::chain::Chain;
use super::reader::Built;
use super::reader::Reader;
use super::scratch::Scratch;
use crate::database::store::ObjectStore;
use crate::error::Result;
use crate::object::Location;
use gix_hash::oid;
use hedgerow_codec::{Inflater, StreamInflater};
use hedgerow_object::ObjectKind;

/// What a [`Reader`] keeps from object to object, the content of the last one among it: for those
/// who cannot borrow the store for as long as they read.
#[derive(Debug, Default)]
pub struct RestingReader {
    inflater: Inflater,
    stream: StreamInflater,
    result: Scratch,
    source: Scratch,
    delta: Scratch,
    input: Vec<u8>,
    held: Option<Base>,
    built: Option<Built>,
}

impl RestingReader {
    /// Reads the object `id`, which is at `location` in `store`, as [`Reader::read`] does with the
    /// same `bases`.
    pub fn read(
        self,
        store: &ObjectStore,
        bases: Option<&SharedBases>,
        id: &oid,
        location: Location,
    ) -> (Self, Result<ObjectKind>) {
        let mut reader = Reader {
            store,
            bases,
            recent: None,
            inflater: self.inflater,
            stream: self.stream,
            result: self.result,
            source: self.source,
            delta: self.delta,
            input: self.input,
            chain: Chain::default(),
            held: None,
            damaged: Vec::new(),
            limit: store.options.object_size_limit,
        };
        let read = reader.read_built(id, location);
        let resting = RestingReader {
            inflater: reader.inflater,
            stream: reader.stream,
            result: reader.result,
            source: reader.source,
            delta: reader.delta,
            input: reader.input,
            held: reader.held,
            built: read.as_ref().ok().map(|(_, built)| *built),
        };
        (resting, read.map(|(kind, _)| kind))
    }

    /// The content of the object that was read last; nothing if that failed.
    pub fn content(&self) -> &[u8] {
        match (self.built, &self.held) {
            (Some(Built::Own { start, end }), _) => {
                let content = self.result.get(start..end);
                content.expect("an object that was built is in the buffer of results")
            }
            (Some(Built::Shared), Some(base)) => &base.content,
            _ => &[],
        }
    }

    /// Gives back the content, and what a large object has made the buffers grow to.
    pub fn clear(&mut self) {
        self.built = None;
        self.held = None;
        for buffer in [&mut self.result, &mut self.source, &mut self.delta] {
            buffer.shrink();
        }
        if self.input.len() > super::reader::KEEP_BYTES {
            self.input = Vec::new();
        }
    }
}
