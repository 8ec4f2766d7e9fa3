//! Paths as git shows them in lists that programs may read: git-config(1), `core.quotePath`.

/// The path in double quotes with C escapes if any byte needs it, otherwise unchanged. `high`:
/// bytes above 127 need it too.
pub fn quoted(path: &[u8], high: bool) -> Vec<u8> {
    let special =
        |byte: u8| byte < b' ' || matches!(byte, b'"' | b'\\' | 0x7f) || high && byte > 127;
    if !path.iter().any(|byte| special(*byte)) {
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

/// The same; a path with a space is quoted, too.
pub fn quoted_with_spaces(path: &[u8], high: bool) -> Vec<u8> {
    let shown = quoted(path, high);
    if shown.starts_with(b"\"") || !shown.contains(&b' ') {
        return shown;
    }
    [b"\"", shown.as_slice(), b"\""].concat()
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
