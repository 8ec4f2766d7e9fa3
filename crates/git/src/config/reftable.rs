//! `reftable.*` of git-config(1): how tables of references are written.

use super::Config;
use crate::{Error, Result};
use hedgerow_reftable::LARGEST_BLOCK_SIZE;
use std::time::Duration;

const BLOCK_SIZE: u32 = 4096;
const RESTART_INTERVAL: u16 = 16;
const GEOMETRIC_FACTOR: u8 = 2;
const LOCK_TIMEOUT_MS: i64 = 100;

/// How tables of references are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReftableSettings {
    /// `reftable.blockSize`, in bytes.
    pub block_size: u32,
    /// `reftable.restartInterval`, in records.
    pub restart_interval: u16,
    /// `reftable.geometricFactor`.
    pub geometric_factor: u8,
    /// `reftable.lockTimeout`; without a limit if `None`.
    pub lock_timeout: Option<Duration>,
}

impl Default for ReftableSettings {
    fn default() -> Self {
        ReftableSettings {
            block_size: BLOCK_SIZE,
            restart_interval: RESTART_INTERVAL,
            geometric_factor: GEOMETRIC_FACTOR,
            lock_timeout: Some(Duration::from_millis(LOCK_TIMEOUT_MS as u64)),
        }
    }
}

impl ReftableSettings {
    /// # Errors
    /// A number that git does not take, in git's words.
    pub(crate) fn resolve(config: &Config) -> Result<Self> {
        let default = Self::default();
        // Zero stands for the default.
        let number = |key: &str, limit: u64, words: &str| {
            let number = config.unsigned(key)?.filter(|number| *number != 0);
            if number.is_some_and(|number| number > limit) {
                return Err(Error::Setup {
                    reason: words.into(),
                });
            }
            Ok(number)
        };
        let block_size = number(
            "reftable.blockSize",
            u64::from(LARGEST_BLOCK_SIZE),
            "reftable block size cannot exceed 16MB",
        )?;
        let interval = number(
            "reftable.restartInterval",
            u64::from(u16::MAX),
            "reftable block size cannot exceed 65535",
        )?;
        let factor = number(
            "reftable.geometricFactor",
            u64::from(u8::MAX),
            "reftable geometric factor cannot exceed 255",
        )?;
        let timeout = config.integer("reftable.lockTimeout")?;
        Ok(ReftableSettings {
            block_size: block_size.map_or(default.block_size, |it| it as u32),
            restart_interval: interval.map_or(default.restart_interval, |it| it as u16),
            geometric_factor: factor.map_or(default.geometric_factor, |it| it as u8),
            lock_timeout: u64::try_from(timeout.unwrap_or(LOCK_TIMEOUT_MS))
                .ok()
                .map(Duration::from_millis),
        })
    }
}
