//! Writing a commit as a tar archive, with git-archive(1)'s bytes. Workers read and convert
//! contents; the archive is written in the order of the tree.

use super::batch::{Batcher, Item};
use super::content::Shared;
use super::promised::{supply, IsRead};
use super::rules::FILE_NAME;
use super::source::Source;
use super::tar::{padding, trailer, Described, Headers};
use super::walk::Selection;
use super::{listed, ArchiveOptions, Entries};
use crate::dates::date_seconds;
use crate::index::Mode;
use crate::repository::Repository;
use crate::revision::Wanted;
use crate::tree::Difference;
use crate::worktree::attribute_files::directories_above;
use crate::worktree::{name_rules, pathspecs::Pathspecs};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_engine::{run_ordered, Execution, Failure, Window};
use hedgerow_pack::{ObjectId, ObjectKind};
use hedgerow_tree::{Content, EntryKind, Handle, NodeError};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Contents up to this size are read by workers; larger ones while they are written, in bytes.
const WHOLE_BYTES: u64 = 1 << 20;
/// Contents that wait to be written, in bytes.
const WINDOW_BYTES: u64 = 32 << 20;
/// A piece of a content that is read while it is written, in bytes.
const PIECE_BYTES: usize = 64 << 10;

/// A file that is not in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtraFile {
    /// Its path in the archive.
    pub path: BString,
    /// Its owner may execute it.
    pub is_executable: bool,
    /// What is in it.
    pub content: Vec<u8>,
}

/// How an archive is written.
#[derive(Clone, Debug, Default)]
pub struct TarOptions {
    /// What stands before all paths.
    pub prefix: BString,
    /// Only what these match, relative to the user's current directory.
    pub pathspecs: Vec<BString>,
    /// Files that follow those of the tree.
    pub extra: Vec<ExtraFile>,
    /// The time of all entries, as people write it.
    pub mtime: Option<BString>,
    /// Attribute files in the working tree count, and not those in the tree.
    pub worktree_attributes: bool,
    /// How to run.
    pub execution: Execution,
}

/// Writes the tree that `revision` names to `out`; `told` gets the path of each entry. Returns git's
/// warnings. In a subdirectory of the working tree, only what is in it is written.
///
/// # Errors
/// In git's words, if there is no such tree or a pathspec matches nothing: nothing was written then.
pub fn write_archive(
    repository: &Repository,
    revision: &BStr,
    options: &TarOptions,
    out: &mut dyn Write,
    told: &mut dyn FnMut(&BStr),
) -> Result<Vec<String>> {
    repository.with_promised(|| tree_of(repository, revision))?;
    let now = || date_seconds("now".into()).unwrap_or(0);
    let listing = ArchiveOptions {
        worktree_attributes: options.worktree_attributes,
        tree_mtime_s: now(),
        strict_placeholders: true,
        cancel: options.execution.cancel.clone(),
        ..ArchiveOptions::default()
    };
    let engine = options.execution.options("archive");
    let reads_attributes = !options.worktree_attributes;
    let wanted = |tree| -> Result<IsRead> {
        let specs = pathspecs(repository, tree, options)?;
        let fits = move |path: &BStr, kind| {
            let specs = specs.as_ref();
            specs.is_none_or(|specs| {
                specs.fits(path, Mode::from(kind)) || reads_attributes && applies(specs, path)
            })
        };
        Ok(Box::new(fits))
    };
    supply(repository, revision, &listing, &engine, &wanted)?;
    let mut source = Source::resolve(repository, revision, &listing)?;
    let tree = source.tree;
    if let Some(mtime) = &options.mtime {
        source.mtime_s = date_seconds(mtime.as_bstr()).unwrap_or_else(now);
    }
    let selection = Selection {
        in_tree_order: true,
        pathspecs: pathspecs(repository, tree, options)?,
        ..Selection::default()
    };
    let shared = Arc::new(Shared::new(repository, &source, &listing)?);
    let batcher = Batcher::new(repository, &shared, &source, &listing, selection)?;
    let commit = source.commit.as_ref().map(|commit| commit.id.to_string());
    let (headers, start) = Headers::new(source.mtime_s, commit.as_deref());
    let job = Job {
        headers,
        options,
        modes: [EntryKind::Directory, EntryKind::File, EntryKind::Executable]
            .map(|kind| source.mode(kind)),
        below: repository.prefix(),
    };
    let mut out = Counted {
        out,
        written_bytes: 0,
    };
    out.write(&start)?;
    job.prefix(tree, &mut out, told)?;
    let cancel = &listing.cancel;
    listed(
        batcher,
        &shared,
        cancel,
        None,
        |item| item,
        |entries| job.run(entries, &mut out, told),
    )??;
    job.extra(repository.hash_kind(), &mut out)?;
    let end = trailer(out.written_bytes);
    out.write(&end)?;
    let mut warnings = source.warnings;
    warnings.extend(shared.finish());
    Ok(warnings)
}

