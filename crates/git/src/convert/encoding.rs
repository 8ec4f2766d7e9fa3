//! Conversion by `working-tree-encoding`.

use std::collections::HashMap;

use bstr::{BStr, BString};
use hedgerow_fs::Iconv;

use super::utf::{self, Order, Utf, Width};

/// The encoding of files in the working tree; in the repository they are UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Encoding {
    name: BString,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The attribute has no value, which is an error.
    Nameless,
    /// Converted by this module.
    Utf(Utf),
    /// Converted by the system's iconv.
    System,
}

/// Why a conversion was not done; the content stays unchanged unless the caller treats it as an
/// error.
pub(super) type Failure = String;

/// The iconv converters that a worker has open.
#[derive(Debug, Default)]
pub(super) struct Converters {
    open: HashMap<(BString, BString), Option<Iconv>>,
}

impl Converters {
    /// Appends `content` in another encoding to `out`; false if that fails.
    fn convert(&mut self, to: &BStr, from: &BStr, content: &[u8], out: &mut Vec<u8>) -> bool {
        let iconv = self
            .open
            .entry((to.to_owned(), from.to_owned()))
            .or_insert_with(|| open(to, from));
        iconv
            .as_mut()
            .is_some_and(|iconv| iconv.convert(content, out).is_ok())
    }
}

/// Opens a converter; if the system lacks it, also under git's alternative names.
fn open(to: &BStr, from: &BStr) -> Option<Iconv> {
    fn fallback(name: &BStr) -> &BStr {
        if name.eq_ignore_ascii_case(b"latin-1") {
            BStr::new(b"ISO-8859-1")
        } else if rest_of_utf(name).is_some_and(|rest| rest == b"8") {
            BStr::new(b"UTF-8")
        } else {
            name
        }
    }
    Iconv::open(to, from).or_else(|| Iconv::open(fallback(to), fallback(from)))
}

/// Whether two names are of the same encoding, as far as git knows without asking the system.
pub(crate) fn are_same(one: &BStr, other: &BStr) -> bool {
    one.eq_ignore_ascii_case(other) || is_utf8(one) && is_utf8(other)
}

/// Whether `name` is one of UTF-8.
pub(crate) fn is_utf8(name: &BStr) -> bool {
    rest_of_utf(name).is_some_and(|rest| rest == b"8")
}

/// `text` in the encoding `to`; `None` if the system cannot convert it.
pub(crate) fn reencoded(to: &BStr, from: &BStr, text: &[u8]) -> Option<Vec<u8>> {
    let mut converted = Vec::new();
    let outcome = open(to, from)?.convert(text, &mut converted);
    outcome.is_ok().then_some(converted)
}

impl Encoding {
    /// The encoding for `working-tree-encoding=name`; `None` if it is UTF-8 or empty, so that no
    /// conversion is needed.
    pub(super) fn named(name: &BStr) -> Option<Encoding> {
        let rest = rest_of_utf(name);
        if name.is_empty() || rest.as_deref() == Some(b"8") {
            return None;
        }
        let utf = |width, order, bom| Kind::Utf(Utf { width, order, bom });
        let kind = match rest.as_deref() {
            Some(b"16") => utf(Width::Sixteen, Order::NATIVE, true),
            Some(b"16LE-BOM") => utf(Width::Sixteen, Order::Little, true),
            Some(b"16BE-BOM") => utf(Width::Sixteen, Order::Big, true),
            Some(b"16LE") => utf(Width::Sixteen, Order::Little, false),
            Some(b"16BE") => utf(Width::Sixteen, Order::Big, false),
            Some(b"32") => utf(Width::ThirtyTwo, Order::NATIVE, true),
            Some(b"32LE") => utf(Width::ThirtyTwo, Order::Little, false),
            Some(b"32BE") => utf(Width::ThirtyTwo, Order::Big, false),
            _ => Kind::System,
        };
        Some(Encoding {
            name: name.to_owned(),
            kind,
        })
    }

