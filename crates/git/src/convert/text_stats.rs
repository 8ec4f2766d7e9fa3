//! Whether content looks like text, and how its lines end.

/// Counts of the kinds of bytes in a content, as git counts them for its guess.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TextStats {
    pub(super) nul: usize,
    /// CR without LF after it.
    pub(super) lone_cr: usize,
    /// LF without CR before it.
    pub(super) lone_lf: usize,
    pub(super) crlf: usize,
    pub(super) printable: usize,
    pub(super) nonprintable: usize,
}

impl TextStats {
    pub(super) fn of(content: &[u8]) -> TextStats {
        let mut counts = [0usize; 256];
        let mut crlf = 0;
        let mut previous = 0;
        for &byte in content {
            counts[usize::from(byte)] += 1;
            crlf += usize::from(previous == b'\r' && byte == b'\n');
            previous = byte;
        }
        let sum = |range: std::ops::RangeInclusive<u8>| -> usize {
            range.map(|byte| counts[usize::from(byte)]).sum()
        };
        let control = sum(0..=31) - sum(b'\n'..=b'\n') - sum(b'\r'..=b'\r');
        let printable_control = sum(8..=9) + sum(12..=12) + sum(27..=27);
        let mut nonprintable = control - printable_control + sum(127..=127);
        // A trailing DOS end-of-file mark does not make a file binary.
        if content.last() == Some(&26) {
            nonprintable -= 1;
        }
        TextStats {
            nul: sum(0..=0),
            lone_cr: sum(b'\r'..=b'\r') - crlf,
            lone_lf: sum(b'\n'..=b'\n') - crlf,
            crlf,
            printable: sum(32..=126) + sum(128..=255) + printable_control,
            nonprintable,
        }
    }

    /// Whether git considers the content binary.
    pub(super) fn is_binary(&self) -> bool {
        self.lone_cr > 0 || self.nul > 0 || (self.printable >> 7) < self.nonprintable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_byte_is_counted() {
        let stats = TextStats::of(b"a\r\nb\nc\rd\x00\x01\x7f\x1b\t\xff");
        assert_eq!(
            stats,
            TextStats {
                nul: 1,
                lone_cr: 1,
                lone_lf: 1,
                crlf: 1,
                printable: 7,
                nonprintable: 3,
            }
        );
    }

    #[test]
    fn one_control_character_in_128_is_still_text() {
        let mut content = vec![b'a'; 127];
        content.push(1);
        assert!(TextStats::of(&content).is_binary());
        content.push(b'a');
        assert!(!TextStats::of(&content).is_binary());
        assert!(!TextStats::of(b"dos\x1a").is_binary());
        assert!(TextStats::of(b"\x1ados").is_binary());
    }
}
