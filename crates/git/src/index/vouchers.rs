//! The index of a working tree in which nothing was changed yet, made of the bytes of one of the same
//! files without a look at its entries. What vouches for the files is the same wherever they are the same,
//! so it is kept beside those bytes.

use super::checksum::{self, Checksum};
use super::cursor::{Cursor, Parsed};
use super::decode::{self, object_id};
use super::entry::Entry;
use super::extensions::untracked::serialize_records;
use super::extensions::{self, fsmonitor};
use super::read::named;
use super::{CacheTree, Index, UntrackedCache, UntrackedRecord};
use crate::{Error, Result};
use gix_hash::{Kind, ObjectId};
use hedgerow_fs::MappedFile;
use std::borrow::Cow;
use std::ops::Deref;
use std::path::Path;

/// How the bytes of vouchers begin. The checksum of the index follows, then both parts with their lengths,
/// and a checksum of all that.
const SIGNATURE: &[u8; 8] = b"HGVOUCH1";

/// What vouches for all files of an index, besides what differs from working tree to working tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Vouchers {
    /// The checksum of the index.
    index: ObjectId,
    /// The records of its directories, as in `UNTR`; empty if none can be given.
    records: Vec<u8>,
    /// The bitmap of the entries that nobody vouches for, as in `FSMN`.
    dirty: Vec<u8>,
}

impl Vouchers {
    /// Those for the index with the checksum `index`: its `entries` with their flags, and the `records` of
    /// its directories.
    pub(crate) fn new(
        index: ObjectId,
        entries: &[Entry],
        records: Option<&[UntrackedRecord]>,
    ) -> Self {
        Vouchers {
            index,
            records: records.map(serialize_records).unwrap_or_default(),
            dirty: fsmonitor::dirty(entries),
        }
    }

    /// Their bytes.
    pub(crate) fn serialize(&self) -> Vec<u8> {
        let mut out = SIGNATURE.to_vec();
        out.extend_from_slice(self.index.as_slice());
        for part in [&self.records, &self.dirty] {
            out.extend_from_slice(&(part.len() as u64).to_be_bytes());
            out.extend_from_slice(part);
        }
        let sum = checksum::of(self.index.kind(), &out);
        out.extend_from_slice(sum.as_slice());
        out
    }

    /// Parses `bytes`; `None` if they are damaged.
    pub(crate) fn parse(bytes: &[u8], hash: Kind) -> Option<Self> {
        let body_bytes = bytes.len().checked_sub(hash.len_in_bytes())?;
        let (body, trailer) = bytes.split_at_checked(body_bytes)?;
        let mut cursor = Cursor::new(body);
        if cursor.take_array() != Some(SIGNATURE) || checksum::of(hash, body).as_slice() != trailer
        {
            return None;
        }
        let index = object_id(cursor.take(hash.len_in_bytes())?).ok()?;
        let mut part = || {
            let length = usize::try_from(cursor.be64()?).ok()?;
            cursor.take(length).map(<[u8]>::to_vec)
        };
        let (records, dirty) = (part()?, part()?);
        cursor.is_empty().then_some(Vouchers {
            index,
            records,
            dirty,
        })
    }
}

/// The bytes of an index file whose checksum, if it has one, is right. No more of it was looked at.
#[derive(Debug)]
pub(crate) struct IndexBytes<C = MappedFile> {
    content: C,
    hash: Kind,
    count: u32,
    /// Where the end is that extensions can be appended to: before `EOIE`, which must be the last.
    end: usize,
    /// The checksum of what is before that.
    sum: Checksum,
    checksum: Option<ObjectId>,
}

impl<C: Deref<Target = [u8]>> IndexBytes<C> {
    /// Takes the content of an index file; `path` is used only in errors.
    ///
    /// # Errors
    /// [`Error::CorruptIndex`] if the bytes are not an index, or their checksum is wrong.
    pub(crate) fn new(content: C, hash: Kind, path: &Path) -> Result<Self> {
        Self::parse(content, hash).map_err(|problem| named(problem, path))
    }

