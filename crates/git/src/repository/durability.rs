//! What is to be on the disk before it counts: `core.fsync` of git-config(1).

use super::{Config, Environment};
use crate::Result;
use hedgerow_fs::LockFile;

/// The components that checkout and status write. Neither is synced by default, as with git. Of
/// `core.fsyncMethod`, every value waits for the disk: `writeout-only` gets more than it asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Durability {
    /// The index.
    pub index: bool,
    /// References and `HEAD`.
    pub reference: bool,
}

impl Durability {
    pub(super) fn resolve(config: &Config, environment: &Environment) -> Result<Self> {
        if environment.no_fsync {
            return Ok(Durability::default());
        }
        let text = config.text("core.fsync")?.unwrap_or_default();
        Ok(Durability::parse(&text))
    }

    /// What a component is taken from is git's default, which has neither of these: so only what
    /// is added counts. As with git, the beginning of a name stands for all names that begin so.
    fn parse(text: &[u8]) -> Self {
        let is_end = |byte: &u8| *byte == b',' || byte.is_ascii_whitespace();
        let words = || text.split(is_end).filter(|word| !word.is_empty());
        let adds = |names: &[&str]| {
            let any = |word: &[u8]| names.iter().any(|name| name.as_bytes().starts_with(word));
            words().any(any)
        };
        Durability {
            index: adds(&["index", "added", "all"]),
            reference: adds(&["reference", "committed", "added", "all"]),
        }
    }
}

/// Waits until the content of `lock` is on the disk, if that is `wanted`.
pub(crate) fn sync_if(wanted: bool, lock: &LockFile) -> Result<()> {
    match wanted {
        true => Ok(lock.sync()?),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_added_to_the_default() {
        for (text, index, reference) in [
            ("", false, false),
            ("none", false, false),
            ("index", true, false),
            ("reference", false, true),
            ("committed,-loose-object", false, true),
            ("added", true, true),
            ("all", true, true),
            ("pack, index", true, false),
            ("-index", false, false),
            ("all,-index", true, true),
        ] {
            let expected = Durability { index, reference };
            assert_eq!(Durability::parse(text.as_bytes()), expected, "{text}");
        }
    }
}
