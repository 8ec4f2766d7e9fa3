//! What is to be on the disk before a command ends: `core.fsync` of git-config(1).

use super::{Config, Environment};
use crate::Result;
use bstr::ByteSlice;
use hedgerow_fs::LockFile;

/// The parts of a repository that are waited for. `core.fsyncMethod` makes no difference: whatever
/// it says, a file is synced as with `fsync`, which promises the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fsync {
    /// Loose objects.
    pub loose_object: bool,
    /// Packs.
    pub pack: bool,
    /// What belongs to packs: indexes, reverse indexes, bitmaps, multi-pack-indexes.
    pub pack_metadata: bool,
    /// Commit-graphs.
    pub commit_graph: bool,
    /// The index of a working tree.
    pub index: bool,
    /// References.
    pub reference: bool,
}

/// The components and groups of components by name, each with what it stands for.
const NAMES: [(&str, u8); 11] = [
    ("loose-object", LOOSE_OBJECT),
    ("pack", PACK),
    ("pack-metadata", PACK_METADATA),
    ("commit-graph", COMMIT_GRAPH),
    ("index", INDEX),
    ("objects", LOOSE_OBJECT | PACK),
    ("reference", REFERENCE),
    ("derived-metadata", PACK_METADATA | COMMIT_GRAPH),
    ("committed", LOOSE_OBJECT | PACK | REFERENCE),
    ("added", LOOSE_OBJECT | PACK | REFERENCE | INDEX),
    ("all", u8::MAX),
];
const LOOSE_OBJECT: u8 = 1;
const PACK: u8 = 2;
const PACK_METADATA: u8 = 4;
const COMMIT_GRAPH: u8 = 8;
const INDEX: u8 = 16;
const REFERENCE: u8 = 32;

impl Default for Fsync {
    /// All that commands make for others to rely on, but for loose objects.
    fn default() -> Self {
        Self::of_bits(PACK | PACK_METADATA | COMMIT_GRAPH)
    }
}

impl Fsync {
    /// Nothing.
    pub const NONE: Fsync = Fsync::of_bits(0);

    const fn of_bits(bits: u8) -> Self {
        Fsync {
            loose_object: bits & LOOSE_OBJECT != 0,
            pack: bits & PACK != 0,
            pack_metadata: bits & PACK_METADATA != 0,
            commit_graph: bits & COMMIT_GRAPH != 0,
            index: bits & INDEX != 0,
            reference: bits & REFERENCE != 0,
        }
    }

    /// What the value `text` of `core.fsync` asks for. Components, or beginnings of their names,
    /// are added to the default or, after a minus, taken from it; what is added counts. `none` as
    /// the last word starts from nothing. `warn` is told of words that mean nothing.
    pub fn parse(text: &str, warn: &mut dyn FnMut(String)) -> Self {
        let mut start = PACK | PACK_METADATA | COMMIT_GRAPH;
        let (mut added, mut removed) = (0, 0);
        let mut rest = text;
        loop {
            rest = rest.trim_start_matches([',', ' ', '\t', '\n', '\r']);
            if rest == "none" {
                start = 0;
                break;
            }
            let (word, behind) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
            let (name, is_removed) = match word.strip_prefix('-') {
                Some(name) => (name, true),
                None => (word, false),
            };
            if name.is_empty() {
                if is_removed {
                    warn("invalid value for variable core.fsync".into());
                }
                break;
            }
            let found = NAMES.iter().filter(|(known, _)| known.starts_with(name));
            let bits = found.fold(0, |bits, (_, more)| bits | more);
            match (bits, is_removed) {
                (0, _) => warn(format!("ignoring unknown core.fsync component '{name}'")),
                (_, true) => removed |= bits,
                (_, false) => added |= bits,
            }
            rest = behind;
        }
        Self::of_bits(start & !removed | added)
    }

    /// `core.fsync`, and `core.fsyncObjectFiles` of older configurations. `warn` is told of words
    /// that mean nothing.
    ///
    /// # Errors
    /// A setting that has no value or is no boolean.
    pub(crate) fn resolve(
        config: &Config,
        environment: &Environment,
        warn: &mut dyn FnMut(String),
    ) -> Result<Fsync> {
        if environment.no_fsync {
            return Ok(Fsync::NONE);
        }
        let mut fsync = match config.text("core.fsync")? {
            Some(text) => Fsync::parse(&text.to_str_lossy(), warn),
            None => Fsync::default(),
        };
        fsync.loose_object |= config.bool("core.fsyncObjectFiles")? == Some(true);
        Ok(fsync)
    }
}

/// Waits until the content of `lock` is on the disk, if that is `wanted`.
pub(crate) fn sync_if(wanted: bool, lock: &LockFile) -> Result<()> {
    if wanted {
        lock.sync()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_add_up_as_with_git() {
        const USUAL: u8 = PACK | PACK_METADATA | COMMIT_GRAPH;
        for (text, bits, warnings) in [
            ("", USUAL, 0),
            ("none", 0, 0),
            (" , none", 0, 0),
            ("pack,none", PACK | PACK_METADATA, 0),
            // Only the last word can be that.
            ("none,index", USUAL | INDEX, 1),
            ("-pack-metadata", PACK | COMMIT_GRAPH, 0),
            ("-pack", COMMIT_GRAPH, 0),
            ("all,-pack", u8::MAX, 0),
            ("all", u8::MAX, 0),
            ("added", u8::MAX, 0),
            ("committed", USUAL | LOOSE_OBJECT | REFERENCE, 0),
            ("objects", USUAL | LOOSE_OBJECT, 0),
            ("reference", USUAL | REFERENCE, 0),
            ("index , reference", USUAL | REFERENCE, 1),
            ("index,\treference", USUAL | REFERENCE | INDEX, 0),
            ("-derived-metadata,loose-object", PACK | LOOSE_OBJECT, 0),
            ("what,loose", USUAL | LOOSE_OBJECT, 1),
            ("-,all", USUAL, 1),
        ] {
            let mut told = 0;
            let found = Fsync::parse(text, &mut |_| told += 1);
            assert_eq!(found, Fsync::of_bits(bits), "{text}");
            assert_eq!(told, warnings, "{text}");
        }
    }
}
