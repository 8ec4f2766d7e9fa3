//! Compares two images.

use crate::damage::{Damage, Error, Part};
use hedgerow_engine::{run_ordered, CancelToken, Execution, Failure, Window};
use hedgerow_tree::{canonical_order, Content, Metadata, NodeError, NodeKind, Omission, Xattr};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::iter::Peekable;
use std::sync::Arc;

/// How far comparisons may run ahead of the reports: a pair of entries counts as 256 bytes.
const WINDOW: Window = Window { bytes: 16 << 20 };
/// Size of the read buffers for contents that are stored in different ways, in bytes.
const BUFFER_BYTES: usize = 128 << 10;

/// An image that can be compared with another.
pub trait Comparable: Send + Sync + Sized {
    /// What the image knows of an entry.
    type Inode: Send;

    /// All entries in canonical order, the root first, with an empty path.
    ///
    /// # Errors
    /// The root cannot be read.
    fn entries(self: &Arc<Self>) -> Result<EntryIterator<Self::Inode>, Error>;

    /// Whether its times have nanoseconds.
    fn has_nanoseconds(&self) -> bool;

    /// The target of a symbolic link.
    ///
    /// # Errors
    /// It cannot be read.
    fn target(&self, entry: &ImageEntry<Self::Inode>) -> Result<Vec<u8>, Error>;

    /// The extended attributes of an entry, in any order.
    ///
    /// # Errors
    /// They cannot be read.
    fn xattrs(&self, entry: &ImageEntry<Self::Inode>) -> Result<Vec<Xattr>, Error>;

    /// The content of a regular file.
    ///
    /// # Errors
    /// It cannot be opened.
    fn content(
        self: &Arc<Self>,
        entry: &ImageEntry<Self::Inode>,
    ) -> Result<Box<dyn Content>, Error>;

    /// Whether two files of one size have the same content. An error comes with the number of its
    /// image, 0 or 1. When `cancel` is cancelled, the result does not matter.
    ///
    /// # Errors
    /// A content cannot be read.
    fn equal_contents(
        [image, other]: [&Arc<Self>; 2],
        first: &ImageEntry<Self::Inode>,
        second: &ImageEntry<Self::Inode>,
        cancel: &CancelToken,
    ) -> Result<bool, (usize, Error)> {
        let content = image.content(first).map_err(|error| (0, error))?;
        let other = other.content(second).map_err(|error| (1, error))?;
        equal_streams(content, other, cancel)
    }
}

/// The entries of an image.
pub type EntryIterator<I> = Box<dyn Iterator<Item = Result<ImageEntry<I>, Omission>> + Send>;

/// An entry of an image.
pub struct ImageEntry<I> {
    /// Its path below the root.
    pub path: Vec<u8>,
    /// Its kind.
    pub kind: NodeKind,
    /// Its metadata.
    pub metadata: Metadata,
    /// Where its inode is; hard links have the same.
    pub reference: u64,
    /// Whether its inode is in the longer form.
    pub is_extended: bool,
    /// What else the image knows of it.
    pub inode: I,
}

/// What is compared besides names, types, link targets and device numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aspects {
    /// Contents of files that have the same size.
    pub contents: bool,
    /// Permission bits.
    pub mode: bool,
    /// Owners and groups.
    pub owner: bool,
    /// Times: with their nanoseconds if both images store them.
    pub mtime: bool,
    /// Extended attributes.
    pub xattrs: bool,
    /// Which names are hard links to the same file.
    pub links: bool,
    /// Inode numbers, and whether inodes are basic or extended.
    pub inodes: bool,
}

/// How an entry differs. In pairs, the value of the first image comes first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Only the first image has it.
    OnlyFirst,
    /// Only the second image has it.
    OnlySecond,
    /// The types differ; nothing else was compared.
    Kind(NodeKind, NodeKind),
    /// Permissions.
    Mode(u32, u32),
    /// Owner and group.
    Owner((u32, u32), (u32, u32)),
    /// Seconds since the epoch.
    Mtime(i64, i64),
    /// Nanoseconds since the start of the same second.
    MtimeNs(u32, u32),
    /// Size of a regular file in bytes.
    Size(u64, u64),
    /// The contents of regular files of the same size.
    Content,
    /// The target of a symbolic link.
    Target,
    /// The device number.
    Device(u64, u64),
    /// Extended attributes.
    Xattrs,
    /// The canonically first name of the file that the entry is a hard link to.
    Links(Vec<u8>, Vec<u8>),
    /// The inode number.
    Number(u64, u64),
    /// Whether the inode is an extended one.
    Form(bool, bool),
}

