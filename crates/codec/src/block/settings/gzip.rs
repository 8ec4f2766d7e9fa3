use super::values::{listed, KeyValue};
use super::SettingsError;
use crate::block::Compressor;
use std::fmt;

const LEVELS: std::ops::RangeInclusive<u32> = 1..=12;
const WINDOWS: std::ops::RangeInclusive<u32> = 8..=15;
const DEFAULT_LEVEL: u32 = 9;
const DEFAULT_WINDOW: u32 = 15;

/// The strategies of zlib in the order in which they are tried, with their bits in an image.
const STRATEGIES: [(&str, u32); 5] = [
    ("default", 1),
    ("filtered", 2),
    ("huffman", 4),
    ("rle", 8),
    ("fixed", 16),
];

/// The bits of all strategies.
pub(super) const STRATEGY_BITS: u32 = 31;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Profile {
    Libdeflate,
    Zlib,
}

const PROFILES: [(&str, Profile); 2] =
    [("libdeflate", Profile::Libdeflate), ("zlib", Profile::Zlib)];

/// How zlib streams are made: by libdeflate, or by stock zlib to get the same bytes as other
/// packers.
#[derive(Clone, Debug, PartialEq)]
pub struct GzipSettings {
    /// The level: 1 to 9, with libdeflate up to 12.
    pub(in crate::block) level: u32,
    /// Window size as a binary logarithm.
    pub(in crate::block) window: u32,
    /// Bits of [`STRATEGIES`]; 0 means the default strategy.
    pub(in crate::block) strategies: u32,
    profile: Option<Profile>,
}

impl Default for GzipSettings {
    fn default() -> Self {
        GzipSettings {
            level: DEFAULT_LEVEL,
            window: DEFAULT_WINDOW,
            strategies: 0,
            profile: None,
        }
    }
}

impl GzipSettings {
    /// Whether stock zlib compresses: if it is requested, and for settings that libdeflate does not
    /// have.
    pub(in crate::block) fn uses_zlib(&self) -> bool {
        match self.profile {
            Some(profile) => profile == Profile::Zlib,
            None => self.window != DEFAULT_WINDOW || self.strategies != 0,
        }
    }

    /// zlib's numbers of the strategies to try, in order.
    pub(in crate::block) fn zlib_strategies(&self) -> impl Iterator<Item = i32> + '_ {
        let tried = if self.strategies == 0 {
            1
        } else {
            self.strategies
        };
        // zlib numbers the strategies from 0 in the order of their bits.
        (0..5).filter(move |number| tried & (1 << number) != 0)
    }

    pub(super) fn set(&mut self, option: KeyValue) -> Result<(), SettingsError> {
        match option.key {
            "level" => self.level = option.number(LEVELS)?,
            "window" => self.window = option.number(WINDOWS)?,
            "profile" => self.profile = Some(option.choice(&PROFILES)?),
            "strategies" => {
                for bit in option.choices(&STRATEGIES)? {
                    self.strategies |= bit;
                }
            }
            word => match STRATEGIES.iter().find(|(name, _)| *name == word) {
                Some((_, bit)) if option.value.is_none() => self.strategies |= bit,
                _ => return Err(option.unknown("level, profile, window or strategies")),
            },
        }
        Ok(())
    }

    pub(super) fn check(&self) -> Result<(), SettingsError> {
        let needs = |key, needs| {
            Err(SettingsError::Needs {
                compressor: Compressor::Gzip,
                key,
                needs,
            })
        };
        match (self.uses_zlib(), self.profile) {
            (true, _) if self.level > 9 => needs("level above 9", "profile=libdeflate"),
            (false, Some(_)) if self.window != DEFAULT_WINDOW => needs("window", "profile=zlib"),
            (false, Some(_)) if self.strategies != 0 => needs("strategies", "profile=zlib"),
            _ => Ok(()),
        }
    }

    /// The level to record in an image: other programs know only 1 to 9.
    pub(super) fn stored_level(&self) -> u32 {
        self.level.min(9)
    }

    pub(super) fn stored(level: u32, window: u32, strategies: u32) -> Option<Self> {
        let known = (1..=9).contains(&level)
            && WINDOWS.contains(&window)
            && strategies & !STRATEGY_BITS == 0;
        known.then_some(GzipSettings {
            level,
            window,
            strategies,
            profile: None,
        })
    }
}

impl fmt::Display for GzipSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, " level={}", self.level)?;
        if !self.uses_zlib() {
            return write!(formatter, " profile=libdeflate");
        }
        write!(formatter, " profile=zlib window={}", self.window)?;
        match self.strategies {
            0 => Ok(()),
            bits => write!(formatter, " strategies={}", listed(bits, &STRATEGIES)),
        }
    }
}
