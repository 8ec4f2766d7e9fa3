//! Ignore files and the files they include, as one list of patterns.

use super::file::{parse, Line};
use super::kind::{normalized, Kind};
use crate::{Error, Result};
use bstr::{BString, ByteSlice};
use hedgerow_fs::FileKind;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Upper size limit of an ignore file, in bytes; a larger one is refused.
const FILE_BYTES: u64 = 16 << 20;
/// Maximum number of files that ignore files include, in total.
const FILES: usize = 1000;
/// Maximum nesting depth of included files.
const DEPTH: usize = 50;

/// A pattern and its position.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    pub file: Rc<PathBuf>,
    pub line: Line,
}

/// The patterns for a directory and everything below it.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    /// The patterns for paths relative to the directory.
    pub own: Vec<Pattern>,
    /// The patterns of directories below it, by path with a trailing slash; empty for the directory
    /// itself.
    pub below: Vec<(BString, Patterns)>,
}

impl Patterns {
    /// The patterns of one file, without its includes.
    pub fn of_one(content: &[u8], path: &Path) -> Self {
        let file = Rc::new(path.to_owned());
        let (lines, _) = parse(content);
        let patterns = lines
            .into_iter()
            .filter(|line| !matches!(line.kind, Kind::Include | Kind::SubInclude));
        let own = patterns.map(|line| Pattern {
            file: Rc::clone(&file),
            line,
        });
        Patterns {
            own: own.collect(),
            below: Vec::new(),
        }
    }
}

/// Reads ignore files.
pub(super) struct Reader<'warnings> {
    pub warnings: &'warnings mut Vec<String>,
    /// Number of files read so far.
    files: usize,
}

impl<'warnings> Reader<'warnings> {
    pub fn new(warnings: &'warnings mut Vec<String>) -> Self {
        Reader { warnings, files: 0 }
    }

    /// The patterns of `files`, for the directory `root`.
    pub fn read(&mut self, root: &Path, files: &[PathBuf]) -> Result<Patterns> {
        let mut patterns = Patterns::default();
        for file in files {
            let shown = file.as_os_str().as_bytes();
            self.file(root, shown, None, 0, true, &mut patterns)?;
        }
        Ok(patterns)
    }

    /// Adds the patterns of the file called `name` relative to `root`. `from` is the line that
    /// includes it.
    fn file(
        &mut self,
        root: &Path,
        name: &[u8],
        from: Option<&Pattern>,
        depth: usize,
        warns: bool,
        patterns: &mut Patterns,
    ) -> Result<()> {
        self.files += 1;
        if let (Some(from), true) = (from, depth > DEPTH || self.files > FILES) {
            return Err(Error::Include {
                path: from.file.as_ref().clone(),
                line: from.line.number,
                reason: "too many files are included, one in the other",
            });
        }
        let path = Rc::new(root.join(OsStr::from_bytes(name)));
        let content = match content(&path) {
            Ok(content) => content,
            Err(reason) => {
                if warns {
                    let name = name.as_bstr();
                    self.warnings.push(format!(
                        "skipping unreadable pattern file '{name}': {reason}"
                    ));
                }
                return Ok(());
            }
        };
        let (lines, unknown) = parse(&content);
        if warns {
            self.warnings.extend(unknown.iter().map(|syntax| {
                let name = &syntax.name;
                format!("{}: ignoring invalid syntax '{name}'", path.display())
            }));
        }
        for line in lines {
            let pattern = Pattern {
                file: Rc::clone(&path),
                line,
            };
            let word = pattern.line.pattern.as_slice();
            match pattern.line.kind {
                Kind::Include => {
                    self.file(root, word, Some(&pattern), depth + 1, warns, patterns)?;
                }
                Kind::SubInclude => self.below(root, name, &pattern, depth, patterns)?,
                _ => patterns.own.push(pattern),
            }
        }
        Ok(())
    }

    /// Adds the patterns of a file for the file's own directory. `name` is the including file; the
    /// path is relative to its directory.
    fn below(
        &mut self,
        root: &Path,
        name: &[u8],
        pattern: &Pattern,
        depth: usize,
        patterns: &mut Patterns,
    ) -> Result<()> {
        let including = root.join(OsStr::from_bytes(name));
        let directory = including.parent().unwrap_or(root);
        let path = directory.join(OsStr::from_bytes(&pattern.line.pattern));
        let path = normalized(path.as_os_str().as_bytes());
        let path = Path::new(OsStr::from_bytes(&path));
        let (Some(new_root), Some(file)) = (path.parent(), path.file_name()) else {
            return Err(outside(pattern));
        };
        let normal_root = normalized(root.as_os_str().as_bytes());
        let normal_root = Path::new(OsStr::from_bytes(&normal_root));
        let Ok(prefix) = new_root.strip_prefix(normal_root) else {
            return Err(outside(pattern));
        };
        let mut prefix = BString::from(prefix.as_os_str().as_bytes());
        if !prefix.is_empty() {
            prefix.push(b'/');
        }
        // Mercurial keeps one set of patterns per directory, so only the first file counts.
        if patterns.below.iter().any(|(known, _)| *known == prefix) {
            return Ok(());
        }
        let mut inner = Patterns::default();
        let file = file.as_bytes();
        self.file(new_root, file, Some(pattern), depth + 1, false, &mut inner)?;
        patterns.below.push((prefix, inner));
        Ok(())
    }
}

fn outside(pattern: &Pattern) -> Error {
    Error::Pattern {
        path: pattern.file.as_ref().clone(),
        line: pattern.line.number,
        pattern: pattern.line.pattern.clone(),
        reason: "it is not below the directory that it is included for".into(),
    }
}

/// The content of an ignore file, or why it cannot be read. Only regular files are opened: reading
/// a pipe could block forever.
fn content(path: &Path) -> std::result::Result<Vec<u8>, String> {
    let stat = hedgerow_fs::stat(path).map_err(|error| error.reason())?;
    match stat.map(|stat| stat.kind) {
        None => Err("No such file or directory".into()),
        Some(FileKind::Directory) => Err("Is a directory".into()),
        Some(FileKind::File) => {
            let content = hedgerow_fs::read_file(path, FILE_BYTES);
            let content = content.map_err(|error| error.reason())?;
            content.ok_or_else(|| "No such file or directory".into())
        }
        Some(_) => Err("not a file".into()),
    }
}
