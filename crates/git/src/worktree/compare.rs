//! Comparison by content where stat data do not decide: files whose stat data differ, or are racy.

use super::state::State;
use super::unanswered::is_unanswered;
use crate::convert::{Buffers, Conversion, Converter, FilterContext, FilterLane, ToGit};
use crate::index::{Entry as IndexEntry, EntryStat, Index, Mode, Stage};
use crate::repository::Objects;
use crate::{Error, Result};
use bstr::{BStr, BString};
use gix_hash::ObjectId;
use hedgerow_engine::{run_tasks, Options, Scope};
use hedgerow_fs::{Dir, FileKind, ReadFile, Stat};
use hedgerow_object::{ObjectHeader, ObjectKind};
use hedgerow_pack::Reader;
use hedgerow_tree::split_path;
use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::{Mutex, PoisonError};

/// Size of the pieces in which files are hashed, in bytes.
const PIECE_BYTES: usize = 128 * 1024;
/// From this size on, hashing a file takes so long that the other files are not to wait for it.
const LONG_BYTES: u32 = 1 << 20;
/// Upper size limit of files that need conversion, in bytes: they are read whole.
const CONVERTED_LIMIT_BYTES: u64 = 2 << 30;

/// A file whose content turned out to match the index, with its current stat data.
pub(crate) type Refreshed = (u32, EntryStat);

/// The sides of the comparison, and the conversions.
pub(crate) struct Comparison<'a> {
    pub root: &'a Dir,
    pub index: &'a Index,
    pub converter: &'a Converter,
    pub objects: Objects<'a>,
    /// The context of clean filters.
    pub filters: FilterContext,
}

/// A file that is to be judged.
#[derive(Clone, Copy)]
struct Doubted {
    row: u32,
    /// Its state is [`State::Unchanged`].
    is_unchanged: bool,
}

/// Result for one file.
struct Verdict {
    row: u32,
    /// Its stat data, if its content matches the index.
    same: Option<EntryStat>,
    read: Option<ReadRow>,
    /// Why it could not be read, unless it is gone.
    failure: Option<hedgerow_fs::Error>,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadRow {
    pub row: u32,
    /// Its stat data when it was read.
    pub stat: EntryStat,
    /// Why it could not be converted, in git's words.
    pub error: Option<String>,
}

/// Result of reading files.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// Files that match the index, ascending by row.
    pub clean: Vec<Refreshed>,
    /// All files that were read, ascending by row.
    pub read: Vec<ReadRow>,
    /// Warnings about attribute files, by directory.
    pub warnings: BTreeMap<BString, Vec<String>>,
    /// Files that permissions make unreadable; they count as modified.
    pub forbidden: Vec<hedgerow_fs::Error>,
    /// Files that could not be read because of system errors. Their state is [`State::Unknown`].
    pub unanswered: Vec<hedgerow_fs::Error>,
}

/// A file's content as it would be added, and git's messages about it.
pub(crate) struct CleanedFile {
    pub content: Vec<u8>,
    /// Why it could not be converted.
    pub error: Option<String>,
    /// A warning about how a later checkout would change its line ends.
    pub warning: Option<String>,
}

