//! Whether paths are laid out in columns, and how: git-config(1) under `column.ui`.

use super::when::When;
use crate::failure::Failure;
use bstr::{BStr, BString, ByteSlice};
use hedgerow_git::config::Config;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// How paths are laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    pub when: When,
    pub layout: Layout,
    /// Columns are as narrow as their paths, not all of one width.
    pub dense: bool,
}

/// Where the next path goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Below the last one.
    #[default]
    Column,
    /// Beside it.
    Row,
    /// There is only one column.
    Plain,
}

const KEYS: [&str; 2] = ["ui", "status"];

impl Columns {
    /// What `column.ui` and `column.status` say; whichever is written later has the last word.
    pub fn of(config: &Config) -> Result<Self, Failure> {
        let mut columns = Columns::default();
        for (key, words) in settings(config) {
            let Some(words) = words else {
                let message = format_args!("missing value for 'column.{key}'");
                return Err(Failure::fatal(message));
            };
            columns
                .read(words.as_ref())
                .map_err(|_| Failure::fatal(format_args!("invalid column.{key} mode {words}")))?;
        }
        Ok(columns)
    }

    /// The same with what `--column` says, each time it is given.
    pub fn with(mut self, given: &[OsString]) -> Result<Self, Failure> {
        for words in given {
            self.when = When::Always;
            let words = words.as_bytes().as_bstr();
            self.read(words)
                .map_err(|rest| Failure::usage(format_args!("unsupported option '{rest}'")))?;
        }
        Ok(self)
    }

    /// Reads words with spaces or commas between them. If they say where paths go but not when, they
    /// mean always. Fails with the text from the first unknown word on.
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

/// The values of all keys in the order they are written in; without `=` they have no text.
fn settings(config: &Config) -> Vec<(&'static str, Option<BString>)> {
    let mut settings = Vec::new();
    for section in config.file().sections() {
        let header = section.header();
        let is_own = header.name().eq_ignore_ascii_case(b"column");
        if !is_own || header.subsection_name().is_some() {
            continue;
        }
        let body = section.body();
        let mut seen = [0; KEYS.len()];
        for name in body.value_names() {
            let own = |key: &&str| name.eq_ignore_ascii_case(key);
            let Some(at) = KEYS.iter().position(own) else {
                continue;
            };
            let values = body.values(KEYS[at]);
            // Only of a single value one can tell that it has no `=`.
            let value = match values.len() {
                1 => body.value_implicit(KEYS[at]).flatten(),
                _ => values.into_iter().nth(seen[at]),
            };
            seen[at] += 1;
            settings.push((KEYS[at], value));
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
