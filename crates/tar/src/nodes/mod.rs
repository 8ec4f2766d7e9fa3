//! Archives as sources of nodes.

mod contents;
mod error;
mod index;
mod input;
mod links;
mod names;
mod root;

pub use error::SourceError;
pub use root::NewRoot;

use crate::acl::{self, Names};
use crate::compressed::{Compression, MAGIC_BYTES};
use crate::{decompress, Archive, Limits, Member, MemberKind, ReadOptions, Warning};
use bstr::BStr;
use contents::{Contents, InArchive};
use hedgerow_engine::CancelToken;
use hedgerow_fs::{FileKind, ReadFile, SpoolFile};
use hedgerow_tree::{Defaults, Node, NodeError, NodeKind};
use index::{Entry, IndexBuilder};
use input::{Positioned, Spool, SpoolError, Stream};
use links::Linked;
use std::io::Read;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

const DIRECTORY: MemberKind = MemberKind::Node(NodeKind::Directory);

/// How an archive becomes a tree.
#[derive(Clone, Debug)]
pub struct NodeOptions {
    /// Directory of the unnamed spool file. Contents are spooled if they cannot be read in place,
    /// because the archive is compressed or comes through a pipe.
    pub spool_directory: PathBuf,
    /// Attributes of directories that are not in the archive, including the root.
    pub defaults: Defaults,
    /// Gives these directories the time of the newest entry that is not left out, if there is one.
    pub newest_by_default: bool,
    /// Makes a directory of the archive the root; members outside of it are left out.
    pub new_root: Option<NewRoot>,
    /// Skips members that cannot be in a tree; they are reported as errors after the nodes.
    pub skip_unusable: bool,
    /// Limits of the sizes in headers.
    pub limits: Limits,
    /// Memory limit of the index in bytes. A member takes about 72 bytes besides its name, a
    /// directory 32.
    pub index_bytes: usize,
    /// Makes access control lists the attributes that they are on Linux, as far as this system knows
    /// the users and groups that they name.
    pub access_control_lists: bool,
    /// Cancels the reading of the archive.
    pub cancel: CancelToken,
}

impl Default for NodeOptions {
    /// Spools to the current directory; default attributes; an index of up to 4 GiB.
    fn default() -> Self {
        NodeOptions {
            spool_directory: PathBuf::from("."),
            defaults: Defaults::default(),
            newest_by_default: false,
            new_root: None,
            skip_unusable: false,
            limits: Limits::default(),
            index_bytes: 4 << 30,
            access_control_lists: false,
            cancel: CancelToken::default(),
        }
    }
}

/// Reads an archive, compressed or not, and sorts its members into canonical order. An uncompressed
/// regular file is read from the current position of `file`, and contents stay there until they are
/// needed. Any other input is read once from start to end, and contents are spooled.
///
/// Only an index stays in memory. If several members have the same path, the last one wins. Hard
/// links become further names of their targets. Missing parent directories are added.
///
/// Fails if the archive cannot be read or spooled, if a path is a directory and something else at
/// the same time, and if a member cannot be in a tree, unless such members are skipped.
pub fn nodes_of_archive(file: ReadFile, options: &NodeOptions) -> Result<ArchiveNodes, NodeError> {
    let is_regular = file.stat().map_err(SourceError::Fs)?.kind == FileKind::File;
    if !is_regular {
        return streamed(&file, options);
    }
    let position = file.position().map_err(SourceError::Fs)?;
    let mut magic = [0; MAGIC_BYTES];
    let count = file.read_at(&mut magic, position);
    let count = count.map_err(SourceError::Fs)?;
    match Compression::of(&magic[..count]) {
        Compression::None => in_place(file, position, options),
        _ => streamed(&file, options),
    }
}

