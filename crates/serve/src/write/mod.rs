//! Writes a pack: first the verbatim copies, then the objects of the plan, in an order that does
//! not depend on how many threads compress them.

mod body;
mod copy;
mod order;
mod output;

use crate::plan::{Base, Plan, Source, Stored};
use crate::verbatim::{Kept, KeptPacks};
use crate::{Error, PackOptions, Result};
use body::{Body, BodyMaker, Data, What};
use copy::Moves;
use hedgerow_codec::StreamDeflater;
use hedgerow_engine::{run_ordered, Jobs, Stage, Window};
use hedgerow_object::pack_entry::{EncodedEntryHeader, EntryHeader, EntryType};
use hedgerow_pack::{IndexEntry, ObjectId, ObjectStore, ObjectStream, TrailerHasher};
use output::{Output, Trailer, HEADER};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write;
use std::num::NonZeroUsize;

/// Maximum bytes of bodies that wait to be written.
const WAITING_BYTES: u64 = 32 << 20;
/// A worker's batch ends after this many objects, or earlier after this many bytes to compress.
const BATCH: usize = 128;
const BATCH_BYTES: u64 = 256 << 10;
/// Large objects are compressed in pieces of this many bytes.
const PIECE_BYTES: usize = 64 << 10;

/// A pack that was written.
#[derive(Debug)]
pub struct PackWritten {
    /// Number of objects.
    pub objects: u32,
    /// Number of deltas, without those copied verbatim.
    pub deltas: u32,
    /// Number of objects reused in their stored form, without those copied verbatim.
    pub reused: u32,
    /// Number of deltas among `reused`.
    pub reused_deltas: u32,
    /// Number of entries copied verbatim.
    pub verbatim: u32,
    /// Number of packs that these come from.
    pub verbatim_packs: u32,
    /// Its length in bytes.
    pub bytes: u64,
    /// The trailing hash.
    pub checksum: ObjectId,
    /// The entries of its index, in the order of the pack; empty if not requested.
    pub index: Vec<IndexEntry>,
}

/// The summary line in git's format.
impl std::fmt::Display for PackWritten {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let PackWritten {
            objects,
            deltas,
            reused,
            reused_deltas,
            verbatim,
            verbatim_packs,
            ..
        } = self;
        write!(
            f,
            "Total {objects} (delta {deltas}), reused {reused} (delta {reused_deltas}), \
             pack-reused {verbatim} (from {verbatim_packs})"
        )
    }
}

/// Writes what is `kept` and what is planned to `sink`. `list`: collect the entries of the index.
pub(crate) fn write(
    plan: &Plan<'_>,
    kept: &KeptPacks<'_>,
    store: &ObjectStore,
    options: &PackOptions,
    list: bool,
    sink: &mut dyn Write,
) -> Result<PackWritten> {
    let count = kept.count() + plan.sent as u64;
    let objects = u32::try_from(count).map_err(|_| Error::TooMany(count))?;
    options
        .execution
        .progress
        .stage(Stage::Writing)
        .expect(count);
    let trailer = match whole_pack(plan, kept, options, list) {
        Some(pack) => Trailer::Copied(pack.entries.checksum()),
        None => Trailer::Hashed(TrailerHasher::new(store.hash_kind())),
    };
    let mut output = Output::start(sink, options, trailer, objects, list)?;
    let mut moves = HashMap::new();
    for kept in kept.iter() {
        moves.insert(kept.pack, copy::copy(kept, options, list, &mut output)?);
    }
    let writer = Writer {
        plan,
        store,
        options,
        moves,
        positions: vec![0; plan.sent],
        output,
    };
    let (checksum, index, bytes) = writer.write_planned()?;
    assert!(
        !list || index.len() == objects as usize,
        "the index lists what the header of the pack counts"
    );
    let (sent, _) = plan.entries.split_at(plan.sent);
    let count = |test: fn(&crate::plan::Entry<'_>) -> bool| {
        sent.iter().filter(|entry| test(entry)).count() as u32
    };
    let reused_deltas =
        count(|e| matches!(&e.delta, Some(d) if matches!(d.source, Source::Reused)));
    let copied = count(|e| e.delta.is_none() && matches!(e.stored, Stored::Whole(_)));
    Ok(PackWritten {
        objects,
        deltas: count(|entry| entry.delta.is_some()),
        reused: reused_deltas + if options.reuse_objects { copied } else { 0 },
        reused_deltas,
        verbatim: objects - plan.sent as u32,
        verbatim_packs: kept.iter().filter(|kept| kept.count > 0).count() as u32,
        bytes,
        checksum,
        index,
    })
}

/// The pack that is copied in full, if there is nothing else to write.
fn whole_pack<'k, 's>(
    plan: &Plan<'_>,
    kept: &'k KeptPacks<'s>,
    options: &PackOptions,
    list: bool,
) -> Option<&'k Kept<'s>> {
    let mut packs = kept.iter().filter(|kept| kept.count > 0);
    let (Some(pack), None) = (packs.next(), packs.next()) else {
        return None;
    };
    let is_all = plan.sent == 0 && pack.leading == pack.entries.count();
    let is_same = copy::keeps_leading(options, list) && pack.entries.data().starts_with(HEADER);
    (is_all && is_same).then_some(pack)
}

/// Writes the objects of a plan one by one.
struct Writer<'p, 's, 'o> {
    plan: &'p Plan<'s>,
    store: &'p ObjectStore,
    options: &'p PackOptions,
    /// By the numbers of the packs that were copied from.
    moves: HashMap<u32, Moves>,
    /// The offset of each entry of the plan; 0 until it is written.
    positions: Vec<u64>,
    output: Output<'o>,
}

