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
            let paths = content.split(|byte| *byte == b'\n').filter_map(parse_line);
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

/// The path of one line; `None` for a comment or an empty line.
fn parse_line(line: &[u8]) -> Option<PathBuf> {
    match line.first()? {
        b'#' => None,
        _ => Some(PathBuf::from(std::ffi::OsString::from_vec(line.to_vec()))),
    }
}
