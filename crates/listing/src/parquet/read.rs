//! Reads the files that are written here, and no others. No length is believed: a file that was
//! made or damaged by somebody else is refused.

use super::encoding::{deltas, run, strings};
use super::metadata::{codec, encodings};
use super::page::{DATA_PAGE, DICTIONARY_PAGE, KIND_BITS, PAGE_ROWS};
use super::thrift::{Reader, Value};
use super::MAGIC;
use crate::columns::{Content, COLUMNS};
use crate::row::{kind_of_number, Attributes, Batch, Row};
use crate::{Error, Result};
use hedgerow_codec::block::{BlockDecompressor, Compressor};
use hedgerow_fs::ReadFile;
use hedgerow_tree::NodeKind;
use std::ops::Range;
use std::path::Path;

/// The largest footer that is read: it has two lines for every directory that a part left.
const FOOTER_LIMIT: usize = 1 << 30;
/// The largest page that is read: names have up to 255 bytes, and paths are as deep as they are.
const PAGE_LIMIT: usize = 256 << 20;
/// More than the header of any page.
const HEADER_BYTES: usize = 256;

/// The rows of a file, a page at a time.
pub(crate) struct PartRows {
    file: ReadFile,
    decompressor: BlockDecompressor,
    groups: std::vec::IntoIter<Group>,
    chunks: Vec<ChunkReader>,
    /// Rows of the current group that are in no page yet.
    left_rows: usize,
    batch: Batch,
    next: usize,
}

#[derive(Debug)]
struct Group {
    rows: usize,
    chunks: Vec<Range<u64>>,
}

/// What is left of a column of a row group.
#[derive(Debug)]
struct ChunkReader {
    place: Range<u64>,
}

/// The footer's notes by name.
pub(crate) type Notes = Vec<(String, String)>;

impl PartRows {
    /// Opens the file at `path`, and reads its footer.
    pub(crate) fn open(path: &Path) -> Result<(Self, Notes)> {
        let file = ReadFile::open(path)?;
        let damaged = |what: &str| damaged(&file, what);
        let length = file.length()?;
        let tail_at = length.checked_sub(8).filter(|at| *at >= 4);
        let tail_at = tail_at.ok_or_else(|| damaged("it is too short"))?;
        let tail = read(&file, tail_at..length)?;
        let (size, magic) = tail.split_at(4);
        if magic != MAGIC || read(&file, 0..4)? != MAGIC {
            return Err(damaged("it is no Parquet file, or incomplete"));
        }
        let size = u32::from_le_bytes(size.try_into().expect("four bytes were split off")).into();
        let footer_at = tail_at.checked_sub(size).filter(|at| *at >= 4);
        let footer_at = footer_at
            .filter(|_| size <= FOOTER_LIMIT as u64)
            .ok_or_else(|| damaged("its footer has a wrong length"))?;
        let footer = read(&file, footer_at..tail_at)?;
        let (groups, notes) =
            footer_of(&footer, footer_at).ok_or_else(|| damaged("its footer is malformed"))?;
        let decompressor = BlockDecompressor::new(Compressor::Zstd)?;
        let rows = PartRows {
            file,
            decompressor,
            groups: groups.into_iter(),
            chunks: Vec::new(),
            left_rows: 0,
            batch: Batch::default(),
            next: 0,
        };
        Ok((rows, notes))
    }

    /// Moves to the next row; false after the last one.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        self.next += 1;
        if self.next > self.batch.len() {
            while self.left_rows == 0 {
                let Some(group) = self.groups.next() else {
                    self.batch.clear();
                    return Ok(false);
                };
                self.left_rows = group.rows;
                let chunk = |place| ChunkReader { place };
                self.chunks = group.chunks.into_iter().map(chunk).collect();
            }
            self.read_page()?;
            self.next = 1;
        }
        Ok(true)
    }

    /// The current row, after [`PartRows::advance`].
    pub(crate) fn row(&self) -> Row<'_> {
        self.batch.row(self.next - 1)
    }

    pub(crate) fn damaged(&self, what: &str) -> Error {
        damaged(&self.file, what)
    }

    fn read_page(&mut self) -> Result<()> {
        let count = self.left_rows.min(PAGE_ROWS);
        let mut rows = Rows::new(count);
        for (chunk, column) in self.chunks.iter_mut().zip(COLUMNS) {
            let wrong = || {
                let what = format!("a page of its column '{}' is malformed", column.name);
                damaged(&self.file, &what)
            };
            let page = chunk.page(&self.file, &mut self.decompressor, column.content, count)?;
            let page = page.ok_or_else(wrong)?;
            rows.fill(column.content, &page).ok_or_else(wrong)?;
        }
        self.left_rows -= count;
        let batch = rows.into_batch(&mut self.batch);
        batch.ok_or_else(|| damaged(&self.file, "its paths contradict each other"))
    }
}

