//! Paths as lines of text: what is not UTF-8, control characters and backslashes are written as
//! `\xHH`, and the root as a dot.

use std::fmt::Write;

pub(crate) fn escaped(path: &[u8]) -> String {
    if path.is_empty() {
        return ".".to_owned();
    }
    let mut text = String::with_capacity(path.len());
    let byte = |text: &mut String, byte: u8| {
        // Writing to memory does not fail.
        let _ = write!(text, "\\x{byte:02x}");
    };
    for chunk in path.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character == '\\' || character.is_control() {
                let mut buffer = [0; 4];
                let bytes = character.encode_utf8(&mut buffer).as_bytes();
                bytes.iter().for_each(|own| byte(&mut text, *own));
            } else {
                text.push(character);
            }
        }
        chunk.invalid().iter().for_each(|own| byte(&mut text, *own));
    }
    text
}

/// The path that [`escaped`] wrote; `None` if the text is malformed.
pub(crate) fn unescaped(text: &str) -> Option<Vec<u8>> {
    match text {
        "." => return Some(Vec::new()),
        "" => return None,
        _ => {}
    }
    let mut path = Vec::with_capacity(text.len());
    let mut parts = text.split('\\');
    path.extend_from_slice(parts.next()?.as_bytes());
    for part in parts {
        let digits = part.strip_prefix('x')?.get(..2)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        path.push(u8::from_str_radix(digits, 16).ok()?);
        path.extend_from_slice(part.get(3..)?.as_bytes());
    }
    Some(path)
}

/// Whether this is the path of an entry below a root: nothing leads out of the tree, and no
/// component is empty.
pub(crate) fn is_below(path: &[u8]) -> bool {
    let mut components = path.split(|byte| *byte == b'/');
    components.all(|name| !matches!(name, b"" | b"." | b"..") && !name.contains(&0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn odd_paths_are_lines() {
        for (path, text) in [
            (&b""[..], "."),
            (b"a/b c", "a/b c"),
            (b"a\nb", "a\\x0ab"),
            (b"\\x41", "\\x5cx41"),
            (b"\xff\xc3\xa4", "\\xff\u{e4}"),
        ] {
            assert_eq!(escaped(path), text);
            assert_eq!(unescaped(text).unwrap(), path);
        }
        for text in [
            "",
            "\\",
            "\\x",
            "\\x4",
            "\\xg1",
            "\\x+1",
            "a\\",
            "\\x4\u{e4}",
        ] {
            assert_eq!(unescaped(text), None, "{text}");
        }
        for path in [&b""[..], b"/a", b"a/", b"a//b", b".", b"a/../b", b"a\0b"] {
            assert!(!is_below(path));
        }
        assert!(is_below(b"a/..b/.c"));
    }

    proptest! {
        #[test]
        fn every_path_is_a_line(path in prop::collection::vec(any::<u8>(), 2..40)) {
            let text = escaped(&path);
            prop_assert!(!text.contains('\n') && !text.contains('\t'));
            prop_assert_eq!(unescaped(&text).unwrap(), path);
        }
    }
}
