//! Builds the content of objects of the pack that is being indexed.

use super::record::{Form, Record};
use super::resolve_input::{bad, input, ResolveInput};
use super::Refusal;
use crate::delta;
use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::read::reader::Reader;
use crate::read::reader::SMALL_BYTES;
use hedgerow_codec::Inflater;
use hedgerow_object::ObjectKind;

/// Maximum number of buffers kept for reuse.
const SPARE_BUFFERS: usize = 8;
/// Maximum capacity of a buffer kept for reuse, in bytes.
const SPARE_BYTES: usize = 1 << 20;

/// Size of the reader's cache for bases outside the pack, in bytes.
const RECENT_BYTES: usize = 8 << 20;

/// Maximum result size of a delta, in bytes: otherwise, a few bytes could demand any amount of
/// memory.
const LARGEST_BYTES: u64 = 4 << 30;

/// Builds contents, one after the other, with reused buffers.
pub(crate) struct Builder<'g> {
    ground: ResolveInput<'g>,
    inflater: Inflater,
    delta: Vec<u8>,
    spare: Vec<Vec<u8>>,
    /// Reads bases from the repository; created when first needed.
    outside: Option<Reader<'g>>,
}

impl<'g> Builder<'g> {
    pub fn new(ground: ResolveInput<'g>) -> Self {
        Builder {
            ground,
            inflater: Inflater::new(),
            delta: Vec::new(),
            spare: Vec::new(),
            outside: None,
        }
    }

    /// Takes back a buffer that is no longer needed.
    pub fn recycle(&mut self, buffer: Vec<u8>) {
        if self.spare.len() < SPARE_BUFFERS && buffer.capacity() <= SPARE_BYTES {
            self.spare.push(buffer);
        }
    }

    /// The kind and content of an object that is not a delta, from the pack or from outside.
    pub fn root(&mut self, number: u32) -> Result<(ObjectKind, Vec<u8>)> {
        let Some(record) = self.ground.records.get(number as usize) else {
            return self.outside(number);
        };
        let Form::Whole(kind) = record.form else {
            return Err(bad(record, Fault::Loop));
        };
        let mut content = self.spare.pop().unwrap_or_default();
        let length = record.size as usize;
        content.resize(length, 0);
        let input = input(self.ground.data, record);
        let inflated = self.inflater.zlib_into(input, &mut content);
        inflated.map_err(|error| bad(record, error.into()))?;
        Ok((kind, content))
    }

    /// A base from the repository. Its hash is checked, since it will be added to the pack.
    fn outside(&mut self, number: u32) -> Result<(ObjectKind, Vec<u8>)> {
        let at = number as usize - self.ground.records.len();
        let id = self.ground.outside.get(at).ok_or(Error::ForeignLocation)?;
        let store = self.ground.store.ok_or(Error::Missing { id: *id })?;
        let new = || Reader::with_recent(store, RECENT_BYTES);
        let reader = self.outside.get_or_insert_with(new);
        let corrupt = |_| Error::from(Refusal::LocalCorrupt(*id));
        let location = store.locate(id)?.ok_or(Error::Missing { id: *id })?;
        let (kind, content) = reader.read_verified(id, location).map_err(corrupt)?;
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(content);
        Ok((kind, copy))
    }

    /// Applies the delta `number` to `base`.
    pub fn apply(&mut self, number: u32, base: &[u8]) -> Result<Vec<u8>> {
        let record = self.ground.records.get(number as usize);
        let record = record.ok_or(Error::ForeignLocation)?;
        self.apply_record(record, base)
            .map_err(|fault| bad(record, fault))
    }

    fn apply_record(&mut self, record: &Record, base: &[u8]) -> Result<Vec<u8>, Fault> {
        let size = usize::try_from(record.size).map_err(|_| Fault::LengthOverflow)?;
        if self.delta.len() < size || self.delta.len() > SPARE_BYTES {
            self.delta = vec![0; size.max(64 << 10)];
        }
        let (delta, _) = self.delta.split_at_mut(size);
        self.inflater
            .zlib_into(input(self.ground.data, record), delta)?;
        let (header, instructions) = delta::parse_header(delta)?;
        if header.source != base.len() as u64 {
            return Err(Fault::DeltaSource {
                declared: header.source,
                actual: base.len() as u64,
            });
        }
        if header.result > LARGEST_BYTES {
            return Err(Fault::TooLarge {
                size: header.result,
                limit: LARGEST_BYTES,
            });
        }
        let is_large = header.result > SMALL_BYTES;
        if is_large && delta::result_length(instructions)? != header.result {
            let declared = header.result;
            return Err(Fault::DeltaResult { declared });
        }
        let mut result = self.spare.pop().unwrap_or_default();
        result.resize(header.result as usize, 0);
        delta::apply(base, instructions, &mut result)?;
        Ok(result)
    }

    /// The content of the object `number`, whose delta was resolved before, rebuilt from its root.
    pub fn rebuild(&mut self, number: u32) -> Result<Vec<u8>> {
        let mut chain = Vec::new();
        let mut root = number;
        // Only resolved deltas have parents, so there is no loop.
        while let Some(parent) = self.ground.delta_trees.parent(root) {
            chain.push(root);
            root = parent;
        }
        let (_, mut content) = self.root(root)?;
        while let Some(delta) = chain.pop() {
            let result = self.apply(delta, &content)?;
            self.recycle(std::mem::replace(&mut content, result));
        }
        Ok(content)
    }
}
