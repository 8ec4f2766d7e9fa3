//! Columns of lists: as `ls -l` shows them, and as gensquashfs reads them.

use hedgerow_tree::NodeKind;

/// A number of bytes, rounded, in the first unit that gives at most 1024.
pub fn rounded_size(bytes: u64) -> String {
    let (mut count, mut rest) = (bytes, 0);
    let mut units = ["", "k", "M", "G", "T", "P", "E"].into_iter();
    let mut unit = units.next();
    while count > 1024 {
        (count, rest) = (count / 1024, count % 1024);
        unit = units.next();
    }
    if rest >= 512 {
        count += 1;
    }
    format!("{count}{}", unit.unwrap_or_default())
}

/// The type and the permissions as letters.
pub fn mode_letters(kind: NodeKind, mode: u32) -> String {
    let mut text = String::from(match kind {
        NodeKind::File => '-',
        other => other.letter(),
    });
    for (shift, special, letters) in [(6, 0o4000, "sS"), (3, 0o2000, "sS"), (0, 0o1000, "tT")] {
        let bits = mode >> shift;
        text.push(if bits & 4 != 0 { 'r' } else { '-' });
        text.push(if bits & 2 != 0 { 'w' } else { '-' });
        text.push_str(match (bits & 1 != 0, mode & special != 0) {
            (true, false) => "x",
            (false, false) => "-",
            (true, true) => &letters[..1],
            (false, true) => &letters[1..],
        });
    }
    text
}

/// Appends a path as files of gensquashfs have it, in quotes if it could be misread otherwise. Only quotes
/// need to be escaped.
pub fn append_quoted(path: &[u8], text: &mut Vec<u8>) {
    if !path.iter().any(|byte| matches!(byte, b' ' | b'\t' | b'"')) {
        return text.extend_from_slice(path);
    }
    text.push(b'"');
    for byte in path {
        if *byte == b'"' {
            text.push(b'\\');
        }
        text.push(*byte);
    }
    text.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded() {
        for (bytes, expected) in [(0, "0"), (1024, "1024"), (1025, "1k"), (1536 << 10, "2M")] {
            assert_eq!(rounded_size(bytes), expected);
        }
    }

    #[test]
    fn paths_are_quoted_where_they_have_to_be() {
        for (path, expected) in [("a'b", "a'b"), ("a b", "\"a b\""), ("a\"", "\"a\\\"\"")] {
            let mut text = Vec::new();
            append_quoted(path.as_bytes(), &mut text);
            assert_eq!(text, expected.as_bytes());
        }
    }

    #[test]
    fn modes_have_ten_letters() {
        for (kind, mode, expected) in [
            (NodeKind::File, 0o4755, "-rwsr-xr-x"),
            (NodeKind::Directory, 0o1776, "drwxrwxrwT"),
            (NodeKind::Fifo, 0o2604, "prw---Sr--"),
        ] {
            assert_eq!(mode_letters(kind, mode), expected);
        }
    }
}
