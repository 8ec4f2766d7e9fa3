//! Writes a pack: first the verbatim copies, then the objects of the plan, in an order that does
//! not depend on how many threads compress them.

mod body;
mod copy;
mod header;
mod order;
mod output;

use crate::plan::{Base, Plan, Source, Stored};
use crate::verbatim::{Kept, KeptPacks};
use crate::{Error, PackOptions, Result};
use body::{Body, BodyMaker, Data, What};
use copy::Moves;
use header::{Header, Written};
use hedgerow_codec::StreamDeflater;
use hedgerow_engine::{run_ordered, Window};
use hedgerow_engine::{Jobs, Stage};
use hedgerow_pack::{IndexEntry, ObjectId, ObjectStore, TrailerHasher};
use output::{Output, Trailer, HEADER};
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
    let sent = plan.entries.get(..plan.sent).unwrap_or_default();
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
                    bodies.extend(maker.make(*number)?);
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
        self.output.finish()
    }

    fn put(&mut self, body: Body<'p>) -> Result<()> {
        let Some(entry) = self.plan.entries.get(body.number as usize) else {
            return Ok(());
        };
        let here = self.output.position();
        let written = match body.what {
            What::Object(kind) => Written::Whole(kind),
            What::Delta(base) => self.base(base, here),
        };
        if let Some(position) = self.positions.get_mut(body.number as usize) {
            *position = here;
        }
        let header = Header::new(&written, body.size);
        let data = match &body.data {
            Data::Borrowed(bytes) => bytes,
            Data::Owned(bytes) => bytes.as_slice(),
            Data::Stream(_) => return self.put_stream(entry.id, header, body),
        };
        self.output.list(entry.id, &[header.bytes(), data]);
        self.output.put(header.bytes())?;
        self.output.put(data)
    }

    fn put_stream(&mut self, id: ObjectId, header: Header, body: Body<'p>) -> Result<()> {
        let Data::Stream(mut stream) = body.data else {
            return Ok(());
        };
        let mut listing = self.output.begin(id);
        listing.add(header.bytes());
        self.output.put(header.bytes())?;
        let mut deflater = StreamDeflater::new(self.options.level);
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let length = stream.read(self.store, &mut piece)?;
            let content = piece.get(..length).unwrap_or_default();
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

    /// How a delta at offset `here` names its base `base`.
    fn base(&self, base: Base, here: u64) -> Written {
        let (position, id) = match base {
            Base::Had(id) => return Written::Id(id),
            Base::Verbatim { pack, offset, id } => {
                let moves = self.moves.get(&pack);
                (moves.map_or(0, |moves| moves.moved(offset)), id)
            }
            Base::Entry(number) => {
                let position = self.positions.get(number as usize).copied().unwrap_or(0);
                let Some(entry) = self.plan.entries.get(number as usize) else {
                    return Written::Distance(here);
                };
                (position, entry.id)
            }
        };
        match position {
            // The base is not sent.
            0 => Written::Id(id),
            position if self.options.delta_base_offset => Written::Distance(here - position),
            _ => Written::Id(id),
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
            batches.push((order.get(start..end).unwrap_or_default(), bytes));
            (start, bytes) = (end, 0);
        }
    }
    batches
}

/// The bytes that must be read and compressed for the entry `number`.
fn work(plan: &Plan<'_>, options: &PackOptions, number: u32) -> u64 {
    let Some(entry) = plan.entries.get(number as usize) else {
        return 0;
    };
    match (&entry.delta, entry.stored) {
        (None, Stored::Whole(_)) if options.reuse_objects => 0,
        (Some(delta), _) if !matches!(delta.source, Source::Forgotten) => 0,
        // It is processed in pieces.
        _ if entry.size > options.big_file_bytes => PIECE_BYTES as u64,
        _ => entry.size,
    }
}