fn damaged(file: &ReadFile, what: &str) -> Error {
    Error::Damaged {
        path: file.path().to_owned(),
        what: what.to_owned(),
    }
}

fn read(file: &ReadFile, place: Range<u64>) -> Result<Vec<u8>> {
    let mut bytes = vec![0; (place.end - place.start) as usize];
    if file.read_at(&mut bytes, place.start)? < bytes.len() {
        return Err(damaged(file, "it has become shorter"));
    }
    Ok(bytes)
}

fn footer_of(bytes: &[u8], end: u64) -> Option<(Vec<Group>, Notes)> {
    let footer = Reader::new(bytes).fields()?;
    let schema = footer.list(2)?.get(1..)?;
    let names = schema.iter().map(|element| element.binary(4));
    if !names.eq(COLUMNS.map(|column| Some(column.name.as_bytes()))) {
        return None;
    }
    let groups = footer.list(4)?.iter().map(|group| group_of(group, end));
    let groups = groups.collect::<Option<Vec<Group>>>()?;
    let rows = groups.iter().map(|group| group.rows as i64).sum();
    if footer.integer(3) != Some(rows) {
        return None;
    }
    let notes = footer.list(5).unwrap_or_default().iter().map(|note| {
        let text = |id| Some(std::str::from_utf8(note.binary(id)?).ok()?.to_owned());
        Some((text(1)?, text(2)?))
    });
    Some((groups, notes.collect::<Option<Notes>>()?))
}

fn group_of(group: &Value<'_>, end: u64) -> Option<Group> {
    let rows = group.size(3)?;
    let columns = group.list(1)?;
    if columns.len() != COLUMNS.len() || rows > i32::MAX as usize {
        return None;
    }
    let chunks = columns.iter().zip(COLUMNS).map(|(chunk, column)| {
        let own = chunk.field(3)?;
        let is_known = own.integer(4)? == i64::from(codec(column.content));
        let start = own.size(11).or(own.size(9)).filter(|_| is_known)? as u64;
        let place = start..start.checked_add(own.size(7)? as u64)?;
        (place.start >= 4 && place.end <= end).then_some(place)
    });
    let chunks = chunks.collect::<Option<Vec<Range<u64>>>>()?;
    Some(Group { rows, chunks })
}

/// A data page, decompressed.
#[derive(Debug)]
struct Page {
    levels: Vec<u8>,
    bytes: Vec<u8>,
}

impl ChunkReader {
    /// The next data page, which must have `count` rows; `None` if it is malformed.
    fn page(
        &mut self,
        file: &ReadFile,
        decompressor: &mut BlockDecompressor,
        content: Content,
        count: usize,
    ) -> Result<Option<Page>> {
        loop {
            let header_end = self.place.end.min(self.place.start + HEADER_BYTES as u64);
            let start = read(file, self.place.start..header_end)?;
            let mut reader = Reader::new(&start);
            let Some((header, sizes)) = reader.fields().and_then(|header| {
                let sizes = [header.size(2)?, header.size(3)?];
                let fit = sizes.iter().all(|size| *size <= PAGE_LIMIT);
                fit.then_some((header, sizes))
            }) else {
                return Ok(None);
            };
            let at = self.place.start + (start.len() - reader.left()) as u64;
            let next = at + sizes[1] as u64;
            if next > self.place.end {
                return Ok(None);
            }
            let stored = read(file, at..next)?;
            self.place.start = next;
            match header.integer(1) {
                Some(kind) if kind == i64::from(DICTIONARY_PAGE) => continue,
                Some(kind) if kind == i64::from(DATA_PAGE) => {}
                _ => return Ok(None),
            }
            let Some(own) = header.field(8) else {
                return Ok(None);
            };
            let expected = i64::from(encodings(content)[0]);
            let is_known = own.integer(4) == Some(expected) && own.size(3) == Some(count);
            let levels = own.size(5).filter(|_| is_known);
            let split = levels.and_then(|levels| {
                let (levels, rest) = stored.split_at_checked(levels)?;
                Some((levels, rest, sizes[0].checked_sub(levels.len())?))
            });
            let Some((levels, rest, size)) = split else {
                return Ok(None);
            };
            let levels = levels.to_vec();
            if own.field(7) != Some(&Value::Bool(true)) {
                let bytes = rest.to_vec();
                return Ok((bytes.len() == size).then_some(Page { levels, bytes }));
            }
            let mut bytes = vec![0; size];
            let length = decompressor.decompress(rest, &mut bytes);
            let is_sound = matches!(length, Ok(length) if length == size);
            return Ok(is_sound.then_some(Page { levels, bytes }));
        }
    }
}

