//! Paths as git shows them in lists that programs may read: git-config(1), `core.quotePath`; and the
//! way back.

use bstr::BString;

/// The path in double quotes with C escapes if any byte needs it, otherwise unchanged. `high`:
/// bytes above 127 need it too.
pub fn quoted(path: &[u8], high: bool) -> Vec<u8> {
    let special = |byte: u8| is_special(byte, high);
    if !needs_quotes(path, high) {
        return path.to_vec();
    }
    let mut text = vec![b'"'];
    for byte in path {
        let letter = match byte {
            0x07 => b'a',
            0x08 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            0x0b => b'v',
            0x0c => b'f',
            b'\r' => b'r',
            b'"' | b'\\' => *byte,
            byte if special(*byte) => {
                text.extend_from_slice(format!("\\{byte:03o}").as_bytes());
                continue;
            }
            byte => {
                text.push(*byte);
                continue;
            }
        };
        text.extend_from_slice(&[b'\\', letter]);
    }
    text.push(b'"');
    text
}

/// Whether [`quoted`] changes the path.
pub(crate) fn needs_quotes(path: &[u8], high: bool) -> bool {
    // Without a branch for each byte, and in pieces of one length: long lists of paths are shown.
    let any = |bytes: &[u8]| {
        let found = bytes.iter().map(|byte| u8::from(is_special(*byte, high)));
        found.fold(0, |found, one| found | one) != 0
    };
    let (pieces, rest) = path.as_chunks::<16>();
    pieces.iter().any(|piece| any(piece)) || any(rest)
}

fn is_special(byte: u8, high: bool) -> bool {
    (byte < b' ') | (byte == b'"') | (byte == b'\\') | (byte == 0x7f) | (high & (byte > 127))
}

/// The same; a path with a space is quoted, too.
pub fn quoted_with_spaces(path: &[u8], high: bool) -> Vec<u8> {
    let shown = quoted(path, high);
    if shown.starts_with(b"\"") || !shown.contains(&b' ') {
        return shown;
    }
    [b"\"", shown.as_slice(), b"\""].concat()
}

/// The string that `text` starts with, in double quotes with C escapes; like git, whatever follows
/// the quotes is passed over. `None` if there is no such string or it does not end.
pub fn unquoted(text: &[u8]) -> Option<BString> {
    unquoted_start(text).map(|(string, _)| string)
}

/// The same, and the rest of `text` behind the quotes.
pub(crate) fn unquoted_start(text: &[u8]) -> Option<(BString, &[u8])> {
    hedgerow_object::split_quoted(text).map(|(string, rest)| (string.into(), rest))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn only_what_needs_it_is_quoted() {
        for (path, high, expected) in [
            (&b"plain path"[..], true, &b"plain path"[..]),
            (b"tab\there", true, b"\"tab\\there\""),
            (b"a\"b\\c", true, b"\"a\\\"b\\\\c\""),
            (b"\xc3\xa4", true, b"\"\\303\\244\""),
            (b"\xc3\xa4", false, b"\xc3\xa4"),
            (b"\x01\x7f", false, b"\"\\001\\177\""),
        ] {
            assert_eq!(quoted(path, high), expected);
        }
    }
}
