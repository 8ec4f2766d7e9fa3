use super::kind::to_regex;
use super::python::{translate, Dialect};
use super::source::{Pattern, Patterns, Reader};
use crate::{Error, Result};
use bstr::BString;
use std::path::{Path, PathBuf};

/// Size limit of the program compiled from one expression, in bytes. A larger one is refused: a few
/// characters such as `(a{1000}){1000}` can require any amount.
const PROGRAM_BYTES: usize = 32 << 20;
/// Size limit of the tables of one expression while it matches, in bytes.
const TABLE_BYTES: usize = 8 << 20;
/// Limit for the backtracking steps of a look-around expression for one path.
const STEPS_BACK: usize = 100_000;

/// Compiled ignore patterns.
///
/// Nearly all patterns are combined into one expression that is matched in time linear in the
/// length of the path. Patterns with look-around or back-references, which such an expression does
/// not support, are matched one after the other.
#[derive(Debug, Default)]
pub struct Ignore {
    linear: Vec<regex::bytes::Regex>,
    backtracking: Vec<Backtracking>,
    below: Vec<(BString, Ignore)>,
}

#[derive(Debug)]
struct Backtracking {
    regex: fancy_regex::Regex,
    path: PathBuf,
    line: usize,
    pattern: BString,
}

impl Ignore {
    /// Reads ignore `files` for the working copy at `root`, and the files that they include.
    ///
    /// A file that cannot be read is left out, with a warning in `warnings`. An invalid pattern is
    /// an error that names its line.
    pub fn read(root: &Path, files: &[PathBuf], warnings: &mut Vec<String>) -> Result<Self> {
        let patterns = Reader::new(warnings).read(root, files)?;
        Ignore::compile(&patterns)
    }

    /// The patterns of a single file: its includes are ignored. `path` is for errors.
    pub fn parse(content: &[u8], path: &Path) -> Result<Self> {
        Ignore::compile(&Patterns::of_one(content, path))
    }

    fn compile(patterns: &Patterns) -> Result<Self> {
        let mut linear = Vec::new();
        let mut backtracking = Vec::new();
        for pattern in &patterns.own {
            let regex = to_regex(pattern.line.kind, &pattern.line.pattern);
            let translation =
                translate(&regex, Dialect::Linear).map_err(|reason| invalid(pattern, reason))?;
            if !translation.needs_backtracking {
                linear.push((pattern, translation.regex))
            } else {
                backtracking.push(compile_backtracking(pattern, &regex)?)
            }
        }
        let mut compiled = Vec::new();
        compile_linear(&linear, &mut compiled)?;
        let below = patterns.below.iter().map(|(prefix, patterns)| {
            let inner = Ignore::compile(patterns)?;
            Ok((prefix.clone(), inner))
        });
        Ok(Ignore {
            linear: compiled,
            backtracking,
            below: below.collect::<Result<_>>()?,
        })
    }