impl Comparison<'_> {
    /// Reads every [`State::Suspect`] and [`State::Touched`] file, and every [`State::Unchanged`] one whose
    /// conversion may have another result now, and replaces these states by [`State::Clean`] or [`State::Modified`]. Started filters are
    /// left in `lanes`, by the positions of their drivers.
    pub(crate) fn settle(
        &self,
        states: &mut [State],
        lanes: &mut BTreeMap<usize, FilterLane>,
        options: &Options,
    ) -> Result<Settled> {
        let mut files = Vec::new();
        for (row, state) in (0..).zip(states.iter_mut()) {
            let is_unchanged = *state == State::Unchanged;
            let is_doubted = match *state {
                State::Suspect | State::Touched => true,
                State::Unchanged => self.is_converted(row),
                _ => false,
            };
            if is_doubted {
                files.push(Doubted { row, is_unchanged });
            } else if is_unchanged {
                *state = State::Clean;
            }
        }
        if files.is_empty() {
            return Ok(Settled::default());
        }
        // Filtered files are compared separately, because they share one program for each driver.
        let (filtered, plain): (Vec<Doubted>, Vec<Doubted>) = files
            .into_iter()
            .partition(|file| self.driver(file.row).is_some());
        let filtered: Vec<u32> = filtered.iter().map(|file| file.row).collect();
        let mut verdicts = self.compare(plain, options)?;
        verdicts.extend(self.compare_filtered(&filtered, lanes, options)?);
        verdicts.sort_unstable_by_key(|verdict| verdict.row);
        let mut settled = Settled::default();
        for verdict in verdicts {
            let Verdict {
                row,
                same,
                read,
                failure,
            } = verdict;
            let is_unknown = matches!(&failure, Some(error) if is_unanswered(&error.source));
            states[row as usize] = match same {
                Some(_) => State::Clean,
                None if is_unknown => State::Unknown,
                None => State::Modified,
            };
            if is_unknown {
                settled.unanswered.extend(failure)
            } else {
                settled.forbidden.extend(failure.filter(is_forbidden))
            }
            settled.clean.extend(same.map(|stat| (row, stat)));
            settled.read.extend(read);
        }
        Ok(settled)
    }

    fn compare(&self, files: Vec<Doubted>, options: &Options) -> Result<Vec<Verdict>> {
        let found: Mutex<Vec<Verdict>> = Mutex::new(Vec::with_capacity(files.len()));
        type Kept<'s> = (Buffers, Reader<'s>);
        let work = |(buffers, reader): &mut Kept<'_>, file: Doubted, scope: &Scope<'_, _>| {
            let Doubted { row, is_unchanged } = file;
            let entry = &self.index.entries()[row as usize];
            if entry.stat.size >= LONG_BYTES {
                scope.takes_long();
            }
            let verdict = if is_unchanged && self.is_blob_by_size(entry, reader) {
                Verdict {
                    row,
                    same: Some(entry.stat),
                    read: None,
                    failure: None,
                }
            } else {
                self.verdict(row, buffers, None)?
            };
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.push(verdict);
            Ok::<(), Error>(())
        };
        run_tasks(
            &options.named("compare"),
            files,
            |_| (Buffers::default(), Reader::new(self.objects.store)),
            work,
        )
        .map_err(Error::from)?;
        Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Compares files one after the other, because each driver has one filter program for all its
    /// files.
    fn compare_filtered(
        &self,
        rows: &[u32],
        lanes: &mut BTreeMap<usize, FilterLane>,
        options: &Options,
    ) -> Result<Vec<Verdict>> {
        let mut buffers = Buffers::default();
        let mut verdicts = Vec::with_capacity(rows.len());
        for row in rows.iter().copied() {
            if options.cancel.is_cancelled() {
                return Err(Error::Interrupted);
            }
            let Some(index) = self.driver(row) else {
                continue;
            };
            let lane = match lanes.entry(index) {
                Entry::Occupied(lane) => lane.into_mut(),
                Entry::Vacant(place) => {
                    let Some(driver) = self.converter.driver(index) else {
                        continue;
                    };
                    place.insert(FilterLane::open(driver, self.filters.clone())?)
                }
            };
            verdicts.push(self.verdict(row, &mut buffers, Some(lane))?);
        }
        Ok(verdicts)
    }

    /// Whether the file of `entry`, which has not changed since it was recorded, would be added as the
    /// same blob, judged by its size. False if only reading it can tell.
    fn is_blob_by_size(&self, entry: &IndexEntry, reader: &mut Reader<'_>) -> bool {
        let conversion = self.converter.conversion(self.index.path(entry));
        if !conversion.is_judged_by_size() || !self.objects.replacements.is_empty() {
            return false;
        }
        let location = self.objects.store.locate(&entry.id).ok().flatten();
        let size = location.and_then(|location| reader.size_bytes(&entry.id, location).ok());
        size == Some(entry.stat.size.into())
    }

    fn is_converted(&self, row: u32) -> bool {
        let entry = &self.index.entries()[row as usize];
        let conversion = self.converter.conversion(self.index.path(entry));
        entry.mode.is_file() && !matches!(conversion, Conversion::Plain)
    }

    /// The position of the driver whose filter the row's file goes through, if it has one.
    fn driver(&self, row: u32) -> Option<usize> {
        let entry = &self.index.entries()[row as usize];
        if !is_readable(entry.mode) {
            return None;
        }
        match self.converter.conversion(self.index.path(entry)) {
            Conversion::Driver(conversion) => Some(conversion.index),
            _ => None,
        }
    }

    /// Compares one file. If it may not be read or cannot be converted, it does not count as
    /// unchanged.
    ///
    /// # Errors
    /// A required filter that failed: without it, nothing can be said about the file.
    fn verdict(
        &self,
        row: u32,
        buffers: &mut Buffers,
        lane: Option<&mut FilterLane>,
    ) -> Result<Verdict> {
        let entry = &self.index.entries()[row as usize];
        let (id, stat, error) = match self.hash_file(entry, buffers, lane) {
            Ok(hashed) => hashed,
            Err(error @ Error::Filter { .. }) => return Err(error),
            Err(error) => {
                return Ok(Verdict {
                    row,
                    same: None,
                    read: None,
                    failure: match error {
                        Error::Fs(error) => Some(error),
                        _ => None,
                    },
                })
            }
        };
        let is_link = stat.kind == FileKind::Symlink;
        let stat = EntryStat::from(&stat);
        Ok(Verdict {
            row,
            same: (id == entry.id).then_some(stat),
            read: (!is_link).then_some(ReadRow { row, stat, error }),
            failure: None,
        })
    }

    /// The object id that the file would have if it were added, its stat data before it was read,
    /// and why it could not be converted.
    fn hash_file(
        &self,
        entry: &IndexEntry,
        buffers: &mut Buffers,
        lane: Option<&mut FilterLane>,
    ) -> Result<(ObjectId, Stat, Option<String>)> {
        let hash = self.index.hash();
        let path = self.index.path(entry);
        let (parent, name) = split_path(path);
        let directory = self.root.open_dir(parent)?;
        if entry.mode == Mode::Symlink {
            let stat = directory.stat(name)?;
            if stat.kind == FileKind::Symlink {
                let target = directory.read_link(name)?;
                return Ok((blob_id(hash, &target)?, stat, None));
            }
        }
        // A link's entry may have a regular file, where links are written as files.
        let file = directory.open_file(name)?;
        let stat = file.stat()?;
        let conversion = self.converter.conversion(path);
        if matches!(conversion, Conversion::Plain) {
            return Ok((stream_id(hash, &file, stat.size)?, stat, None));
        }
        let mut content = Vec::new();
        file.read_to_end(&mut content, CONVERTED_LIMIT_BYTES)?;
        if let Some(lane) = lane {
            let cleaned = lane.clean(path, &content)?;
            content = cleaned.content.unwrap_or(content);
        }
        let mut index_content = || self.index_content(entry);
        let request = ToGit {
            write_object: false,
            tell_line_ends: false,
            renormalize: false,
            index_content: &mut index_content,
        };
        let cleaned = self
            .converter
            .to_git(buffers, conversion, path, &content, request)?;
        Ok((blob_id(hash, cleaned.content)?, stat, cleaned.message))
    }

    /// The content of the file or link `path` as it would be added. If it is to be written as an object,
    /// what would not survive a round trip is an error where the configuration has it so.
    pub(crate) fn cleaned(
        &self,
        path: &BStr,
        buffers: &mut Buffers,
        write_object: bool,
    ) -> Result<CleanedFile> {
        let (parent, name) = split_path(path);
        let directory = self.root.open_dir(parent)?;
        if directory.stat(name)?.kind == FileKind::Symlink {
            return Ok(CleanedFile {
                content: directory.read_link(name)?,
                error: None,
                warning: None,
            });
        }
        let mut content = Vec::new();
        let file = directory.open_file(name)?;
        file.read_to_end(&mut content, CONVERTED_LIMIT_BYTES)?;
        let conversion = self.converter.conversion(path);
        let mut of_filter = None;
        if let Conversion::Driver(filtered) = &conversion {
            if let Some(driver) = self.converter.driver(filtered.index) {
                let mut lane = FilterLane::open(driver, self.filters.clone())?;
                let filtered = lane.clean(path, &content)?;
                of_filter = filtered.messages.into_iter().next();
                content = filtered.content.unwrap_or(content);
            }
        }
        let mut index_content = || match self.index.find(path, Stage::Merged) {
            Ok(row) => self.index_content(&self.index.entries()[row]),
            Err(_) => Ok(None),
        };
        let request = ToGit {
            write_object,
            tell_line_ends: true,
            renormalize: false,
            index_content: &mut index_content,
        };
        let cleaned = self
            .converter
            .to_git(buffers, conversion, path, &content, request)?;
        Ok(CleanedFile {
            error: of_filter.or(cleaned.message),
            warning: cleaned.line_ends,
            content: cleaned.content.to_vec(),
        })
    }

    fn index_content(&self, entry: &IndexEntry) -> Result<Option<Vec<u8>>> {
        let id = self.objects.replacement(&entry.id)?;
        Ok(self
            .objects
            .store
            .read(&id)
            .ok()
            .map(|(_, content)| content))
    }
}