/// Whether `path` is an attribute file of a directory that `specs` lead into.
fn applies(specs: &Pathspecs, path: &BStr) -> bool {
    let directory = path.strip_suffix(FILE_NAME);
    directory.is_some_and(|directory| match directory {
        [] => true,
        [.., b'/'] => specs.lead_into(directory.as_bstr()),
        _ => false,
    })
}

/// The tree that `revision` names.
fn tree_of(repository: &Repository, revision: &BStr) -> Result<ObjectId> {
    let refused = |reason: String| Error::Setup { reason };
    let resolved = repository.resolve_if_named(revision, Wanted::Any, None)?;
    let resolved =
        resolved.ok_or_else(|| refused(format!("not a valid object name: {revision}")))?;
    let tree = repository.peel(&resolved.id, Some(ObjectKind::Tree))?;
    tree.ok_or_else(|| refused(format!("not a tree object: {}", resolved.id)))
}

/// The pathspecs, of which each has to match something in the current directory.
fn pathspecs(
    repository: &Repository,
    tree: ObjectId,
    options: &TarOptions,
) -> Result<Option<Pathspecs>> {
    let given = &options.pathspecs;
    if given.is_empty() {
        return Pathspecs::here(repository, given);
    }
    let engine = options.execution.options("archive");
    let names = name_rules(repository);
    let all = Difference::between(repository, None, Some(tree), names, &engine)?;
    let read = |given: &[BString]| {
        if options.worktree_attributes {
            Pathspecs::here(repository, given)
        } else {
            Pathspecs::here_in_tree(repository, given, &all)
        }
    };
    let specs = read(given)?;
    let here = repository.prefix();
    for spec in given {
        let Some(only) = read(std::slice::from_ref(spec))? else {
            continue;
        };
        let files = all.changes().iter().filter_map(|change| {
            let side = change.new?;
            let path = all.path(change);
            only.fits(path, Mode::from(side.kind)).then_some(path)
        });
        let mut is_found = false;
        for path in files {
            if !path.starts_with(here) {
                return Err(Error::Setup {
                    reason: format!(
                        "pathspec '{spec}' matches files outside the current directory"
                    ),
                });
            }
            is_found = true;
        }
        // To git, a directory that matches is enough, whatever is archived of it.
        let directories = directories_above(all.changes().iter().map(|it| all.path(it)));
        let mut directories = directories.iter().filter(|path| !path.is_empty());
        is_found |= directories.any(|path| only.fits(path, Mode::SparseDirectory));
        // An empty directory has no path of a file below it.
        let named = [&tree.to_string().into_bytes(), &b":"[..], here, spec].concat();
        is_found = is_found || repository.resolve_tree(named.as_bstr()).is_ok();
        if !is_found {
            return Err(Error::Setup {
                reason: format!("pathspec '{spec}' did not match any files"),
            });
        }
    }
    Ok(specs)
}

fn unwritable(error: std::io::Error) -> Error {
    // An error of the system already has a complete message.
    match error.downcast::<hedgerow_fs::Error>() {
        Ok(error) => error.into(),
        Err(error) => hedgerow_fs::Error::new("write", Path::new("the archive"), error).into(),
    }
}

/// An output whose bytes are counted.
struct Counted<W> {
    out: W,
    written_bytes: u64,
}

impl<W: Write> Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).map_err(unwritable)?;
        self.written_bytes += bytes.len() as u64;
        Ok(())
    }

    /// Fills up the last record of a content.
    fn fill(&mut self, content_bytes: u64) -> Result<()> {
        self.write(&[0; super::tar::RECORD_BYTES][..padding(content_bytes)])
    }
}

/// An entry that is ready to be written.
struct Ready {
    path: BString,
    header: Vec<u8>,
    content: Option<Body>,
}

enum Body {
    Whole(Vec<u8>),
    Open(Box<dyn Content>),
}

struct Job<'a> {
    headers: Headers,
    options: &'a TarOptions,
    /// Those of directories, files and executable files.
    modes: [u16; 3],
    /// The user's current directory, with a slash at its end; empty at the top.
    below: &'a BStr,
}

