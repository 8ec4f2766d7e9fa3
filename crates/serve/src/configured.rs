//! The configuration for making packs: git-config(1) under `pack`.

use crate::{PackOptions, PackReuse, Result};
use hedgerow_engine::{Execution, Jobs};
use hedgerow_git::repository::Repository;
use std::num::NonZeroUsize;

impl PackOptions {
    /// The configured options; git's defaults for others.
    ///
    /// # Errors
    /// [`Error::Git`](crate::Error::Git) for invalid values.
    pub fn configured(repository: &Repository) -> Result<Self> {
        let config = repository.config();
        let number = |key: &str| -> Result<Option<u64>> {
            let number = config.integer(key)?;
            Ok(number.map(|number| u64::try_from(number).unwrap_or(0)))
        };
        let usual = PackOptions::default();
        let level = match config.integer("pack.compression")? {
            Some(level) => Some(level),
            None => config.integer("core.compression")?,
        };
        let threads = number("pack.threads")?.map_or(0, |threads| threads as usize);
        let depth = number("pack.depth")?;
        Ok(PackOptions {
            window: number("pack.window")?.map_or(usual.window, |window| window as usize),
            depth: depth.map_or(usual.depth, |depth| {
                u32::try_from(depth).unwrap_or(u32::MAX)
            }),
            window_memory_bytes: number("pack.windowMemory")?.unwrap_or(0),
            delta_cache_bytes: number("pack.deltaCacheSize")?.unwrap_or(usual.delta_cache_bytes),
            big_file_bytes: repository.settings().big_file_bytes,
            level: compression_level(level.unwrap_or(-1))?,
            execution: Execution {
                jobs: NonZeroUsize::new(threads).map_or(Jobs::Auto, Jobs::Fixed),
                ..Execution::default()
            },
            ..usual
        })
    }
}

impl PackReuse {
    /// The value of `pack.allowPackReuse`.
    pub fn configured(repository: &Repository) -> Result<Self> {
        let config = repository.config();
        match config.string("pack.allowPackReuse").as_deref() {
            Some(value) if value.eq_ignore_ascii_case(b"single") => Ok(PackReuse::Single),
            Some(value) if value.eq_ignore_ascii_case(b"multi") => Ok(PackReuse::Multi),
            _ => Ok(match config.bool("pack.allowPackReuse")? {
                Some(false) => PackReuse::None,
                _ => PackReuse::Single,
            }),
        }
    }
}

/// Checks the compression level `level`: -1 (default) to 9.
pub fn compression_level(level: i64) -> Result<i32> {
    let checked = i32::try_from(level)
        .ok()
        .filter(|level| (-1..=9).contains(level));
    checked.ok_or_else(|| {
        let reason = "bad pack compression level".into();
        hedgerow_git::Error::Config { reason }.into()
    })
}