impl<'p> Writer<'p, '_, '_> {
    /// Writes the planned objects: workers make the bodies, one thread writes them in order.
    fn write_planned(mut self) -> Result<(ObjectId, Vec<IndexEntry>, u64)> {
        let (plan, store, options) = (self.plan, self.store, self.options);
        let order = order::order(plan);
        let batches = batches(plan, options, &order);
        let work: u64 = batches.iter().map(|(_, bytes)| bytes).sum();
        // Little work is not worth starting threads.
        let jobs = match work {
            ..BATCH_BYTES => NonZeroUsize::MIN,
            _ => options.execution.threads(),
        };
        let planned: usize = batches.iter().map(|(batch, _)| batch.len()).sum();
        assert_eq!(
            planned, plan.sent,
            "every object of the plan is written once"
        );
        run_ordered(
            &options
                .execution
                .with_jobs(Jobs::Fixed(jobs))
                .options("compress"),
            Window {
                bytes: WAITING_BYTES,
            },
            batches.into_iter().map(Ok),
            |_| BodyMaker::new(plan, store, options),
            |maker, batch| {
                let mut bodies = Vec::with_capacity(batch.len());
                for number in batch {
                    bodies.push(maker.make(*number)?);
                }
                Ok(bodies)
            },
            |_, bodies: Vec<Body<'p>>| {
                options
                    .execution
                    .progress
                    .stage(Stage::Writing)
                    .step(bodies.len() as u64);
                bodies.into_iter().try_for_each(|body| self.put(body))
            },
        )?;
        assert!(
            self.positions.iter().all(|position| *position != 0),
            "every object of the plan has its place"
        );
        self.output.finish()
    }

    fn put(&mut self, body: Body<'p>) -> Result<()> {
        let entry = &self.plan.entries[body.number as usize];
        let here = self.output.position();
        let kind = match body.what {
            What::Object(kind) => EntryType::Whole(kind),
            What::Delta(base) => self.base(base, here),
        };
        self.positions[body.number as usize] = here;
        let size = body.size;
        let header = EntryHeader { kind, size }.encode();
        let data = match body.data {
            Data::Borrowed(bytes) => Cow::Borrowed(bytes),
            Data::Owned(bytes) => Cow::Owned(bytes),
            Data::Stream(stream) => return self.put_stream(entry.id, header, *stream),
        };
        self.output.list(entry.id, &[header.as_bytes(), &data]);
        self.output.put(header.as_bytes())?;
        self.output.put(&data)
    }

    fn put_stream(
        &mut self,
        id: ObjectId,
        header: EncodedEntryHeader,
        mut stream: ObjectStream,
    ) -> Result<()> {
        let mut listing = self.output.begin(id);
        listing.add(header.as_bytes());
        self.output.put(header.as_bytes())?;
        let mut deflater = StreamDeflater::new(self.options.level);
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let length = stream.read(self.store, &mut piece)?;
            let content = piece.get(..length);
            let content = content.expect("a read fills no more than its buffer");
            deflater.piece(content, length == 0, |bytes| {
                listing.add(bytes);
                self.output.put(bytes)
            })?;
            if length == 0 {
                self.output.end(listing);
                return Ok(());
            }
        }
    }

    /// How `base` is named by a delta that starts at `here`.
    fn base(&self, base: Base, here: u64) -> EntryType {
        let (position, id) = match base {
            Base::Had(id) => return EntryType::ReferenceDelta(id),
            Base::Verbatim { pack, offset, id } => {
                let moves = self.moves.get(&pack);
                let moved = moves.and_then(|moves| moves.moved(offset));
                (moved.expect("what is kept was copied before"), id)
            }
            Base::Entry(number) => {
                // What the receiver has follows what is sent, and gets no position.
                let position = self.positions.get(number as usize).copied().unwrap_or(0);
                (position, self.plan.entries[number as usize].id)
            }
        };
        match position {
            // It is not sent.
            0 => EntryType::ReferenceDelta(id),
            position if self.options.delta_base_offset => {
                let distance = here.checked_sub(position);
                EntryType::OffsetDelta {
                    distance: distance.expect("a base is written before its deltas"),
                }
            }
            _ => EntryType::ReferenceDelta(id),
        }
    }
}

/// Splits `order` into batches for workers, each with its number of bytes to compress.
fn batches<'a>(plan: &Plan<'_>, options: &PackOptions, order: &'a [u32]) -> Vec<(&'a [u32], u64)> {
    let mut batches = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (at, number) in order.iter().enumerate() {
        bytes += work(plan, options, *number);
        let end = at + 1;
        if end - start >= BATCH || bytes >= BATCH_BYTES || end == order.len() {
            batches.push((&order[start..end], bytes));
            (start, bytes) = (end, 0);
        }
    }
    batches
}

/// The bytes that must be read and compressed for the entry `number`.
fn work(plan: &Plan<'_>, options: &PackOptions, number: u32) -> u64 {
    let entry = &plan.entries[number as usize];
    match (&entry.delta, entry.stored) {
        (None, Stored::Whole(_)) if options.reuse_objects => 0,
        (Some(delta), _) if !matches!(delta.source, Source::Forgotten) => 0,
        // It is processed in pieces.
        _ if entry.size > options.big_file_bytes => PIECE_BYTES as u64,
        _ => entry.size,
    }
}