/// Contents are read in place.
fn in_place(file: ReadFile, start: u64, options: &NodeOptions) -> Result<ArchiveNodes, NodeError> {
    let reader = Positioned::new(&file, start);
    let archive = Archive::seekable(reader, read_options(options));
    let archive = archive.map_err(|error| SourceError::archive(file.path(), error))?;
    let found = read_members(archive, &file, options, |archive| {
        Ok(start + archive.content_position())
    })?;
    nodes(found, file, options)
}

/// Contents are spooled.
fn streamed(file: &ReadFile, options: &NodeOptions) -> Result<ArchiveNodes, NodeError> {
    let stream = Stream {
        file,
        cancel: options.cancel.clone(),
    };
    let failed = |source| {
        let error = crate::Error::Read {
            position: 0,
            source,
        };
        unless_cancelled(options, SourceError::archive(file.path(), error))
    };
    let decoder = decompress(stream).map_err(failed)?;
    let archive = Archive::new(decoder, read_options(options));
    let spool = SpoolFile::create(&options.spool_directory).map_err(SourceError::Fs)?;
    let mut spool = Spool::new(spool);
    let found = read_members(archive, file, options, |archive| spool.take(archive))?;
    let spooled = spool.finish().map_err(SourceError::Fs)?;
    nodes(found, spooled, options)
}

fn read_options(options: &NodeOptions) -> ReadOptions {
    ReadOptions {
        strip_leading_slashes: true,
        skip_unusable: options.skip_unusable,
        ignore_zeros: false,
        limits: options.limits,
    }
}

/// The result of reading an archive.
struct ReadMembers {
    members: IndexBuilder,
    acls: u64,
    warnings: Vec<Warning>,
    more_warnings: u64,
}

/// Reads all members; `place` returns the position of the current member's content.
fn read_members<R: Read>(
    mut archive: Archive<R>,
    file: &ReadFile,
    options: &NodeOptions,
    mut place: impl FnMut(&mut Archive<R>) -> Result<u64, SpoolError>,
) -> Result<ReadMembers, NodeError> {
    let failed = |error| unless_cancelled(options, SourceError::archive(file.path(), error));
    let mut members = IndexBuilder::new(&options.defaults, options.index_bytes);
    let mut acls = 0;
    let mut names = Names::default();
    let mut has_root = options.new_root.is_none();
    while let Some(member) = archive.next_member().map_err(failed)? {
        if options.cancel.is_cancelled() {
            return Err(NodeError::Cancelled);
        }
        let Some(mut member) = renamed(member, options) else {
            continue;
        };
        has_root = !member.path.is_empty() || member.kind == DIRECTORY;
        if !has_root {
            break;
        }
        let is_whole = options.access_control_lists && convert_lists(&mut member, &mut names);
        let has_lists = member.acl_access.is_some() || member.acl_default.is_some();
        acls += u64::from(has_lists && !is_whole);
        let content = if member.is_file() {
            place(&mut archive).map_err(|error| match error {
                SpoolError::Read(error) => failed(error),
                SpoolError::Write(error) => SourceError::Fs(error).into(),
            })?
        } else {
            0
        };
        let added = members.add(member, content);
        added.map_err(|_| SourceError::TooMany {
            archive: file.path().to_owned(),
            limit: options.index_bytes,
        })?;
    }
    if let Some(root) = options.new_root.as_ref().filter(|_| !has_root) {
        return Err(SourceError::NoRoot(root.path.clone().into()).into());
    }
    let (warnings, more_warnings) = archive.take_warnings();
    archive.finish().map_err(failed)?;
    if warnings == [Warning::NoEndMark(0)] {
        return Err(SourceError::Empty(file.path().to_owned()).into());
    }
    Ok(ReadMembers {
        members,
        acls,
        warnings,
        more_warnings,
    })
}

/// Adds the attributes that are the member's access control lists, unless it has them. Returns
/// whether all are there now.
fn convert_lists(member: &mut Member, names: &mut Names) -> bool {
    let lists = [
        (acl::ACCESS, &member.acl_access, false),
        (acl::DEFAULT, &member.acl_default, true),
    ];
    let mut is_whole = true;
    for (name, text, is_default) in lists {
        let Some(text) = text else {
            continue;
        };
        if member.xattrs.contains_key(name) {
            continue;
        }
        match acl::from_text(text, names, is_default) {
            Some(Some(value)) => drop(member.xattrs.insert(name.to_vec(), value)),
            Some(None) => {}
            None => is_whole = false,
        }
    }
    is_whole
}

