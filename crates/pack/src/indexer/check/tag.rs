use super::commit::is_id;
use super::identity::{self, headers_end};
use super::report::Reports;
use super::severity::Rule;
use gix_hash::Kind;
use hedgerow_object::split_line;
use hedgerow_object::ObjectKind;

/// Checks a tag.
pub(super) fn check(content: &[u8], hash: Kind, reports: &mut Reports<'_>) {
    if headers_end(content, reports) {
        check_headers(content, hash, reports);
    }
}

/// Stops at the first error: later lines could not be identified.
fn check_headers(content: &[u8], hash: Kind, reports: &mut Reports<'_>) -> Option<()> {
    let Some(text) = content.strip_prefix(b"object ") else {
        reports.add(
            Rule::MissingObject,
            "invalid format - expected 'object' line",
        );
        return None;
    };
    let (line, text) = split_line(text)?;
    if !is_id(line, hash) {
        let words = "invalid 'object' line format - bad sha1";
        go_on(reports.add(Rule::BadObjectSha1, words))?;
    }
    let Some(text) = text.strip_prefix(b"type ") else {
        reports.add(
            Rule::MissingTypeEntry,
            "invalid format - expected 'type' line",
        );
        return None;
    };
    let Some((line, text)) = split_line(text) else {
        let words = "invalid format - unexpected end after 'type' line";
        reports.add(Rule::MissingType, words);
        return None;
    };
    if ObjectKind::from_name(line).is_none() {
        go_on(reports.add(Rule::BadType, "invalid 'type' value"))?;
    }
    let Some(text) = text.strip_prefix(b"tag ") else {
        reports.add(
            Rule::MissingTagEntry,
            "invalid format - expected 'tag' line",
        );
        return None;
    };
    let Some((name, text)) = split_line(text) else {
        let words = "invalid format - unexpected end after 'type' line";
        reports.add(Rule::MissingTag, words);
        return None;
    };
    if !is_reference_name(name) {
        let words = format!("invalid 'tag' name: {}", String::from_utf8_lossy(name));
        go_on(reports.add(Rule::BadTagName, &words))?;
    }
    let text = match text.strip_prefix(b"tagger ") {
        Some(tagger) => {
            let (line, rest) = split_line(tagger)?;
            identity::check(line, reports);
            rest
        }
        None => {
            let words = "invalid format - expected 'tagger' line";
            go_on(reports.add(Rule::MissingTaggerEntry, words))?;
            text
        }
    };
    check_rest(text, reports)
}

/// Checks the headers between the tagger and the message.
fn check_rest(mut text: &[u8], reports: &mut Reports<'_>) -> Option<()> {
    let signature = [b"gpgsig ".as_slice(), b"gpgsig-sha256 "];
    if signature.iter().any(|start| text.starts_with(start)) {
        text = split_line(text)?.1;
        while text.first() == Some(&b' ') {
            let Some((_, rest)) = split_line(text) else {
                let words = "invalid format - unexpected end in 'gpgsig' or 'gpgsig-sha256' \
                             continuation line";
                reports.add(Rule::BadHeaderContinuation, words);
                return None;
            };
            text = rest;
        }
    }
    if text.first().is_some_and(|byte| *byte != b'\n') {
        let words = "invalid format - extra header(s) after 'tagger'";
        reports.add(Rule::ExtraHeaderEntry, words);
    }
    Some(())
}

fn go_on(is_error: bool) -> Option<()> {
    (!is_error).then_some(())
}

/// Whether `name` is valid after `refs/tags/`: git-check-ref-format(1).
fn is_reference_name(name: &[u8]) -> bool {
    let is_bad = |byte: &u8| *byte < b' ' || b"\x7f ~^:?*[\\".contains(byte);
    let is_bad_part =
        |part: &[u8]| part.is_empty() || part.starts_with(b".") || part.ends_with(b".lock");
    !name.iter().any(is_bad)
        && !name.windows(2).any(|pair| pair == b".." || pair == b"@{")
        && !name.ends_with(b".")
        && !name.split(|byte| *byte == b'/').any(is_bad_part)
}
