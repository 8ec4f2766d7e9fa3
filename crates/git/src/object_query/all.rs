//! All objects that a repository has.

use super::format::write_nothing;
use super::line::{is_as_missing, write_content, write_line, Subject};
use super::output::push_hex;
use super::{ObjectQuery, OutputStream};
use crate::repository::Repository;
use crate::{Error, Result};
use hedgerow_fs::threads;
use hedgerow_pack::{oid, Location, ObjectId, ObjectStore, PackedEntry, Reader};
use std::collections::HashSet;
use std::ops::ControlFlow;

/// How many lines a thread makes at a time.
const BLOCK: usize = 8 << 10;
/// How much a reader caches for the contents that come next, in bytes.
const RECENT_BYTES: usize = 96 << 20;

/// An object: where its id stands, and where it is.
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
    /// Listed by the index of a pack that cannot be used, or that does not say where; in no other place.
    Lost { pack: u32, position: u32 },
}

/// Lines that were made.
#[derive(Default)]
struct Lines {
    text: Vec<u8>,
    /// Why objects are called missing in them.
    told: Vec<Error>,
    /// Why there are no more.
    failure: Option<Error>,
}

struct All<'s> {
    store: &'s ObjectStore,
    loose: Vec<ObjectId>,
    is_unordered: bool,
}

/// Writes what `query` asks of each object of `repository` once: in order of ids, or, if
/// `is_unordered`, in the order that is quickest. Lines without contents are made by several threads.
///
/// # Errors
/// If an object cannot be read; everything before it was written. One of which not even kind and size
/// can be read counts as missing, as with git. [`Error::DamagedPack`] after everything else was
/// written: the objects of that pack are missing.
pub fn write_all_objects(
    repository: &Repository,
    query: &ObjectQuery,
    is_unordered: bool,
    output: &mut OutputStream<'_>,
) -> Result<()> {
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
    if query.contents {
        all.write_contents(query, &items, output)?
    } else {
        all.write_lines(query, &items, output)?
    }
    match store.damaged_packs().into_iter().next() {
        Some(reason) => Err(Error::DamagedPack { reason }),
        None => Ok(()),
    }
}