    /// The encoding for a `working-tree-encoding` without a value.
    pub(super) fn nameless() -> Encoding {
        Encoding {
            name: BString::default(),
            kind: Kind::Nameless,
        }
    }

    pub(super) fn name(&self) -> &BStr {
        self.name.as_ref()
    }

    /// Whether the attribute has no value, which is an error for the whole command.
    pub(super) fn is_nameless(&self) -> bool {
        self.kind == Kind::Nameless
    }

    /// Converts `content` of the repository to this encoding and appends it to `out`.
    pub(super) fn to_worktree(
        &self,
        converters: &mut Converters,
        path: &BStr,
        content: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        if self.encode(converters, content, out) {
            return Ok(());
        }
        let name = &self.name;
        Err(format!("failed to encode '{path}' from UTF-8 to {name}"))
    }

    fn encode(&self, converters: &mut Converters, content: &[u8], out: &mut Vec<u8>) -> bool {
        match self.kind {
            Kind::Utf(utf) => utf.encode(content, out),
            _ => converters.convert(self.name(), BStr::new(b"UTF-8"), content, out),
        }
    }

    /// Converts `content` of the working tree from this encoding to UTF-8 and appends it to `out`.
    pub(super) fn to_git(
        &self,
        converters: &mut Converters,
        path: &BStr,
        content: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let name = &self.name;
        let rest = rest_of_utf(self.name());
        if let Kind::Utf(utf) = self.kind {
            let has_bom = utf::has_bom(utf.width, content);
            if !utf.bom && has_bom {
                return Err(format!(
                    "BOM is prohibited in '{path}' if encoded as {name}"
                ));
            }
            // git requires a byte order mark only for names that do not specify a byte order.
            let is_unordered = rest.as_ref().is_some_and(|rest| rest.len() == 2);
            if is_unordered && !has_bom {
                return Err(format!("BOM is required in '{path}' if encoded as {name}"));
            }
        }
        let done = match self.kind {
            // git writes this encoding but does not read it.
            _ if rest.as_deref() == Some(b"16BE-BOM") => false,
            Kind::Utf(utf) => utf.decode(content, out),
            _ => converters.convert(BStr::new(b"UTF-8"), self.name(), content, out),
        };
        if done {
            return Ok(());
        }
        Err(format!("failed to encode '{path}' from {name} to UTF-8"))
    }

    /// Whether `utf8` converts back to `content` of the working tree.
    pub(super) fn survives(
        &self,
        converters: &mut Converters,
        content: &[u8],
        utf8: &[u8],
    ) -> bool {
        let mut back = Vec::with_capacity(content.len());
        self.encode(converters, utf8, &mut back) && back == content
    }
}

/// The part of `name` after `UTF` or `UTF-`, in upper case.
fn rest_of_utf(name: &BStr) -> Option<Vec<u8>> {
    let (head, rest) = name.split_at_checked(3)?;
    if !head.eq_ignore_ascii_case(b"utf") {
        return None;
    }
    let rest = rest.strip_prefix(b"-").unwrap_or(rest);
    Some(rest.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(name: &str) -> Option<Kind> {
        Encoding::named(name.into()).map(|encoding| encoding.kind)
    }

    #[test]
    fn names_are_read_as_git_reads_them() {
        for utf8 in ["", "UTF-8", "utf8", "Utf-8"] {
            assert_eq!(kind_of(utf8), None, "{utf8}");
        }
        assert_eq!(kind_of("utf16le-bom"), kind_of("UTF-16LE-BOM"));
        assert!(matches!(kind_of("Utf-32be"), Some(Kind::Utf(_))));
        for other in ["UTF-7", "latin-1", "UT", "UTF-32LE-BOM"] {
            assert_eq!(kind_of(other), Some(Kind::System), "{other}");
        }
    }
}
