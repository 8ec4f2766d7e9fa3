//! The tree that a description builds.

use super::input::Input;
use super::RecipeError;
use bstr::{BString, ByteSlice};
use std::collections::BTreeMap;
use std::path::Path;

/// Maximum number of entries of a description. With its name, an entry takes about two hundred
/// bytes.
const ENTRIES: usize = 1 << 24;

/// The index of an entry; the root is 0.
pub(super) type Number = u32;

/// The attributes of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attributes {
    pub mode: u16,
    pub uid: u32,
    pub gid: u32,
    pub mtime_s: i64,
}

#[derive(Debug)]
pub(super) struct Entry {
    pub parent: Number,
    pub name: Box<[u8]>,
    pub attributes: Attributes,
    pub body: Body,
    /// The line that the entry comes from; 0 for the root unless a line describes it.
    pub line: u64,
    /// Whether the entry has several names.
    pub is_linked: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Body {
    Directory {
        children: BTreeMap<Box<[u8]>, Number>,
        /// Whether the directory exists only because a line needs a parent directory.
        is_implied: bool,
    },
    File(Input),
    Symlink(Box<[u8]>),
    Device {
        is_block: bool,
        numbers: (u32, u32),
    },
    Fifo,
    Socket,
    /// A hard link to this path, not resolved yet.
    HardLink(Box<[u8]>),
    /// A hard link to this entry, which is not a directory.
    Resolved(Number),
}

impl Body {
    pub(super) fn directory(is_implied: bool) -> Self {
        Body::Directory {
            children: BTreeMap::new(),
            is_implied,
        }
    }
}

#[derive(Debug)]
pub(super) struct Tree {
    pub entries: Vec<Entry>,
    /// Attributes of directories that no line describes.
    implied: Attributes,
}

impl Tree {
    pub(super) fn new(implied: Attributes) -> Self {
        let root = Entry {
            parent: 0,
            name: Box::default(),
            attributes: implied,
            body: Body::directory(true),
            line: 0,
            is_linked: false,
        };
        Tree {
            entries: vec![root],
            implied,
        }
    }

    pub(super) fn entry(&self, number: Number) -> Option<&Entry> {
        self.entries.get(number as usize)
    }

    pub(super) fn children(&self, directory: Number) -> Option<&BTreeMap<Box<[u8]>, Number>> {
        match &self.entry(directory)?.body {
            Body::Directory { children, .. } => Some(children),
            _ => None,
        }
    }

    /// The directory at `path`. It and its parents are created if they do not exist.
    pub(super) fn directory(&mut self, path: &[u8], line: u64) -> Result<Number, String> {
        let mut number = 0;
        for name in path
            .split(|byte| *byte == b'/')
            .filter(|name| !name.is_empty())
        {
            let children = self.children(number);
            let children = children.ok_or_else(|| self.not_a_directory(number))?;
            number = match children.get(name) {
                Some(child) => *child,
                None => self.insert(number, name, self.implied, Body::directory(true), line)?,
            };
        }
        match self.children(number) {
            Some(_) => Ok(number),
            None => Err(self.not_a_directory(number)),
        }
    }

    /// Adds the entry that a line describes. If the path is a directory that was only implied, it
    /// takes the attributes of the line.
    pub(super) fn add(
        &mut self,
        path: &[u8],
        attributes: Attributes,
        body: Body,
        line: u64,
    ) -> Result<(), String> {
        let is_directory = matches!(body, Body::Directory { .. });
        let (parent, name) = hedgerow_tree::split_path(path);
        let parent = self.directory(parent, line)?;
        let existing = if path.is_empty() {
            Some(0)
        } else {
            self.children(parent)
                .and_then(|children| children.get(name).copied())
        };
        let Some(existing) = existing else {
            return self.insert(parent, name, attributes, body, line).map(drop);
        };
        if let Some(entry) = self.entries.get_mut(existing as usize) {
            if let Body::Directory { is_implied, .. } = &mut entry.body {
                if is_directory && std::mem::take(is_implied) {
                    entry.attributes = attributes;
                    entry.line = line;
                    return Ok(());
                }
            }
        }
        Err(self.exists(existing))
    }

    /// Adds an entry to a directory that has none with this name.
    pub(super) fn insert(
        &mut self,
        parent: Number,
        name: &[u8],
        attributes: Attributes,
        body: Body,
        line: u64,
    ) -> Result<Number, String> {
        let number = self.entries.len();
        if number >= ENTRIES {
            return Err(format!("more than {ENTRIES} entries"));
        }
        let number = number as Number;
        let entry = Entry {
            parent,
            name: name.into(),
            attributes,
            body,
            line,
            is_linked: false,
        };
        self.entries.push(entry);
        match self
            .entries
            .get_mut(parent as usize)
            .map(|entry| &mut entry.body)
        {
            Some(Body::Directory { children, .. }) => children.insert(name.into(), number),
            _ => return Err(self.not_a_directory(parent)),
        };
        Ok(number)
    }

    /// The path of an entry in the image.
    pub(super) fn path(&self, mut number: Number) -> BString {
        let mut names: Vec<&[u8]> = Vec::new();
        while let Some(entry) = self.entry(number).filter(|_| number != 0) {
            names.push(&entry.name);
            number = entry.parent;
        }
        names.reverse();
        names.join(&b'/').into()
    }

    pub(super) fn exists(&self, number: Number) -> String {
        let line = self.entry(number).map_or(0, |entry| entry.line);
        let path = self.path(number);
        match line {
            0 => format!("'/{path}' is there already"),
            line => format!("'/{path}' is there already, from line {line}"),
        }
    }

    fn not_a_directory(&self, number: Number) -> String {
        format!("'/{}' is not a directory", self.path(number))
    }

    /// Resolves all hard links.
    ///
    /// # Errors
    /// A link without a target, to a directory, or in a loop.
    pub(super) fn resolve(&mut self, file: &Path) -> Result<(), RecipeError> {
        for number in 0..self.entries.len() as Number {
            let mut chain = Vec::new();
            let mut at = number;
            let wrong = |reason: String| {
                let line = self.entry(number).map_or(0, |entry| entry.line);
                RecipeError::at(file, line)(reason)
            };
            loop {
                match self.entry(at).map(|entry| &entry.body) {
                    Some(Body::HardLink(target)) => {
                        // A chain with more links than there are entries is a loop.
                        if chain.len() > self.entries.len() {
                            return Err(wrong(format!("'{}' leads back here", target.as_bstr())));
                        }
                        chain.push(at);
                        let found = self.find(target);
                        let missing = || wrong(format!("there is no '{}'", target.as_bstr()));
                        at = found.ok_or_else(missing)?;
                    }
                    Some(Body::Resolved(target)) => at = *target,
                    Some(Body::Directory { .. }) if !chain.is_empty() => {
                        return Err(wrong(format!("'/{}' is a directory", self.path(at))));
                    }
                    _ => break,
                }
            }
            if let Some(entry) = self.entries.get_mut(at as usize) {
                entry.is_linked |= !chain.is_empty();
            }
            for link in chain {
                if let Some(entry) = self.entries.get_mut(link as usize) {
                    entry.body = Body::Resolved(at);
                }
            }
        }
        Ok(())
    }

    fn find(&self, path: &[u8]) -> Option<Number> {
        let mut names = path
            .split(|byte| *byte == b'/')
            .filter(|name| !name.is_empty());
        names.try_fold(0, |number, name| self.children(number)?.get(name).copied())
    }
}
