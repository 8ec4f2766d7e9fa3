//! The result of a checkout: in one line for people, and as JSON for programs.

use bstr::{BString, ByteSlice};
use hedgerow::checkout::{Done, Outcome, Rejects};
use hedgerow::numbers::noun_for;
use indicatif::{DecimalBytes, HumanCount};
use serde::Serialize;
use std::time::Duration;

/// The JSON document that `hedgerow checkout --json` prints. Fields are only ever added.
///
/// A path is a string; where it is not UTF-8, an object `{"bytes": [..]}` of its bytes.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    /// The name and version of this schema.
    schema: &'static str,
    /// `done`, `partial` (some entries failed), `rejected` or `unmerged` (nothing was changed).
    status: &'static str,
    /// Files, links and submodule directories written.
    written: u64,
    /// Bytes of their content.
    bytes: u64,
    /// Files removed.
    removed: u64,
    /// The largest number of workers active at the same time.
    workers: usize,
    /// Seconds from start to end.
    seconds: f64,
    /// The commit that HEAD names after the checkout.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    /// Entries that could not be written or removed.
    failures: Vec<Failed<'a>>,
    /// The paths that prevented the checkout.
    rejects: Vec<Rejected<'a>>,
    /// Local changes that were kept.
    local_changes: Vec<Changed<'a>>,
    /// Paths that are the same file on a file system that ignores case.
    collided: Vec<Path<'a>>,
    /// All other warnings.
    warnings: Vec<&'a String>,
}

#[derive(Debug, Serialize)]
struct Failed<'a> {
    path: Path<'a>,
    reason: &'a str,
}

#[derive(Debug, Serialize)]
struct Rejected<'a> {
    reason: String,
    paths: Vec<Path<'a>>,
}

#[derive(Debug, Serialize)]
struct Changed<'a> {
    status: char,
    path: Path<'a>,
}

/// A path in JSON.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Path<'a> {
    Text(&'a str),
    Bytes { bytes: &'a [u8] },
}

impl<'a> From<&'a BString> for Path<'a> {
    fn from(path: &'a BString) -> Self {
        Path::from(path.as_slice())
    }
}

impl<'a> From<&'a [u8]> for Path<'a> {
    fn from(path: &'a [u8]) -> Self {
        match path.to_str() {
            Ok(text) => Path::Text(text),
            Err(_) => Path::Bytes { bytes: path },
        }
    }
}

impl<'a> Report<'a> {
    /// The report of a completed checkout.
    pub fn done(done: &'a Done, commit: Option<String>, elapsed: Duration) -> Self {
        let failed = |failure: &'a hedgerow::checkout::Failure| Failed {
            path: Path::from(&failure.path),
            reason: &failure.reason,
        };
        let changed = |change: &'a hedgerow::checkout::LocalChange| Changed {
            status: change.status,
            path: Path::from(&change.path),
        };
        Report {
            status: if done.failures.is_empty() {
                "done"
            } else {
                "partial"
            },
            written: done.written,
            bytes: done.bytes,
            removed: done.removed,
            workers: done.workers,
            commit,
            failures: done.failures.iter().map(failed).collect(),
            local_changes: done.local_changes.iter().map(changed).collect(),
            collided: done.collided.iter().map(Path::from).collect(),
            warnings: done.remarks.iter().chain(&done.warnings).collect(),
            ..Report::untouched("done", elapsed)
        }
    }

    /// The report of a switch, however it ended.
    pub fn switch(outcome: &'a Outcome, commit: Option<String>, elapsed: Duration) -> Self {
        match outcome {
            Outcome::Done(done) | Outcome::Incomplete(done) => Report::done(done, commit, elapsed),
            Outcome::Rejected(rejects) => Report {
                rejects: rejected(rejects),
                ..Report::untouched("rejected", elapsed)
            },
            Outcome::Unmerged(paths) => Report::unmerged(paths, elapsed),
        }
    }

    /// The report of a checkout prevented by paths in conflict.
    pub fn unmerged(paths: &'a [BString], elapsed: Duration) -> Self {
        let paths = paths.iter().map(Path::from).collect();
        let rejects = vec![Rejected {
            reason: "Unmerged".into(),
            paths,
        }];
        Report {
            rejects,
            ..Report::untouched("unmerged", elapsed)
        }
    }

    fn untouched(status: &'static str, elapsed: Duration) -> Self {
        Report {
            schema: "hedgerow.checkout.v1",
            status,
            written: 0,
            bytes: 0,
            removed: 0,
            workers: 0,
            seconds: elapsed.as_secs_f64(),
            commit: None,
            failures: Vec::new(),
            rejects: Vec::new(),
            local_changes: Vec::new(),
            collided: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// The document, with a newline at its end.
    pub fn to_json(&self) -> String {
        // This cannot fail: there are no maps with odd keys and no custom serializers.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

fn rejected(rejects: &Rejects) -> Vec<Rejected<'_>> {
    let lists = rejects.by_reason().into_iter();
    lists
        .map(|(reason, paths)| Rejected {
            reason: format!("{reason:?}"),
            paths: paths.into_iter().map(Path::from).collect(),
        })
        .collect()
}

/// What was done and with how many workers, in one line.
pub fn summary(done: &Done, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    let files = done.written + done.removed;
    let removed = match done.removed {
        0 => String::new(),
        count => format!(", {} removed", HumanCount(count)),
    };
    let rate = (files as f64 / seconds.max(1e-6)) as u64;
    let workers = match done.workers {
        0 | 1 => "1 worker".to_owned(),
        count => format!("up to {count} workers"),
    };
    format!(
        "{} {} ({}) written{removed} in {seconds:.2} s by {workers}: {} {} a second",
        HumanCount(done.written),
        noun_for(done.written, "file"),
        DecimalBytes(done.bytes),
        HumanCount(rate),
        noun_for(rate, "file"),
    )
}
