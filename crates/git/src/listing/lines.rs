//! The lines of a listing: git-ls-files(1), "OUTPUT".

use super::format::{has_size, shows_sizes, Format};
use super::line_ends::{LineEndReader, LineEnds};
use super::model::{Line, Listed, Reason};
use crate::display::{Document, PathStyle};
use crate::index::{Entry, Stage};
use crate::repository::Repository;
use crate::revision::Digits;
use crate::Result;
use bstr::BStr;
use gix_hash::ObjectId;

/// How the lines of a listing are shown.
pub struct Lines<'a> {
    /// The repository that was listed.
    pub repository: &'a Repository,
    /// How paths are shown.
    pub style: PathStyle<'a>,
    /// Paths end with NUL and are not quoted.
    pub null: bool,
    /// There is a letter for the kind of each file.
    pub tags: bool,
    /// It is in lower case if the file is assumed unchanged.
    pub mark_assumed: bool,
    /// It is in lower case if a file system monitor vouches for the file.
    pub mark_monitored: bool,
    /// Modes, objects and stages are shown.
    pub stage: bool,
    /// How the lines of files end is shown; `None` if it is not.
    pub line_ends: Option<LineEndReader<'a>>,
    /// How objects are shown.
    pub digits: Digits,
}

impl Lines<'_> {
    /// All lines, each with its end; each file of the index in `format` if there is one. A partial clone fetches
    /// the objects that it lacks whose sizes are shown.
    ///
    /// # Errors
    /// The format is wrong, in git's words, or an object is missing whose size it shows.
    pub fn text(&self, listed: &Listed, format: Option<&BStr>) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        let mut parsed = None;
        if format.is_some_and(shows_sizes) {
            let entries = listed.lines().filter_map(|line| line.entry);
            let blobs = entries.filter(|entry| has_size(entry));
            let ids: Vec<ObjectId> = blobs.map(|entry| entry.id).collect();
            self.repository.fetch_missing(&ids)?;
        }
        for line in listed.lines() {
            match (format, line.entry) {
                // Git finds fault with a format only if there is something to show.
                (Some(format), Some(entry)) => {
                    if parsed.is_none() {
                        parsed = Some(Format::parse(format)?);
                    }
                    if let Some(format) = &mut parsed {
                        format.show(self, &line, entry, &mut text)?;
                    }
                    text.push(self.end());
                }
                _ => self.line(&line, &mut text)?,
            }
        }
        for side in &listed.undone {
            let tag = if self.tags { "U " } else { "" };
            text.extend_from_slice(tag.as_bytes());
            self.object(side.mode, &side.id, side.stage, &mut text)?;
            self.path(side.path.as_ref(), &mut text);
            text.push(self.end());
        }
        Ok(text)
    }

    /// A JSON object for each path, schema `hedgerow.ls-files.v1`. Paths are those of
    /// [`Lines::text`], without quotes.
    pub fn documents(&self, listed: &Listed) -> Vec<u8> {
        let mut text = Vec::new();
        for line in listed.lines() {
            let mut document = self.document(line.path, line.reason.word(), &mut text);
            if let Some(entry) = line.entry {
                document
                    .number("mode", entry.mode.to_u32().into())
                    .text("object", &entry.id.to_string())
                    .number("stage", entry.flags.stage.number().into())
                    .flag("assume_valid", entry.flags.assume_valid)
                    .flag("skip_worktree", entry.flags.skip_worktree);
            }
            if let Some(reader) = &self.line_ends {
                let ends = reader.line_ends(&line);
                document
                    .text("line_ends_index", ends.index)
                    .text("line_ends_worktree", ends.worktree)
                    .text("line_ends_attributes", ends.attributes);
            }
            document.end_line();
        }
        for side in &listed.undone {
            self.document(side.path.as_ref(), "resolve_undo", &mut text)
                .number("mode", side.mode.into())
                .text("object", &side.id.to_string())
                .number("stage", side.stage.into())
                .end_line();
        }
        text
    }

    fn document<'b>(&self, path: &BStr, reason: &str, text: &'b mut Vec<u8>) -> Document<'b> {
        let mut document = Document::begin(text, "hedgerow.ls-files.v1");
        document
            .bytes("path", &self.style.relative(path))
            .text("reason", reason);
        document
    }

    fn line(&self, line: &Line<'_>, text: &mut Vec<u8>) -> Result<()> {
        if self.tags {
            text.push(self.tag(line));
            text.push(b' ');
        }
        if let (true, Some(entry)) = (self.stage, line.entry) {
            let stage = entry.flags.stage.number();
            self.object(entry.mode.to_u32(), &entry.id, stage, text)?;
        }
        if let Some(reader) = &self.line_ends {
            let LineEnds {
                index,
                worktree,
                attributes,
            } = reader.line_ends(line);
            let start = format!("i/{index:<5} w/{worktree:<5} attr/{attributes:<17}\t");
            text.extend_from_slice(start.as_bytes());
        }
        self.path(line.path, text);
        text.push(self.end());
        Ok(())
    }

    /// The name of an object, abbreviated as asked.
    pub(super) fn id(&self, id: &ObjectId) -> Result<String> {
        self.digits.show(self.repository, id)
    }

    /// Appends a mode, an object and a stage. There are many of these, so they are not formatted.
    fn object(&self, mode: u32, id: &ObjectId, stage: u8, text: &mut Vec<u8>) -> Result<()> {
        if mode < 1 << 18 {
            let digits = [15, 12, 9, 6, 3, 0].map(|shift| b'0' + (mode >> shift & 7) as u8);
            text.extend_from_slice(&digits);
        } else {
            text.extend_from_slice(format!("{mode:o}").as_bytes());
        }
        text.push(b' ');
        match self.digits {
            Digits::All => {
                let mut buffer = [0; 64];
                text.extend_from_slice(id.hex_to_buf(&mut buffer).as_bytes());
            }
            _ => text.extend_from_slice(self.id(id)?.as_bytes()),
        }
        text.extend_from_slice(&[b' ', b'0' + stage, b'\t']);
        Ok(())
    }

    /// Appends a path as it is shown.
    pub(super) fn path(&self, path: &BStr, text: &mut Vec<u8>) {
        if self.null {
            text.extend(self.style.relative(path));
        } else {
            self.style.push_path(path, text);
        }
    }

    fn end(&self) -> u8 {
        if self.null {
            0
        } else {
            b'\n'
        }
    }

    fn tag(&self, line: &Line<'_>) -> u8 {
        let tag = match (line.reason, line.entry) {
            (Reason::Other, _) => b'?',
            (Reason::Killed, _) => b'K',
            (Reason::Deleted, _) => b'R',
            (Reason::Modified, _) => b'C',
            (Reason::Cached, Some(entry)) if entry.flags.stage != Stage::Merged => b'M',
            (Reason::Cached, Some(entry)) if entry.flags.skip_worktree => b'S',
            (Reason::Cached, _) => b'H',
        };
        let is_marked = |entry: &Entry| {
            self.mark_assumed && entry.flags.assume_valid
                || self.mark_monitored && entry.flags.fsmonitor_valid
        };
        if line.entry.is_some_and(is_marked) {
            tag.to_ascii_lowercase()
        } else {
            tag
        }
    }
}
