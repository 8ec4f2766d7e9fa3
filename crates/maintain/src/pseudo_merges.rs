//! Groups of references for pseudo-merges: git-config(1), `bitmapPseudoMerge`.

use crate::error::refused;
use crate::Observer;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_git::config::Config;
use hedgerow_git::dates::Expiry;
use hedgerow_pack::ObjectId;
use hedgerow_reach::PseudoMergeGroup;
use regex::bytes::Regex;
use std::collections::BTreeMap;

const SECTION: &str = "bitmapPseudoMerge";

/// A group of references for pseudo-merges.
pub struct Group {
    pattern: Regex,
    /// The commits of references, by the text that the pattern captures from their names.
    matches: BTreeMap<Vec<u8>, Vec<ObjectId>>,
    parts: PseudoMergeGroup,
}

impl Group {
    /// Adds the commit of the reference `name` if the pattern matches.
    pub fn add(&mut self, name: &[u8], commit: ObjectId) {
        let Some(captures) = self.pattern.captures(name) else {
            return;
        };
        // Without capture groups, the whole match is used.
        let first = usize::from(captures.len() > 1);
        let captured = captures.iter().skip(first).flatten();
        let captured: Vec<&[u8]> = captured.map(|part| part.as_bytes()).collect();
        self.matches
            .entry(captured.join(&b'-'))
            .or_default()
            .push(commit);
    }

    /// The group with the commits added to it.
    pub fn into_parts(self) -> PseudoMergeGroup {
        PseudoMergeGroup {
            matches: self.matches.into_values().collect(),
            ..self.parts
        }
    }
}

/// The configured groups, by name. `observer` receives warnings about values out of range.
pub fn groups(config: &Config, observer: &dyn Observer) -> Result<Vec<Group>> {
    let mut names = config.subsections(SECTION);
    names.sort_unstable();
    let names = names.iter().filter(|name| !name.is_empty());
    names
        .map(|name| {
            Keys {
                config,
                name,
                observer,
            }
            .read()
        })
        .collect()
}

/// The keys of one group.
struct Keys<'c> {
    config: &'c Config,
    name: &'c BString,
    observer: &'c dyn Observer,
}

impl Keys<'_> {
    fn read(&self) -> Result<Group> {
        let name = self.name;
        let pattern = self.text("pattern").ok_or_else(|| {
            refused(format_args!(
                "pseudo-merge group '{name}' missing required pattern"
            ))
        })?;
        // As in git, the pattern must match from the start of the name.
        let anchored = if pattern.starts_with(b"^") {
            pattern
        } else {
            [b"^", pattern.as_slice()].concat().into()
        };
        let regex = anchored
            .to_str()
            .ok()
            .and_then(|text| Regex::new(text).ok());
        let regex = regex.ok_or_else(|| {
            refused(format_args!(
                "failed to load pseudo-merge regex for {name}: '{anchored}'"
            ))
        })?;
        let parts = PseudoMergeGroup {
            decay: self.number("decay", 1.0, "non-negative", |decay| decay >= 0.0)?,
            sample_rate: self.number("sampleRate", 1.0, "between 0 (exclusive) and 1", |rate| {
                rate > 0.0 && rate <= 1.0
            })?,
            threshold: self.date("threshold", "1 week ago")?,
            max_merges: self.number("maxMerges", 64.0, "non-negative", |most| most >= 0.0)? as u32,
            stable_threshold: self.date("stableThreshold", "1 month ago")?,
            stable_size: self.number("stableSize", 512.0, "positive", |size| size > 0.0)? as u32,
            matches: Vec::new(),
        };
        if parts.threshold < parts.stable_threshold {
            return Err(refused(format_args!(
                "pseudo-merge group '{name}' has unstable threshold before stable one"
            )));
        }
        Ok(Group {
            pattern: regex,
            matches: BTreeMap::new(),
            parts,
        })
    }

    fn text(&self, key: &str) -> Option<BString> {
        self.config.string_in(SECTION, self.name.as_ref(), key)
    }

    /// The number of `key`, or `usual` if it is missing or out of range.
    fn number(
        &self,
        key: &str,
        usual: f64,
        range: &str,
        is_in_range: impl Fn(f64) -> bool,
    ) -> Result<f64> {
        let Some(text) = self.text(key) else {
            return Ok(usual);
        };
        let number = text
            .to_str()
            .ok()
            .and_then(|text| text.trim().parse::<f64>().ok());
        let number = number.ok_or_else(|| self.bad(key, text.as_ref()))?;
        if is_in_range(number) {
            return Ok(number);
        }
        let name = self.name;
        self.observer.warn(&format_args!(
            "bitmappseudomerge.{name}.{} must be {range}, using default",
            key.to_ascii_lowercase()
        ));
        Ok(usual)
    }

    /// The time of `key`, or `usual`, in seconds since 1970.
    fn date(&self, key: &str, usual: &str) -> Result<u64> {
        let text = self.text(key).unwrap_or_else(|| usual.into());
        let seconds = match Expiry::parse(text.as_ref()) {
            Some(Expiry::Never) => Some(0),
            Some(Expiry::Now) => Some(u64::MAX),
            Some(Expiry::Before(seconds)) => u64::try_from(seconds).ok(),
            None => None,
        };
        seconds.ok_or_else(|| self.bad(key, text.as_ref()))
    }

    fn bad(&self, key: &str, text: &BStr) -> Error {
        let (name, key) = (self.name, key.to_ascii_lowercase());
        refused(format_args!(
            "'{text}' for 'bitmappseudomerge.{name}.{key}' is not a valid value"
        ))
    }
}