/// What [`diff`] reports.
#[derive(Debug)]
pub enum Told {
    /// A difference.
    Different(Difference),
    /// Something could not be read; the number is that of the image, 0 or 1.
    Unreadable(usize, Error),
}

/// Why a comparison ended early.
#[derive(Debug, thiserror::Error)]
pub enum DiffError {
    /// The caller's token was cancelled.
    #[error("interrupted")]
    Cancelled,
    /// The root of an image cannot be read. The number is that of the image, 0 or 1.
    #[error("{1}")]
    Root(usize, Error),
    /// A worker panicked: a defect of this program.
    #[error("internal error: {0}")]
    Panicked(String),
}

/// Compares two images. Calls `tell` with the path of the entry and the finding, on the calling
/// thread and in canonical order. Contents are decompressed only if they are stored in different
/// ways.
///
/// # Errors
/// Cancellation, or an image without a readable root. Other read errors are passed to `tell`.
pub fn diff<I: Comparable>(
    images: [&Arc<I>; 2],
    aspects: Aspects,
    execution: &Execution,
    mut tell: impl FnMut(&[u8], Told),
) -> Result<(), DiffError> {
    let root = |number, error| DiffError::Root(number, error);
    let first = images[0].entries().map_err(|error| root(0, error))?;
    let second = images[1].entries().map_err(|error| root(1, error))?;
    let pairs = Pairs {
        sides: [first.peekable(), second.peekable()],
        names: [HashMap::new(), HashMap::new()],
        links: aspects.links,
    };
    let ran = run_ordered(
        &execution.options("diff"),
        WINDOW,
        pairs.map(|pair| Ok::<_, std::convert::Infallible>((pair, 0))),
        |_| (),
        |(), pair| Ok(compare(images, aspects, &execution.cancel, pair)),
        |_, (path, all): (Vec<u8>, Vec<Told>)| {
            all.into_iter().for_each(|told| tell(&path, told));
            Ok(())
        },
    );
    match ran {
        Ok(_) => Ok(()),
        Err(Failure::Cancelled) => Err(DiffError::Cancelled),
        Err(Failure::Failed(never)) => match never {},
        Err(Failure::Panicked(message)) => Err(DiffError::Panicked(message)),
    }
}

/// Entries of both images with the same path, or an entry that only one image has.
enum Pair<I> {
    Only(usize, ImageEntry<I>),
    /// The first names of the files are given if they are compared and differ.
    Both(
        Box<(ImageEntry<I>, ImageEntry<I>)>,
        Option<(Vec<u8>, Vec<u8>)>,
    ),
    Unreadable(usize, Omission),
}

struct Pairs<I> {
    sides: [Peekable<EntryIterator<I>>; 2],
    /// For inodes with several names, the first name met, by inode reference.
    names: [HashMap<u64, Vec<u8>>; 2],
    links: bool,
}

impl<I> Pairs<I> {
    fn take(&mut self, side: usize) -> Option<Result<ImageEntry<I>, Pair<I>>> {
        let taken = self.sides.get_mut(side)?.next()?;
        Some(taken.map_err(|omission| Pair::Unreadable(side, omission)))
    }

    /// The first name of the file that an entry is a hard link to.
    fn first_name(&mut self, side: usize, found: &ImageEntry<I>) -> Vec<u8> {
        let is_linked = found.metadata.nlink > 1 && found.kind != NodeKind::Directory;
        match self.names.get_mut(side).filter(|_| is_linked) {
            Some(names) => {
                let name = names.entry(found.reference);
                name.or_insert_with(|| found.path.clone()).clone()
            }
            None => found.path.clone(),
        }
    }
}

impl<I> Iterator for Pairs<I> {
    type Item = Pair<I>;

