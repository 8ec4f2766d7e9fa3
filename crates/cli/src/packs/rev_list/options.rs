//! The options of git-rev-list(1), in the order they are given.

use crate::failure::Failure;
use crate::output::Output;
use bstr::{BStr, ByteSlice};
use hedgerow::plumbing::git::dates::date_seconds;
use hedgerow::plumbing::git::reachability::RevisionArguments;
use hedgerow::plumbing::reach::{Filter, Missing, Objects, Order, Request, Side, Source};
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
    pub print_omitted: bool,
    pub print_missing: bool,
    /// Whether what is known of missing objects is told, too.
    pub tells_of_missing: bool,
    /// `core.quotePath`: bytes above 127 are quoted in what is told.
    pub quotes_high: bool,
    pub null: bool,
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
                || self.flag(word)?
            {
            } else if !self.valued(word, &mut rest)? {
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
    pub fn check(&mut self) -> Result<(), Failure> {
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
        let marks = self.left_right || self.timestamp || self.disk_usage.is_some();
        let is_odd = marks || self.request.objects == Objects::WithEdges || self.use_bitmap_index;
        if self.null && is_odd {
            return Err(Failure::fatal("-z option used with unsupported option"));
        }
        self.request.keep_omitted = self.print_omitted;
        Ok(())
    }

    /// Whether bitmaps are wanted and the answer is a set.
    pub fn allow_bitmaps(&self) -> bool {
        let is_shown_plainly = !self.left_right
            && !self.parents
            && !self.timestamp
            && !self.print_omitted
            && !self.null;
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
            && !self.print_omitted
    }

    fn flag(&mut self, word: &BStr) -> Result<bool, Failure> {
        let request = &mut self.request;
        match word.as_bytes() {
            b"--quiet" | b"-q" => self.is_quiet = true,
            b"--count" => self.count = true,
            b"--objects" if request.objects == Objects::None => request.objects = Objects::All,
            b"--objects" => {}
            b"--objects-edge" => request.objects = Objects::WithEdges,
            b"--topo-order" => request.order = Order::Topological,
            b"--date-order" => request.order = Order::Date,
            b"--reverse" => request.is_reversed = !request.is_reversed,
            b"--parents" => self.parents = true,
            b"--first-parent" => request.first_parent = true,
            b"--merges" => request.min_parents = 2,
            b"--no-merges" => request.max_parents = Some(1),
            b"--no-min-parents" => request.min_parents = 0,
            b"--no-max-parents" => request.max_parents = None,
            b"--boundary" => request.boundary = true,
            b"--left-right" => self.left_right = true,
            b"--left-only" => self.side(Side::Left)?,
            b"--right-only" => self.side(Side::Right)?,
            b"--timestamp" => self.timestamp = true,
            b"--in-commit-order" => request.in_commit_order = true,
            b"--no-object-names" => self.hides_names = true,
            b"--object-names" => self.hides_names = false,
            b"--filter-print-omitted" => self.print_omitted = true,
            b"--filter-provided-objects" => request.filter_tips = true,
            b"--no-filter" => request.filter = None,
            b"--exclude-promisor-objects" => request.exclude_promised = true,
            b"--use-bitmap-index" => self.use_bitmap_index = true,
            b"--disk-usage" => self.disk_usage = self.disk_usage.or(Some(false)),
            b"--disk-usage=human" => self.disk_usage = Some(true),
            b"--no-commit-header" | b"--commit-header" | b"--dense" | b"--sparse" => {}
            b"-z" => self.null = true,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Options with a value, in the same word or the next. Returns whether it is one.
    fn valued<'w>(
        &mut self,
        word: &'w BStr,
        rest: &mut impl Iterator<Item = &'w &'w BStr>,
    ) -> Result<bool, Failure> {
        let (name, value) = match word.split_once_str("=") {
            Some((name, value)) => (name, Some(value.as_bstr())),
            None => (word.as_bytes(), None),
        };
        if let Some(spec) = word.strip_prefix(b"--filter=") {
            let filter = Filter::parse(spec).map_err(Failure::fatal)?;
            let before = self.request.filter.take();
            self.request.filter = Some(match before {
                Some(before) => before.and(filter),
                None => filter,
            });
            return Ok(true);
        }
        if name == b"--missing" && value.is_some() {
            return Ok(true);
        }
        if let Some(usage) = word.strip_prefix(b"--disk-usage=") {
            let usage = usage.as_bstr();
            return Err(Failure::fatal(format_args!(
                "invalid value for '--disk-usage=<format>': '{usage}', the only allowed format is \
                 'human'"
            )));
        }
        if let Some(count) = word.strip_prefix(b"-n").or_else(|| word.strip_prefix(b"-")) {
            if count.first().is_some_and(u8::is_ascii_digit) {
                self.max_count(count.as_bstr())?;
                return Ok(true);
            }
        }
        let known: [&[u8]; 12] = [
            b"-n",
            b"--max-count",
            b"--skip",
            b"--since",
            b"--after",
            b"--max-age",
            b"--until",
            b"--before",
            b"--min-age",
            b"--min-parents",
            b"--max-parents",
            b"--progress",
        ];
        if !known.contains(&name) {
            return Ok(false);
        }
        let shown = name.as_bstr();
        let missing = || Failure::usage(format_args!("option '{shown}' requires a value"));
        let value = value.or_else(|| rest.next().copied()).ok_or_else(missing)?;
        self.limit(name, value)?;
        Ok(true)
    }

    fn limit(&mut self, name: &[u8], value: &BStr) -> Result<(), Failure> {
        let request = &mut self.request;
        match name {
            b"-n" | b"--max-count" => return self.max_count(value),
            b"--skip" => request.skip = u64::try_from(number(value)?).unwrap_or(0),
            b"--since" | b"--after" => request.not_before = Some(date(value)?),
            b"--until" | b"--before" => request.not_after = Some(date(value)?),
            b"--max-age" => request.not_before = u64::try_from(number(value)?).ok(),
            b"--min-age" => request.not_after = u64::try_from(number(value)?).ok(),
            b"--min-parents" => request.min_parents = usize::try_from(number(value)?).unwrap_or(0),
            b"--max-parents" => request.max_parents = usize::try_from(number(value)?).ok(),
            _ => {}
        }
        Ok(())
    }

    fn max_count(&mut self, value: &BStr) -> Result<(), Failure> {
        self.request.max_count = u64::try_from(number(value)?).ok();
        Ok(())
    }

    fn side(&mut self, side: Side) -> Result<(), Failure> {
        if self.request.side.is_some_and(|other| other != side) {
            let words = "options '--left-only' and '--right-only' cannot be used together";
            return Err(Failure::fatal(words));
        }
        self.request.side = Some(side);
        Ok(())
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

fn number(value: &BStr) -> Result<i64, Failure> {
    let parsed = value.to_str().ok().and_then(|text| text.parse().ok());
    parsed.ok_or_else(|| Failure::fatal(format_args!("'{value}': not an integer")))
}

fn date(value: &BStr) -> Result<u64, Failure> {
    let seconds = if value.iter().all(u8::is_ascii_digit) && value.len() >= 9 {
        number(value).ok()
    } else {
        date_seconds(value)
    };
    let seconds = seconds.and_then(|seconds| u64::try_from(seconds).ok());
    seconds.ok_or_else(|| Failure::fatal(format_args!("'{value}': not a date")))
}

fn refused(word: &BStr) -> Failure {
    Failure::usage(format_args!(
        "rev-list does not support the option '{word}'"
    ))
}
