/// Splits a string in double quotes with C escapes, as git writes paths that need it (`quote_c_style` in
/// its `quote.h`), off the start of `text`: the string without the quotes, and what follows them.
/// `None` if there is no such string, it does not end, or an escape is unknown.
pub fn split_quoted(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut string = Vec::new();
    loop {
        let (plain, after) = rest.split_at_checked(memchr::memchr2(b'"', b'\\', rest)?)?;
        string.extend_from_slice(plain);
        let (&found, after) = after.split_first()?;
        if found == b'"' {
            return Some((string, after));
        }
        let (&escape, mut after) = after.split_first()?;
        string.push(match escape {
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'\\' | b'"' => escape,
            b'0'..=b'3' => {
                let (digits, behind) = after.split_at_checked(2)?;
                after = behind;
                let mut byte = escape - b'0';
                for digit in digits {
                    if !(b'0'..=b'7').contains(digit) {
                        return None;
                    }
                    byte = byte << 3 | (digit - b'0');
                }
                byte
            }
            _ => return None,
        });
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::split_quoted;

    #[test]
    fn quotes_and_escapes_are_taken_off() {
        for (text, expected) in [
            (&b"\"plain\" rest"[..], Some((&b"plain"[..], &b" rest"[..]))),
            (b"\"\"", Some((b"", b""))),
            (
                b"\"a\\tb\\\"c\\\\\\303\\244\"",
                Some((b"a\tb\"c\\\xc3\xa4", b"")),
            ),
            (b"plain", None),
            (b"\"no end", None),
            (b"\"no end\\\"", None),
            (b"\"\\400\"", None),
            (b"\"\\08\"", None),
            (b"\"\\0", None),
            (b"\"\\x\"", None),
            (b"", None),
        ] {
            let found = split_quoted(text);
            let found = found.as_ref().map(|(string, rest)| (&string[..], *rest));
            assert_eq!(found, expected, "{:?}", String::from_utf8_lossy(text));
        }
    }
}
