//! The options of git-rev-list(1), in the order they are given.

use crate::failure::Failure;
use crate::output::Output;
use bstr::{BStr, ByteSlice};
use hedgerow::plumbing::git::reachability::{request_option, RevisionArguments};
use hedgerow::plumbing::reach::{Missing, Objects, Request, Source};
use hedgerow::Repository;
use hedgerow_fs::StandardInput;
use std::ffi::OsString;
use std::io::BufReader;
use std::os::unix::ffi::OsStrExt;

/// What is asked for, and how it is to be printed.
#[derive(Debug, Default)]
pub struct Options {
    pub request: Request,
    pub is_quiet: bool,
    pub count: bool,
    pub left_right: bool,
    pub parents: bool,
    pub timestamp: bool,
    pub hides_names: bool,
    pub print_missing: bool,
    /// Whether what is known of missing objects is told, too.
    pub tells_of_missing: bool,
    /// `core.quotePath`: bytes above 127 are quoted in what is told.
    pub quotes_high: bool,
    pub null: bool,
    /// One JSON object a line.
    pub json: bool,
    /// The sum of sizes on disk; `true` for a form for people.
    pub disk_usage: Option<bool>,
    pub use_bitmap_index: bool,
    has_revisions: bool,
}

impl Options {
    pub fn parse(
        &mut self,
        repository: &Repository,
        source: Source<'_>,
        words: &[OsString],
        output: &Output,
    ) -> Result<(), Failure> {
        let words: Vec<&BStr> = words.iter().map(|word| word.as_bytes().as_bstr()).collect();
        let end = words.iter().position(|word| *word == "--");
        if end.is_some_and(|end| end + 1 < words.len()) {
            return Err(Failure::usage("rev-list does not support paths"));
        }
        let warn = |warning| output.warn(warning);
        let mut revisions = RevisionArguments::new(repository, source, end.is_some(), &warn);
        revisions.refuse_unbuilt(&words)?;
        // What is missing is tolerated already when tips are read.
        for word in &words {
            if let Some(action) = word.strip_prefix(b"--missing=") {
                self.missing(action.as_bstr());
            }
        }
        let mut rest = words
            .get(..end.unwrap_or(words.len()))
            .unwrap_or_default()
            .iter();
        let mut only_revisions = false;
        while let Some(word) = rest.next() {
            let known_count = self.request.max_count;
            if only_revisions || !word.starts_with(b"-") {
                revisions.add(word)?;
                continue;
            }
            if *word == "--end-of-options" {
                only_revisions = true;
            } else if *word == "--stdin" {
                self.has_revisions = true;
                revisions.add_lines(BufReader::new(StandardInput))?;
            } else if revisions.option(word, &mut rest)?
                || revisions.no_walk(word)
                || self.print_option(word)?
            {
            } else if !request_option(&mut self.request, word, &mut rest)? {
                return Err(refused(word));
            } else if self.request.max_count != known_count {
                revisions.no_walk = None;
            }
        }
        self.has_revisions |= revisions.was_given;
        self.request.no_walk = revisions.no_walk;
        self.request.tips = revisions.tips;
        Ok(())
    }

    /// Refuses what contradicts itself.
    pub fn check(&self) -> Result<(), Failure> {
        let has_objects = self.request.objects != Objects::None;
        if self.request.filter.is_some() && !has_objects {
            return Err(Failure::fatal("object filtering requires --objects"));
        }
        if !self.has_revisions && !has_objects && self.request.tips.is_empty() {
            return Err(Failure::usage(
                "rev-list needs a revision; see git-rev-list(1)",
            ));
        }
        if self.count && has_objects && self.left_right {
            let words = "marked counting and '--objects' cannot be used together";
            return Err(Failure::fatal(words));
        }
        if self.request.exclude_promised && self.request.missing != Missing::Error {
            let words = "options '--exclude_promisor_objects' and '--missing' cannot be used \
                         together";
            return Err(Failure::fatal(words));
        }
        if self.json && (self.null || self.count || self.disk_usage.is_some()) {
            let words = "--json has lines of its own: it takes no -z, --count, --disk-usage";
            return Err(Failure::usage(words));
        }
        let marks = self.left_right || self.timestamp || self.disk_usage.is_some();
        let is_odd = marks || self.request.objects == Objects::WithEdges || self.use_bitmap_index;
        if self.null && is_odd {
            return Err(Failure::fatal("-z option used with unsupported option"));
        }
        Ok(())
    }

    /// Whether bitmaps are wanted and the answer is a set.
    pub fn allow_bitmaps(&self) -> bool {
        let is_shown_plainly = !self.left_right
            && !self.parents
            && !self.timestamp
            && !self.request.keep_omitted
            && !self.null
            && !self.json;
        let is_set = self.request.is_answered_by_bitmaps(self.count);
        self.use_bitmap_index && is_shown_plainly && is_set
    }

    /// Whether the answer is a number of objects: no order need be kept.
    pub fn want_number(&self) -> bool {
        let is_number = self.count || self.disk_usage.is_some() || self.is_quiet;
        is_number
            && self.request.objects == Objects::All
            && self.request.is_set()
            && !self.left_right
            && !self.request.keep_omitted
    }

    /// Notes how the answer is printed, if `word` is about that. Returns whether it is.
    fn print_option(&mut self, word: &BStr) -> Result<bool, Failure> {
        match word.as_bytes() {
            b"--quiet" | b"-q" => self.is_quiet = true,
            b"--count" => self.count = true,
            b"--parents" => self.parents = true,
            b"--left-right" => self.left_right = true,
            b"--timestamp" => self.timestamp = true,
            b"--no-object-names" => self.hides_names = true,
            b"--object-names" => self.hides_names = false,
            b"--use-bitmap-index" => self.use_bitmap_index = true,
            b"--disk-usage" => self.disk_usage = self.disk_usage.or(Some(false)),
            b"--disk-usage=human" => self.disk_usage = Some(true),
            b"--no-commit-header" | b"--commit-header" => {}
            b"-z" => self.null = true,
            word => {
                if let Some(usage) = word.strip_prefix(b"--disk-usage=") {
                    let usage = usage.as_bstr();
                    return Err(Failure::fatal(format_args!(
                        "invalid value for '--disk-usage=<format>': '{usage}', the only allowed \
                         format is 'human'"
                    )));
                }
                // What is to be done about missing objects is known.
                return Ok(word.starts_with(b"--missing="));
            }
        }
        Ok(true)
    }

    fn missing(&mut self, action: &BStr) {
        self.request.missing = match action.as_bytes() {
            b"error" => Missing::Error,
            b"allow-any" => Missing::Allow,
            b"print" | b"print-info" => Missing::Collect,
            b"allow-promisor" => Missing::AllowPromised,
            // As git does with what it does not know.
            _ => self.request.missing,
        };
        self.print_missing = self.request.missing == Missing::Collect;
        self.tells_of_missing = self.print_missing && action == "print-info";
    }
}

fn refused(word: &BStr) -> Failure {
    Failure::usage(format_args!(
        "rev-list does not support the option '{word}'"
    ))
}