fn renamed(member: Member, options: &NodeOptions) -> Option<Member> {
    match &options.new_root {
        Some(root) => root.inside(member),
        None => Some(member),
    }
}

/// An interrupted program may have ended together with the one that writes to its pipe; that is no
/// error of the archive.
fn unless_cancelled(options: &NodeOptions, error: SourceError) -> NodeError {
    if options.cancel.is_cancelled() {
        NodeError::Cancelled
    } else {
        error.into()
    }
}

fn nodes(
    found: ReadMembers,
    file: ReadFile,
    options: &NodeOptions,
) -> Result<ArchiveNodes, NodeError> {
    let index = found.members.finish(&options.defaults)?;
    let mut skipped = Vec::new();
    let mut warnings = Vec::new();
    for warning in found.warnings {
        match warning {
            Warning::Skipped { path, reason } => {
                skipped.push(SourceError::Skipped { path, reason });
            }
            other => warnings.push(other),
        }
    }
    if found.more_warnings > 0 {
        skipped.push(SourceError::MoreSkipped(found.more_warnings));
    }
    Ok(ArchiveNodes {
        acls: found.acls,
        warnings,
        path: Vec::new(),
        levels: None,
        skipped: skipped.into_iter(),
        is_excluded: Box::new(|_, _| false),
        newest_by_default: options.newest_by_default,
        made_up_mtime_s: None,
        contents: Arc::new(Contents { index, file }),
    })
}

/// Whether the entry at a path, which may be a directory, is left out.
type IsExcluded = Box<dyn Fn(&[u8], bool) -> bool + Send>;

/// The nodes of an archive in canonical order, the root first, followed by errors for skipped
/// members.
pub struct ArchiveNodes {
    contents: Arc<Contents>,
    acls: u64,
    warnings: Vec<Warning>,
    /// The path of the current directory.
    path: Vec<u8>,
    /// For each open directory, its remaining entries and the length of its path. `None` before the
    /// root.
    levels: Option<Vec<(Range<usize>, usize)>>,
    skipped: std::vec::IntoIter<SourceError>,
    is_excluded: IsExcluded,
    newest_by_default: bool,
    /// The time of directories that are not in the archive, if not that of their entries.
    made_up_mtime_s: Option<i64>,
}

impl ArchiveNodes {
    /// Leaves out the entries for which `is_excluded` returns true, and everything below them. Its
    /// arguments are the path and whether it is a directory.
    pub fn without(self, is_excluded: impl Fn(&[u8], bool) -> bool + Send + 'static) -> Self {
        ArchiveNodes {
            is_excluded: Box::new(is_excluded),
            ..self
        }
    }

    /// The number of members with POSIX.1e access control lists that the nodes do not have.
    pub fn access_control_lists(&self) -> u64 {
        self.acls
    }

    /// Other warnings about the archive, which are harmless.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The names of all extended attributes; names may be repeated.
    pub fn xattr_names(&self) -> impl Iterator<Item = &BStr> {
        let names = self.contents.index.all_xattrs();
        names.map(|xattr| xattr.name.as_ref())
    }

    /// Takes the errors about skipped members, so that they do not follow the nodes.
    pub fn take_skipped(&mut self) -> Vec<SourceError> {
        std::mem::take(&mut self.skipped).collect()
    }

    /// Whether the archive has no entries except possibly its root.
    pub fn is_empty(&self) -> bool {
        self.contents.index.is_empty()
    }

