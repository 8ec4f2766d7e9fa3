use super::lzma::{is_dictionary, whole_block, LzmaSettings};
use super::values::{listed, KeyValue};
use super::SettingsError;
use crate::block::Compressor;
use std::fmt;

/// The default level, as in other packers.
const DEFAULT_LEVEL: u32 = 6;

/// The filters that convert addresses in machine code, in the order in which they are tried, with
/// their bits in an image. Kernels older than the last two filters do not read blocks that use
/// them.
const FILTERS: [(&str, u32); 8] = [
    ("x86", 1),
    ("powerpc", 2),
    ("ia64", 4),
    ("arm", 8),
    ("armthumb", 16),
    ("sparc", 32),
    ("arm64", 64),
    ("riscv", 128),
];

/// How `.xz` files are made.
#[derive(Clone, Debug, PartialEq)]
pub struct XzSettings {
    pub(in crate::block) lzma: LzmaSettings,
    pub(super) filters: u32,
}

impl XzSettings {
    pub(super) fn new(block_size: u32) -> Self {
        let lzma = LzmaSettings::new(block_size);
        XzSettings {
            lzma: LzmaSettings {
                level: DEFAULT_LEVEL,
                ..lzma
            },
            filters: 0,
        }
    }

    /// The bit numbers of the filters to try besides no filter, in order.
    pub(in crate::block) fn filter_bits(&self) -> impl Iterator<Item = usize> + '_ {
        (0..FILTERS.len()).filter(|bit| self.filters & (1 << bit) != 0)
    }

    pub(super) fn set(&mut self, option: KeyValue, block_size: u32) -> Result<(), SettingsError> {
        if option.key == "filters" {
            for bit in option.choices(&FILTERS)? {
                self.filters |= bit;
            }
            return Ok(());
        }
        let lone = FILTERS.iter().find(|(name, _)| *name == option.key);
        match lone.filter(|_| option.value.is_none()) {
            Some((_, bit)) => self.filters |= bit,
            None if self.lzma.set_shared(option, block_size)? => {}
            None => return Err(option.unknown("level, extreme, dictsize, lc, lp, pb or filters")),
        }
        Ok(())
    }

    pub(super) fn check(&self) -> Result<(), SettingsError> {
        self.lzma.check(Compressor::Xz)
    }

    pub(super) fn stored(dictionary: u32, filters: u32, block_size: u32) -> Option<Self> {
        let known = is_dictionary(dictionary)
            && dictionary <= whole_block(block_size)
            && filters >> FILTERS.len() == 0;
        let mut settings = Self::new(block_size);
        settings.lzma.dictionary = dictionary;
        settings.filters = filters;
        known.then_some(settings)
    }
}

impl fmt::Display for XzSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lzma.fmt(formatter)?;
        match self.filters {
            0 => Ok(()),
            bits => write!(formatter, " filters={}", listed(bits, &FILTERS)),
        }
    }
}
