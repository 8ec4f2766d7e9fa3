//! All objects there are.

use super::facts::{write_content, write_line, Subject};
use super::Batch;
use crate::failure::Failure;
use crate::packs::stream::{push_hex, Stream};
use hedgerow::plumbing::pack::{oid, Location, ObjectId, ObjectStore, Reader};
use hedgerow::Repository;
use hedgerow_fs::threads;
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Lines that one thread makes at a time.
const BLOCK: usize = 8 << 10;
/// What a reader keeps for the contents that come next, in bytes.
const RECENT_BYTES: usize = 96 << 20;

/// One of all objects: where its id stands, and where it is.
#[derive(Clone, Copy, Debug)]
struct Item {
    /// The start of its id, to compare by.
    start: u64,
    place: Place,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Packed {
        pack: u32,
        position: u32,
        offset: u64,
        size: u64,
    },
    /// Its number among the loose ones.
    Loose(u32),
    /// Listed by the index of a pack that cannot be used, and in no other place.
    Lost { pack: u32, position: u32 },
}

struct All<'s> {
    store: &'s ObjectStore,
    loose: Vec<ObjectId>,
    is_unordered: bool,
}

pub fn run(repository: &Repository, batch: &Batch, is_unordered: bool) -> Result<(), Failure> {
    let store = repository.objects();
    let mut all = All {
        store,
        loose: Vec::new(),
        is_unordered,
    };
    let mut items = all.collect()?;
    if is_unordered {
        let mut seen: HashSet<&oid> = HashSet::new();
        // Only where there is more than one place can there be an object twice.
        if store.pack_count() > 1 || !all.loose.is_empty() {
            items.retain(|item| all.id(item).is_some_and(|id| seen.insert(id)));
        }
    } else {
        items.sort_by(|a, b| {
            let by_start = a.start.cmp(&b.start);
            by_start.then_with(|| all.id(a).cmp(&all.id(b)))
        });
        all.drop_doubles(&mut items)?;
    }
    if batch.contents {
        all.print_contents(batch, &items)?
    } else {
        all.print_lines(batch, &items)?
    }
    // What could be listed was, but that is not all.
    match store.damaged_packs().into_iter().next() {
        Some(damage) => Err(Failure::fatal(damage)),
        None => Ok(()),
    }
}

