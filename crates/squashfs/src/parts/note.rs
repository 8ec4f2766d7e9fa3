//! What stands after the image of a part: which part it is, where it starts and ends, what links
//! there are, and digests of the image and of the note itself.
//!
//! All numbers are little-endian. The note is followed by its length (8 bytes) and [`MAGIC`].

use super::range::Link;
use crate::WriteError;
use hedgerow_fs::ReadFile;

const MAGIC: &[u8; 8] = b"HGRWPT02";
/// Bytes after the note: its length and the magic.
const TAIL_BYTES: u64 = 16;
const DIGEST_BYTES: usize = 32;
/// The largest note that is read: it has a line for each file with several names.
const LIMIT_BYTES: u64 = 1 << 30;
const PIECE_BYTES: usize = 1 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Note {
    pub number: u32,
    pub count: u32,
    pub total_bytes: u64,
    /// The digest of what is known of all entries without reading them.
    pub outline: [u8; DIGEST_BYTES],
    /// What the caller has noted.
    pub made: Vec<u8>,
    /// The first entry of the part, and the first one after it.
    pub start: Option<Vec<u8>>,
    pub next: Option<Vec<u8>>,
    pub skipped: Vec<String>,
    pub links: Vec<Link>,
}

/// What all parts of an image have in common.
pub(super) type Whole<'n> = (u32, &'n [u8]);

impl Note {
    pub(super) fn whole(&self) -> Whole<'_> {
        (self.count, &self.made)
    }

    /// The state of the tree that it was made of.
    pub(super) fn state(&self) -> (u64, &[u8]) {
        (self.total_bytes, &self.outline)
    }

    /// Everything but the digests, the length and the magic.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(self.number.to_le_bytes());
        bytes.extend(self.count.to_le_bytes());
        bytes.extend(self.total_bytes.to_le_bytes());
        bytes.extend(self.outline);
        append(&self.made, &mut bytes);
        for end in [&self.start, &self.next] {
            bytes.push(end.is_some().into());
            append(end.as_deref().unwrap_or_default(), &mut bytes);
        }
        bytes.extend((self.skipped.len() as u64).to_le_bytes());
        for reason in &self.skipped {
            append(reason.as_bytes(), &mut bytes);
        }
        bytes.extend((self.links.len() as u64).to_le_bytes());
        for (path, (device, inode)) in &self.links {
            bytes.extend(device.to_le_bytes());
            bytes.extend(inode.to_le_bytes());
            append(path, &mut bytes);
        }
        bytes
    }

    /// The note at the end of a file, whose digests are checked.
    pub(super) fn read(file: &ReadFile) -> Result<Self, WriteError> {
        let refuse = |reason: &str| WriteError::Part {
            path: file.path().to_owned(),
            reason: reason.into(),
        };
        let no_part = || refuse("it is no part of an image, or incomplete");
        let end = file.length()?.checked_sub(TAIL_BYTES).ok_or_else(no_part)?;
        let tail = read(file, end, TAIL_BYTES as usize)?;
        let (length, magic) = tail.split_first_chunk().ok_or_else(no_part)?;
        let length = u64::from_le_bytes(*length);
        let start = end.checked_sub(length).filter(|_| length <= LIMIT_BYTES);
        let start = start.filter(|_| magic == MAGIC).ok_or_else(no_part)?;
        let bytes = read(file, start, length as usize)?;
        let digests = bytes.len().checked_sub(2 * DIGEST_BYTES);
        let split = digests.and_then(|at| bytes.split_at_checked(at));
        let (content, digests) = split.ok_or_else(no_part)?;
        let (of_image, of_note) = digests.split_at(DIGEST_BYTES);
        let mut hasher = blake3::Hasher::new();
        hasher.update(content).update(of_image);
        if hasher.finalize().as_bytes() != of_note {
            return Err(refuse("its note is damaged"));
        }
        if digest_of_image(start, |buffer, at| Ok(file.read_at(buffer, at)?))? != of_image {
            return Err(refuse("it is damaged"));
        }
        let parsed = Fields(content).note();
        parsed.ok_or_else(|| refuse("its note is malformed"))
    }
}

/// What is written after an image of this many bytes, which `read` reads at a position.
pub(crate) fn sealed(
    mut note: Vec<u8>,
    image_bytes: u64,
    read: impl FnMut(&mut [u8], u64) -> Result<usize, WriteError>,
) -> Result<Vec<u8>, WriteError> {
    note.extend(digest_of_image(image_bytes, read)?);
    let digest = blake3::hash(&note);
    note.extend(digest.as_bytes());
    let length = note.len() as u64;
    note.extend(length.to_le_bytes());
    note.extend(MAGIC);
    Ok(note)
}

fn digest_of_image(
    bytes: u64,
    mut read: impl FnMut(&mut [u8], u64) -> Result<usize, WriteError>,
) -> Result<[u8; DIGEST_BYTES], WriteError> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; PIECE_BYTES];
    let mut position = 0;
    while position < bytes {
        let left = usize::try_from(bytes - position).unwrap_or(usize::MAX);
        let room = &mut buffer[..left.min(PIECE_BYTES)];
        let count = read(room, position)?;
        if count == 0 {
            break;
        }
        hasher.update(&room[..count]);
        position += count as u64;
    }
    Ok(*hasher.finalize().as_bytes())
}

fn read(file: &ReadFile, position: u64, count: usize) -> Result<Vec<u8>, WriteError> {
    let mut bytes = vec![0; count];
    let read = file.read_at(&mut bytes, position)?;
    bytes.truncate(read);
    Ok(bytes)
}

fn append(text: &[u8], bytes: &mut Vec<u8>) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend_from_slice(text);
}

/// The fields of a note that are left.
struct Fields<'b>(&'b [u8]);

impl Fields<'_> {
    fn note(mut self) -> Option<Note> {
        let (number, count) = (self.u32()?, self.u32()?);
        let mut note = Note {
            number: Some(number).filter(|number| (1..=count).contains(number))?,
            count,
            total_bytes: self.u64()?,
            outline: self.take()?,
            made: self.text()?,
            ..Note::default()
        };
        for end in [&mut note.start, &mut note.next] {
            let [is_some] = self.take()?;
            let path = self.text()?;
            *end = (is_some == 1).then_some(path);
        }
        for _ in 0..self.u64()? {
            note.skipped.push(String::from_utf8(self.text()?).ok()?);
        }
        for _ in 0..self.u64()? {
            let link = (self.u64()?, self.u64()?);
            note.links.push((self.text()?, link));
        }
        self.0.is_empty().then_some(note)
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Option<Vec<u8>> {
        let length = usize::try_from(self.u64()?).ok()?;
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_again() {
        let note = Note {
            number: 2,
            count: 3,
            total_bytes: u64::MAX,
            outline: [7; DIGEST_BYTES],
            made: b"made".to_vec(),
            start: Some(Vec::new()),
            next: None,
            skipped: vec!["a reason".into()],
            links: vec![(b"a/b".to_vec(), (1, 2)), (b"c".to_vec(), (1, 2))],
        };
        let bytes = note.to_bytes();
        assert_eq!(Fields(&bytes).note(), Some(note));
        for end in 0..bytes.len() {
            assert_eq!(Fields(&bytes[..end]).note(), None);
            // Any length: refused before anything is allocated for it.
            let mut wrong = bytes.clone();
            wrong[end] = 0xff;
            let _ = Fields(&wrong).note();
        }
    }
}