impl All<'_> {
    /// All objects: loose ones, then packs in their order.
    fn collect(&mut self) -> Result<Vec<Item>> {
        for byte in 0..=u8::MAX {
            let found = self.store.loose_objects(byte)?;
            self.loose.extend(found);
        }
        let numbered = self.loose.iter().zip(0..);
        let mut items: Vec<Item> = numbered
            .map(|(id, number)| Item {
                start: start(id),
                place: Place::Loose(number),
            })
            .collect();
        for (pack, _, listed) in self.store.pack_files() {
            self.collect_pack(pack, listed.unwrap_or(0), &mut items);
        }
        Ok(items)
    }

    /// Adds the objects that the index of `pack` lists. Those without a place in the pack, or whose ids
    /// are not found where they stand, are lost unless they are in another place.
    fn collect_pack(&self, pack: u32, listed: u32, items: &mut Vec<Item>) {
        let mut entries = self.store.sizes_in_pack(pack);
        if !self.store.has_sorted_ids(pack) {
            entries.retain(|entry| {
                let id = self.store.pack_object_id(pack, entry.position);
                id.and_then(|id| self.store.offset_in_pack(pack, id)) == Some(entry.offset)
            });
        }
        if entries.len() < listed as usize {
            let known: HashSet<u32> = entries.iter().map(|entry| entry.position).collect();
            for position in (0..listed).filter(|position| !known.contains(position)) {
                let id = self.store.pack_object_id(pack, position);
                // What only broken packs have is an error to look for.
                let lost = id.filter(|id| !matches!(self.store.locate(id), Ok(Some(_))));
                items.extend(lost.map(|id| Item {
                    start: start(id),
                    place: Place::Lost { pack, position },
                }));
            }
        }
        // What is in the order of ids already is sorted quickly.
        let order = if self.is_unordered {
            (0..entries.len()).collect()
        } else {
            by_position(&entries)
        };
        items.extend(order.into_iter().filter_map(|number| {
            let entry = entries.get(number)?;
            let id = self.store.pack_object_id(pack, entry.position)?;
            Some(Item {
                start: start(id),
                place: Place::Packed {
                    pack,
                    position: entry.position,
                    offset: entry.offset,
                    size: entry.size_bytes,
                },
            })
        }));
    }

    fn id(&self, item: &Item) -> Option<&oid> {
        match item.place {
            Place::Packed { pack, position, .. } | Place::Lost { pack, position } => {
                self.store.pack_object_id(pack, position)
            }
            Place::Loose(number) => self.loose.get(number as usize).map(AsRef::as_ref),
        }
    }

    /// Drops duplicates from the sorted `items`: the copy that a look-up by id finds stays.
    fn drop_doubles(&self, items: &mut Vec<Item>) -> Result<()> {
        let mut failure = None;
        items.dedup_by(|item, kept| {
            let is_double = kept.start == item.start && self.id(kept) == self.id(item);
            if is_double {
                match self.is_found(item) {
                    Ok(true) => *kept = *item,
                    Ok(false) => {}
                    Err(error) => failure = Some(error),
                }
            }
            is_double
        });
        failure.map_or(Ok(()), Err)
    }

    /// Whether this copy of an object is the one that a look-up by id finds.
    fn is_found(&self, item: &Item) -> Result<bool> {
        let found = match self.id(item).map(|id| self.store.locate(id)) {
            Some(Err(error)) if !is_as_missing(&error) => return Err(error.into()),
            Some(Ok(found)) => found,
            _ => None,
        };
        Ok(found.is_some() && found == self.location(item))
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

    /// What the line is about; `None` if the object is lost.
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

    fn lines(&self, query: &ObjectQuery, items: &[Item]) -> Lines {
        let mut lines = Lines {
            text: Vec::with_capacity(items.len() * 64),
            ..Lines::default()
        };
        let mut reader = Reader::new(self.store);
        for item in items {
            let Some(subject) = self.subject(item) else {
                self.write_lost(query, item, &mut lines.text);
                continue;
            };
            let start = lines.text.len();
            match write_line(query, self.store, &mut reader, subject, &mut lines.text) {
                Ok(_) => {}
                Err(error) if is_as_missing(&error) => {
                    lines.text.truncate(start);
                    self.write_lost(query, item, &mut lines.text);
                    lines.told.push(error.into());
                }
                Err(error) => {
                    lines.failure = Some(error.into());
                    break;
                }
            }
        }
        lines
    }

    fn write_lost(&self, query: &ObjectQuery, item: &Item, buffer: &mut Vec<u8>) {
        if let Some(id) = self.id(item) {
            let mut digits = Vec::new();
            push_hex(&mut digits, id.as_bytes());
            if query.format.is_json() {
                write_nothing(buffer, &digits, "missing", None);
            } else {
                buffer.extend_from_slice(&digits);
                buffer.extend_from_slice(b" missing");
            }
            buffer.push(query.line_end);
        }
    }

    fn write_lines(
        &self,
        query: &ObjectQuery,
        items: &[Item],
        output: &mut OutputStream<'_>,
    ) -> Result<()> {
        let processors = hedgerow_fs::cpu::available();
        for share in items.chunks(BLOCK * processors) {
            let blocks = share.chunks(BLOCK);
            let blocks = threads::each("lines", blocks, |block| self.lines(query, block));
            for block in blocks {
                let block = block.expect("making lines does not panic");
                output.buffer().extend(block.text);
                block.told.iter().for_each(|error| output.tell(error));
                if let Some(failure) = block.failure {
                    let _ = output.flush();
                    return Err(failure);
                }
                if output.step().is_break() {
                    return Ok(());
                }
            }
        }
        let _ = output.flush();
        Ok(())
    }

    fn write_contents(
        &self,
        query: &ObjectQuery,
        items: &[Item],
        output: &mut OutputStream<'_>,
    ) -> Result<()> {
        let mut reader = Reader::with_recent(self.store, RECENT_BYTES);
        for item in items {
            let Some(subject) = self.subject(item) else {
                self.write_lost(query, item, output.buffer());
                continue;
            };
            let start = output.buffer().len();
            match write_line(query, self.store, &mut reader, subject, output.buffer()) {
                Ok(Some(_)) => {}
                Ok(None) => continue,
                Err(error) if is_as_missing(&error) => {
                    output.buffer().truncate(start);
                    self.write_lost(query, item, output.buffer());
                    output.tell(&error.into());
                    continue;
                }
                Err(error) => return Err(unfinished(output, error)),
            }
            let written = write_content(query, self.store, &mut reader, subject, output);
            let mut next = written.map_err(|error| unfinished(output, error))?;
            if !query.is_buffered && next.is_continue() {
                next = output.flush();
            }
            if next == ControlFlow::Break(()) {
                return Ok(());
            }
        }
        let _ = output.flush();
        Ok(())
    }
}

/// Writes what was gathered before `error`.
fn unfinished(output: &mut OutputStream<'_>, error: hedgerow_pack::Error) -> Error {
    let _ = output.flush();
    error.into()
}

/// The numbers of `entries`, whose positions differ, in order of positions; `usize::MAX` stands for each
/// position without an entry.
fn by_position(entries: &[PackedEntry]) -> Vec<usize> {
    let last = entries.iter().map(|entry| entry.position as usize).max();
    let mut order = vec![usize::MAX; last.map_or(0, |last| last + 1)];
    for (number, entry) in entries.iter().enumerate() {
        order[entry.position as usize] = number;
    }
    order
}

fn start(id: &oid) -> u64 {
    let bytes = id.as_bytes().first_chunk::<8>();
    bytes.map_or(0, |bytes| u64::from_be_bytes(*bytes))
}
