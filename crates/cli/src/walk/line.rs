//! An entry as one line.

use crate::report::Path;
use hedgerow::walk::{Entry, Metadata, NodeKind};

/// The name of the JSON schema of entries and totals.
pub const SCHEMA: &str = "hedgerow.walk.v1";

/// How entries are written.
#[derive(Clone, Debug)]
pub struct Form {
    /// The name of the JSON schema.
    pub schema: &'static str,
    /// As JSON, one object a line.
    pub json: bool,
    /// The byte after each entry that is not JSON.
    pub end: u8,
    /// Whether to replace control characters, because the output goes to a terminal.
    pub terminal: bool,
    /// The prefix of every path.
    pub prefix: Vec<u8>,
}

impl Form {
    /// Appends an entry, with its metadata and the target of a link if they are known.
    pub fn append(&self, entry: &Entry<'_>, target: Option<&[u8]>, line: &mut Vec<u8>) {
        if self.json {
            self.append_json(entry, target, line)
        } else {
            self.append_text(entry, target, line)
        }
    }

    fn append_text(&self, entry: &Entry<'_>, target: Option<&[u8]>, line: &mut Vec<u8>) {
        if let Some(metadata) = entry.metadata {
            line.push(entry.kind.letter() as u8);
            line.push(b' ');
            for shift in [9, 6, 3, 0] {
                line.push(b'0' + (metadata.mode >> shift & 7) as u8);
            }
            let numbers = [
                metadata.nlink,
                metadata.uid.into(),
                metadata.gid.into(),
                metadata.size_bytes,
            ];
            for number in numbers {
                line.push(b' ');
                append_number(number, line);
            }
            line.push(b' ');
            append_time(metadata, line);
            line.push(b' ');
            append_number(metadata.ino, line);
            line.push(b' ');
        }
        let start = line.len();
        line.extend_from_slice(&self.prefix);
        line.extend_from_slice(entry.path);
        if let Some(target) = target {
            line.extend_from_slice(b" -> ");
            line.extend_from_slice(target);
        }
        if self.terminal {
            let path = line.iter_mut().skip(start);
            path.filter(|byte| byte.is_ascii_control())
                .for_each(|byte| *byte = b'?');
        }
        line.push(self.end);
    }

    fn append_json(&self, entry: &Entry<'_>, target: Option<&[u8]>, line: &mut Vec<u8>) {
        line.extend_from_slice(b"{\"schema\":\"");
        line.extend_from_slice(self.schema.as_bytes());
        line.extend_from_slice(b"\",\"path\":");
        let path = [&self.prefix, entry.path].concat();
        // Writing to memory does not fail, and neither does serializing strings and bytes.
        let _ = serde_json::to_writer(&mut *line, &Path::from(path.as_slice()));
        line.extend_from_slice(b",\"type\":\"");
        line.extend_from_slice(word(entry.kind).as_bytes());
        line.push(b'"');
        if let Some(metadata) = entry.metadata {
            let numbers: [(&str, u64); 10] = [
                ("mode", metadata.mode.into()),
                ("nlink", metadata.nlink),
                ("uid", metadata.uid.into()),
                ("gid", metadata.gid.into()),
                ("size_bytes", metadata.size_bytes),
                ("mtime_ns", metadata.mtime_ns.into()),
                ("ino", metadata.ino),
                ("dev", metadata.dev),
                ("rdev", metadata.rdev),
                ("blocks", metadata.blocks),
            ];
            for (name, number) in numbers {
                append_name(name, line);
                append_number(number, line);
            }
            append_name("mtime_s", line);
            line.extend_from_slice(metadata.mtime_s.to_string().as_bytes());
        }
        if let Some(target) = target {
            append_name("target", line);
            let _ = serde_json::to_writer(&mut *line, &Path::from(target));
        }
        line.extend_from_slice(b"}\n");
    }
}

fn append_name(name: &str, line: &mut Vec<u8>) {
    line.extend_from_slice(b",\"");
    line.extend_from_slice(name.as_bytes());
    line.extend_from_slice(b"\":");
}