    fn next(&mut self) -> Option<Pair<I>> {
        let [first, second] = &mut self.sides;
        let order = match (first.peek(), second.peek()) {
            (None, None) => return None,
            (Some(Err(_)), _) | (_, None) => Ordering::Less,
            (_, Some(Err(_))) | (None, _) => Ordering::Greater,
            (Some(Ok(first)), Some(Ok(second))) => canonical_order(&first.path, &second.path),
        };
        let side = usize::from(order.is_gt());
        let found = match self.take(side)? {
            Ok(found) => found,
            Err(unreadable) => return Some(unreadable),
        };
        let name = self.first_name(side, &found);
        if order.is_ne() {
            return Some(Pair::Only(side, found));
        }
        let other = match self.take(1)? {
            Ok(found) => found,
            Err(unreadable) => return Some(unreadable),
        };
        let other_name = self.first_name(1, &other);
        let names = (self.links && name != other_name).then_some((name, other_name));
        Some(Pair::Both(Box::new((found, other)), names))
    }
}

fn compare<I: Comparable>(
    images: [&Arc<I>; 2],
    aspects: Aspects,
    cancel: &CancelToken,
    pair: Pair<I::Inode>,
) -> (Vec<u8>, Vec<Told>) {
    match pair {
        Pair::Only(0, found) => (found.path, vec![Told::Different(Difference::OnlyFirst)]),
        Pair::Only(_, found) => (found.path, vec![Told::Different(Difference::OnlySecond)]),
        Pair::Unreadable(side, omission) => {
            let reason = omission.source.to_string();
            let damage = Damage::new(Part::DirectoryTable, 0, reason);
            (omission.path, vec![Told::Unreadable(side, damage.into())])
        }
        Pair::Both(both, names) => {
            let mut told = Vec::new();
            let (first, second) = *both;
            compare_entries(images, aspects, cancel, (&first, &second), &mut told);
            let names = names.map(|(first, second)| Difference::Links(first, second));
            told.extend(names.map(Told::Different));
            (first.path, told)
        }
    }
}

/// Compares two entries with the same path. If their kinds differ, nothing else is compared;
/// contents are compared only if the sizes are equal.
fn compare_entries<I: Comparable>(
    images: [&Arc<I>; 2],
    aspects: Aspects,
    cancel: &CancelToken,
    (first, second): (&ImageEntry<I::Inode>, &ImageEntry<I::Inode>),
    told: &mut Vec<Told>,
) {
    let mut differ = |difference| told.push(Told::Different(difference));
    let (a, b) = (&first.metadata, &second.metadata);
    if first.kind != second.kind {
        return differ(Difference::Kind(first.kind, second.kind));
    }
    let (form, other_form) = (first.is_extended, second.is_extended);
    if aspects.inodes && form != other_form {
        differ(Difference::Form(form, other_form));
    }
    if aspects.inodes && a.ino != b.ino {
        differ(Difference::Number(a.ino, b.ino));
    }
    if aspects.mode && a.mode != b.mode {
        differ(Difference::Mode(a.mode, b.mode));
    }
    if aspects.owner && (a.uid, a.gid) != (b.uid, b.gid) {
        differ(Difference::Owner((a.uid, a.gid), (b.uid, b.gid)));
    }
    if aspects.mtime && a.mtime_s != b.mtime_s {
        differ(Difference::Mtime(a.mtime_s, b.mtime_s));
    } else if aspects.mtime
        && a.mtime_ns != b.mtime_ns
        && images.iter().all(|image| image.has_nanoseconds())
    {
        differ(Difference::MtimeNs(a.mtime_ns, b.mtime_ns));
    }
    match first.kind {
        NodeKind::File if a.size_bytes != b.size_bytes => {
            differ(Difference::Size(a.size_bytes, b.size_bytes));
        }
        NodeKind::File if aspects.contents => {
            match I::equal_contents(images, first, second, cancel) {
                Ok(true) => {}
                Ok(false) => differ(Difference::Content),
                Err((side, error)) => told.push(Told::Unreadable(side, error)),
            }
        }
        NodeKind::Symlink => match both(images, first, second, I::target) {
            Ok((target, other)) if target != other => differ(Difference::Target),
            Ok(_) => {}
            Err((side, error)) => told.push(Told::Unreadable(side, error)),
        },
        NodeKind::BlockDevice | NodeKind::CharacterDevice if a.rdev != b.rdev => {
            differ(Difference::Device(a.rdev, b.rdev));
        }
        _ => {}
    }
    if aspects.xattrs {
        let xattrs = |image: &I, entry: &ImageEntry<I::Inode>| {
            let mut xattrs = image.xattrs(entry)?;
            xattrs.sort();
            Ok(xattrs)
        };
        let both = both(images, first, second, xattrs);
        match both {
            Ok((first, second)) if first == second => {}
            Ok(_) => told.push(Told::Different(Difference::Xattrs)),
            Err((side, error)) => told.push(Told::Unreadable(side, error)),
        }
    }
}

