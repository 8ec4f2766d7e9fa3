//! `--strict[=<msg-id>=<severity>...]` of git-index-pack(1).

use crate::failure::Failure;
use hedgerow_pack::indexer::Severities;
use hedgerow_pack::ObjectId;
use std::path::Path;

/// A list of ids of more than this is refused.
const LIST_BYTES: u64 = 64 << 20;

/// The severities that the words after `--strict=` or `--fsck-objects=` set.
pub fn severities(words: &[&str]) -> Result<Severities, Failure> {
    let mut severities = Severities::default();
    let words = words.iter().flat_map(|words| words.split([' ', ',', '|']));
    for word in words.filter(|word| !word.is_empty()) {
        let Some((name, level)) = word.split_once(['=', ':']) else {
            let word = word.to_ascii_lowercase();
            return Err(Failure::fatal(format_args!("Missing '=': '{word}'")));
        };
        if name.eq_ignore_ascii_case("skiplist") {
            skip(Path::new(level), &mut severities)?;
            continue;
        }
        severities.set(name, level).map_err(Failure::fatal)?;
    }
    Ok(severities)
}

/// Reads a list of ids, one a line, with comments.
fn skip(path: &Path, severities: &mut Severities) -> Result<(), Failure> {
    let list = hedgerow_fs::read_file(path, LIST_BYTES).map_err(Failure::fatal)?;
    let Some(list) = list else {
        let path = path.display();
        return Err(Failure::fatal(format_args!(
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
            Failure::fatal(format_args!("invalid object name: {line}"))
        })?;
        severities.skip(id);
    }
    Ok(())
}
