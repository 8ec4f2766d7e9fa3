use super::values::KeyValue;
use super::SettingsError;
use crate::block::Compressor;
use std::fmt;

const LEVELS: std::ops::RangeInclusive<u32> = 1..=9;
const DEFAULT_LEVEL: u32 = 8;

/// The variants of LZO1X in the format. Their streams have the same format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::block) enum LzoAlgorithm {
    /// Greedy, with a hash table of this many bits.
    Fast(u32),
    /// Searches for the smallest stream.
    Strong,
}

/// The names of the variants in the order of their numbers in an image.
const ALGORITHMS: [(&str, LzoAlgorithm); 5] = [
    ("lzo1x_1", LzoAlgorithm::Fast(14)),
    ("lzo1x_1_11", LzoAlgorithm::Fast(11)),
    ("lzo1x_1_12", LzoAlgorithm::Fast(12)),
    ("lzo1x_1_15", LzoAlgorithm::Fast(15)),
    ("lzo1x_999", LzoAlgorithm::Strong),
];

/// How LZO1X streams are made.
#[derive(Clone, Debug, PartialEq)]
pub struct LzoSettings {
    pub(in crate::block) algorithm: LzoAlgorithm,
    level: Option<u32>,
}

impl Default for LzoSettings {
    fn default() -> Self {
        LzoSettings {
            algorithm: LzoAlgorithm::Strong,
            level: None,
        }
    }
}

impl LzoSettings {
    /// The level of `lzo1x_999`, 1 to 9; 0 for the other variants, which have none.
    pub(in crate::block) fn level(&self) -> u32 {
        match self.algorithm {
            LzoAlgorithm::Strong => self.level.unwrap_or(DEFAULT_LEVEL),
            LzoAlgorithm::Fast(_) => 0,
        }
    }

    pub(super) fn number(&self) -> u32 {
        let place = ALGORITHMS
            .iter()
            .position(|(_, known)| *known == self.algorithm);
        place.unwrap_or_default() as u32
    }

    pub(super) fn set(&mut self, option: KeyValue) -> Result<(), SettingsError> {
        match option.key {
            "algorithm" => self.algorithm = option.choice(&ALGORITHMS)?,
            "level" => self.level = Some(option.number(LEVELS)?),
            _ => return Err(option.unknown("algorithm or level")),
        }
        Ok(())
    }

    pub(super) fn check(&self) -> Result<(), SettingsError> {
        match self.level {
            Some(_) if self.algorithm != LzoAlgorithm::Strong => Err(SettingsError::Needs {
                compressor: Compressor::Lzo,
                key: "level",
                needs: "algorithm=lzo1x_999",
            }),
            _ => Ok(()),
        }
    }

    pub(super) fn stored(algorithm: u32, level: u32) -> Option<Self> {
        let (_, algorithm) = *ALGORITHMS.get(usize::try_from(algorithm).ok()?)?;
        let level = match algorithm {
            LzoAlgorithm::Strong if LEVELS.contains(&level) => Some(level),
            LzoAlgorithm::Fast(_) if level == 0 => None,
            _ => return None,
        };
        Some(LzoSettings { algorithm, level })
    }
}

impl fmt::Display for LzoSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, _) = ALGORITHMS[self.number() as usize];
        write!(formatter, " algorithm={name}")?;
        match self.algorithm {
            LzoAlgorithm::Strong => write!(formatter, " level={}", self.level()),
            LzoAlgorithm::Fast(_) => Ok(()),
        }
    }
}
