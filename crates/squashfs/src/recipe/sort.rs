//! The order and treatment of contents.

use super::lines::{for_each_line, Trim};
use super::pattern::{matches, matches_path};
use super::words::{canonical, Words};
use super::RecipeError;
use bstr::{BString, ByteSlice};
use hedgerow_image::Treatment;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

mod arrange;

pub use arrange::Arranged;

/// The order in which contents are stored, and how; one line for each file or pattern:
///
/// ```text
/// <priority> [<flags>] <path>
/// -100  [dont_compress,nosparse]  boot/vmlinuz
/// 7     [glob]  "share/my file*"
/// ```
///
/// Lower priorities come first; files without a matching line have priority 0. For each file, the
/// first line that matches one of its names applies. Flags: `glob` (the path is a pattern),
/// `glob_no_path` (a pattern whose `*` and `?` also match slashes), `dont_compress`,
/// `dont_fragment`, `dont_deduplicate`, `nosparse`, `align`. `align` is accepted and ignored,
/// because blocks are not aligned. Lines that begin with `#` are comments.
#[derive(Debug)]
pub struct SortRules {
    file: PathBuf,
    rules: Vec<Rule>,
    /// Indexes of the rules without a pattern, by path.
    exact: HashMap<BString, usize>,
    /// Indexes of the rules with a pattern.
    globs: Vec<usize>,
}

#[derive(Debug)]
struct Rule {
    line: u64,
    priority: i64,
    treatment: Treatment,
    is_aligned: bool,
    path: BString,
    like: Like,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Like {
    Exactly,
    Glob,
    GlobNoPath,
}

impl SortRules {
    /// Parses the rules. `file` is used in messages.
    ///
    /// # Errors
    /// A line without a priority or a path, with an unknown flag, or with a path that leaves the
    /// image. The error names file and line.
    pub fn parse(file: &Path, content: &[u8]) -> Result<Self, RecipeError> {
        let mut rules = SortRules {
            file: file.to_owned(),
            rules: Vec::new(),
            exact: HashMap::new(),
            globs: Vec::new(),
        };
        for_each_line(file, content, Trim::Both, |line, text| {
            if !text.starts_with(b"#") {
                rules.add(Rule::parse(line, text)?);
            }
            Ok(())
        })?;
        Ok(rules)
    }

    /// Messages about the rules with the flag `align`, which is ignored, with file and line.
    pub fn ignored(&self) -> impl Iterator<Item = String> + '_ {
        let aligned = self.rules.iter().filter(|rule| rule.is_aligned);
        aligned.map(|rule| self.about(rule, "blocks are not aligned: the flag changes nothing"))
    }

    fn add(&mut self, rule: Rule) {
        let number = self.rules.len();
        match rule.like {
            Like::Exactly => drop(self.exact.entry(rule.path.clone()).or_insert(number)),
            _ => self.globs.push(number),
        }
        self.rules.push(rule);
    }

    /// The index of the first rule that matches a path.
    fn first_for(&self, path: &[u8]) -> Option<usize> {
        let exact = self.exact.get(path.as_bstr()).copied();
        let fits = |number: &usize| {
            self.rules.get(*number).is_some_and(|rule| match rule.like {
                Like::Glob => matches_path(&rule.path, path),
                _ => matches(&rule.path, path),
            })
        };
        let before = exact.unwrap_or(usize::MAX);
        let globs = self.globs.iter().take_while(|number| **number < before);
        globs.copied().find(fits).or(exact)
    }

    fn about(&self, rule: &Rule, what: &str) -> String {
        format!("{}:{}: {what}", self.file.display(), rule.line)
    }
}

impl Rule {
    /// Parses `<priority> [<flags>] <path>`.
    fn parse(line: u64, text: &[u8]) -> Result<Self, String> {
        let mut words = Words::new(text);
        let priority = words.word().unwrap_or_default();
        let wrong = || {
            format!(
                "the priority '{}' is not a 64-bit integer",
                priority.as_bstr()
            )
        };
        let number = std::str::from_utf8(priority).map_err(|_| wrong())?;
        let is_number = number
            .bytes()
            .all(|byte| byte == b'-' || byte.is_ascii_digit());
        let number = number.parse().ok().filter(|_| is_number);
        let mut rule = Rule {
            line,
            priority: number.ok_or_else(wrong)?,
            treatment: Treatment::default(),
            is_aligned: false,
            path: BString::default(),
            like: Like::Exactly,
        };
        if let Some(flags) = words.rest().strip_prefix(b"[") {
            let end = flags.iter().position(|byte| *byte == b']');
            let end = end.ok_or("the flags do not end: ']' is missing")?;
            let (flags, rest) = flags.split_at(end);
            for flag in flags.split(|byte| *byte == b',') {
                rule.flag(flag.trim_ascii())?;
            }
            words = Words::new(rest.get(1..).unwrap_or_default());
        }
        let name = match words.rest() {
            b"" => return Err("the path is missing".into()),
            [b'"', ..] => {
                let name = words.quoted(true)?;
                if !words.rest().is_empty() {
                    return Err("something stands behind the path".into());
                }
                name
            }
            name => name.to_vec(),
        };
        rule.path = canonical(&name)?.into();
        Ok(rule)
    }

    fn flag(&mut self, flag: &[u8]) -> Result<(), String> {
        match flag {
            b"" => {}
            b"glob" => self.like = Like::Glob,
            b"glob_no_path" => self.like = Like::GlobNoPath,
            b"dont_compress" => self.treatment.uncompressed = true,
            b"dont_fragment" => self.treatment.unfragmented = true,
            b"dont_deduplicate" => self.treatment.not_shared = true,
            b"nosparse" => self.treatment.not_sparse = true,
            b"align" => self.is_aligned = true,
            other => return Err(format!("'{}' is no flag", other.as_bstr())),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::SortRules;
    use std::path::Path;

    #[test]
    fn the_first_line_that_fits_counts() {
        let text =
            b"1 [glob] a/*\n2 a/b\n3 [glob_no_path, nosparse ,] a*\n4 \" x \\\"y\"\n5 a b  \n";
        let rules = SortRules::parse(Path::new("f"), text).unwrap();
        let priority = |path: &str| {
            rules
                .first_for(path.as_bytes())
                .map(|number| rules.rules[number].priority)
        };
        for (path, expected) in [
            ("a/b", Some(1)),
            ("a/b/c", Some(3)),
            (" x \"y", Some(4)),
            ("a b", Some(3)),
            ("b", None),
        ] {
            assert_eq!(priority(path), expected, "{path}");
        }
        assert!(rules.rules[2].treatment.not_sparse);
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (text, said) in [
            (
                "# c\n\nx a",
                "f:3: the priority 'x' is not a 64-bit integer",
            ),
            ("+1 a", "f:1: the priority '+1' is not a 64-bit integer"),
            (
                "99999999999999999999 a",
                "f:1: the priority '99999999999999999999' is not a 64-bit integer",
            ),
            ("1", "f:1: the path is missing"),
            ("1 [glob]", "f:1: the path is missing"),
            ("1 [glob a", "f:1: the flags do not end: ']' is missing"),
            ("1 [globs] a", "f:1: 'globs' is no flag"),
            ("1 \"a", "f:1: a quote is not closed"),
            ("1 \"a\" b", "f:1: something stands behind the path"),
            (
                "1 \"\\n\"",
                "f:1: a backslash before something else than \" or \\",
            ),
            ("1 ../a", "f:1: '../a' leaves the image"),
        ] {
            let error = SortRules::parse(Path::new("f"), text.as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), said);
        }
    }
}
