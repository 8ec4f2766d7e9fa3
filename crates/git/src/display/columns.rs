//! The layout of paths in columns: git-config(1) under `column.ui`.

use super::When;
use crate::config::Config;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// How paths are laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// When paths are in columns.
    pub when: When,
    /// The order of paths in the table.
    pub layout: Layout,
    /// Whether columns are as narrow as their paths, instead of all having one width.
    pub dense: bool,
}

/// The order of paths in the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Down the columns.
    #[default]
    Column,
    /// Along the rows.
    Row,
    /// In a single column.
    Plain,
}

impl Columns {
    /// Reads `column.ui` and the key of a command such as `column.status`; the one that is written
    /// later wins.
    ///
    /// Fails if a value is missing or has an unknown word.
    pub fn of(config: &Config, command: &str) -> Result<Self> {
        let mut columns = Columns::default();
        for (key, words) in settings(config, ["ui", command]) {
            let Some(words) = words else {
                return Err(Error::Config {
                    reason: format!("missing value for 'column.{key}'"),
                });
            };
            columns.read(words.as_ref()).map_err(|_| Error::Config {
                reason: format!("invalid column.{key} mode {words}"),
            })?;
        }
        Ok(columns)
    }

    /// The same, modified by each `--column` option.
    ///
    /// Fails if one has an unknown word.
    pub fn with(mut self, given: &[OsString]) -> Result<Self> {
        for words in given {
            self.when = When::Always;
            let words = words.as_bytes().as_bstr();
            self.read(words).map_err(|rest| Error::Usage {
                reason: format!("unsupported option '{rest}'"),
            })?;
        }
        Ok(self)
    }

    /// Reads words separated by spaces or commas. A layout without always, never or auto implies
    /// always. Fails with the rest of the text from the first unknown word on.
    fn read<'a>(&mut self, words: &'a BStr) -> Result<(), &'a BStr> {
        let (mut when, mut layout) = (None, None);
        let mut rest = words.as_bytes();
        while !rest.is_empty() {
            let end = rest.find_byteset(b" ,").unwrap_or(rest.len());
            match &rest[..end] {
                b"" => {}
                b"always" => when = Some(When::Always),
                b"never" => when = Some(When::Never),
                b"auto" => when = Some(When::Auto),
                b"plain" => layout = Some(Layout::Plain),
                b"column" => layout = Some(Layout::Column),
                b"row" => layout = Some(Layout::Row),
                b"dense" => self.dense = true,
                b"nodense" => self.dense = false,
                _ => return Err(rest.as_bstr()),
            }
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        let implied = layout.map(|_| When::Always);
        self.when = when.or(implied).unwrap_or(self.when);
        self.layout = layout.unwrap_or(self.layout);
        Ok(())
    }
}

/// The values of all keys in the order in which they are written; a key without `=` has no value.
fn settings<'a>(config: &Config, keys: [&'a str; 2]) -> Vec<(&'a str, Option<BString>)> {
    let mut settings = Vec::new();
    for section in config.file().sections() {
        let header = section.header();
        let is_own = header.name().eq_ignore_ascii_case(b"column");
        if !is_own || header.subsection_name().is_some() {
            continue;
        }
        let body = section.body();
        let mut seen = [0; 2];
        for name in body.value_names() {
            let own = |key: &&str| name.eq_ignore_ascii_case(key);
            let Some(at) = keys.iter().position(own) else {
                continue;
            };
            let values = body.values(keys[at]);
            // Only for a single value can a missing `=` be detected.
            let value = match values.len() {
                1 => body.value_implicit(keys[at]).flatten(),
                _ => values.into_iter().nth(seen[at]),
            };
            seen[at] += 1;
            settings.push((keys[at], value));
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_one_after_the_other() {
        let (always, auto, never) = (When::Always, When::Auto, When::Never);
        for (words, when, layout, dense) in [
            ("", never, Layout::Column, false),
            ("row", always, Layout::Row, false),
            ("auto,row dense", auto, Layout::Row, true),
            ("dense,  nodense", never, Layout::Column, false),
            ("plain,never", never, Layout::Plain, false),
            ("row,column,auto,always", always, Layout::Column, false),
        ] {
            let mut columns = Columns::default();
            columns.read(words.into()).unwrap();
            let expected = Columns {
                when,
                layout,
                dense,
            };
            assert_eq!(columns, expected, "{words}");
        }
        let mut columns = Columns::default();
        assert_eq!(columns.read("row,x y".into()), Err("x y".into()));
    }
}
