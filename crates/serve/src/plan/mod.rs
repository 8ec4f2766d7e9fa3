//! Decides how each object that is not copied verbatim is sent: its stored form copied whole, its
//! stored delta copied, or compressed anew.

mod chains;
mod places;
mod reuse;

use crate::verbatim::KeptPacks;
use crate::{Contents, PackOptions, Result, Wanted};
use hedgerow_engine::Stage;
use hedgerow_pack::{Location, ObjectId, ObjectKind, ObjectStore, Reader};
use places::Places;
pub(crate) use reuse::is_intact;

/// The objects of a pack; those that are sent come first.
#[derive(Debug)]
pub(crate) struct Plan<'s> {
    /// The objects to send, in the order of the walk; then those that the receiver has.
    pub entries: Vec<Entry<'s>>,
    /// Number of entries that are sent.
    pub sent: usize,
}

/// An object and how it is sent.
#[derive(Debug)]
pub(crate) struct Entry<'s> {
    pub id: ObjectId,
    pub location: Location,
    pub kind: ObjectKind,
    pub name_hash: u32,
    /// The length of its content in bytes.
    pub size: u64,
    pub stored: Stored<'s>,
    pub delta: Option<Delta>,
    /// Number of deltas from it down to an object that is not a delta in this pack.
    pub depth: u32,
    /// Length of the longest chain of reused deltas on top of it.
    pub height: u32,
}

/// How an object is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stored<'s> {
    /// Whole in a pack: its zlib stream.
    Whole(&'s [u8]),
    /// As a delta in a pack: the zlib stream of the delta.
    Delta(&'s [u8]),
    /// As a loose object, or in an entry that cannot be read directly.
    Otherwise,
}

/// The delta as which an object is sent.
#[derive(Debug)]
pub(crate) struct Delta {
    pub base: Base,
    /// The length of the delta in bytes.
    pub size: u64,
    pub source: Source,
}

/// The base of a delta.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Base {
    /// The entry with this number in the plan.
    Entry(u32),
    /// The object copied verbatim from this offset of this pack.
    Verbatim {
        pack: u32,
        offset: u64,
        id: ObjectId,
    },
    /// An object that the receiver has.
    Had(ObjectId),
}

/// The source of a delta's data.
#[derive(Debug)]
pub(crate) enum Source {
    /// The stored form of the object.
    Reused,
    /// Found by the search: the compressed delta.
    Found(Vec<u8>),
    /// Found by the search, but not kept for lack of room.
    Forgotten,
}

impl<'s> Plan<'s> {
    /// Plans how to send `contents` other than what is `kept` verbatim.
    pub fn new(
        store: &'s ObjectStore,
        contents: &Contents<'_>,
        kept: &KeptPacks<'s>,
        options: &PackOptions,
    ) -> Result<Self> {
        let mut plan = Plan {
            entries: Vec::with_capacity(contents.wanted.len()),
            sent: 0,
        };
        plan.list(contents, kept, options);
        let counted = options.execution.progress.stage(Stage::Counting);
        counted.expect(plan.sent as u64);
        let places = Places::new(&plan.entries);
        let reuse = reuse::Reuse {
            store,
            options,
            places: &places,
            kept,
            sent: plan.sent,
            has: contents.has.filter(|_| options.thin),
        };
        reuse.look_up(&mut plan.entries)?;
        chains::cut(&mut plan.entries, options.depth);
        reuse.measure(&mut plan.entries)?;
        counted.step(plan.sent as u64);
        Ok(plan)
    }

    /// Whether the entry `number` is an object that the receiver has.
    pub fn is_had(&self, number: u32) -> bool {
        number as usize >= self.sent
    }

    /// Lists each object once.
    fn list(&mut self, contents: &Contents<'_>, kept: &KeptPacks<'s>, options: &PackOptions) {
        let mut had: Vec<&Wanted> = if options.thin {
            contents.had.iter().collect()
        } else {
            Vec::new()
        };
        had.sort_by_key(|object| object.id);
        had.dedup_by_key(|object| object.id);
        let is_had = |id: &ObjectId| had.binary_search_by_key(id, |object| object.id).is_ok();
        for object in contents.wanted.iter().chain(kept.rejected()) {
            if !kept.has(object.location) && !is_had(&object.id) {
                self.entries.push(Entry::new(object));
            }
        }
        keep_first_of_each(&mut self.entries);
        self.sent = self.entries.len();
        self.entries.extend(had.into_iter().map(Entry::new));
    }
}

impl Entry<'_> {
    fn new(object: &Wanted) -> Self {
        Entry {
            id: object.id,
            location: object.location,
            kind: object.kind,
            name_hash: object.name_hash,
            size: 0,
            stored: Stored::Otherwise,
            delta: None,
            depth: 0,
            height: 0,
        }
    }

    /// Its kind and content. If `options` ask for it, content that does not match the id is
    /// refused.
    pub fn read<'r>(
        &self,
        reader: &'r mut Reader<'_>,
        options: &PackOptions,
    ) -> Result<(ObjectKind, &'r [u8])> {
        Ok(if options.check_copies {
            reader.read_verified(&self.id, self.location)?
        } else {
            reader.read(&self.id, self.location)?
        })
    }
}

/// Drops entries whose id an earlier entry has.
fn keep_first_of_each(entries: &mut Vec<Entry<'_>>) {
    let mut order = places::by_id(entries);
    order.sort_unstable();
    let mut repeated: Vec<u32> = Vec::new();
    // Nearly always one entry.
    for alike in order
        .chunk_by(|(a, _), (b, _)| a == b)
        .filter(|it| it.len() > 1)
    {
        let id = |number: &u32| entries.get(*number as usize).map(|entry| entry.id);
        let mut alike: Vec<u32> = alike.iter().map(|(_, number)| *number).collect();
        alike.sort_by_key(id);
        let others = alike.windows(2).filter(|pair| id(&pair[0]) == id(&pair[1]));
        repeated.extend(others.map(|pair| pair[1]));
    }
    repeated.sort_unstable();
    if repeated.is_empty() {
        return;
    }
    let (mut number, mut repeated) = (0, repeated.into_iter().peekable());
    entries.retain(|_| {
        let stays = repeated.next_if_eq(&number).is_none();
        number += 1;
        stays
    });
}