impl All<'_> {
    /// All objects: loose ones, then packs in their order.
    fn collect(&mut self) -> Result<Vec<Item>, Failure> {
        for byte in 0..=u8::MAX {
            let found = self.store.loose_objects(byte).map_err(Failure::fatal)?;
            self.loose.extend(found);
        }
        let numbered = self.loose.iter().zip(0..);
        let mut items: Vec<Item> = numbered
            .map(|(id, number)| Item {
                start: start(id),
                place: Place::Loose(number),
            })
            .collect();
        for pack in 0..self.store.pack_count() {
            for entry in self.store.sizes_in_pack(pack) {
                let Some(id) = self.store.pack_object_id(pack, entry.position) else {
                    continue;
                };
                items.push(Item {
                    start: start(id),
                    place: Place::Packed {
                        pack,
                        position: entry.position,
                        offset: entry.offset,
                        size: entry.size_bytes,
                    },
                });
            }
        }
        self.collect_lost(&mut items)?;
        Ok(items)
    }

    /// What only packs have that have an index and cannot be used themselves.
    fn collect_lost(&self, items: &mut Vec<Item>) -> Result<(), Failure> {
        for (pack, _, listed) in self.store.pack_files() {
            if self.store.pack_object_count(pack) > 0 {
                continue;
            }
            for position in 0..listed.unwrap_or(0) {
                let Some(id) = self.store.pack_object_id(pack, position) else {
                    continue;
                };
                // What only broken packs have is an error to look for.
                if !matches!(self.store.locate(id), Ok(Some(_))) {
                    items.push(Item {
                        start: start(id),
                        place: Place::Lost { pack, position },
                    });
                }
            }
        }
        Ok(())
    }

    fn id(&self, item: &Item) -> Option<&oid> {
        match item.place {
            Place::Packed { pack, position, .. } | Place::Lost { pack, position } => {
                self.store.pack_object_id(pack, position)
            }
            Place::Loose(number) => self.loose.get(number as usize).map(AsRef::as_ref),
        }
    }

    /// Leaves one of each in the sorted `items`: the one that is found by its id.
    fn drop_doubles(&self, items: &mut Vec<Item>) -> Result<(), Failure> {
        let mut kept: Vec<Item> = Vec::with_capacity(items.len());
        for item in items.iter() {
            match kept.last_mut() {
                Some(last) if last.start == item.start && self.id(last) == self.id(item) => {
                    let id = self.id(item).map(ToOwned::to_owned);
                    let found = id.and_then(|id| self.store.locate(&id).transpose());
                    let found = found.transpose().map_err(Failure::fatal)?;
                    if found.is_some() && found == self.location(item) {
                        *last = *item;
                    }
                }
                _ => kept.push(*item),
            }
        }
        *items = kept;
        Ok(())
    }

    fn location(&self, item: &Item) -> Option<Location> {
        match item.place {
            Place::Packed { pack, offset, .. } => Some(Location::Packed { pack, offset }),
            Place::Loose(number) => {
                let id = self.loose.get(number as usize);
                let found = id.and_then(|id| self.store.locate(id).ok().flatten());
                Some(found.unwrap_or(Location::Loose { directory: 0 }))
            }
            Place::Lost { .. } => None,
        }
    }

    /// What is to be told about; `None` if it is lost.
    fn subject(&self, item: &Item) -> Option<Subject<'_>> {
        let disk = match item.place {
            Place::Packed { size, .. } => Some(size),
            Place::Loose(_) | Place::Lost { .. } => None,
        };
        Some(Subject {
            id: self.id(item)?,
            location: self.location(item)?,
            disk,
            is_by_place: self.is_unordered && disk.is_some(),
            rest: b"",
            mode: None,
        })
    }

    fn lines(&self, batch: &Batch, items: &[Item]) -> hedgerow::plumbing::pack::Result<Vec<u8>> {
        let mut buffer = Vec::with_capacity(items.len() * 64);
        let mut reader = Reader::new(self.store);
        for item in items {
            match self.subject(item) {
                Some(subject) => {
                    write_line(batch, self.store, &mut reader, subject, &mut buffer)?;
                }
                None => self.write_lost(batch, item, &mut buffer),
            }
        }
        Ok(buffer)
    }

    fn write_lost(&self, batch: &Batch, item: &Item, buffer: &mut Vec<u8>) {
        if let Some(id) = self.id(item) {
            push_hex(buffer, id.as_bytes());
            buffer.extend_from_slice(b" missing");
            buffer.push(batch.output_end);
        }
    }

    fn print_lines(&self, batch: &Batch, items: &[Item]) -> Result<(), Failure> {
        let processors = hedgerow_fs::cpu::available();
        let mut stream = Stream::new();
        for share in items.chunks(BLOCK * processors) {
            let blocks = share.chunks(BLOCK);
            let blocks = threads::each("lines", blocks, |block| self.lines(batch, block));
            for block in blocks {
                let block = block.expect("making lines does not panic");
                stream.buffer().extend(block.map_err(Failure::fatal)?);
                if stream.step().is_break() {
                    return Ok(());
                }
            }
        }
        let _ = stream.flush();
        Ok(())
    }

    fn print_contents(&self, batch: &Batch, items: &[Item]) -> Result<(), Failure> {
        let mut stream = Stream::new();
        let mut reader = Reader::with_recent(self.store, RECENT_BYTES);
        for item in items {
            let Some(subject) = self.subject(item) else {
                self.write_lost(batch, item, stream.buffer());
                continue;
            };
            let written = write_line(batch, self.store, &mut reader, subject, stream.buffer());
            if written.map_err(Failure::fatal)?.is_none() {
                continue;
            }
            let written = write_content(batch, self.store, &mut reader, subject, &mut stream);
            let mut next = written.map_err(Failure::fatal)?;
            if !batch.is_buffered && next.is_continue() {
                next = stream.flush();
            }
            if next == ControlFlow::Break(()) {
                return Ok(());
            }
        }
        let _ = stream.flush();
        Ok(())
    }
}

fn start(id: &oid) -> u64 {
    let bytes = id.as_bytes().first_chunk::<8>();
    bytes.map_or(0, |bytes| u64::from_be_bytes(*bytes))
}