    /// The node of an entry. A hard link gets the attributes and the content of its target.
    fn node(&self, entry: &Entry, number: Option<u32>) -> Result<Node, SourceError> {
        let index = &self.contents.index;
        let (entry, number) = match (entry.kind, entry.linked_to()) {
            (MemberKind::Node(_), _) => (entry, number),
            (_, Linked::To(target)) => (index.entry(target).unwrap_or(entry), Some(target)),
            (_, Linked::Nowhere) => {
                return Err(SourceError::DanglingLink {
                    path: self.path.clone().into(),
                    target: index.target(entry).into(),
                })
            }
            (_, Linked::Directory) => {
                return Err(SourceError::LinkToDirectory {
                    path: self.path.clone().into(),
                    target: index.target(entry).into(),
                })
            }
        };
        let kind = match entry.kind {
            MemberKind::Node(kind) => kind,
            MemberKind::HardLink => NodeKind::File,
        };
        let device = match kind {
            NodeKind::BlockDevice | NodeKind::CharacterDevice => {
                ((entry.data >> 32) as u32, entry.data as u32)
            }
            _ => (0, 0),
        };
        Ok(Node {
            path: self.path.clone(),
            kind,
            mode: entry.mode,
            uid: entry.uid,
            gid: entry.gid,
            mtime_s: self
                .made_up_mtime_s
                .filter(|_| index.is_made_up(number))
                .unwrap_or(entry.mtime_s),
            mtime_ns: entry.mtime_ns,
            size_bytes: entry.size_bytes,
            device,
            link: number
                .filter(|_| entry.is_linked)
                .map(|number| (0, u64::from(number))),
            content_id: None,
            handle: Box::new(InArchive {
                contents: self.contents.clone(),
                number,
            }),
        })
    }
}

impl Iterator for ArchiveNodes {
    type Item = Result<Node, NodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if std::mem::take(&mut self.newest_by_default) {
            self.made_up_mtime_s = self.newest();
        }
        let Some(number) = self.advance() else {
            return self.skipped.next().map(|error| Err(error.into()));
        };
        let contents = self.contents.clone();
        let entry = number.and_then(|number| contents.index.entry(number));
        let node = self.node(entry.unwrap_or(contents.index.root()), number);
        Some(node.map_err(NodeError::from))
    }
}

impl ArchiveNodes {
    /// The newest time of the members that are not left out. Called before the first node.
    fn newest(&mut self) -> Option<i64> {
        let contents = self.contents.clone();
        let index = &contents.index;
        let mut newest = None;
        while let Some(number) = self.advance() {
            if !index.is_made_up(number) {
                let entry = number.and_then(|number| index.entry(number));
                let entry = entry.unwrap_or(index.root());
                let linked = match (entry.kind, entry.linked_to()) {
                    (MemberKind::HardLink, Linked::To(target)) => index.entry(target),
                    _ => None,
                };
                newest = newest.max(Some(linked.unwrap_or(entry).mtime_s));
            }
        }
        (self.levels, self.path) = (None, Vec::new());
        newest
    }

    /// Goes on to the next entry that is not left out, and returns its number; the first is the root,
    /// which has none.
    fn advance(&mut self) -> Option<Option<u32>> {
        let contents = self.contents.clone();
        let index = &contents.index;
        let Some(levels) = &mut self.levels else {
            self.levels = Some(vec![(index.in_root(), 0)]);
            return Some(None);
        };
        while let Some((places, path_len)) = levels.last_mut() {
            self.path.truncate(*path_len);
            let place = places.next();
            let Some((number, entry)) = place
                .and_then(|place| index.at(place))
                .and_then(|number| Some((number, index.entry(number)?)))
            else {
                levels.pop();
                continue;
            };
            if !self.path.is_empty() {
                self.path.push(b'/');
            }
            self.path.extend_from_slice(index.name(entry));
            let is_directory = entry.kind == DIRECTORY;
            if (self.is_excluded)(&self.path, is_directory) {
                continue;
            }
            if is_directory {
                levels.push((index.inside(entry), self.path.len()));
            }
            return Some(Some(number));
        }
        None
    }
}