impl Job<'_> {
    /// The entry of the directory that stands before all paths.
    fn prefix<W: Write>(
        &self,
        tree: ObjectId,
        out: &mut Counted<W>,
        told: &mut dyn FnMut(&BStr),
    ) -> Result<()> {
        let prefix = self.options.prefix.as_bstr();
        if !prefix.ends_with(b"/") {
            return Ok(());
        }
        let trimmed = prefix.trim_end_with(|last| last == '/').len();
        let path = prefix[..(trimmed + 1).min(prefix.len())].as_bstr();
        told(path);
        out.write(&self.headers.entry(&Described {
            path,
            kind: EntryKind::Directory,
            mode: self.modes[0],
            id: &tree.to_string(),
            size_bytes: 0,
            target: b"",
        }))
    }

    /// Writes the entries of the tree.
    fn run<W: Write>(
        &self,
        entries: Entries<Item>,
        out: &mut Counted<W>,
        told: &mut dyn FnMut(&BStr),
    ) -> Result<()> {
        let engine = self.options.execution.options("archive");
        let window = Window {
            bytes: WINDOW_BYTES,
        };
        let source = entries.map(|item| {
            let mut item = item.map_err(of_node)?;
            item.handle.queue();
            let size_bytes = item.handle.held_bytes();
            Ok((item, size_bytes))
        });
        let prepare = |_: &mut (), item: Item| self.prepared(item);
        let commit = |_, ready: Option<Ready>| match ready {
            None => Ok(()),
            Some(ready) => {
                told(ready.path.as_bstr());
                out.write(&ready.header)?;
                write_body(ready, out)
            }
        };
        match run_ordered(&engine, window, source, |_| (), prepare, commit) {
            Ok(_) => Ok(()),
            Err(Failure::Failed(error)) => Err(error),
            Err(Failure::Cancelled) => Err(Error::Interrupted),
            Err(Failure::Panicked(reason)) => Err(Error::Internal { reason }),
        }
    }

    /// The header of an entry, and its content; `None` if it is above the current directory.
    fn prepared(&self, mut item: Item) -> Result<Option<Ready>> {
        let mut path = item.handle.path.clone();
        if matches!(item.kind, EntryKind::Directory | EntryKind::Gitlink) {
            path.push(b'/');
        }
        let below = path.strip_prefix(self.below.as_bytes()).unwrap_or_default();
        if below.is_empty() {
            return Ok(None);
        }
        let path: BString = [&self.options.prefix[..], below].concat().into();
        let mut target = Vec::new();
        let mut size_bytes = 0;
        let mut body = None;
        match item.kind {
            EntryKind::Directory | EntryKind::Gitlink => {}
            EntryKind::Symlink => target = item.handle.target().map_err(of_node)?,
            EntryKind::File | EntryKind::Executable => {
                let mut content = item.handle.open().map_err(of_node)?;
                size_bytes = content.size_bytes();
                body = Some(if size_bytes > WHOLE_BYTES {
                    Body::Open(content)
                } else {
                    Body::Whole(whole(content.as_mut(), size_bytes)?)
                });
            }
        }
        let header = self.headers.entry(&Described {
            path: path.as_bstr(),
            kind: item.kind,
            mode: item.mode,
            id: &item.handle.named.to_string(),
            size_bytes,
            target: &target,
        });
        Ok(Some(Ready {
            path,
            header,
            content: body,
        }))
    }

    /// Writes the files that are not in the tree. They have invented ids.
    fn extra<W: Write>(&self, hash: gix_hash::Kind, out: &mut Counted<W>) -> Result<()> {
        for (number, file) in (1_u64..).zip(&self.options.extra) {
            let mut id = vec![0; hash.len_in_bytes()];
            id[..size_of::<u64>()].copy_from_slice(&number.to_be_bytes());
            let (kind, mode) = if file.is_executable {
                (EntryKind::Executable, self.modes[2])
            } else {
                (EntryKind::File, self.modes[1])
            };
            let size_bytes = file.content.len() as u64;
            out.write(&self.headers.entry(&Described {
                path: file.path.as_bstr(),
                kind,
                mode,
                id: &ObjectId::from_bytes_or_panic(&id).to_string(),
                size_bytes,
                target: b"",
            }))?;
            out.write(&file.content)?;
            out.fill(size_bytes)?;
        }
        Ok(())
    }
}

fn of_node(error: NodeError) -> Error {
    match error {
        NodeError::Cancelled => Error::Interrupted,
        NodeError::Entry(error) | NodeError::Source(error) => match error.downcast::<Error>() {
            Ok(error) => *error,
            Err(error) => Error::Setup {
                reason: error.to_string(),
            },
        },
    }
}

fn whole(content: &mut dyn Content, size_bytes: u64) -> Result<Vec<u8>> {
    let mut bytes = vec![0; size_bytes as usize];
    let mut filled = 0;
    while filled < bytes.len() {
        match content.read(&mut bytes[filled..]).map_err(of_node)? {
            0 => return Err(cut_short()),
            count => filled += count,
        }
    }
    Ok(bytes)
}

fn cut_short() -> Error {
    Error::Internal {
        reason: "a content ended before its size".into(),
    }
}

fn write_body<W: Write>(ready: Ready, out: &mut Counted<W>) -> Result<()> {
    let size_bytes = match ready.content {
        None => return Ok(()),
        Some(Body::Whole(bytes)) => {
            out.write(&bytes)?;
            bytes.len() as u64
        }
        Some(Body::Open(mut content)) => {
            let size_bytes = content.size_bytes();
            let mut left = size_bytes;
            let mut piece = vec![0; PIECE_BYTES];
            while left > 0 {
                let count = content.read(&mut piece).map_err(of_node)?;
                if count == 0 || count as u64 > left {
                    return Err(cut_short());
                }
                out.write(&piece[..count])?;
                left -= count as u64;
            }
            size_bytes
        }
    };
    out.fill(size_bytes)
}
