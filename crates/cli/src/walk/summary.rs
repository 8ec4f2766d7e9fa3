//! The totals of a walk, as `--summary` shows them.

use super::line::SCHEMA;
use hedgerow::walk::Totals;
use serde::Serialize;

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    r#type: &'static str,
    files: u64,
    directories: u64,
    symlinks: u64,
    others: u64,
    bytes: u64,
    allocated_bytes: u64,
    repeated_links: u64,
    omitted: u64,
}

/// Lines of a name and a number, or one JSON object.
pub fn summary(totals: &Totals, json: bool, omitted: u64) -> String {
    let document = Document {
        schema: SCHEMA,
        r#type: "summary",
        files: totals.files,
        directories: totals.directories,
        symlinks: totals.symlinks,
        others: totals.others,
        bytes: totals.bytes,
        allocated_bytes: totals.allocated_bytes,
        repeated_links: totals.repeated_links,
        omitted,
    };
    if json {
        let text = serde_json::to_string(&document).expect("numbers and strings become JSON");
        return text + "\n";
    }
    let lines = [
        ("files", document.files),
        ("directories", document.directories),
        ("symlinks", document.symlinks),
        ("others", document.others),
        ("bytes", document.bytes),
        ("allocated_bytes", document.allocated_bytes),
        ("repeated_links", document.repeated_links),
        ("omitted", document.omitted),
    ];
    lines
        .map(|(name, number)| format!("{name} {number}\n"))
        .concat()
}
