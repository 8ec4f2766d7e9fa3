//! Parsing an index.

use super::checksum;
use super::cursor::{Cursor, Parsed, Problem};
use super::decode::{self, object_id, Rows};
use super::entry::{Mode, Stage};
use super::extensions::{self, ParsedExtensions};
use super::{Index, Version};
use crate::{Error, Result};
use gix_hash::{Kind, ObjectId};
use hedgerow_fs::{MappedFile, ReadFile, Stat};
use std::cmp::Ordering;
use std::path::Path;

/// Below this size, checksum and entries are both done before a thread would have started, in
/// bytes.
const BYTES_WORTH_A_THREAD: usize = 1 << 20;

/// From this size on, mapping an index file takes less time than reading it into fresh memory, in
/// bytes.
const BYTES_WORTH_A_MAP: u64 = 1 << 18;

/// Upper size limit of an index file, in bytes. No real index is larger: at 80 bytes per entry it
/// would have 50 million entries.
const LIMIT_BYTES: u64 = 4 << 30;

/// What the names of files of shared indexes begin with.
pub(crate) const SHARED_PREFIX: &str = "sharedindex.";

impl Index {
    /// Loads the index file at `path`, with that file's stat data; `None` if the file does not
    /// exist.
    ///
    /// # Errors
    /// Like [`Index::read`], and if the file cannot be read.
    ///
    /// The shared index of a split one is in `git_dir` or, as with old versions of Git, beside it.
    pub fn load(path: &Path, git_dir: &Path, hash: Kind) -> Result<Option<(Index, Stat)>> {
        let file = match ReadFile::open(path) {
            // Other errors do not mean that there is no index.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let stat = file.stat()?;
        let mut shared = |id: &ObjectId| {
            let name = shared_name(id);
            let (place, beside) = (git_dir.join(&name), path.with_file_name(&name));
            // It is in use, so it does not expire.
            let _ = hedgerow_fs::touch(&place);
            for place in [&place, &beside] {
                if let Some(content) = hedgerow_fs::read_file(place, LIMIT_BYTES)? {
                    return Ok(content);
                }
            }
            Err(Error::CorruptIndex {
                path: beside,
                reason: "the shared index is missing".into(),
            })
        };
        let mut read = |content: &[u8]| Index::read(content, hash, path, &mut shared);
        let index = if (BYTES_WORTH_A_MAP..=LIMIT_BYTES).contains(&stat.size) {
            read(&MappedFile::at_once(&file)?)
        } else {
            let mut content = Vec::new();
            file.read_to_end(&mut content, LIMIT_BYTES)?;
            read(&content)
        };
        Ok(Some((index?, stat)))
    }

    /// Parses `content`, the bytes of an index file of a repository with the hash `hash`.
    ///
    /// `path` is used only in errors. `shared` loads the file `sharedindex.<id>` that a split index
    /// is based on; the result is merged. The checksum at the end is verified unless it is all zero
    /// (`index.skipHash`).
    ///
    /// # Errors
    /// [`Error::CorruptIndex`] if the bytes are not an index, [`Error::Unsupported`] for an unknown
    /// version or required extension, and any error of `shared`.
    pub fn read(
        content: &[u8],
        hash: Kind,
        path: &Path,
        shared: &mut dyn FnMut(&ObjectId) -> Result<Vec<u8>>,
    ) -> Result<Index> {
        let file = File::parse(content, hash).map_err(|problem| named(problem, path))?;
        let base = match &file.found.link {
            Some(link) if !link.base.is_null() => {
                let content = shared(&link.base)?;
                let path = path.with_file_name(format!("sharedindex.{}", link.base));
                let rows = shared_rows(&content, hash, &link.base);
                Some(rows.map_err(|problem| named(problem, &path))?)
            }
            _ => None,
        };
        file.into_index(base, hash)
            .map_err(|problem| named(problem, path))
    }
}

/// The name of the file of the shared index with the checksum `id`.
pub(crate) fn shared_name(id: &ObjectId) -> String {
    format!("{SHARED_PREFIX}{id}")
}

/// The entries of the shared index `content`, whose checksum must be `expected`.
fn shared_rows(content: &[u8], hash: Kind, expected: &ObjectId) -> Parsed<Rows> {
    let file = File::parse(content, hash)?;
    if file.checksum.as_ref() != Some(expected) {
        return Err(format!("its checksum is not {expected}").into());
    }
    match file.found.link {
        Some(_) => Err("a shared index that is split itself".into()),
        None => Ok(file.rows),
    }
}

#[cold]
pub(super) fn named(problem: Problem, path: &Path) -> Error {
    match problem {
        Problem::Corrupt(reason) => Error::CorruptIndex {
            path: path.to_owned(),
            reason: reason.into_owned(),
        },
        Problem::Unsupported(what) => Error::Unsupported { what },
    }
}

/// A parsed index file whose entries were not checked yet.
struct File<'a> {
    version: Version,
    rows: Rows,
    found: ParsedExtensions<'a>,
    checksum: Option<ObjectId>,
}

