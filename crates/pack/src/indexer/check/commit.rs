use super::identity::{self, headers_end};
use super::report::Reports;
use super::severity::Rule;
use gix_hash::{Kind, ObjectId};
use hedgerow_object::split_line;

/// Checks a commit.
pub(super) fn check(content: &[u8], hash: Kind, reports: &mut Reports<'_>) {
    if headers_end(content, reports) {
        check_headers(content, hash, reports);
    }
}

/// Stops at the first error: later lines could not be identified.
fn check_headers(content: &[u8], hash: Kind, reports: &mut Reports<'_>) -> Option<()> {
    let Some(text) = content.strip_prefix(b"tree ") else {
        reports.add(Rule::MissingTree, "invalid format - expected 'tree' line");
        return None;
    };
    let (line, mut text) = split_line(text)?;
    if !is_id(line, hash) {
        let is_error = reports.add(Rule::BadTreeSha1, "invalid 'tree' line format - bad sha1");
        go_on(is_error)?;
    }
    while let Some(parent) = text.strip_prefix(b"parent ") {
        let (line, rest) = split_line(parent)?;
        if !is_id(line, hash) {
            let words = "invalid 'parent' line format - bad sha1";
            go_on(reports.add(Rule::BadParentSha1, words))?;
        }
        text = rest;
    }
    let mut authors = 0;
    while let Some(author) = text.strip_prefix(b"author ") {
        let (line, rest) = split_line(author)?;
        go_on(identity::check(line, reports))?;
        authors += 1;
        text = rest;
    }
    let is_error = match authors {
        0 => reports.add(
            Rule::MissingAuthor,
            "invalid format - expected 'author' line",
        ),
        1 => false,
        _ => reports.add(
            Rule::MultipleAuthors,
            "invalid format - multiple 'author' lines",
        ),
    };
    go_on(is_error)?;
    let Some(committer) = text.strip_prefix(b"committer ") else {
        reports.add(
            Rule::MissingCommitter,
            "invalid format - expected 'committer' line",
        );
        return None;
    };
    go_on(identity::check(split_line(committer)?.0, reports))?;
    if content.contains(&0) {
        reports.add(Rule::NulInCommit, "NUL byte in the commit object body");
    }
    Some(())
}

fn go_on(is_error: bool) -> Option<()> {
    (!is_error).then_some(())
}

/// Whether `line` is an id of the repository's hash function.
pub(super) fn is_id(line: &[u8], hash: Kind) -> bool {
    ObjectId::from_hex(line).is_ok_and(|id| id.kind() == hash)
}