pub fn word(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::File => "file",
        NodeKind::Directory => "directory",
        NodeKind::Symlink => "symlink",
        NodeKind::Fifo => "fifo",
        NodeKind::Socket => "socket",
        NodeKind::BlockDevice => "block_device",
        NodeKind::CharacterDevice => "character_device",
    }
}

/// Seconds with nine decimals. Times before the epoch are negative.
fn append_time(metadata: &Metadata, line: &mut Vec<u8>) {
    let (mut seconds, mut nanoseconds) = (metadata.mtime_s, metadata.mtime_ns);
    if seconds < 0 {
        line.push(b'-');
        if nanoseconds > 0 {
            seconds += 1;
            nanoseconds = 1_000_000_000u32.saturating_sub(nanoseconds);
        }
    }
    append_number(seconds.unsigned_abs(), line);
    line.push(b'.');
    let mut digits = [b'0'; 9];
    write_backwards(nanoseconds.into(), &mut digits);
    line.extend_from_slice(&digits);
}

/// Much faster than `fmt`, which matters with ten numbers per entry.
fn append_number(number: u64, line: &mut Vec<u8>) {
    let mut digits = [b'0'; 20];
    let start = write_backwards(number, &mut digits).min(digits.len() - 1);
    line.extend_from_slice(&digits[start..]);
}

/// Writes a number to the end of `digits`; returns its first position.
fn write_backwards(mut number: u64, digits: &mut [u8]) -> usize {
    let mut start = digits.len();
    for (at, digit) in digits.iter_mut().enumerate().rev() {
        if number == 0 {
            break;
        }
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
        start = at;
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    const METADATA: Metadata = Metadata {
        mode: 0o4755,
        uid: 0,
        gid: 1000,
        size_bytes: u64::MAX,
        mtime_s: 1_700_000_000,
        mtime_ns: 5,
        nlink: 1,
        ino: 77,
        dev: 3,
        rdev: 0,
        blocks: 8,
    };

    fn form(json: bool, terminal: bool) -> Form {
        Form {
            schema: SCHEMA,
            json,
            end: b'\n',
            terminal,
            prefix: b"d/".to_vec(),
        }
    }

    fn line(form: &Form, path: &[u8], metadata: Option<&Metadata>) -> Vec<u8> {
        let mut line = Vec::new();
        let kind = NodeKind::File;
        let entry = Entry {
            path,
            kind,
            metadata,
        };
        form.append(&entry, None, &mut line);
        line
    }

    #[test]
    fn a_line_has_its_columns() {
        let text = line(&form(false, false), b"a\x1bb", Some(&METADATA));
        let expected = b"f 4755 1 0 1000 18446744073709551615 1700000000.000000005 77 d/a\x1bb\n";
        assert_eq!(text, expected);
        let shown = line(&form(false, true), b"a\x1b\nb\xff", None);
        assert_eq!(shown, b"d/a??b\xff\n");
    }

    #[test]
    fn times_before_the_epoch_are_negative() {
        for (mtime_s, mtime_ns, expected) in [
            (0, 0, "0.000000000"),
            (-1, 0, "-1.000000000"),
            (-1, 500_000_000, "-0.500000000"),
            (-2, 999_999_999, "-1.000000001"),
            (12, 345_000_000, "12.345000000"),
        ] {
            let metadata = Metadata {
                mtime_s,
                mtime_ns,
                ..METADATA
            };
            let mut text = Vec::new();
            append_time(&metadata, &mut text);
            assert_eq!(text, expected.as_bytes());
        }
    }

    #[test]
    fn an_object_tells_everything() {
        let text = line(&form(true, false), b"a\"\n", Some(&METADATA));
        let value: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let expected = serde_json::json!({
            "schema": SCHEMA, "path": "d/a\"\n", "type": "file", "mode": 0o4755, "nlink": 1,
            "uid": 0, "gid": 1000, "size_bytes": u64::MAX, "mtime_s": 1_700_000_000,
            "mtime_ns": 5, "ino": 77, "dev": 3, "rdev": 0, "blocks": 8,
        });
        assert_eq!(value, expected);
        let text = line(&form(true, false), b"\xff", None);
        let value: serde_json::Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(value["path"]["bytes"], serde_json::json!([100, 47, 255]));
        assert_eq!(value["mode"], serde_json::Value::Null);
    }
}
