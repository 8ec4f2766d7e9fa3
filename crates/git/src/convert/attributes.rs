//! The attributes of a path that are relevant for converting its content.

use std::collections::HashMap;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use super::attribute_builder::Builder;
use super::attribute_rules::{RuleSet, Scratch};

/// Size limit of attribute files, in bytes; files of this size and more are ignored, as by git.
pub(crate) const MAX_FILE_BYTES: usize = 100 * 1024 * 1024;

/// The contents of all attribute files.
///
/// Each is passed as read by the caller; an absent file is `None`. A `.gitattributes` that is a
/// symbolic link does not count and must not be passed.
#[derive(Clone, Debug, Default)]
pub struct AttributeSources<'a> {
    /// The file of the system, such as `/etc/gitattributes`.
    pub system: Option<&'a [u8]>,
    /// The file of `core.attributesFile`, by default `$XDG_CONFIG_HOME/git/attributes`.
    pub global: Option<&'a [u8]>,
    /// Each `.gitattributes` of the tree: its directory (`""` is the top, no slash at the end) and
    /// content. If several are listed for one directory, the first wins: for a checkout list those
    /// of the index (or only those of the tree that `attr.tree` or `GIT_ATTR_SOURCE` names) before
    /// those of the working tree, for adding files the other way round. In a file of the working
    /// tree, a byte order mark at the start is skipped and a NUL ends its line; in a blob, a NUL
    /// ends the whole content.
    pub directories: Vec<(&'a BStr, &'a [u8])>,
    /// `$GIT_DIR/info/attributes`, which takes precedence over all others.
    pub info: Option<&'a [u8]>,
    /// `core.ignoreCase`.
    pub ignore_case: bool,
}

/// The relevant attributes of every path of one checkout. Relevant for conversion are `text`,
/// `crlf`, `eol`, `ident`, `filter` and `working-tree-encoding`; for an archive, `export-ignore`
/// and `export-subst`; and in both cases the macros that set them.
///
/// Immutable and `Sync`. The cost of a look-up depends only on the rules of the path's own
/// ancestors, not on `.gitattributes` elsewhere; it is nothing if no rule mentions these
/// attributes.
#[derive(Debug)]
pub struct Attributes {
    pub(super) info: Option<Arc<RuleSet>>,
    /// The rules of each directory that has any.
    pub(super) directories: HashMap<BString, Arc<RuleSet>>,
    /// The rules of the user and of the system, the former first.
    pub(super) outer: Vec<Arc<RuleSet>>,
    /// Number of relevant attributes.
    pub(super) known: usize,
    /// The assignments of each attribute when it is set. Attributes beyond the relevant ones are
    /// macros, but a file may define macros of the relevant names, too.
    pub(super) macros: Vec<Box<[(AttributeId, State)]>>,
    pub(super) values: Vec<BString>,
    pub(super) messages: Vec<String>,
}

/// The state of an attribute for a path.
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

/// Number of an attribute: first the relevant ones, then macros.
pub(super) type AttributeId = u32;

/// The attributes relevant for an archive, in the order of their ids.
pub(super) const EXPORT: [&[u8]; 2] = [b"export-ignore", b"export-subst"];

/// The attributes relevant for conversion, in the order of their ids. No other set is larger.
pub(super) const KNOWN: [&[u8]; 6] = [
    b"text",
    b"crlf",
    b"eol",
    b"ident",
    b"filter",
    b"working-tree-encoding",
];

/// The attributes relevant for merges, in the order of their ids.
pub(super) const MERGE: [&[u8]; 2] = [b"merge", b"conflict-marker-size"];

/// The value of an attribute that was asked for by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttributeValue<'a> {
    /// `name`
    Set,
    /// `-name`
    Unset,
    /// `!name`, or not mentioned
    Unspecified,
    /// `name=text`
    Text(&'a BStr),
}

/// So many attributes can be asked for at once.
pub(crate) const NAMES_LIMIT: usize = KNOWN.len();

/// The attributes of a path that are relevant for merges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MergeAttributes<'a> {
    pub merge: MergeAttribute<'a>,
    /// The value of `conflict-marker-size`, if it has one.
    pub marker_size: Option<&'a BStr>,
}

/// `merge`: how the content is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MergeAttribute<'a> {
    /// `merge`: as text.
    Set,
    /// `-merge`: not at all.
    Unset,
    /// Nothing is said.
    Unspecified,
    /// `merge=NAME`: by the driver of this name.
    Driver(&'a BStr),
}

/// The attributes of a path that are relevant for an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Export {
    /// `export-ignore`: the path is left out.
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
    /// Parses all of `sources`. Lines that git would ignore are ignored, and reported by
    /// [`messages`](Attributes::messages).
    pub fn new(sources: &AttributeSources<'_>) -> Attributes {
        Builder::new(sources).build(&KNOWN)
    }

    /// Like [`Attributes::new`], but with the attributes relevant for an archive, for
    /// [`Attributes::export`].
    pub(crate) fn of_archive(sources: &AttributeSources<'_>) -> Attributes {
        Builder::new(sources).build(&EXPORT)
    }

    /// Like [`Attributes::new`], but with the attributes relevant for merges, for
    /// [`Attributes::merge`].
    pub(crate) fn of_merge(sources: &AttributeSources<'_>) -> Attributes {
        Builder::new(sources).build(&MERGE)
    }

    /// The attributes of the file `path` for a merge; only for attributes made by
    /// [`Attributes::of_merge`].
    pub(crate) fn merge(&self, path: &BStr) -> MergeAttributes<'_> {
        let mut scratch = Scratch::new(self.known, &self.macros);
        self.fill(path, false, &mut scratch);
        let [merge, marker_size, ..] = scratch.into_known();
        MergeAttributes {
            merge: match merge {
                State::Set => MergeAttribute::Set,
                State::Unset => MergeAttribute::Unset,
                State::Unspecified => MergeAttribute::Unspecified,
                State::Value(number) => MergeAttribute::Driver(self.value(number)),
            },
            marker_size: match marker_size {
                State::Value(number) => Some(self.value(number)),
                _ => None,
            },
        }
    }

    /// Like [`Attributes::new`], but with the attributes `names`, at most [`NAMES_LIMIT`], for
    /// [`Attributes::value_of`].
    pub(crate) fn of_names(sources: &AttributeSources<'_>, names: &[&[u8]]) -> Attributes {
        debug_assert!(names.len() <= NAMES_LIMIT, "more than a look-up decides");
        Builder::new(sources).build(names)
    }

    /// The value that `path` has for the attribute with this number among the names; only for
    /// attributes made by [`Attributes::of_names`].
    pub(crate) fn value_of(
        &self,
        path: &BStr,
        is_directory: bool,
        number: usize,
    ) -> AttributeValue<'_> {
        let mut scratch = Scratch::new(self.known, &self.macros);
        self.fill(path, is_directory, &mut scratch);
        match scratch.into_known().get(number) {
            Some(State::Set) => AttributeValue::Set,
            Some(State::Unset) => AttributeValue::Unset,
            Some(State::Value(number)) => AttributeValue::Text(self.value(*number)),
            Some(State::Unspecified) | None => AttributeValue::Unspecified,
        }
    }

    /// Git's messages about ignored lines and files.
    pub fn messages(&self) -> &[String] {
        &self.messages
    }

    /// Whether no path has any relevant attribute.
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

    /// The attributes of `path` for an archive; only for attributes made by
    /// [`Attributes::of_archive`].
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
