use super::bases::{Base, SharedBases};
use super::chain::{Chain, Root};
use super::failure::Failure;
use super::recent::RecentBases;
use super::scratch::Scratch;
use crate::database::store::ObjectStore;
use crate::delta::{self, DeltaHeader};
use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::loose;
use crate::object::Location;
use crate::object::Place;
use crate::pack_file::entry::{Entry, EntryForm};
use gix_hash::{oid, ObjectId};
use hedgerow_codec::{can_expand_to, leading_literals, Inflater, StreamInflater};
use hedgerow_engine::span;
use hedgerow_object::hash_object;
use hedgerow_object::{ObjectHeader, ObjectKind};
use std::sync::Arc;

/// Up to this many bytes, a declared size is believed as far as allocating them goes.
pub(crate) const SMALL_BYTES: u64 = 1 << 20;
/// A buffer that has grown over this is given back when a much smaller object follows.
pub(crate) const KEEP_BYTES: usize = 512 << 10;
/// A buffer of more bytes than this is not kept for objects of half its size, and while an object of
/// more is inflated that no delta applies to, the other buffers are given back: inflating it takes far
/// longer than the page faults.
pub(crate) const HUGE_BYTES: usize = 16 << 20;
/// The two lengths at the start of a delta take ten bytes each at most.
const DELTA_HEADER_BYTES: usize = 20;

/// The header of a loose object comes out of far fewer bytes than this.
const LOOSE_HEADER_BYTES: usize = 512;
/// So many bytes of a file for each one of its content are more than anybody writes: an object that is
/// stored in blocks of a byte each takes six.
const WORST_RATIO: u64 = 8;

/// Why a built object is in the buffer of results, or is held.
const BUILT: &str = "an object that was built is in the buffer of results";
const HELD: &str = "an object is shared only while its base is held";

/// Reads objects of one store, one after the other, reusing its inflaters and buffers: one for
/// each thread.
#[derive(Debug)]
pub struct Reader<'s> {
    pub(crate) store: &'s ObjectStore,
    pub(crate) bases: Option<&'s SharedBases>,
    pub(crate) recent: Option<RecentBases>,
    pub(crate) inflater: Inflater,
    pub(crate) stream: StreamInflater,
    /// The object that was built last; longer than the object if an earlier one was.
    pub(crate) result: Scratch,
    /// The other of the two buffers that building a chain of deltas alternates between.
    pub(crate) source: Scratch,
    /// The inflated delta.
    pub(crate) delta: Scratch,
    /// The file of a loose object.
    pub(crate) input: Vec<u8>,
    pub(crate) chain: Chain,
    /// The shared base that was used last, if it is what was asked for.
    pub(crate) held: Option<Base>,
    /// Copies that turned out to be damaged while the current object was being read.
    pub(crate) damaged: Vec<(Location, ObjectId)>,
    /// Larger objects are not built, nor what they are deltas against, in bytes.
    pub(crate) limit: u64,
}

/// A built object: where its bytes are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Built {
    /// The range of the reader's result buffer.
    Own { start: usize, end: usize },
    /// The base in `held`.
    Shared,
}

impl<'s> Reader<'s> {
    /// A reader of the objects of `store`.
    pub fn new(store: &'s ObjectStore) -> Self {
        Reader {
            store,
            bases: None,
            recent: None,
            inflater: Inflater::new(),
            stream: StreamInflater::new(),
            result: Scratch::default(),
            source: Scratch::default(),
            delta: Scratch::default(),
            input: Vec::new(),
            chain: Chain::default(),
            held: None,
            damaged: Vec::new(),
            limit: store.options.object_size_limit,
        }
    }

    /// A reader that shares delta bases with the others of the same `bases`. It is meant for the
    /// objects that `bases` was planned for, each read once.
    pub fn with_bases(store: &'s ObjectStore, bases: &'s SharedBases) -> Self {
        let bases = Some(bases);
        Reader {
            bases,
            ..Self::new(store)
        }
    }