fn is_forbidden(error: &hedgerow_fs::Error) -> bool {
    error.kind() == std::io::ErrorKind::PermissionDenied
}

/// Whether an entry's file may need conversion. If links are written as files, git converts them
/// like all files.
fn is_readable(mode: Mode) -> bool {
    matches!(mode, Mode::File | Mode::Executable | Mode::Symlink)
}

/// The id of a blob of this content.
pub(crate) fn blob_id(hash: gix_hash::Kind, content: &[u8]) -> Result<ObjectId> {
    let mut hasher = start(hash, content.len() as u64);
    hasher.update(content);
    finish(hasher)
}

fn stream_id(hash: gix_hash::Kind, file: &ReadFile, size: u64) -> Result<ObjectId> {
    let mut hasher = start(hash, size);
    let mut piece = vec![0; PIECE_BYTES.min(size as usize + 1)];
    loop {
        match file.read(&mut piece)? {
            0 => return finish(hasher),
            count => hasher.update(&piece[..count]),
        }
    }
}

fn start(hash: gix_hash::Kind, size: u64) -> gix_hash::Hasher {
    let kind = ObjectKind::Blob;
    ObjectHeader { kind, size }.start_hash(hash)
}

fn finish(hasher: gix_hash::Hasher) -> Result<ObjectId> {
    hasher.try_finalize().map_err(|error| Error::Internal {
        reason: error.to_string(),
    })
}
