//! Sorted rows in a temporary file without a name.

use crate::row::{kind_of_number, number_of_kind, Attributes, Row};
use crate::source::{Merged, Source};
use crate::{Error, Result};
use hedgerow_fs::{ReadFile, SpoolFile};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows are written and read in pieces of about this many bytes.
const PIECE_BYTES: usize = 256 << 10;
/// Sources that are merged at once: each holds a piece.
pub(crate) const FAN_IN: usize = 64;

const IS_LEFT: u8 = 8;
/// Bytes of a row besides its path: lengths and numbers, see [`append_row`].
const FIXED_BYTES: usize = 4 + 2 + 3 * 4 + 9 * 8;

/// Appends a row in the form of temporary files, which is also what is hashed.
pub(crate) fn append_row(row: &Row<'_>, is_left: bool, bytes: &mut Vec<u8>) {
    let own = &row.attributes;
    let times = [own.ctime_ns, own.mtime_ns, own.atime_ns];
    let mut flags = if is_left { IS_LEFT } else { 0 };
    for (bit, time) in times.iter().enumerate() {
        flags |= u8::from(time.is_some()) << bit;
    }
    bytes.extend((row.path.len() as u32).to_le_bytes());
    bytes.extend([number_of_kind(own.kind), flags]);
    for number in [own.mode, own.uid, own.gid] {
        bytes.extend(number.to_le_bytes());
    }
    for time in times {
        bytes.extend(time.unwrap_or(0).to_le_bytes());
    }
    for number in [
        own.nlink,
        own.size_bytes,
        own.ino,
        own.dev,
        own.rdev,
        own.blocks,
    ] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend_from_slice(row.path);
}

/// Sorted runs of rows in one file.
pub(crate) struct Spool {
    file: SpoolFile,
    runs: Vec<Range<u64>>,
    directory: PathBuf,
}

impl Spool {
    /// In an unnamed file in `directory`.
    pub(crate) fn new(directory: &Path) -> Result<Self> {
        Ok(Spool {
            file: SpoolFile::create(directory)?,
            runs: Vec::new(),
            directory: directory.to_owned(),
        })
    }

    /// Writes all rows of `source` as another run.
    pub(crate) fn add(&mut self, mut source: impl Source) -> Result<()> {
        let start = self.file.length();
        let mut bytes = Vec::with_capacity(PIECE_BYTES);
        while source.advance()? {
            append_row(&source.row(), source.is_left(), &mut bytes);
            if bytes.len() >= PIECE_BYTES {
                self.file.append(&bytes)?;
                bytes.clear();
            }
        }
        self.file.append(&bytes)?;
        self.runs.push(start..self.file.length());
        Ok(())
    }

    /// The runs as sources, at most [`FAN_IN`] of them: more are merged first.
    pub(crate) fn into_sources(mut self) -> Result<Vec<Box<dyn Source>>> {
        loop {
            let file = Arc::new(self.file.into_read_file());
            let open = |run: &Range<u64>| -> Box<dyn Source> {
                Box::new(SpooledRows::new(file.clone(), run.clone()))
            };
            if self.runs.len() <= FAN_IN {
                return Ok(self.runs.iter().map(open).collect());
            }
            let mut next = Spool::new(&self.directory)?;
            for runs in self.runs.chunks(FAN_IN) {
                next.add(Merged::new(runs.iter().map(open).collect())?)?;
            }
            self = next;
        }
    }
}

/// A run of a [`Spool`].
struct SpooledRows {
    file: Arc<ReadFile>,
    left: Range<u64>,
    piece: Vec<u8>,
    /// The path of the current row in the piece.
    path: Range<usize>,
    current: Option<(Attributes, bool)>,
}

impl SpooledRows {
    fn new(file: Arc<ReadFile>, left: Range<u64>) -> Self {
        SpooledRows {
            file,
            left,
            piece: Vec::new(),
            path: 0..0,
            current: None,
        }
    }

    /// Makes `count` bytes available after the current row; false if the run has no more.
    fn fill(&mut self, start: usize, count: usize) -> Result<bool> {
        if self.piece.len() >= start + count {
            return Ok(true);
        }
        self.piece.drain(..start);
        let have = self.piece.len();
        let left = usize::try_from(self.left.end - self.left.start).unwrap_or(usize::MAX);
        let wanted = count.max(PIECE_BYTES).saturating_sub(have).min(left);
        self.piece.resize(have + wanted, 0);
        let read = self
            .file
            .read_at(&mut self.piece[have..], self.left.start)?;
        self.left.start += read as u64;
        self.piece.truncate(have + read);
        self.path = 0..0;
        Ok(self.piece.len() >= count)
    }

    fn lost(&self) -> Error {
        let source = io::Error::from(io::ErrorKind::UnexpectedEof);
        hedgerow_fs::Error::new("read a temporary file in", self.file.path(), source).into()
    }
}

impl Source for SpooledRows {
    fn advance(&mut self) -> Result<bool> {
        let start = self.path.end;
        if start == self.piece.len() && self.left.is_empty() {
            return Ok(false);
        }
        if !self.fill(start, FIXED_BYTES)? {
            return Err(self.lost());
        }
        let start = self.path.end;
        let mut fields = Fields(&self.piece[start..]);
        let length = u32::from_le_bytes(fields.take()) as usize;
        let [kind, flags] = fields.take();
        let mut u32s = || u32::from_le_bytes(fields.take());
        let (mode, uid, gid) = (u32s(), u32s(), u32s());
        let times = [0, 1, 2].map(|bit| {
            let time = i64::from_le_bytes(fields.take());
            (flags >> bit & 1 == 1).then_some(time)
        });
        let mut u64s = || u64::from_le_bytes(fields.take());
        let [nlink, size_bytes, ino, dev, rdev, blocks] = [(); 6].map(|()| u64s());
        let Some(kind) = kind_of_number(kind) else {
            return Err(self.lost());
        };
        let attributes = Attributes {
            ctime_ns: times[0],
            mtime_ns: times[1],
            atime_ns: times[2],
            kind,
            mode,
            uid,
            gid,
            nlink,
            size_bytes,
            ino,
            dev,
            rdev,
            blocks,
        };
        if !self.fill(start, FIXED_BYTES + length)? {
            return Err(self.lost());
        }
        let start = self.path.end + FIXED_BYTES;
        self.path = start..start + length;
        self.current = Some((attributes, flags & IS_LEFT != 0));
        Ok(true)
    }

    fn row(&self) -> Row<'_> {
        let (attributes, _) = self.current.expect("there is a row after `advance`");
        Row {
            path: &self.piece[self.path.clone()],
            attributes,
        }
    }

    fn is_left(&self) -> bool {
        self.current.is_some_and(|(_, is_left)| is_left)
    }
}

/// Fields one after the other, which were checked to be there.
struct Fields<'b>(&'b [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self
            .0
            .split_first_chunk()
            .expect("the fields of a row are there");
        self.0 = rest;
        *taken
    }
}