    /// A reader that keeps up to `budget_bytes` of the objects it built last, for the deltas
    /// against them: for walks, which do not know beforehand what they will read.
    pub fn with_recent(store: &'s ObjectStore, budget_bytes: usize) -> Self {
        Reader {
            recent: Some(RecentBases::new(budget_bytes)),
            ..Self::new(store)
        }
    }

    /// The kind and size of the object `id`, which is at `location`. Of a delta chain, only the
    /// headers and the start of the first delta are read.
    pub fn header(&mut self, id: &oid, location: Location) -> Result<ObjectHeader> {
        self.repairing(id, location, |reader, location| {
            reader.header_at(id, location)
        })
    }

    /// The object `id`, which is at `location`: its kind, and its content in the reader's own
    /// buffer. If that copy is damaged, another one of the store is read.
    pub fn read(&mut self, id: &oid, location: Location) -> Result<(ObjectKind, &[u8])> {
        let (kind, built) = self.read_built(id, location)?;
        Ok((kind, self.content(built)))
    }

    /// As [`Reader::read`], of an object of up to `limit` bytes. One that is larger, or a delta against a
    /// larger one, is not built: a small pack can expand to any size.
    ///
    /// # Errors
    /// A larger one is told as a damaged one.
    pub fn read_within(
        &mut self,
        id: &oid,
        location: Location,
        limit: u64,
    ) -> Result<(ObjectKind, &[u8])> {
        let usual = self.limit;
        self.limit = usual.min(limit);
        let read = self.read_built(id, location);
        self.limit = usual;
        let (kind, built) = read?;
        Ok((kind, self.content(built)))
    }

    /// The content of the blob `id`, which is at `location`: as [`Reader::read`].
    ///
    /// # Errors
    /// [`Error::WrongKind`](crate::Error::WrongKind) if it is something else.
    pub fn read_blob(&mut self, id: &oid, location: Location) -> Result<&[u8]> {
        let (kind, content) = self.read(id, location)?;
        kind.expect(ObjectKind::Blob, id)?;
        Ok(content)
    }