    fn parse(content: C, hash: Kind) -> Parsed<Self> {
        const TOO_SHORT: &str = "the file is too short";
        let hash_bytes = hash.len_in_bytes();
        let body_bytes = content.len().checked_sub(hash_bytes).ok_or(TOO_SHORT)?;
        let (body, trailer) = content.split_at(body_bytes);
        let mut cursor = Cursor::new(body);
        if cursor.take_array() != Some(b"DIRC") {
            return Err("it does not begin with 'DIRC'".into());
        }
        let (_, count) = cursor.be32().zip(cursor.be32()).ok_or(TOO_SHORT)?;
        let without = body_bytes.checked_sub(8 + 4 + hash_bytes);
        let has_end = |at: &usize| body[*at..].starts_with(b"EOIE");
        let end = without.filter(has_end).unwrap_or(body_bytes);
        let trailer = object_id(trailer)?;
        let mut sum = Checksum::new(hash);
        let mut checksum = None;
        if !trailer.is_null() {
            sum.update(&body[..end]);
            let mut whole = sum.clone();
            whole.update(&body[end..]);
            if whole.finish() != trailer {
                return Err("its checksum does not match its content".into());
            }
            checksum = Some(trailer);
        }
        Ok(IndexBytes {
            hash,
            count,
            end,
            sum,
            checksum,
            content,
        })
    }

    /// How many entries it has.
    pub(crate) fn entry_count(&self) -> usize {
        self.count as usize
    }

    /// The hash of the repository.
    pub(crate) fn hash(&self) -> Kind {
        self.hash
    }

    /// Its checksum, if it has one.
    pub(crate) fn checksum(&self) -> Option<ObjectId> {
        self.checksum
    }

    /// Whether `vouchers` are those for it.
    pub(crate) fn fits(&self, vouchers: &Vouchers) -> bool {
        self.checksum == Some(vouchers.index)
    }

    /// The tree that it is of, if its cache tree says so.
    pub(crate) fn root(&self) -> Option<ObjectId> {
        let end = self.content.len().checked_sub(self.hash.len_in_bytes())?;
        let mut cursor = Cursor::new(self.content.get(..end)?);
        cursor.take(b"DIRC".len())?;
        let (version, count) = (cursor.be32()?, cursor.be32()?);
        decode::skip(&mut cursor, version == 4, self.hash, count)?;
        while !cursor.is_empty() {
            let name = cursor.take_array::<4>()?;
            let size = usize::try_from(cursor.be32()?).ok()?;
            let data = cursor.take(size)?;
            if name == b"TREE" {
                return CacheTree::parse(data, self.hash)?.root_id().copied();
            }
        }
        None
    }

