//! `--strict[=<msg-id>=<severity>...]` of git-index-pack(1).

use super::severity::Severities;
use crate::error::{Error, Result};
use gix_hash::ObjectId;
use std::fmt::Display;
use std::path::Path;

/// Maximum size of a list of ids, in bytes.
const LIST_BYTES: u64 = 64 << 20;

impl Severities {
    /// Parses the severities after `--strict=` or `--fsck-objects=`.
    ///
    /// # Errors
    /// [`Error::Severities`] for invalid words; or a list of objects cannot be read.
    pub fn parse(words: &[&str]) -> Result<Self> {
        let mut severities = Severities::default();
        let words = words.iter().flat_map(|words| words.split([' ', ',', '|']));
        for word in words.filter(|word| !word.is_empty()) {
            let Some((name, level)) = word.split_once(['=', ':']) else {
                let word = word.to_ascii_lowercase();
                return Err(refused(format_args!("Missing '=': '{word}'")));
            };
            if name.eq_ignore_ascii_case("skiplist") {
                skip(Path::new(level), &mut severities)?;
                continue;
            }
            severities.set(name, level).map_err(refused)?;
        }
        Ok(severities)
    }
}

fn refused(reason: impl Display) -> Error {
    let reason = reason.to_string();
    Error::Severities { reason }
}

/// Reads a list of ids, one per line, with comments.
fn skip(path: &Path, severities: &mut Severities) -> Result<()> {
    let list = hedgerow_fs::read_file(path, LIST_BYTES)?;
    let Some(list) = list else {
        let path = path.display();
        return Err(refused(format_args!(
            "could not open object name list: {path}"
        )));
    };
    for line in list.split(|byte| *byte == b'\n') {
        let line = line
            .split(|byte| *byte == b'#')
            .next()
            .unwrap_or_default()
            .trim_ascii();
        if line.is_empty() {
            continue;
        }
        let id = ObjectId::from_hex(line).map_err(|_| {
            let line = String::from_utf8_lossy(line);
            refused(format_args!("invalid object name: {line}"))
        })?;
        severities.skip(id);
    }
    Ok(())
}