    /// Whether any pattern matches `path` itself. Everything below a matching directory is ignored
    /// too, so callers do not ask about it.
    pub fn matches(&self, path: &[u8]) -> Result<bool> {
        if self.linear.iter().any(|regex| regex.is_match(path)) {
            return Ok(true);
        }
        for pattern in &self.backtracking {
            if pattern.matches(path)? {
                return Ok(true);
            }
        }
        for (prefix, inner) in &self.below {
            if let Some(rest) = path.strip_prefix(prefix.as_slice()) {
                if inner.matches(rest)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.linear.is_empty() && self.backtracking.is_empty() && self.below.is_empty()
    }
}

impl Backtracking {
    fn matches(&self, path: &[u8]) -> Result<bool> {
        self.regex.is_match(path).map_err(|error| Error::Pattern {
            path: self.path.clone(),
            line: self.line,
            pattern: self.pattern.clone(),
            reason: error.to_string(),
        })
    }
}

/// Compiles expressions, combined into as few as their size allows.
fn compile_linear(
    patterns: &[(&Pattern, String)],
    compiled: &mut Vec<regex::bytes::Regex>,
) -> Result<()> {
    if patterns.is_empty() {
        return Ok(());
    }
    let alternatives: Vec<&str> = patterns.iter().map(|(_, regex)| regex.as_str()).collect();
    let regex = regex::bytes::RegexBuilder::new(&format!(r"\A(?:{})", alternatives.join("|")))
        .unicode(false)
        .size_limit(PROGRAM_BYTES)
        .dfa_size_limit(TABLE_BYTES)
        .build();
    match (regex, patterns) {
        (Ok(regex), _) => compiled.push(regex),
        (Err(error), [(pattern, _)]) => return Err(invalid(pattern, error)),
        (Err(_), _) => {
            let (left, right) = patterns.split_at(patterns.len() / 2);
            compile_linear(left, compiled)?;
            compile_linear(right, compiled)?;
        }
    }
    Ok(())
}

fn compile_backtracking(pattern: &Pattern, regex: &[u8]) -> Result<Backtracking> {
    let translation =
        translate(regex, Dialect::Backtracking).map_err(|reason| invalid(pattern, reason))?;
    let regex = fancy_regex::RegexBuilder::new(&format!(r"\A(?:{})", translation.regex))
        .bytes_mode(fancy_regex::BytesMode::Ascii)
        .backtrack_limit(STEPS_BACK)
        .delegate_size_limit(PROGRAM_BYTES)
        .delegate_dfa_size_limit(TABLE_BYTES)
        .build()
        .map_err(|error| invalid(pattern, error))?;
    Ok(Backtracking {
        regex,
        path: pattern.file.as_ref().clone(),
        line: pattern.line.number,
        pattern: pattern.line.pattern.clone(),
    })
}

fn invalid(pattern: &Pattern, reason: impl std::fmt::Display) -> Error {
    // The regex crates show the position on several lines; the last line has the reason.
    let reason = reason.to_string();
    let reason = reason.lines().last().unwrap_or_default();
    Error::Pattern {
        path: pattern.file.as_ref().clone(),
        line: pattern.line.number,
        pattern: pattern.line.pattern.clone(),
        reason: reason.trim_start_matches("error: ").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Ignore> {
        Ignore::parse(text.as_bytes(), Path::new(".hgignore"))
    }

    #[test]
    fn any_pattern_that_matches_ignores() {
        let ignore = parsed("\\.o$\n^(?!a)x\nsyntax: glob\nbuild\nrootglob:q?\n").unwrap();
        assert_eq!(ignore.linear.len(), 1, "they are one expression");
        assert_eq!(ignore.backtracking.len(), 1);
        for path in ["a.o", "d/a.o", "x", "build", "d/build", "q1", "build/x"] {
            assert!(ignore.matches(path.as_bytes()).unwrap(), "{path}");
        }
        for path in ["a.oo", "ax", "rebuild", "d/q1", "q12"] {
            assert!(!ignore.matches(path.as_bytes()).unwrap(), "{path}");
        }
        assert!(parsed("# nothing\n").unwrap().is_empty());
    }

    #[test]
    fn many_patterns_become_as_few_expressions_as_fit() {
        let patterns: String = (0..40)
            .map(|number| format!("^{number}[a-z]{{1000}}[0-9]{{1000}}$\n"))
            .collect();
        let ignore = parsed(&patterns).unwrap();
        assert!((1..40).contains(&ignore.linear.len()));
        let path = format!("39{}{}", "q".repeat(1000), "7".repeat(1000));
        assert!(ignore.matches(path.as_bytes()).unwrap());
    }

    #[test]
    fn what_is_too_large_or_takes_too_long_is_an_error_that_names_its_line() {
        let error = parsed("fine\n((a{900}){900}){900}\n").unwrap_err();
        let said = error.to_string();
        assert!(said.starts_with(".hgignore:2: invalid pattern"), "{said}");
        let ignore = parsed("(a+)+\\1\\1\\1b\n").unwrap();
        let error = ignore.matches("a".repeat(3000).as_bytes()).unwrap_err();
        let said = error.to_string();
        assert!(said.starts_with(".hgignore:1: invalid pattern"), "{said}");
    }
}
