use hedgerow_object::split_quoted;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// How deep `info/alternates` may refer to each other, as in git.
const MAX_DEPTH: usize = 5;
/// More than any sane list of directories takes.
const LIMIT_BYTES: u64 = 1 << 20;

/// The object directories of a store: `main` first, then `extra` and all that the files
/// `info/alternates` name, each once. What cannot be used is left out and told in `warnings`.
pub(crate) fn object_directories(
    main: &Path,
    extra: &[PathBuf],
    warnings: &mut Vec<String>,
) -> hedgerow_fs::Result<Vec<PathBuf>> {
    let mut seen = vec![hedgerow_fs::real_path(main)?];
    let mut directories = vec![main.to_owned()];
    // Git links the directories of the environment before those of the file.
    let mut pending: Vec<(PathBuf, usize)> = named_by(main, 0, warnings);
    pending.extend(extra.iter().rev().map(|path| (path.clone(), 0)));
    while let Some((path, depth)) = pending.pop() {
        if depth > MAX_DEPTH {
            let path = path.display();
            warnings.push(format!("ignoring alternate '{path}': nesting too deep"));
            continue;
        }
        if !hedgerow_fs::is_directory(&path) {
            let path = path.display();
            warnings.push(format!(
                "alternate object directory '{path}' does not exist"
            ));
            continue;
        }
        let real = hedgerow_fs::real_path(&path)?;
        if seen.contains(&real) {
            continue;
        }
        pending.extend(named_by(&path, depth + 1, warnings));
        seen.push(real);
        directories.push(path);
    }
    Ok(directories)
}

/// The directories that `info/alternates` of `objects` names, last first.
fn named_by(objects: &Path, depth: usize, warnings: &mut Vec<String>) -> Vec<(PathBuf, usize)> {
    let file = objects.join("info/alternates");
    match hedgerow_fs::read_file(&file, LIMIT_BYTES) {
        Ok(None) => Vec::new(),
        Ok(Some(content)) => {
            let paths = alternate_paths(&content, b'\n').into_iter();
            let mut found: Vec<_> = paths.map(|path| (objects.join(path), depth)).collect();
            found.reverse();
            found
        }
        Err(error) => {
            warnings.push(error.to_string());
            Vec::new()
        }
    }
}

/// The paths in `text`, each behind the other with a `separator`: the content of a file `info/alternates`
/// (line feeds) or of `GIT_ALTERNATE_OBJECT_DIRECTORIES` (colons). As in git, what begins with `#` is a
/// comment, and a path may be in double quotes with C escapes.
pub fn alternate_paths(text: &[u8], separator: u8) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (path, after) = match split_quoted(rest) {
            Some(quoted) => quoted,
            None => {
                let end = rest.iter().position(|byte| *byte == separator);
                let (path, after) = rest.split_at(end.unwrap_or(rest.len()));
                let is_comment = path.starts_with(b"#");
                (if is_comment { &[] } else { path }.to_vec(), after)
            }
        };
        // As in git, whatever stands there.
        rest = after.get(1..).unwrap_or_default();
        if !path.is_empty() {
            paths.push(PathBuf::from(OsString::from_vec(path)));
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::alternate_paths;
    use std::path::Path;

    #[test]
    fn paths_may_be_in_quotes() {
        for (text, expected) in [
            (&b""[..], &[][..]),
            (b"/a:/b", &["/a", "/b"]),
            (b":/a::b:", &["/a", "b"]),
            (b"#/a:/b:#", &["/b"]),
            (b"\"/a:b\":\"\\057c\"", &["/a:b", "/c"]),
            (b"\"\":/a", &["/a"]),
            (b"\"/a\"xy:/b", &["/a", "y", "/b"]),
            (b"\"/a:/b", &["\"/a", "/b"]),
            (b"/\"a\"", &["/\"a\""]),
        ] {
            let expected: Vec<_> = expected.iter().map(Path::new).collect();
            let text_shown = String::from_utf8_lossy(text);
            assert_eq!(alternate_paths(text, b':'), expected, "{text_shown}");
        }
    }
}
