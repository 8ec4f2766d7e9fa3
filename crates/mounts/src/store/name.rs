use std::fmt;

/// Length of the part of a name that stands for settings, in hexadecimal digits.
const SETTINGS_DIGITS: usize = 16;

/// The name of an image: what is in it, and what that depends on besides.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageName {
    /// The id of a tree, in hexadecimal digits.
    pub tree: String,
    /// A hash of the settings, 16 hexadecimal digits.
    pub settings: String,
}

impl ImageName {
    /// Reads a name as it is shown.
    pub fn parse(text: &str) -> Option<Self> {
        let (tree, settings) = text.split_once('-')?;
        let is_hash = |text: &str| {
            let mut digits = text.bytes();
            digits.all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let is_id = matches!(tree.len(), 40 | 64) && is_hash(tree);
        (is_id && settings.len() == SETTINGS_DIGITS && is_hash(settings)).then(|| ImageName {
            tree: tree.to_owned(),
            settings: settings.to_owned(),
        })
    }
}

impl fmt::Display for ImageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.tree, self.settings)
    }
}

/// The byte of a file of locks that stands for `name`: FNV-1a. Two names with the same byte only wait
/// for each other.
pub(crate) fn lock_position(name: &[u8]) -> u64 {
    name.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_is_shown() {
        let text = format!("{}-0123456789abcdef", "0a".repeat(20));
        let name = ImageName::parse(&text).unwrap();
        assert_eq!(name.to_string(), text);
        for wrong in [
            "",
            "-",
            &text[1..],
            &text[..50],
            &text.to_uppercase(),
            &format!("../{text}"),
        ] {
            assert_eq!(ImageName::parse(wrong), None, "{wrong}");
        }
    }
}
