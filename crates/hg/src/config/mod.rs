//! The Mercurial settings that a status depends on: `hg help config`.

mod files;
mod parse;

use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
pub(crate) use files::load;
use parse::Stop;
use std::path::Path;

/// Sections of names and values, in the order in which they were first set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Config {
    items: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    section: BString,
    name: BString,
    value: BString,
}

impl Config {
    pub fn get(&self, section: &str, name: &str) -> Option<&BStr> {
        let found = self
            .items
            .iter()
            .find(|item| item.section == section && item.name == name);
        found.map(|item| item.value.as_bstr())
    }

    /// The names and values of a section.
    pub fn section<'s>(&'s self, section: &'s str) -> impl Iterator<Item = (&'s BStr, &'s BStr)> {
        let items = self
            .items
            .iter()
            .filter(move |item| item.section == section);
        items.map(|item| (item.name.as_bstr(), item.value.as_bstr()))
    }

    /// A boolean; `name` is section and name joined by a dot.
    pub fn boolean(&self, name: &'static str) -> Result<Option<bool>> {
        let (section, key) = name.split_once('.').unwrap_or(("", name));
        let Some(value) = self.get(section, key) else {
            return Ok(None);
        };
        let parsed = parse_boolean(value);
        parsed.map(Some).ok_or_else(|| Error::Setting {
            name,
            value: value.to_owned(),
        })
    }

    pub fn set(&mut self, section: &BStr, name: &BStr, value: BString) {
        let found = self
            .items
            .iter_mut()
            .find(|item| item.section == section && item.name == name);
        match found {
            Some(item) => item.value = value,
            None => self.items.push(Item {
                section: section.to_owned(),
                name: name.to_owned(),
                value,
            }),
        }
    }

    pub fn unset(&mut self, section: &BStr, name: &BStr) {
        self.items
            .retain(|item| item.section != section || item.name != name);
    }
}

/// Parses a single file without includes; `path` is for errors.
pub(crate) fn parse_one(content: &[u8], path: &Path) -> Result<Config> {
    let mut config = Config::default();
    let outcome = parse::parse(content, &mut config, &mut |_, _| Ok(()));
    match outcome {
        Ok(()) => Ok(config),
        Err(Stop::Included(error)) => Err(error),
        Err(Stop::Line(line, reason)) => Err(Error::Config {
            path: path.to_owned(),
            line,
            reason,
        }),
    }
}

fn parse_boolean(value: &BStr) -> Option<bool> {
    let value = value.to_ascii_lowercase();
    match value.as_slice() {
        b"1" | b"yes" | b"true" | b"on" | b"always" => Some(true),
        b"0" | b"no" | b"false" | b"off" | b"never" => Some(false),
        _ => None,
    }
}
