//! Extended attributes as rdsquashfs of squashfs-tools-ng shows them.

use hedgerow_image::hex;
use hedgerow_squashfs::{Image, Inode, Result};
use std::borrow::Cow;

/// A line `NAME=VALUE` for each extended attribute of an entry. A value that is no text is shown as `0x`
/// and hexadecimal digits; a zero byte at the end of a text is not shown.
///
/// # Errors
/// The attributes cannot be read.
pub fn xattr_lines(image: &Image, inode: &Inode) -> Result<Vec<u8>> {
    let mut lines = Vec::new();
    let Some(index) = inode.xattrs else {
        return Ok(lines);
    };
    for xattr in image.xattrs(index)? {
        let xattr = xattr?;
        lines.extend_from_slice(&xattr.name);
        lines.push(b'=');
        lines.extend_from_slice(shown(&xattr.value).as_bytes());
        lines.push(b'\n');
    }
    Ok(lines)
}

fn shown(value: &[u8]) -> Cow<'_, str> {
    let text = std::str::from_utf8(value.strip_suffix(b"\0").unwrap_or(value)).ok();
    let is_shown = |byte: u8| matches!(byte, 0x07..=0x0d | b' '..=b'~' | 0x80..);
    match text.filter(|text| text.bytes().all(is_shown)) {
        Some(text) => text.into(),
        None => format!("0x{}", hex::text(value).to_uppercase()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_no_text_are_digits() {
        for (value, expected) in [
            (&b"a b"[..], "a b"),
            (b"a\tb\n", "a\tb\n"),
            ("\u{fc}".as_bytes(), "\u{fc}"),
            (b"", ""),
            (b"label\0", "label"),
            (b"a\0b", "0x610062"),
            (b"\0\xff\x10", "0x00FF10"),
            (b"\x1b1", "0x1B31"),
            (b"\x7f", "0x7F"),
            (b"\xc3", "0xC3"),
        ] {
            assert_eq!(shown(value), expected, "{value:?}");
        }
    }
}
