use super::values::KeyValue;
use super::SettingsError;
use crate::block::{Compressor, METADATA_BLOCK_BYTES};
use std::fmt;

const LEVELS: std::ops::RangeInclusive<u32> = 0..=9;
const MODEL_BITS: std::ops::RangeInclusive<u32> = 0..=4;

/// The default level, as in other packers.
const DEFAULT_LEVEL: u32 = 5;

/// Settings of LZMA, which are also those of LZMA2 in xz.
#[derive(Clone, Debug, PartialEq)]
pub struct LzmaSettings {
    /// The level: 0 to 9.
    pub(in crate::block) level: u32,
    /// Whether to search harder than the level implies.
    pub(in crate::block) extreme: bool,
    /// Dictionary size in bytes: the maximum distance of a match.
    pub(in crate::block) dictionary: u32,
    /// Number of bits of the previous byte that predict a literal; `None`, here and below, means
    /// the default of the level.
    pub(in crate::block) literal_context: Option<u32>,
    /// Number of bits of the position that predict a literal.
    pub(in crate::block) literal_position: Option<u32>,
    /// Number of bits of the position that predict everything else.
    pub(in crate::block) position: Option<u32>,
}

impl LzmaSettings {
    pub(super) fn new(block_size: u32) -> Self {
        LzmaSettings {
            level: DEFAULT_LEVEL,
            extreme: false,
            dictionary: whole_block(block_size),
            literal_context: None,
            literal_position: None,
            position: None,
        }
    }

    pub(super) fn set(&mut self, option: KeyValue, block_size: u32) -> Result<(), SettingsError> {
        if !self.set_shared(option, block_size)? {
            return Err(option.unknown("level, extreme, dictsize, lc, lp or pb"));
        }
        Ok(())
    }

    /// Sets an option that xz shares. Returns false if this is not one of them.
    pub(super) fn set_shared(
        &mut self,
        option: KeyValue,
        block_size: u32,
    ) -> Result<bool, SettingsError> {
        match option.key {
            "level" => self.level = option.number(LEVELS)?,
            "extreme" => self.extreme = option.switch()?,
            "dictsize" => self.dictionary = dictionary(option, block_size)?,
            "lc" => self.literal_context = Some(option.number(MODEL_BITS)?),
            "lp" => self.literal_position = Some(option.number(MODEL_BITS)?),
            "pb" => self.position = Some(option.number(MODEL_BITS)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(super) fn check(&self, compressor: Compressor) -> Result<(), SettingsError> {
        let literal = self.literal_context.unwrap_or(3) + self.literal_position.unwrap_or(0);
        if literal > *MODEL_BITS.end() {
            return Err(SettingsError::Needs {
                compressor,
                key: "lc and lp",
                needs: "lc + lp of at most 4",
            });
        }
        Ok(())
    }
}

/// The dictionary size that covers every block, including metadata blocks.
pub(super) fn whole_block(block_size: u32) -> u32 {
    block_size.max(METADATA_BLOCK_BYTES)
}

fn dictionary(option: KeyValue, block_size: u32) -> Result<u32, SettingsError> {
    let largest = whole_block(block_size);
    let bytes = option
        .bytes(block_size)
        .filter(|&bytes| (METADATA_BLOCK_BYTES..=largest).contains(&bytes) && is_dictionary(bytes));
    bytes.ok_or_else(|| {
        option.bad(format!(
            "bytes (with K or M) or a percentage of the block size, {METADATA_BLOCK_BYTES} to \
             {largest}, of the form 2^n or 2^n + 2^(n+1)"
        ))
    })
}

/// Whether `.xz` files can record this dictionary size in bytes: `2^n` or `2^n + 2^(n+1)`.
pub(super) fn is_dictionary(bytes: u32) -> bool {
    bytes.is_power_of_two() || (bytes.is_multiple_of(3) && (bytes / 3).is_power_of_two())
}

impl fmt::Display for LzmaSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (level, extreme, dictionary) = (self.level, self.extreme, self.dictionary);
        write!(
            formatter,
            " level={level} extreme={extreme} dictsize={dictionary}"
        )?;
        for (key, value) in [
            ("lc", self.literal_context),
            ("lp", self.literal_position),
            ("pb", self.position),
        ] {
            if let Some(value) = value {
                write!(formatter, " {key}={value}")?;
            }
        }
        Ok(())
    }
}
