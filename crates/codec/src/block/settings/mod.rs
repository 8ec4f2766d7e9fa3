//! Settings of the compressors, parsed from the command line or from the option block of an image.

mod error;
mod gzip;
mod lz4;
mod lzma;
mod lzo;
mod option_block;
mod values;
mod xz;
mod zstd;

pub use error::SettingsError;
pub(super) use gzip::GzipSettings;
pub(super) use lz4::Lz4Settings;
pub(super) use lzma::LzmaSettings;
pub(super) use lzo::{LzoAlgorithm, LzoSettings};
pub use option_block::OptionBlockError;
pub(super) use xz::XzSettings;
pub(super) use zstd::ZstdSettings;

use super::Compressor;
use std::fmt;

/// A compressor with all its settings. Its display form is one line whose words, read as options,
/// give the same settings again.
#[derive(Clone, Debug, PartialEq)]
pub enum Settings {
    /// `level`, `profile`, `window`, `strategies`.
    Gzip(GzipSettings),
    /// `level`, `extreme`, `dictsize`, `lc`, `lp`, `pb`.
    Lzma(LzmaSettings),
    /// `algorithm`, `level`.
    Lzo(LzoSettings),
    /// Like `lzma`, and `filters`.
    Xz(XzSettings),
    /// `hc`, `level`.
    Lz4(Lz4Settings),
    /// `level`, `checksum`.
    Zstd(ZstdSettings),
}

impl Settings {
    /// The default settings of a compressor, for blocks of at most `block_size` bytes.
    pub fn default_for(compressor: Compressor, block_size: u32) -> Self {
        match compressor {
            Compressor::Gzip => Settings::Gzip(GzipSettings::default()),
            Compressor::Lzma => Settings::Lzma(LzmaSettings::new(block_size)),
            Compressor::Lzo => Settings::Lzo(LzoSettings::default()),
            Compressor::Xz => Settings::Xz(XzSettings::new(block_size)),
            Compressor::Lz4 => Settings::Lz4(Lz4Settings::default()),
            Compressor::Zstd => Settings::Zstd(ZstdSettings::default()),
        }
    }

    /// The settings of a command line: `level` is the value of `-l`; each of `options` is the value
    /// of a `-X`, either `KEY=VALUE` or a single word such as `hc`. If a key is given more than
    /// once, the last value wins, but strategies and filters add up.
    ///
    /// # Errors
    /// An option that the compressor does not have, a value out of range, or options that exclude
    /// one another.
    pub fn parse<'a>(
        compressor: Compressor,
        block_size: u32,
        level: Option<&str>,
        options: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, SettingsError> {
        let mut settings = Self::default_for(compressor, block_size);
        if let Some(level) = level {
            settings.set("level", Some(level), block_size)?;
        }
        for option in options {
            match option.split_once('=') {
                Some((key, value)) => settings.set(key, Some(value), block_size)?,
                None => settings.set(option, None, block_size)?,
            }
        }
        settings.check()?;
        Ok(settings)
    }

    /// The settings without removable checksums, which only zstd has.
    pub fn without_checksum(&self) -> Self {
        match self {
            Settings::Zstd(zstd) => Settings::Zstd(ZstdSettings {
                checksum: false,
                ..zstd.clone()
            }),
            other => other.clone(),
        }
    }

    /// The compressor that these settings are for.
    pub fn compressor(&self) -> Compressor {
        match self {
            Settings::Gzip(_) => Compressor::Gzip,
            Settings::Lzma(_) => Compressor::Lzma,
            Settings::Lzo(_) => Compressor::Lzo,
            Settings::Xz(_) => Compressor::Xz,
            Settings::Lz4(_) => Compressor::Lz4,
            Settings::Zstd(_) => Compressor::Zstd,
        }
    }

    fn set(&mut self, key: &str, value: Option<&str>, block: u32) -> Result<(), SettingsError> {
        let option = values::KeyValue {
            compressor: self.compressor(),
            key,
            value,
        };
        match self {
            Settings::Gzip(gzip) => gzip.set(option),
            Settings::Lzma(lzma) => lzma.set(option, block),
            Settings::Lzo(lzo) => lzo.set(option),
            Settings::Xz(xz) => xz.set(option, block),
            Settings::Lz4(lz4) => lz4.set(option),
            Settings::Zstd(zstd) => zstd.set(option),
        }
    }

    /// Checks combinations of options.
    fn check(&mut self) -> Result<(), SettingsError> {
        match self {
            Settings::Gzip(gzip) => gzip.check(),
            Settings::Lzma(lzma) => lzma.check(Compressor::Lzma),
            Settings::Lzo(lzo) => lzo.check(),
            Settings::Xz(xz) => xz.check(),
            Settings::Lz4(lz4) => lz4.check(),
            Settings::Zstd(_) => Ok(()),
        }
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.compressor())?;
        match self {
            Settings::Gzip(gzip) => gzip.fmt(formatter),
            Settings::Lzma(lzma) => lzma.fmt(formatter),
            Settings::Lzo(lzo) => lzo.fmt(formatter),
            Settings::Xz(xz) => xz.fmt(formatter),
            Settings::Lz4(lz4) => lz4.fmt(formatter),
            Settings::Zstd(zstd) => zstd.fmt(formatter),
        }
    }
}
