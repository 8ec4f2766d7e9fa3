//! Names and directories of an index in compact form: archives can have millions of members.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// The number of the root directory.
pub(super) const ROOT: u32 = 0;

const FREE: u32 = u32::MAX;

/// Byte strings stored one after the other.
#[derive(Default)]
pub(super) struct Arena {
    bytes: Vec<u8>,
}

/// The place of a byte string in an [`Arena`]: its start, and its length in the lowest bits.
#[derive(Clone, Copy)]
pub(super) struct Span(u64);

const LENGTH_BITS: u32 = 24;

impl Arena {
    /// Adds a string. `None` if it has 16 MiB or more, or if the arena exceeds 1 TiB.
    pub(super) fn add(&mut self, string: &[u8]) -> Option<Span> {
        let (start, len) = (self.bytes.len() as u64, string.len() as u64);
        if len >> LENGTH_BITS > 0 || start >> (u64::BITS - LENGTH_BITS) > 0 {
            return None;
        }
        self.bytes.extend_from_slice(string);
        Some(Span(start << LENGTH_BITS | len))
    }

    pub(super) fn get(&self, span: Span) -> &[u8] {
        let start = (span.0 >> LENGTH_BITS) as usize;
        let len = (span.0 & ((1 << LENGTH_BITS) - 1)) as usize;
        let string = self.bytes.get(start..start + len);
        string.expect("a span is one of its arena")
    }

    pub(super) fn weight(&self) -> usize {
        self.bytes.len()
    }
}

impl Span {
    pub(super) const EMPTY: Span = Span(0);

    /// Converts the span for storage in a field with several uses.
    pub(super) fn to_word(self) -> u64 {
        self.0
    }

    pub(super) fn from_word(word: u64) -> Span {
        Span(word)
    }
}

/// A directory with entries. Its attributes, if known, are in an entry of the index.
#[derive(Clone, Copy)]
pub(super) struct Directory {
    pub(super) parent: u32,
    pub(super) name: Span,
}

/// All directories, found by parent and name with a hash table of their numbers.
pub(super) struct Directories {
    list: Vec<Directory>,
    slots: Vec<u32>,
    hasher: RandomState,
}

impl Directories {
    /// A table with only the root.
    pub(super) fn new() -> Directories {
        let root = Directory {
            parent: FREE,
            name: Span::EMPTY,
        };
        Directories {
            list: vec![root],
            slots: vec![FREE; 64],
            hasher: RandomState::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// All directories except the root, with their numbers.
    pub(super) fn below_root(&self) -> impl Iterator<Item = (u32, Directory)> + '_ {
        let numbered = self.list.iter().enumerate().skip(1);
        numbered.map(|(number, directory)| (number as u32, *directory))
    }

    /// The directory `name` in `parent`.
    pub(super) fn find(&self, arena: &Arena, parent: u32, name: &[u8]) -> Option<u32> {
        self.slot(arena, parent, name).ok()
    }

    /// The directory at a path, if it is in the table.
    pub(super) fn find_path(&self, arena: &Arena, path: &[u8]) -> Option<u32> {
        let mut names = components(path);
        names.try_fold(ROOT, |parent, name| self.find(arena, parent, name))
    }

    /// The directory at a path, added if it is not in the table. `None` if there are too many.
    pub(super) fn intern_path(&mut self, arena: &mut Arena, path: &[u8]) -> Option<u32> {
        let mut directory = ROOT;
        for name in components(path) {
            directory = match self.slot(arena, directory, name) {
                Ok(found) => found,
                Err(slot) => self.insert(arena, slot, directory, name)?,
            };
        }
        Some(directory)
    }

    fn insert(&mut self, arena: &mut Arena, slot: usize, parent: u32, name: &[u8]) -> Option<u32> {
        let number = u32::try_from(self.list.len()).ok()?;
        let name = arena.add(name)?;
        self.list.push(Directory { parent, name });
        self.slots[slot] = number;
        if self.list.len() * 2 > self.slots.len() {
            self.grow(arena);
        }
        Some(number)
    }

    fn grow(&mut self, arena: &Arena) {
        let larger = self.slots.len() * 2;
        self.slots = vec![FREE; larger];
        for number in 1..self.list.len() {
            let Directory { parent, name } = self.list[number];
            if let Err(slot) = self.slot(arena, parent, arena.get(name)) {
                self.slots[slot] = number as u32;
            }
        }
    }

    /// The number of a directory, or the free slot for it.
    fn slot(&self, arena: &Arena, parent: u32, name: &[u8]) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut slot = self.hasher.hash_one((parent, name)) as usize & mask;
        loop {
            let number = self.slots[slot];
            let Some(found) = self.list.get(number as usize) else {
                return Err(slot);
            };
            if found.parent == parent && arena.get(found.name) == name {
                return Ok(number);
            }
            slot = (slot + 1) & mask;
        }
    }
}

fn components(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/')
        .filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_found_by_their_paths() {
        let (mut arena, mut directories) = (Arena::default(), Directories::new());
        for round in 0..2 {
            for number in 0..1000u32 {
                let path = format!("a/{}/{number}", number % 7);
                let found = directories.intern_path(&mut arena, path.as_bytes());
                assert_eq!(
                    directories.find_path(&arena, path.as_bytes()),
                    found,
                    "{round}"
                );
            }
            assert_eq!(directories.len(), 1 + 1 + 7 + 1000);
        }
        assert_eq!(directories.find_path(&arena, b""), Some(ROOT));
        assert_eq!(directories.find_path(&arena, b"a/7"), None);
        assert_eq!(directories.below_root().count(), 1008);
    }

    #[test]
    fn strings_come_out_as_they_went_in() {
        let mut arena = Arena::default();
        let spans = [&b""[..], b"one", b"", b"two"].map(|string| arena.add(string).unwrap());
        assert_eq!(
            spans.map(|span| arena.get(span).to_vec()),
            [&b""[..], b"one", b"", b"two"]
        );
        assert!(arena.add(&vec![0; 1 << 24]).is_none());
    }
}