/// The rows of a page while its columns are read.
struct Rows {
    texts: (Vec<u8>, Vec<usize>),
    paths: Vec<Option<Vec<u8>>>,
    attributes: Vec<Attributes>,
}

const NO_ATTRIBUTES: Attributes = Attributes {
    ctime_ns: None,
    mtime_ns: None,
    atime_ns: None,
    kind: NodeKind::File,
    mode: 0,
    uid: 0,
    gid: 0,
    nlink: 0,
    size_bytes: 0,
    ino: 0,
    dev: 0,
    rdev: 0,
    blocks: 0,
};

impl Rows {
    fn new(count: usize) -> Self {
        Rows {
            texts: Default::default(),
            paths: Vec::new(),
            attributes: vec![NO_ATTRIBUTES; count],
        }
    }

    /// Reads a column; `None` if its page is malformed.
    fn fill(&mut self, content: Content, page: &Page) -> Option<()> {
        let count = self.attributes.len();
        let mut reader = Reader::new(&page.bytes);
        match content {
            Content::Path => self.texts = strings(&mut reader, count, PAGE_LIMIT)?,
            Content::PathBytes => {
                for present in run(&mut Reader::new(&page.levels), count, 1)? {
                    let path = if present == 1 {
                        let length = reader.take(4)?.try_into().ok()?;
                        Some(reader.take(u32::from_le_bytes(length) as usize)?.to_vec())
                    } else {
                        None
                    };
                    self.paths.push(path);
                }
            }
            Content::Kind => {
                if reader.byte()? != KIND_BITS as u8 {
                    return None;
                }
                let kinds = run(&mut reader, count, KIND_BITS)?;
                for (row, kind) in self.attributes.iter_mut().zip(kinds) {
                    row.kind = kind_of_number(kind)?;
                }
            }
            Content::U32(field) => {
                let values: Vec<i32> = deltas(&mut reader, count)?;
                for (row, value) in self.attributes.iter_mut().zip(values) {
                    (field.set)(row, value as u32);
                }
            }
            Content::U64(field) => {
                let values: Vec<i64> = deltas(&mut reader, count)?;
                for (row, value) in self.attributes.iter_mut().zip(values) {
                    (field.set)(row, value as u64);
                }
            }
            Content::Time(field) => {
                let present = run(&mut Reader::new(&page.levels), count, 1)?;
                let known = present.iter().filter(|present| **present == 1).count();
                let mut values = deltas::<i64>(&mut reader, known)?.into_iter();
                for (row, present) in self.attributes.iter_mut().zip(present) {
                    let value = match present {
                        1 => values.next(),
                        _ => None,
                    };
                    (field.set)(row, value);
                }
            }
        }
        reader.rest().is_empty().then_some(())
    }

    fn into_batch(self, batch: &mut Batch) -> Option<()> {
        batch.clear();
        let (texts, ends) = self.texts;
        let mut start = 0;
        for ((end, path), attributes) in ends.into_iter().zip(self.paths).zip(self.attributes) {
            let text = texts.get(start..end)?;
            start = end;
            if let Some(path) = &path {
                if String::from_utf8_lossy(path).as_bytes() != text {
                    return None;
                }
            }
            batch.push(&Row {
                path: path.as_deref().unwrap_or(text),
                attributes,
            });
        }
        Some(())
    }
}
