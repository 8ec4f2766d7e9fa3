//! Which extended attributes entries keep, and which they get.

use super::{regex, RuleError};
use crate::format::XATTR_PREFIXES;
use crate::recipe::xattrs::{base64, hex};
use bstr::ByteSlice;
use hedgerow_tree::{NodeKind, Xattr};

/// Maximum length of a value, in bytes, as in Linux.
const VALUE_BYTES: usize = 64 << 10;

/// Rules about the extended attributes of all entries.
#[derive(Clone, Debug, Default)]
pub struct XattrRules {
    include: Option<regex::bytes::Regex>,
    exclude: Option<regex::bytes::Regex>,
    add: Vec<Xattr>,
}

impl XattrRules {
    /// Keeps only the attributes whose names match a regular expression.
    ///
    /// # Errors
    /// It is none.
    pub fn include(&mut self, pattern: &[u8]) -> Result<(), RuleError> {
        self.include = Some(regex(pattern)?);
        Ok(())
    }

    /// Removes the attributes whose names match a regular expression.
    ///
    /// # Errors
    /// It is none.
    pub fn exclude(&mut self, pattern: &[u8]) -> Result<(), RuleError> {
        self.exclude = Some(regex(pattern)?);
        Ok(())
    }

    /// Adds the attribute `NAME=VALUE` to all entries that may have it: one in `user.` to regular
    /// files and directories.
    ///
    /// # Errors
    /// See [`named_xattr`].
    pub fn add(&mut self, definition: &[u8]) -> Result<(), RuleError> {
        let xattr = named_xattr(definition)?;
        self.add.retain(|other| other.name != xattr.name);
        self.add.push(xattr);
        Ok(())
    }

    /// Whether entries keep all their attributes and get none.
    pub fn is_empty(&self) -> bool {
        self.include.is_none() && self.exclude.is_none() && self.add.is_empty()
    }

    /// Whether an attribute is kept.
    pub fn keeps(&self, name: &[u8]) -> bool {
        let matches =
            |regex: &Option<regex::bytes::Regex>| regex.as_ref().map(|it| it.is_match(name));
        matches(&self.include).unwrap_or(true) && !matches(&self.exclude).unwrap_or(false)
    }

    /// The attributes of an entry after the rules.
    pub fn applied(&self, kind: NodeKind, mut xattrs: Vec<Xattr>) -> Vec<Xattr> {
        xattrs.retain(|xattr| self.keeps(&xattr.name));
        let has_user = has_user_xattrs(kind);
        let fits = |xattr: &&Xattr| has_user || !xattr.name.starts_with(b"user.");
        for xattr in self.add.iter().filter(fits) {
            xattrs.retain(|other| other.name != xattr.name);
            xattrs.push(xattr.clone());
        }
        xattrs
    }
}

/// Whether entries of this kind may have attributes in `user.`, see xattr(7).
pub fn has_user_xattrs(kind: NodeKind) -> bool {
    matches!(kind, NodeKind::File | NodeKind::Directory)
}

/// Parses `NAME=VALUE`. The value is taken as it is, without `0b` in front of it, except behind `0x`
/// (hexadecimal), `0s` (base64) and `0t` (text with three octal digits behind each backslash).
///
/// # Errors
/// A name that SquashFS cannot store, or a value with wrong digits.
pub fn named_xattr(definition: &[u8]) -> Result<Xattr, RuleError> {
    let shown = definition.as_bstr();
    let parts = definition.split_once_str("=");
    let (name, value) =
        parts.ok_or_else(|| RuleError::new(format_args!("'{shown}': '=' is missing")))?;
    let has_prefix = |prefix: &[u8]| name.len() > prefix.len() && name.starts_with(prefix);
    if !XATTR_PREFIXES.into_iter().any(has_prefix) || name.contains(&0) {
        return Err(RuleError::new(format_args!(
            "'{shown}': the name must begin with user., trusted. or security."
        )));
    }
    let value = match value {
        [b'0', b'x' | b'X', digits @ ..] => hex(digits),
        [b'0', b's' | b'S', digits @ ..] => base64(digits),
        [b'0', b't' | b'T', text @ ..] => octal(text),
        [b'0', b'b' | b'B', value @ ..] => Some(value.to_vec()),
        value => Some(value.to_vec()),
    };
    let value = value.filter(|value| value.len() <= VALUE_BYTES);
    Ok(Xattr {
        name: name.into(),
        value: value
            .ok_or_else(|| RuleError::new(format_args!("'{shown}': the value cannot be read")))?,
    })
}

/// Decodes backslashes, each with three octal digits of one byte.
fn octal(text: &[u8]) -> Option<Vec<u8>> {
    let mut parts = text.split(|byte| *byte == b'\\');
    let mut bytes = parts.next().unwrap_or_default().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(3)?;
        let is_octal = digits.iter().all(|digit| matches!(digit, b'0'..=b'7'));
        let digits = digits.to_str().ok().filter(|_| is_octal)?;
        bytes.push(u8::from_str_radix(digits, 8).ok()?);
        bytes.extend_from_slice(rest);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_kept_removed_and_added() {
        let mut rules = XattrRules::default();
        assert!(rules.is_empty());
        rules.include(b"^user\\.|^security").unwrap();
        rules.exclude(b"x$").unwrap();
        rules.add(b"user.new=0x4142").unwrap();
        rules.add(b"trusted.t=0sQUI=").unwrap();
        let names = |kind| {
            let own = ["user.a", "user.x", "trusted.a", "security.s", "user.new"];
            let own = own.map(|name| named_xattr(format!("{name}=1").as_bytes()).unwrap());
            let kept = rules.applied(kind, own.to_vec());
            let shown = kept
                .iter()
                .map(|xattr| format!("{}={}", xattr.name, xattr.value.as_bstr()));
            shown.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            names(NodeKind::File),
            "user.a=1 security.s=1 user.new=AB trusted.t=AB"
        );
        assert_eq!(
            names(NodeKind::Fifo),
            "user.a=1 security.s=1 user.new=1 trusted.t=AB"
        );
        for (definition, value) in [
            ("user.t=0ta\\012\\134\\0008", &b"a\n\\\x008"[..]),
            ("user.t=0T\\377\\101b", b"\xffAb"),
            ("user.b=0b0t\\1", b"0t\\1"),
            ("user.v=\\012", b"\\012"),
        ] {
            let xattr = named_xattr(definition.as_bytes()).unwrap();
            assert_eq!(xattr.value, value, "{definition}");
        }
        for wrong in [
            "user.a",
            "system.a=1",
            "user.=1",
            "user.a=0x1",
            "user.a=0s!",
            "user.a=0t\\400",
            "user.a=0t\\08",
            "user.a=0t\\018",
            "user.a=0t\\12",
            "user.a=0t\\12\\012",
            "user.a=0tb\\\\",
            "user.a=0t\\",
            "=1",
        ] {
            assert!(named_xattr(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