    /// The first bytes of the object `id`, which is at `location`, put into `start`: as many as can be
    /// had without inflating all of it, which may be none. Nothing is checked but what they need.
    pub fn leading<'b>(&mut self, location: Location, start: &'b mut [u8]) -> &'b [u8] {
        let entry = location.place().and_then(|place| {
            let entry = self.store.pack(place.pack)?.entry(place.offset);
            entry.ok()
        });
        let length = match entry {
            Some((
                Entry {
                    kind: EntryForm::Whole(_),
                    ..
                },
                input,
            )) => leading_literals(input, start),
            _ => 0,
        };
        start
            .get(..length)
            .expect("no more is inflated than there is room for")
    }

    /// As [`Reader::read`], for those who keep the content while they read others.
    pub fn read_shared(&mut self, id: &oid, location: Location) -> Result<(ObjectKind, Arc<[u8]>)> {
        let (kind, built) = self.read_built(id, location)?;
        if let (Built::Shared, Some(base)) = (built, &self.held) {
            return Ok((kind, Arc::clone(&base.content)));
        }
        if let (Some(recent), Some(place)) = (&mut self.recent, location.place()) {
            if let Some(base) = recent.take(place) {
                return Ok((base.kind, base.content));
            }
        }
        Ok((kind, self.content(built).into()))
    }

    pub(crate) fn read_built(
        &mut self,
        id: &oid,
        location: Location,
    ) -> Result<(ObjectKind, Built)> {
        self.repairing(id, location, |reader, location| reader.build(id, location))
    }

    /// Gives back what a large object has made the buffers grow to. Reading small objects does so
    /// by itself, but only as far as it needs the same buffers.
    pub fn shrink(&mut self) {
        for buffer in [&mut self.result, &mut self.source, &mut self.delta] {
            buffer.shrink();
        }
        if self.input.len() > KEEP_BYTES {
            self.input = Vec::new();
        }
        self.held = None;
    }

    /// Reads the object as [`Reader::read`] does and hashes it: its content is what `id` names.
    pub fn verify(&mut self, id: &oid, location: Location) -> Result<ObjectKind> {
        let hash_kind = self.store.options.hash;
        let (kind, content) = self.read(id, location)?;
        match hash_object(hash_kind, kind, content) {
            None => Err(Error::Collision { id: id.to_owned() }),
            Some(actual) if *actual != *id => Err(Error::HashMismatch {
                id: id.to_owned(),
                actual,
            }),
            Some(_) => Ok(kind),
        }
    }

    /// As [`Reader::read`], but content that is not what `id` names is a damaged copy, too: for
    /// those who write what stays.
    pub fn read_verified(&mut self, id: &oid, location: Location) -> Result<(ObjectKind, &[u8])> {
        let hash_kind = self.store.options.hash;
        let (kind, built) = self.repairing(id, location, |reader, location| {
            let (kind, built) = reader.build(id, location)?;
            let fault = match hash_object(hash_kind, kind, reader.content(built)) {
                Some(actual) if *actual == *id => return Ok((kind, built)),
                Some(actual) => Fault::OtherContent(actual),
                None => Fault::Attack,
            };
            Err(match location {
                Location::Packed { pack, offset } => Failure::new(Place { pack, offset }, fault),
                Location::Loose { directory } => Failure::loose(directory, id.to_owned(), fault),
            })
        })?;
        Ok((kind, self.content(built)))
    }

    fn content(&self, built: Built) -> &[u8] {
        match (built, &self.held) {
            (Built::Own { start, end }, _) => self.result.get(start..end).expect(BUILT),
            (Built::Shared, base) => &base.as_ref().expect(HELD).content,
        }
    }

    fn build(&mut self, id: &oid, location: Location) -> Result<(ObjectKind, Built), Failure> {
        let _traced = span("read object");
        self.held = None;
        let root = self.walk(id, location)?;
        let mut made = self.build_root(root)?;
        while let Some(place) = self.chain.pop() {
            let fail = |fault| Failure::new(place, fault);
            let end = self.apply(place, made.1).map_err(fail)?;
            std::mem::swap(&mut self.source, &mut self.result);
            made.1 = Built::Own { start: 0, end };
            self.held = None;
            self.offer(place, made);
        }
        Ok(made)
    }

    fn build_root(&mut self, root: Root) -> Result<(ObjectKind, Built), Failure> {
        match root {
            Root::Shared(base) => {
                let kind = base.kind;
                self.held = Some(base);
                Ok((kind, Built::Shared))
            }
            Root::Entry { place, kind } => {
                let end = self
                    .inflate_entry(place, Target::Result)
                    .map_err(|fault| Failure::new(place, fault))?;
                let made = (kind, Built::Own { start: 0, end });
                self.offer(place, made);
                Ok(made)
            }
            Root::Loose { directory, id } => {
                let fail = |fault| Failure::loose(directory, id, fault);
                let (kind, start, end) = self.read_loose(directory, &id).map_err(fail)?;
                Ok((kind, Built::Own { start, end }))
            }
        }
    }

    fn offer(&mut self, place: Place, (kind, built): (ObjectKind, Built)) {
        if let Some(bases) = self.bases {
            bases.offer(place, kind, self.content(built));
        }
        if let Some(mut recent) = self.recent.take() {
            recent.offer(place, kind, self.content(built));
            self.recent = Some(recent);
        }
    }

    /// Applies the delta at `place` to `base`, into the source buffer. Returns the length.
    fn apply(&mut self, place: Place, base: Built) -> Result<usize, Fault> {
        let length = self.inflate_entry(place, Target::Delta)?;
        let (delta, _) = self.delta.split_at(length);
        let (header, instructions) = delta::parse_header(delta)?;
        let base = match (base, &self.held) {
            (Built::Own { start, end }, _) => self.result.get(start..end).expect(BUILT),
            (Built::Shared, base) => &base.as_ref().expect(HELD).content,
        };
        if header.source != base.len() as u64 {
            return Err(Fault::DeltaSource {
                declared: header.source,
                actual: base.len() as u64,
            });
        }
        check_limit(self.limit, header.result)?;
        // Up to twice the base, the result takes no more memory than what it is made of.
        let plain = SMALL_BYTES.max(2 * base.len() as u64);
        if header.result > plain && delta::result_length(instructions)? != header.result {
            return Err(Fault::DeltaResult {
                declared: header.result,
            });
        }
        let size = header.result as usize;
        let _traced = span("apply delta");
        let result = self.source.prepare(size);
        delta::apply(base, instructions, result)?;
        Ok(size)
    }

    /// Inflates the whole of the entry at `place`: an object or a delta. Returns the length.
    fn inflate_entry(&mut self, place: Place, target: Target) -> Result<usize, Fault> {
        let pack = self.store.pack(place.pack).ok_or(Fault::Outside)?;
        let (entry, input) = pack.entry(place.offset)?;
        check_limit(self.limit, entry.size)?;
        if entry.size > SMALL_BYTES && !pack.can_hold(place.offset, entry.size) {
            return Err(Fault::Implausible(entry.size));
        }
        let size = entry.size as usize;
        let buffer = match target {
            Target::Result => {
                // Nothing is in any of them yet, so one large buffer is enough.
                if self.result.len() < size && self.source.len() > self.result.len() {
                    std::mem::swap(&mut self.result, &mut self.source);
                }
                if size > HUGE_BYTES && self.chain.remaining().next().is_none() {
                    self.source.shrink();
                    self.delta.shrink();
                }
                &mut self.result
            }
            Target::Delta => &mut self.delta,
        };
        let _traced = span("inflate");
        self.inflater.zlib_into(input, buffer.prepare(size))?;
        Ok(size)
    }

    /// Reads a loose object into the result buffer, behind its header. Returns its kind and the
    /// range of its content.
    fn read_loose(
        &mut self,
        directory: u32,
        id: &oid,
    ) -> Result<(ObjectKind, usize, usize), Fault> {
        self.load_loose(directory, id)?;
        let (header, start) = loose::header(&mut self.stream, &self.input)?;
        check_limit(self.limit, header.size)?;
        if !can_expand_to(self.input.len() as u64, header.size) {
            return Err(Fault::Implausible(header.size));
        }
        let end = start + header.size as usize;
        let consumed = self
            .inflater
            .zlib_into(&self.input, self.result.prepare(end))?;
        if consumed != self.input.len() {
            return Err(Fault::LooseGarbage);
        }
        Ok((header.kind, start, end))
    }

    /// Reads the whole file of a loose object into `input`.
    fn load_loose(&mut self, directory: u32, id: &oid) -> Result<(), Fault> {
        let unreadable = |error: hedgerow_fs::Error| Fault::Unreadable(error.to_string());
        let _traced = span("read file");
        let file = self.store.open_loose(directory, id).map_err(unreadable)?;
        let size = file.stat().map_err(unreadable)?.size;
        if size > SMALL_BYTES {
            // Only as much is read as what it declares can take, compressed however badly.
            self.input.resize(LOOSE_HEADER_BYTES, 0);
            let length = file.read_at(&mut self.input, 0).map_err(unreadable)?;
            let (input, _) = self.input.split_at(length);
            let (header, _) = loose::header(&mut self.stream, input)?;
            let most = header.size.saturating_mul(WORST_RATIO);
            if size > most.max(SMALL_BYTES) {
                return Err(Fault::Implausible(header.size));
            }
        }
        file.read_to_end(&mut self.input, self.limit)
            .map_err(unreadable)
    }

    /// Whether the object that was walked last is a delta.
    pub(crate) fn is_delta(&self) -> bool {
        self.chain.first().is_some()
    }

    /// Walks down to the root of the object, or to a base that is built already.
    pub(crate) fn walk(&mut self, id: &oid, location: Location) -> Result<Root, Failure> {
        let (shared, recent) = (self.bases, &mut self.recent);
        let take = |place| match recent {
            Some(recent) => recent.take(place),
            None => shared.and_then(|bases| bases.take(place)),
        };
        self.chain
            .walk(self.store, id, location, take, &self.damaged)
    }

    /// Walks down to the root of the object.
    pub(crate) fn walk_down(&mut self, id: &oid, location: Location) -> Result<Root, Failure> {
        self.chain
            .walk(self.store, id, location, |_| None, &self.damaged)
    }

    fn header_at(&mut self, id: &oid, location: Location) -> Result<ObjectHeader, Failure> {
        let (kind, size) = match self.walk_down(id, location)? {
            Root::Loose { directory, id } => {
                let header = self.loose_header(directory, &id);
                let header = header.map_err(|fault| Failure::loose(directory, id, fault))?;
                (header.kind, header.size)
            }
            Root::Entry { place, kind } => {
                let entry = self.store.pack(place.pack).ok_or(Fault::Outside);
                let entry = entry.and_then(|pack| pack.entry(place.offset));
                (
                    kind,
                    entry.map_err(|fault| Failure::new(place, fault))?.0.size,
                )
            }
            Root::Shared(base) => (base.kind, base.content.len() as u64),
        };
        let Some(place) = self.chain.first() else {
            return Ok(ObjectHeader { kind, size });
        };
        let header = self
            .delta_header(place)
            .map_err(|fault| Failure::new(place, fault))?;
        Ok(ObjectHeader {
            kind,
            size: header.result,
        })
    }

    /// The header of the delta at `place`, of which only the first bytes are inflated.
    pub(crate) fn delta_header(&mut self, place: Place) -> Result<DeltaHeader, Fault> {
        let pack = self.store.pack(place.pack).ok_or(Fault::Outside)?;
        let (_, input) = pack.entry(place.offset)?;
        let mut start = [0; DELTA_HEADER_BYTES];
        // Two lengths of objects below 2 MB are in here.
        let usual = start.first_chunk_mut::<6>();
        let usual = usual.map_or(&[][..], |usual| {
            let length = leading_literals(input, usual);
            usual
                .get(..length)
                .expect("no more is inflated than there is room for")
        });
        if let Ok((header, _)) = delta::parse_header(usual) {
            return Ok(header);
        }
        let length = self.stream.prefix(input, &mut start)?;
        let (header, _) = delta::parse_header(
            start
                .get(..length)
                .expect("no more is inflated than there is room for"),
        )?;
        Ok(header)
    }

    pub(crate) fn loose_header(&mut self, directory: u32, id: &oid) -> Result<ObjectHeader, Fault> {
        let unreadable = |error: hedgerow_fs::Error| Fault::Unreadable(error.to_string());
        let file = self.store.open_loose(directory, id).map_err(unreadable)?;
        self.input.resize(LOOSE_HEADER_BYTES, 0);
        let length = file.read(&mut self.input).map_err(unreadable)?;
        let (input, _) = self.input.split_at(length);
        Ok(loose::header(&mut self.stream, input)?.0)
    }
}

impl ObjectStore {
    /// The object `id`, whole. For more than a few objects, use a [`Reader`].
    pub fn read(&self, id: &oid) -> Result<(ObjectKind, Vec<u8>)> {
        let missing = || Error::Missing { id: id.to_owned() };
        let location = self.locate(id)?.ok_or_else(missing)?;
        let mut reader = Reader::new(self);
        let (kind, content) = reader.read(id, location)?;
        Ok((kind, content.to_vec()))
    }
}

/// Which buffer an entry is inflated into.
#[derive(Clone, Copy)]
enum Target {
    Result,
    Delta,
}

/// Refuses to build what is over the limit.
fn check_limit(limit: u64, size: u64) -> Result<(), Fault> {
    if size > limit || usize::try_from(size).is_err() {
        return Err(Fault::TooLarge { size, limit });
    }
    Ok(())
}
