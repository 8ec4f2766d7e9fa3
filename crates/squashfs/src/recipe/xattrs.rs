//! Extended attributes in the format of `getfattr --dump`.

use super::lines::{for_each_line, Trim};
use super::words::canonical;
use super::RecipeError;
use bstr::ByteSlice;
use hedgerow_tree::Xattr;
use std::collections::HashMap;
use std::path::Path;

/// Extended attributes by path:
///
/// ```text
/// # file: dev/null
/// user.text="a \"b\" \012"
/// user.bytes=0xcafe
/// user.base64=0syv4=
/// ```
///
/// Names and text are written as by getfattr(1), with octal numbers behind backslashes. If a name
/// occurs more than once for a path, the last one wins. Other lines that begin with `#` are
/// comments.
#[derive(Debug, Default)]
pub struct XattrFile {
    by_path: HashMap<Vec<u8>, Vec<Xattr>>,
}

const FILE: &[u8] = b"# file: ";

impl XattrFile {
    /// Parses the attributes. `file` is used in messages.
    ///
    /// # Errors
    /// A path that leaves the image, a line without `=`, an attribute before the first path, or a
    /// value with bad digits. The error names file and line.
    pub fn parse(file: &Path, content: &[u8]) -> Result<Self, RecipeError> {
        let mut by_path: HashMap<Vec<u8>, Vec<Xattr>> = HashMap::new();
        let mut path: Option<Vec<u8>> = None;
        for_each_line(file, content, Trim::Both, |_, line| {
            if let Some(name) = line.strip_prefix(FILE) {
                path = Some(canonical(&unescaped(name))?);
                return Ok(());
            }
            if line.starts_with(b"#") {
                return Ok(());
            }
            let (name, value) = line.split_once_str("=").ok_or("no '=' behind a name")?;
            let xattr = Xattr {
                name: unescaped(name).into(),
                value: decoded(value)?,
            };
            let path = path.as_ref().ok_or("no '# file: ' before")?;
            let list = by_path.entry(path.clone()).or_default();
            list.retain(|other| other.name != xattr.name);
            list.push(xattr);
            Ok(())
        })?;
        Ok(XattrFile { by_path })
    }

    /// The attributes of the entry at `path`.
    pub(super) fn of(&self, path: &[u8]) -> &[Xattr] {
        self.by_path
            .get(path)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }
}

fn decoded(value: &[u8]) -> Result<Vec<u8>, String> {
    match value {
        [b'0', b'x' | b'X', digits @ ..] => hex(digits).ok_or("bad hexadecimal digits".into()),
        [b'0', b's' | b'S', digits @ ..] => base64(digits).ok_or("bad base64".into()),
        [b'"', text @ .., b'"'] => Ok(unescaped(text)),
        text => Ok(unescaped(text)),
    }
}

/// Decodes backslashes, which are followed by one to three octal digits or by a literal byte.
pub(crate) fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'\\' || after.is_empty() {
            bytes.push(*byte);
            continue;
        }
        let is_octal = |byte: &&u8| matches!(byte, b'0'..=b'7');
        let digits = after.iter().take(3).take_while(is_octal).count();
        let (number, behind) = after.split_at(digits.max(1));
        bytes.push(match digits {
            0 => number.first().copied().unwrap_or_default(),
            _ => number.iter().fold(0_u8, |number, digit| {
                number.wrapping_mul(8).wrapping_add(digit - b'0')
            }),
        });
        rest = behind;
    }
    bytes
}

pub(crate) fn hex(digits: &[u8]) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |[high, low]: &[u8; 2]| Some((digit(*high)? * 16 + digit(*low)?) as u8);
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}

/// Decodes base64 of RFC 4648, with optional padding.
pub(crate) fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let end = text
        .iter()
        .position(|byte| *byte == b'=')
        .unwrap_or(text.len());
    let (digits, padding) = text.split_at(end);
    let is_padded = (digits.len() + padding.len()).is_multiple_of(4) && padding.len() <= 2;
    if padding.iter().any(|byte| *byte != b'=') || !padding.is_empty() && !is_padded {
        return None;
    }
    let digit = |byte: &u8| {
        Some(u32::from(match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        }))
    };
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for group in digits.chunks(4) {
        let mut bits = 0;
        for byte in group {
            bits = bits << 6 | digit(byte)?;
        }
        bits <<= 6 * (4 - group.len());
        let [_, decoded @ ..] = bits.to_be_bytes();
        match group.len() {
            1 => return None,
            count => bytes.extend(decoded.get(..count - 1)?),
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{decoded, XattrFile};
    use std::path::Path;

    #[test]
    fn values_are_text_hexadecimal_or_base64() {
        for (value, expected) in [
            (r#""a \"b\" \\ \012\1""#, &b"a \"b\" \\ \n\x01"[..]),
            ("plain", b"plain"),
            ("\"\"", b""),
            ("", b""),
            ("0xCAfe", b"\xca\xfe"),
            ("0x", b""),
            ("0sSGVsbG8=", b"Hello"),
            ("0SSGVsbG8", b"Hello"),
            ("0sSGVsbA==", b"Hell"),
        ] {
            assert_eq!(decoded(value.as_bytes()).unwrap(), expected, "{value}");
        }
        for bad in ["0xabc", "0xzz", "0sA", "0sAA=", "0sAA==A", "0s====", "0s!"] {
            assert!(decoded(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn attributes_belong_to_the_path_before_them() {
        let text =
            b"# file: a/\\142\nuser.x=\"1\"\nuser.y=2\n# a=b\n\nuser.x=3\n# file: /\nuser.r=\n";
        let file = XattrFile::parse(Path::new("f"), text).unwrap();
        let names = |path: &[u8]| -> Vec<String> {
            let shown = file.of(path).iter();
            shown
                .map(|xattr| format!("{}={}", xattr.name, xattr.value.len()))
                .collect()
        };
        assert_eq!(names(b"a/b"), ["user.y=1", "user.x=1"]);
        assert_eq!(file.of(b"a/b")[1].value, b"3");
        assert_eq!(names(b""), ["user.r=0"]);
        assert!(names(b"a").is_empty());
        for (bad, said) in [
            ("user.x=1\n", "f:1: no '# file: ' before"),
            ("# file: a\n\nnonsense\n", "f:3: no '=' behind a name"),
            ("# file: ../a\n", "f:1: '../a' leaves the image"),
            ("# file: a\nuser.x=0xq\n", "f:2: bad hexadecimal digits"),
        ] {
            let error = XattrFile::parse(Path::new("f"), bad.as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), said);
        }
    }
}