impl<'a> File<'a> {
    fn parse(content: &'a [u8], hash: Kind) -> Parsed<Self> {
        let body_len = content.len().checked_sub(hash.len_in_bytes());
        let split = body_len.and_then(|len| content.split_at_checked(len));
        let (body, trailer) = split.ok_or("the file is too short")?;
        let mut cursor = Cursor::new(body);
        if cursor.take_array() != Some(b"DIRC") {
            return Err("it does not begin with 'DIRC'".into());
        }
        let version = match cursor.be32().ok_or("the file is too short")? {
            2 => Version::V2,
            3 => Version::V3,
            4 => Version::V4,
            other => return Err(Problem::Unsupported(format!("index version {other}"))),
        };
        let count = cursor.be32().ok_or("the file is too short")?;
        let trailer = object_id(trailer)?;
        let (checksum, rows) = beside(
            body.len(),
            || verified(body, trailer, hash),
            || decode::entries(&mut cursor, version, hash, count),
        );
        let (checksum, rows) = (checksum?, rows?);
        let found = extensions::read(cursor.rest(), hash)?;
        Ok(File {
            version,
            rows,
            found,
            checksum,
        })
    }

    fn into_index(self, base: Option<Rows>, hash: Kind) -> Parsed<Index> {
        let mut kept = self.found.kept;
        let rows = match (&self.found.link, base) {
            (Some(link), Some(base)) => {
                kept.split = Some(link.shared(Some(base.clone())));
                link.merge(base, self.rows)?
            }
            (link, _) => {
                kept.split = link.as_ref().map(|link| link.shared(None));
                self.rows
            }
        };
        let mut index = Index {
            hash,
            version: self.version,
            entries: rows.entries,
            paths: rows.paths,
            checksum: self.checksum,
            extensions: kept,
        };
        check_entries(&index)?;
        if let Some(fsmonitor) = self.found.fsmonitor {
            if fsmonitor.apply(&mut index.entries) {
                index.extensions.fsmonitor_token = Some(fsmonitor.token);
            }
        }
        Ok(index)
    }
}

/// Runs both closures for an index of `bytes` bytes: at the same time if that is worth a thread.
fn beside<A: Send, B>(
    bytes: usize,
    first: impl FnOnce() -> Parsed<A> + Send,
    second: impl FnOnce() -> Parsed<B>,
) -> (Parsed<A>, Parsed<B>) {
    if bytes < BYTES_WORTH_A_THREAD {
        return (first(), second());
    }
    let (first, second) = hedgerow_fs::threads::both("index", first, second);
    (
        first.unwrap_or_else(|_| Err("its checksum cannot be taken".into())),
        second,
    )
}

/// The checksum in the trailer, `None` if it was left out; fails if it does not match `body`.
fn verified(body: &[u8], trailer: ObjectId, hash: Kind) -> Parsed<Option<ObjectId>> {
    if trailer.is_null() {
        return Ok(None);
    }
    if checksum::of(hash, body) == trailer {
        Ok(Some(trailer))
    } else {
        Err("its checksum does not match its content".into())
    }
}

/// Checks what users of the index rely on: the order of the entries, that no path is both merged
/// and in conflict, and the form of sparse directories.
fn check_entries(index: &Index) -> Parsed<()> {
    let mut previous: Option<(&bstr::BStr, Stage)> = None;
    for (path, entry) in index.iter() {
        let stage = entry.flags.stage;
        if path.is_empty() {
            return Err("an entry without a path".into());
        }
        if entry.mode == Mode::SparseDirectory {
            let proper = index.extensions.sparse && path.ends_with(b"/") && stage == Stage::Merged;
            if !proper {
                return Err(format!("'{path}' is a directory outside of a sparse index").into());
            }
        }
        if let Some((before, before_stage)) = previous {
            match before.cmp(path) {
                Ordering::Less => {}
                Ordering::Greater => return Err(format!("'{path}' after '{before}'").into()),
                Ordering::Equal if before_stage == Stage::Merged => {
                    return Err(format!("multiple stage entries for merged file '{path}'").into())
                }
                Ordering::Equal if before_stage >= stage => {
                    return Err(format!("unordered stage entries for '{path}'").into())
                }
                Ordering::Equal => {}
            }
        }
        previous = Some((path, stage));
    }
    Ok(())
}
