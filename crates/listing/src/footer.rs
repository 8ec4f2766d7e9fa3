//! What the file of a part has besides its rows, as text in the footer of the Parquet file.

use crate::origin::Origin;
use crate::parquet::{Notes, PartRows};
use crate::text::{escaped, is_below, unescaped};
use crate::Result;
use hedgerow_tree::Omission;
use std::fmt::Write;

/// The name of the footer of a part among the notes of its file.
pub(crate) const NOTE: &str = "hedgerow-part";
/// Begins the text of every version.
const FORMAT: &str = "hedgerow.part.";
const HEADER: &str = "hedgerow.part.v2";

/// What a part has besides its rows. In the file it is text: its origin, its rows, a line for each of
/// the directories that were given, were left, or could not be read, and the digest of all lines, since
/// a directory that is lost here is lost in the listing.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Footer {
    pub origin: Origin,
    /// Device and inode of the root, where they are known. They are for people: a file system has
    /// other devices on other machines.
    pub place: Option<(u64, u64)>,
    pub rows: u64,
    /// The digest of the rows.
    pub digest: String,
    pub given: Vec<Vec<u8>>,
    pub left: Vec<Vec<u8>>,
    pub failures: Vec<Omitted>,
}

/// Something that could not be read and is missing in a listing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Omitted {
    /// Its path relative to the root.
    pub path: Vec<u8>,
    /// The failed operation, as a verb.
    pub operation: String,
    /// The system's reason.
    pub reason: String,
}

impl Omitted {
    pub(crate) fn of(omission: &Omission) -> Self {
        Omitted {
            path: omission.path.clone(),
            operation: omission.operation.to_owned(),
            reason: hedgerow_fs::reason(&omission.source),
        }
    }
}

impl Footer {
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{HEADER}\n");
        self.origin.append(&mut text);
        // Writing to memory does not fail.
        if let Some((device, inode)) = self.place {
            let _ = writeln!(text, "place\t{device}\t{inode}");
        }
        let _ = writeln!(text, "rows\t{}\t{}", self.rows, self.digest);
        for (word, paths) in [("given", &self.given), ("left", &self.left)] {
            for path in paths {
                let _ = writeln!(text, "{word}\t{}", escaped(path));
            }
        }
        for failure in &self.failures {
            let words = [
                failure.operation.as_bytes(),
                failure.reason.as_bytes(),
                &failure.path,
            ];
            let [operation, reason, path] = words.map(escaped);
            let _ = writeln!(text, "omitted\t{operation}\t{reason}\t{path}");
        }
        let end = digest(&text);
        let _ = writeln!(text, "end\t{end}");
        text
    }

    /// The footer of a file with these notes.
    pub(crate) fn of(rows: &PartRows, notes: &Notes) -> Result<Self> {
        let note = notes.iter().find(|(name, _)| name == NOTE);
        let (_, text) =
            note.ok_or_else(|| rows.damaged("it is a listing, but not a part of one"))?;
        let version = text.split('\n').next().unwrap_or_default();
        if version != HEADER && version.starts_with(FORMAT) {
            return Err(rows.damaged("it is a part of another version of hedgerow: list it again"));
        }
        Footer::parse(text).ok_or_else(|| rows.damaged("its list of directories is damaged"))
    }

    fn parse(text: &str) -> Option<Self> {
        let (lines, end) = text.strip_suffix('\n')?.rsplit_once('\n')?;
        let lines = text.get(..=lines.len())?;
        if end.strip_prefix("end\t")? != digest(lines) {
            return None;
        }
        let lines = lines.strip_prefix(HEADER)?.strip_prefix('\n')?;
        let mut footer = Footer::default();
        for line in lines.strip_suffix('\n')?.split('\n') {
            let fields: Vec<&str> = line.split('\t').collect();
            match fields[..] {
                ["place", device, inode] => {
                    footer.place = Some((device.parse().ok()?, inode.parse().ok()?));
                }
                ["rows", rows, digest] => {
                    footer.rows = rows.parse().ok()?;
                    footer.digest = digest.to_owned();
                }
                ["given", path] => footer.given.push(place(path)?),
                ["left", path] => footer.left.push(place(path)?),
                ["omitted", operation, reason, path] => footer.failures.push(Omitted {
                    path: place(path)?,
                    operation: String::from_utf8(unescaped(operation)?).ok()?,
                    reason: String::from_utf8(unescaped(reason)?).ok()?,
                }),
                _ => footer.origin.read(&fields)?,
            }
        }
        (!footer.digest.is_empty()).then_some(footer)
    }
}

fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

fn place(text: &str) -> Option<Vec<u8>> {
    unescaped(text).filter(|path| path.is_empty() || is_below(path))
}
