use super::values::KeyValue;
use super::SettingsError;
use std::fmt;

const LEVELS: std::ops::RangeInclusive<u32> = 1..=22;

/// How Zstandard frames are made.
#[derive(Clone, Debug, PartialEq)]
pub struct ZstdSettings {
    /// The level: 1 to 22.
    pub(in crate::block) level: u32,
    /// Whether a frame ends with a checksum of its content (4 bytes), which detects damage.
    pub(in crate::block) checksum: bool,
}

impl Default for ZstdSettings {
    fn default() -> Self {
        ZstdSettings {
            level: 15,
            checksum: true,
        }
    }
}

impl ZstdSettings {
    pub(super) fn set(&mut self, option: KeyValue) -> Result<(), SettingsError> {
        match option.key {
            "level" => self.level = option.number(LEVELS)?,
            "checksum" => self.checksum = option.switch()?,
            _ => return Err(option.unknown("level or checksum")),
        }
        Ok(())
    }

    pub(super) fn stored(level: u32) -> Option<Self> {
        LEVELS.contains(&level).then_some(ZstdSettings {
            level,
            ..Self::default()
        })
    }
}

impl fmt::Display for ZstdSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            " level={} checksum={}",
            self.level, self.checksum
        )
    }
}
