//! The log: a line of JSON for each request in the file that `hedgerow.serveLog` names.

use super::request::Request;
use crate::PackWritten;
use hedgerow_git::repository::Repository;
use hedgerow_reach::{BitmapUse, Trace};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

/// Maximum number of listed commits whose bitmaps were used.
const NAMED: usize = 10;
/// Maximum length of a text that may come from the client, in bytes.
const TEXT_BYTES: usize = 1000;

/// Who answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Server {
    /// The request was handed to git.
    #[default]
    Git,
    /// A new pack was made.
    Hedgerow,
    /// The response came from the cache.
    Cache,
    /// The request failed after something had been sent.
    Nobody,
}

/// The data logged for a request.
#[derive(Debug, Default)]
pub struct Entry {
    /// Who answered.
    pub served_by: Server,
    /// How the objects were found.
    pub trace: Option<Trace>,
    /// Bytes sent.
    pub bytes: u64,
    /// Whether the response in the cache was still incomplete when it was found.
    pub followed: bool,
    /// Why the configured cache was not used.
    pub cache_refused: Option<String>,
    wants: usize,
    haves: usize,
    thin: bool,
    filter: Option<String>,
    reason: Option<String>,
    written: Option<Counts>,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Counts {
    objects: u64,
    deltas: u64,
    reused: u64,
    reused_deltas: u64,
    verbatim: u64,
}

/// A line of the log. Fields are only ever added.
#[derive(Debug, Serialize)]
struct Line<'e> {
    /// The name and version of this schema.
    schema: &'static str,
    /// Seconds since 1970.
    time: i64,
    repository: String,
    wants: usize,
    haves: usize,
    thin: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter: Option<&'e str>,
    served_by: Server,
    /// Why the request was handed to git, or the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'e str>,
    /// Why the configured cache was not used for lookup or storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_refused: Option<&'e str>,
    bytes: u64,
    /// Whether another process was making the response.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    followed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pack: Option<Counts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wants_by: Option<BitmapFigures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    haves_by: Option<BitmapFigures>,
    milliseconds: u128,
    exit_code: u8,
}

/// How one side of the question was answered.
#[derive(Debug, Serialize)]
struct BitmapFigures {
    bitmaps: usize,
    /// The first commits whose bitmaps were used.
    commits: Vec<String>,
    pseudo_merges: u64,
    commits_walked: u64,
    trees_read: u64,
}

impl Entry {
    /// Notes what is asked for.
    pub(super) fn ask(&mut self, request: &Request) {
        self.wants = request.question.wants.len();
        self.haves = request.question.haves.len();
        self.thin = request.thin;
        self.filter.clone_from(&request.filter);
    }

    /// Records that git is to answer.
    pub fn hand_over(&mut self, reason: String) {
        self.served_by = Server::Git;
        self.reason = Some(reason);
    }

    /// Records that the request failed.
    pub fn fail(&mut self, reason: String) {
        self.served_by = Server::Nobody;
        self.reason = Some(reason);
    }

    /// Records what was sent.
    pub(super) fn count(&mut self, written: &PackWritten) {
        self.written = Some(Counts {
            objects: written.objects.into(),
            deltas: written.deltas.into(),
            reused: written.reused.into(),
            reused_deltas: written.reused_deltas.into(),
            verbatim: written.verbatim.into(),
        });
    }

    /// Appends the line to the file at `path`.
    ///
    /// # Errors
    /// If it cannot be written, or if others may write to the file.
    pub fn write(
        &self,
        path: &Path,
        repository: &Repository,
        taken: Duration,
        exit_code: u8,
    ) -> hedgerow_fs::Result<()> {
        let line = Line {
            schema: "hedgerow.serve.v1",
            time: hedgerow_fs::file_time().seconds,
            repository: repository.common_dir().display().to_string(),
            wants: self.wants,
            haves: self.haves,
            thin: self.thin,
            filter: self.filter.as_deref().map(shortened),
            served_by: self.served_by,
            reason: self.reason.as_deref().map(shortened),
            cache_refused: self.cache_refused.as_deref(),
            bytes: self.bytes,
            followed: self.followed,
            pack: self.written,
            wants_by: self.trace.as_ref().map(|trace| found(&trace.wants)),
            haves_by: self.trace.as_ref().map(|trace| found(&trace.haves)),
            milliseconds: taken.as_millis(),
            exit_code,
        };
        let mut text = escaped(&serde_json::to_string(&line).expect("plain data is JSON"));
        text.push('\n');
        hedgerow_fs::append_private_file(path, text.as_bytes())
    }
}

fn found(used: &BitmapUse) -> BitmapFigures {
    BitmapFigures {
        bitmaps: used.bitmaps.len(),
        commits: used
            .bitmaps
            .iter()
            .take(NAMED)
            .map(ToString::to_string)
            .collect(),
        pseudo_merges: used.pseudo_merges,
        commits_walked: used.commits_walked,
        trees_read: used.trees_read,
    }
}

/// The beginning of `text`, up to the limit.
fn shortened(text: &str) -> &str {
    let mut ends = (0..=TEXT_BYTES.min(text.len())).rev();
    let end = ends.find(|end| text.is_char_boundary(*end));
    &text[..end.expect("the start is a boundary")]
}

/// The same JSON in printable ASCII, so that no client's text can control a terminal or imitate
/// other text.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + 1);
    for character in json.chars() {
        if matches!(character, ' '..='~') {
            text.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            write!(text, "\\u{unit:04x}").expect("a string takes everything");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_printable_ascii_is_logged() {
        let text = "a\u{1b}[31m\u{7f}\u{9b}\u{202e}\u{1f600}\"\n";
        let json = escaped(&serde_json::to_string(text).unwrap());
        assert!(
            json.bytes().all(|byte| matches!(byte, b' '..=b'~')),
            "{json}"
        );
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        assert_eq!(shortened(&"\u{20ac}".repeat(1000)).len(), 999);
    }
}
