//! Lists of rules, as options of squashfs-tools and files give them.

use hedgerow_fs::ReadFile;
use hedgerow_squashfs::rules::{PathRules, Syntax};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Maximum size of a file of names or rules, in bytes.
pub const LIST_BYTES: u64 = 256 << 20;

/// The rules of the command line and of files, relative to the root of the image; behind `... `, they
/// may begin in any directory.
///
/// # Errors
/// A file cannot be read, or a rule is none or is relative to another directory.
pub fn path_rules(
    syntax: Syntax,
    words: &[OsString],
    files: &[PathBuf],
) -> Result<PathRules, String> {
    let mut rules = PathRules::new(syntax);
    let mut add = |rule: &[u8]| {
        let starts = [&b"/"[..], b"./", b"../"];
        if starts.iter().any(|start| rule.starts_with(start)) {
            return Err(format!(
                "'{}': patterns are relative to the root of the image",
                OsStr::from_bytes(rule).display()
            ));
        }
        rules.add(rule, true).map_err(|error| error.to_string())
    };
    for word in words {
        add(word.as_bytes())?;
    }
    for path in files {
        for (number, line) in PathRules::lines(&read_list(path)?) {
            let at = |reason| format!("{}:{number}: {reason}", path.display());
            add(line).map_err(at)?;
        }
    }
    Ok(rules)
}

/// The content of a file of names or rules.
///
/// # Errors
/// It cannot be read, or is longer than [`LIST_BYTES`].
pub fn read_list(path: &Path) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    let file = ReadFile::open_stream(path).map_err(|error| error.to_string())?;
    let read = file.read_to_end(&mut content, LIST_BYTES);
    read.map_err(|error| error.to_string())?;
    Ok(content)
}
