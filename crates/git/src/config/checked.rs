//! Settings that every command of git looks at when it reads its configuration, whether it uses them or
//! not: one that is no value ends it.

use super::{bad, Config};
use crate::Result;
use bstr::ByteSlice;

const BOOLEANS: [&str; 2] = ["core.bare", "core.commitGraph"];

/// Levels of zlib, each with the name that git gives it where it is none.
const LEVELS: [(&str, &str); 3] = [
    ("core.compression", "zlib"),
    ("core.looseCompression", "zlib"),
    ("pack.compression", "pack"),
];

const PUSH_DEFAULTS: [&str; 6] = [
    "nothing", "matching", "simple", "upstream", "tracking", "current",
];

const HINTS: [&str; 6] = ["none", "commit", "committish", "tree", "treeish", "blob"];

impl Config {
    /// Refuses values that are none of settings that may not even be used.
    pub(crate) fn check(&self) -> Result<()> {
        for key in BOOLEANS {
            self.bool(key)?;
        }
        for (key, kind) in LEVELS {
            match self.integer(key)? {
                Some(level) if !(-1..=9).contains(&level) => {
                    return Err(bad(format!("bad {kind} compression level {level}")));
                }
                _ => {}
            }
        }
        self.integer("core.maxTreeDepth")?;
        self.unsigned("pack.packSizeLimit")?;
        let words: [&[u8]; 3] = [b"always", b"inherit", b"simple"];
        let setup = self.string("branch.autoSetupMerge").unwrap_or_default();
        if !words.contains(&setup.as_slice()) {
            self.bool("branch.autoSetupMerge")?;
        }
        self.check_word("push.default", &PUSH_DEFAULTS)?;
        self.check_word("core.disambiguate", &HINTS)
    }

    /// What the reader of an index may be told of threads: a boolean or a number.
    pub(crate) fn check_index_threads(&self) -> Result<()> {
        let key = "index.threads";
        self.bool(key)
            .map(drop)
            .or_else(|_| self.integer(key).map(drop))
    }

    fn check_word(&self, key: &str, words: &[&str]) -> Result<()> {
        match self.text(key)? {
            Some(text) if !words.iter().any(|word| text == *word) => {
                let (key, text) = (key.to_ascii_lowercase(), text.as_bstr());
                let words = words.join(", ");
                Err(bad(format!(
                    "bad value '{text}' for '{key}': must be one of {words}"
                )))
            }
            _ => Ok(()),
        }
    }
}
