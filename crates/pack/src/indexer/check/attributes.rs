use super::report::Reports;
use super::severity::Rule;

/// Git ignores attribute files larger than this.
const FILE_BYTES: usize = 100 << 20;
/// Git ignores longer lines.
const LINE_BYTES: usize = 2048;

/// Checks a file of attributes.
pub(super) fn check(content: Option<&[u8]>, reports: &mut Reports<'_>) {
    let Some(content) = content.filter(|content| content.len() <= FILE_BYTES) else {
        reports.add(
            Rule::GitattributesLarge,
            ".gitattributes too large to parse",
        );
        return;
    };
    let text = content.split(|byte| *byte == 0).next().unwrap_or_default();
    if text
        .split(|byte| *byte == b'\n')
        .any(|line| line.len() >= LINE_BYTES)
    {
        let words = ".gitattributes has too long lines to parse";
        reports.add(Rule::GitattributesLineLength, words);
    }
}
