//! The data after the header of an entry.

use crate::plan::{Base, Delta, Entry, Plan, Source, Stored};
use crate::{PackOptions, Result};
use hedgerow_codec::Deflater;
use hedgerow_pack::{DeltaIndex, ObjectKind, ObjectStore, ObjectStream, Reader};

/// The zlib stream of one entry.
pub(super) struct Body<'p> {
    pub number: u32,
    pub what: What,
    /// The length of the inflated data, in bytes.
    pub size: u64,
    pub data: Data<'p>,
}

/// The content of a stream.
#[derive(Clone, Copy)]
pub(super) enum What {
    Object(ObjectKind),
    Delta(Base),
}

pub(super) enum Data<'p> {
    Borrowed(&'p [u8]),
    Owned(Vec<u8>),
    /// A large object, to be compressed when its turn comes.
    Stream(Box<ObjectStream>),
}

/// Makes the bodies of entries; each thread has one.
pub(super) struct BodyMaker<'p, 's> {
    plan: &'p Plan<'s>,
    options: &'p PackOptions,
    reader: Reader<'p>,
    deflater: Deflater,
}

impl<'p, 's> BodyMaker<'p, 's> {
    pub fn new(plan: &'p Plan<'s>, store: &'p ObjectStore, options: &'p PackOptions) -> Self {
        BodyMaker {
            plan,
            options,
            reader: Reader::new(store),
            deflater: Deflater::new(options.level),
        }
    }

    pub fn make(&mut self, number: u32) -> Result<Body<'p>> {
        let entry = &self.plan.entries[number as usize];
        let body = |what, size, data| Body {
            number,
            what,
            size,
            data,
        };
        Ok(match (&entry.delta, entry.stored) {
            (Some(delta), stored) => {
                let data = self.delta(entry, delta, stored)?;
                body(What::Delta(delta.base), delta.size, data)
            }
            (None, Stored::Whole(stream)) if self.options.reuse_objects => {
                body(What::Object(entry.kind), entry.size, Data::Borrowed(stream))
            }
            (None, _) => {
                let (kind, size, data) = self.whole(entry)?;
                body(What::Object(kind), size, data)
            }
        })
    }

    fn delta(
        &mut self,
        entry: &Entry<'s>,
        delta: &'p Delta,
        stored: Stored<'s>,
    ) -> Result<Data<'p>> {
        match (&delta.source, stored) {
            (Source::Found(stream), _) => Ok(Data::Borrowed(stream)),
            (Source::Reused, Stored::Delta(stream)) => Ok(Data::Borrowed(stream)),
            (Source::Reused, _) => unreachable!("a delta is reused as it is stored"),
            (Source::Forgotten, _) => self.delta_again(entry, delta),
        }
    }

    /// Computes again a delta that was found but not kept; the result is the same.
    fn delta_again(&mut self, entry: &Entry<'s>, delta: &Delta) -> Result<Data<'p>> {
        let Base::Entry(number) = delta.base else {
            unreachable!("deltas are searched against entries of the plan");
        };
        let base = &self.plan.entries[number as usize];
        let base = base.read(&mut self.reader, self.options)?.1.to_vec();
        let (_, content) = entry.read(&mut self.reader, self.options)?;
        let mut bytes = Vec::new();
        DeltaIndex::new(&base).encode(&base, content, usize::MAX, &mut bytes);
        // Its header says the size: another delta would be a broken pack.
        assert_eq!(
            bytes.len() as u64,
            delta.size,
            "contents make the same delta"
        );
        Ok(Data::Owned(self.deflater.zlib(&bytes)))
    }

    fn whole(&mut self, entry: &Entry<'s>) -> Result<(ObjectKind, u64, Data<'p>)> {
        if entry.size > self.options.big_file_bytes {
            if let Some(stream) = self.reader.open_stream(&entry.id, entry.location)? {
                let (kind, size) = (stream.kind(), stream.size_bytes());
                return Ok((kind, size, Data::Stream(Box::new(stream))));
            }
        }
        let (kind, content) = entry.read(&mut self.reader, self.options)?;
        let size = content.len() as u64;
        Ok((kind, size, Data::Owned(self.deflater.zlib(content))))
    }
}