    /// The bytes as they are.
    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.content
    }

    /// The index; it must be a whole one. `path` is used only in errors.
    ///
    /// # Errors
    /// Those of [`Index::read`].
    pub(crate) fn read(&self, path: &Path) -> Result<Index> {
        Index::read(self.as_slice(), self.hash, path, &mut |_| {
            Err(Error::CorruptIndex {
                path: path.to_owned(),
                reason: "it is split".into(),
            })
        })
    }

    /// The bytes of an index with the same entries, whose files all are as they should be as of `token`, as
    /// far as `vouchers` say so; and with their records of directories in `cache`, if there is one. They are
    /// in two parts: what is the same, and the rest.
    pub(crate) fn vouched(
        &self,
        vouchers: &Vouchers,
        cache: Option<&UntrackedCache>,
        token: &[u8],
    ) -> [Cow<'_, [u8]>; 2] {
        let mut rest = Vec::new();
        if let Some(cache) = cache.filter(|_| !vouchers.records.is_empty()) {
            extensions::push(&mut rest, b"UNTR", &cache.serialize_with(&vouchers.records));
        }
        let monitor = fsmonitor::serialize(token, &vouchers.dirty);
        extensions::push(&mut rest, b"FSMN", &monitor);
        let trailer = if self.checksum.is_some() {
            let mut sum = self.sum.clone();
            sum.update(&rest);
            sum.finish()
        } else {
            self.hash.null()
        };
        rest.extend_from_slice(trailer.as_slice());
        [Cow::Borrowed(&self.content[..self.end]), Cow::Owned(rest)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Builder, EntryStat, Flags, Mode, OuterFile, Version, WriteOptions};

    fn index(hash: Kind) -> Index {
        let mut builder = Builder::new(hash, Version::V2);
        for (path, mode) in [
            ("a/b", Mode::File),
            ("a/c", Mode::Gitlink),
            ("d", Mode::File),
        ] {
            let (id, stat) = (hash.empty_blob(), EntryStat::default());
            builder
                .push(path.into(), id, mode, stat, Flags::default())
                .unwrap();
        }
        builder.finish()
    }

    fn records() -> Vec<UntrackedRecord> {
        let record = |name: &str, children| UntrackedRecord {
            name: name.into(),
            children,
            stat: Some(EntryStat::default()),
            ..UntrackedRecord::default()
        };
        vec![record("", 1), record("a", 0)]
    }

    fn cache(hash: Kind) -> UntrackedCache {
        let outer = OuterFile {
            stat: EntryStat::default(),
            id: hash.null(),
        };
        UntrackedCache {
            identity: "Location /w, system Linux\0".into(),
            flags: 6,
            outer: [outer.clone(), outer],
            per_directory: ".gitignore".into(),
            directories: Vec::new(),
        }
    }

    /// What is made of bytes is what is written by an index that was read.
    #[test]
    fn vouched_bytes_are_those_of_a_vouched_index() {
        for hash in [Kind::Sha1, Kind::Sha256] {
            for (skip_hash, end_of_entries) in [(false, false), (false, true), (true, false)] {
                let options = WriteOptions {
                    skip_hash,
                    end_of_entries,
                    ..WriteOptions::default()
                };
                let mut plain = Vec::new();
                let mut index = index(hash);
                index.write(&mut plain, &options);
                let path = Path::new("index");
                let bytes = IndexBytes::new(plain, hash, path).unwrap();
                assert_eq!(bytes.entry_count(), 3);
                assert_eq!(bytes.checksum().is_none(), skip_hash);
                for entry in index.entries_mut() {
                    entry.flags.fsmonitor_valid = entry.mode != Mode::Gitlink;
                }
                let sum = bytes.checksum().unwrap_or(hash.null());
                let made = Vouchers::new(sum, index.entries(), Some(&records()));
                let vouchers = Vouchers::parse(&made.serialize(), hash).unwrap();
                assert_eq!(vouchers, made);
                assert_eq!(bytes.fits(&vouchers), !skip_hash);
                let vouched = bytes.vouched(&vouchers, Some(&cache(hash)), b"token");
                let vouched = vouched.concat();
                *index.untracked_cache_mut() = Some(UntrackedCache {
                    directories: records(),
                    ..cache(hash)
                });
                index.set_fsmonitor_token(Some(b"token".to_vec()));
                let mut expected = Vec::new();
                let options = WriteOptions {
                    end_of_entries: false,
                    ..options
                };
                index.write(&mut expected, &options);
                assert!(vouched == expected, "{skip_hash} {end_of_entries}");
            }
        }
    }

    #[test]
    fn the_tree_of_an_index_is_found_behind_its_entries() {
        for hash in [Kind::Sha1, Kind::Sha256] {
            for version in [Version::V2, Version::V3, Version::V4] {
                for end_of_entries in [false, true] {
                    let mut builder = Builder::new(hash, version);
                    let names = (1..20).chain(4090..4100).map(|count| "n".repeat(count));
                    for (at, name) in names.enumerate() {
                        let flags = Flags {
                            skip_worktree: version == Version::V3 && at % 2 == 0,
                            ..Flags::default()
                        };
                        let (id, stat) = (hash.empty_blob(), EntryStat::default());
                        builder
                            .push(name.as_str().into(), id, Mode::File, stat, flags)
                            .unwrap();
                    }
                    let mut index = builder.finish();
                    let options = WriteOptions {
                        end_of_entries,
                        ..WriteOptions::default()
                    };
                    let root = |index: &mut Index| {
                        let mut content = Vec::new();
                        index.write(&mut content, &options);
                        IndexBytes::new(content, hash, Path::new("index"))
                            .unwrap()
                            .root()
                    };
                    assert_eq!(root(&mut index), None);
                    let tree = CacheTree::build(&index, |_| true);
                    let expected = tree.as_ref().and_then(|tree| tree.root_id()).copied();
                    assert!(expected.is_some());
                    index.set_cache_tree(tree);
                    assert_eq!(root(&mut index), expected, "{version:?} {end_of_entries}");
                }
            }
        }
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let hash = Kind::Sha1;
        let mut content = Vec::new();
        let sum = index(hash).write(&mut content, &WriteOptions::default());
        let vouchers = Vouchers::new(sum, index(hash).entries(), None).serialize();
        for at in 0..content.len() {
            let mut damaged = content.clone();
            damaged[at] ^= 1;
            assert!(IndexBytes::parse(damaged, hash).is_err(), "{at}");
            // Zeros at the end are no checksum.
            let cut = &content[..at];
            let has_checksum = cut.iter().rev().take(20).any(|byte| *byte != 0);
            let is_refused = IndexBytes::parse(cut.to_vec(), hash).is_err();
            assert!(is_refused || !has_checksum, "{at}");
        }
        for at in 0..vouchers.len() {
            let mut damaged = vouchers.clone();
            damaged[at] ^= 1;
            assert_eq!(Vouchers::parse(&damaged, hash), None, "{at}");
            assert_eq!(Vouchers::parse(&vouchers[..at], hash), None, "{at}");
        }
    }
}
