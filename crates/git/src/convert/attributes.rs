//! Which attributes a path has, as far as they matter to the conversion of its content.

use std::collections::HashMap;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use super::attribute_builder::Builder;
use super::attribute_rules::{RuleSet, Scratch};

/// Attributes files of this size and more are ignored, as git ignores them.
pub(crate) const MAX_FILE_BYTES: usize = 100 * 1024 * 1024;

/// The contents of all files that say which path has which attribute, in one place.
///
/// Each is what the caller read; an absent file is `None`. A `.gitattributes` that is a symbolic
/// link does not count and must not be passed.
#[derive(Clone, Debug, Default)]
pub struct AttributeSources<'a> {
    /// The file of the system, as `/etc/gitattributes`.
    pub system: Option<&'a [u8]>,
    /// The file of `core.attributesFile`, by default `$XDG_CONFIG_HOME/git/attributes`.
    pub global: Option<&'a [u8]>,
    /// Each `.gitattributes` of the tree: its directory (`""` is the top, no slash at the end)
    /// and content. Of several for one directory the first counts: for a checkout list those of
    /// the index (or of the tree that `attr.tree` or `GIT_ATTR_SOURCE` names, and then no other)
    /// before those of the working tree, for adding files the other way round. A byte order mark
    /// at the start of one from the working tree does not belong to it, nor does what follows a
    /// NUL in one of its lines; a NUL in a blob ends it.
    pub directories: Vec<(&'a BStr, &'a [u8])>,
    /// `$GIT_DIR/info/attributes`, which overrules all others.
    pub info: Option<&'a [u8]>,
    /// `core.ignoreCase`.
    pub ignore_case: bool,
}

/// The attributes of every path of one checkout that matter to conversion: `text`, `crlf`,
/// `eol`, `ident`, `filter`, `working-tree-encoding`; or those that matter to an archive,
/// `export-ignore` and `export-subst`; and the macros that set them.
///
/// Immutable and `Sync`. A look-up costs the rules on the path's own way to the top, however
/// many `.gitattributes` there are elsewhere, and nothing if no rule mentions these attributes.
#[derive(Debug)]
pub struct Attributes {
    pub(super) info: Option<Arc<RuleSet>>,
    /// The rules of each directory that has some.
    pub(super) directories: HashMap<BString, Arc<RuleSet>>,
    /// The rules of the user and of the system, the former first.
    pub(super) outer: Vec<Arc<RuleSet>>,
    /// How many attributes matter.
    pub(super) known: usize,
    /// What each attribute sets when it is set: attributes beyond those that matter are macros, and
    /// nothing keeps a file from making macros of the others.
    pub(super) macros: Vec<Box<[(AttributeId, State)]>>,
    pub(super) values: Vec<BString>,
    pub(super) messages: Vec<String>,
}

/// What an attribute is for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// `name`
    Set,
    /// `-name`
    Unset,
    /// `!name`, or not mentioned
    Unspecified,
    /// `name=value`; the value's number in [`Attributes::values`]
    Value(u32),
}

/// An attribute: first those that matter, then macros.
pub(super) type AttributeId = u32;

/// The attributes that matter to an archive, in the order of their ids.
pub(super) const EXPORT: [&[u8]; 2] = [b"export-ignore", b"export-subst"];

/// The attributes that matter to conversion, in the order of their ids. No other set is larger.
pub(super) const KNOWN: [&[u8]; 6] = [
    b"text",
    b"crlf",
    b"eol",
    b"ident",
    b"filter",
    b"working-tree-encoding",
];

/// What the attributes of a path say about an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Export {
    /// `export-ignore`: it is left out.
    pub ignore: bool,
    /// `export-subst`: placeholders in it are expanded.
    pub subst: bool,
}

/// The states of the attributes of one path, in the order of [`KNOWN`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PathStates {
    pub(super) text: State,
    pub(super) crlf: State,
    pub(super) eol: State,
    pub(super) ident: State,
    pub(super) filter: State,
    pub(super) encoding: State,
}

impl Attributes {
    /// Reads all of `sources`. Lines that git would ignore are ignored, and are told by
    /// [`messages`](Attributes::messages).
    pub fn new(sources: &AttributeSources<'_>) -> Attributes {
        Builder::new(sources).build(&KNOWN)
    }

    /// As [`Attributes::new`], with the attributes that matter to an archive, for
    /// [`Attributes::export`].
    pub(crate) fn of_archive(sources: &AttributeSources<'_>) -> Attributes {
        Builder::new(sources).build(&EXPORT)
    }

    /// What git would print about lines and files that it ignores.
    pub fn messages(&self) -> &[String] {
        &self.messages
    }

    /// Whether no path has any attribute that matters.
    pub fn is_empty(&self) -> bool {
        self.info.is_none() && self.directories.is_empty() && self.outer.is_empty()
    }

    /// The states for `path`, which is relative to the top of the tree.
    pub(super) fn lookup(&self, path: &BStr) -> PathStates {
        let mut scratch = Scratch::new(self.known, &self.macros);
        self.fill(path, false, &mut scratch);
        let [text, crlf, eol, ident, filter, encoding] = scratch.into_known();
        PathStates {
            text,
            crlf,
            eol,
            ident,
            filter,
            encoding,
        }
    }

    /// What they say about `path` in an archive; for attributes that were made for one.
    pub(crate) fn export(&self, path: &BStr, is_directory: bool) -> Export {
        let mut scratch = Scratch::new(self.known, &self.macros);
        self.fill(path, is_directory, &mut scratch);
        let [ignore, subst, ..] = scratch.into_known();
        Export {
            ignore: ignore == State::Set,
            subst: subst == State::Set,
        }
    }

    /// Applies the rules that match `path`, the strongest first, until nothing is left open.
    fn fill(&self, path: &BStr, is_directory: bool, scratch: &mut Scratch<'_>) {
        if let Some(rules) = &self.info {
            rules.apply(path, is_directory, scratch);
        }
        if !self.directories.is_empty() {
            let mut directory = path;
            while !directory.is_empty() && !scratch.is_complete() {
                let end = directory.rfind_byte(b'/').unwrap_or(0);
                directory = directory[..end].as_bstr();
                if let Some(rules) = self.directories.get(directory) {
                    let start = if end == 0 { 0 } else { end + 1 };
                    rules.apply(path[start..].as_bstr(), is_directory, scratch);
                }
            }
        }
        for rules in &self.outer {
            rules.apply(path, is_directory, scratch);
        }
    }

    pub(super) fn value(&self, number: u32) -> &BStr {
        self.values
            .get(number as usize)
            .map_or(BStr::new(b""), |value| value.as_bstr())
    }
}