/// What `read` gives of both entries.
fn both<I: Comparable, T>(
    [image, other]: [&Arc<I>; 2],
    first: &ImageEntry<I::Inode>,
    second: &ImageEntry<I::Inode>,
    read: impl Fn(&I, &ImageEntry<I::Inode>) -> Result<T, Error>,
) -> Result<(T, T), (usize, Error)> {
    let first = read(image, first).map_err(|error| (0, error))?;
    let second = read(other, second).map_err(|error| (1, error))?;
    Ok((first, second))
}

/// Whether two contents of one size are equal. An error comes with the number of the content, 0 or
/// 1.
///
/// # Errors
/// A content cannot be read.
pub fn equal_streams(
    first: Box<dyn Content>,
    second: Box<dyn Content>,
    cancel: &CancelToken,
) -> Result<bool, (usize, Error)> {
    let (mut stream, mut twin) = (Stream::new(first), Stream::new(second));
    loop {
        if cancel.is_cancelled() {
            // The caller discards the result of a cancelled comparison.
            return Ok(true);
        }
        let hole = stream.hole().map_err(|error| (0, error))?;
        let other_hole = twin.hole().map_err(|error| (1, error))?;
        let common = hole.min(other_hole);
        if common > 0 {
            stream.hole_bytes -= common;
            twin.hole_bytes -= common;
            continue;
        }
        let count = stream.fill().map_err(|error| (0, error))?;
        let other_count = twin.fill().map_err(|error| (1, error))?;
        if stream.buffer.get(..count) != twin.buffer.get(..other_count) {
            return Ok(false);
        }
        if count == 0 {
            return Ok(true);
        }
    }
}

/// A file content, read through a buffer.
struct Stream {
    content: Box<dyn Content>,
    /// Bytes left of the hole that comes next.
    hole_bytes: u64,
    buffer: Vec<u8>,
}

impl Stream {
    fn new(content: Box<dyn Content>) -> Self {
        Stream {
            content,
            hole_bytes: 0,
            buffer: vec![0; BUFFER_BYTES],
        }
    }

    /// Bytes left of the hole at the current position; 0 if there is none.
    fn hole(&mut self) -> Result<u64, Error> {
        if self.hole_bytes == 0 {
            self.hole_bytes = self.content.skip_hole().map_err(error_of)?;
        }
        Ok(self.hole_bytes)
    }

    /// Fills the buffer, or reads up to the end of the content. Returns the number of bytes read.
    fn fill(&mut self) -> Result<usize, Error> {
        let mut filled = 0;
        while filled < self.buffer.len() {
            let hole = usize::try_from(self.hole()?).unwrap_or(usize::MAX);
            let room = self.buffer.get_mut(filled..).unwrap_or_default();
            let zeros = hole.min(room.len());
            if zeros > 0 {
                room.get_mut(..zeros).unwrap_or_default().fill(0);
                self.hole_bytes -= zeros as u64;
                filled += zeros;
                continue;
            }
            match self.content.read(room).map_err(error_of)? {
                0 => break,
                count => filled += count,
            }
        }
        Ok(filled)
    }
}

/// The error of an image behind one of a node.
fn error_of(error: NodeError) -> Error {
    match error {
        NodeError::Entry(error) | NodeError::Source(error) => match error.downcast::<Error>() {
            Ok(own) => *own,
            Err(other) => Damage::new(Part::Data, 0, other.to_string()).into(),
        },
        NodeError::Cancelled => Damage::new(Part::Data, 0, "interrupted").into(),
    }
}
