use super::SettingsError;
use crate::block::Compressor;
use hedgerow_numbers::size_bytes;
use std::ops::RangeInclusive;

/// An option as given on the command line.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyValue<'a> {
    pub(super) compressor: Compressor,
    pub(super) key: &'a str,
    pub(super) value: Option<&'a str>,
}

impl<'a> KeyValue<'a> {
    /// The value as a decimal number in `range`.
    pub(super) fn number(self, range: RangeInclusive<u32>) -> Result<u32, SettingsError> {
        let number = self.value.and_then(decimal);
        number
            .filter(|number| range.contains(number))
            .ok_or_else(|| self.bad(format!("{} to {}", range.start(), range.end())))
    }

    /// The value as a boolean; a key without a value means true.
    pub(super) fn switch(self) -> Result<bool, SettingsError> {
        match self.value {
            None | Some("true" | "yes" | "on" | "1") => Ok(true),
            Some("false" | "no" | "off" | "0") => Ok(false),
            Some(_) => Err(self.bad("true or false")),
        }
    }

    /// The value as one of a few words.
    pub(super) fn choice<T: Copy>(self, words: &[(&str, T)]) -> Result<T, SettingsError> {
        self.word(self.value.unwrap_or_default(), words)
    }

    /// The value as words separated by commas.
    pub(super) fn choices<T: Copy>(self, words: &[(&str, T)]) -> Result<Vec<T>, SettingsError> {
        let given = self.value.unwrap_or_default().split(',');
        given.map(|word| self.word(word, words)).collect()
    }

    fn word<T: Copy>(self, given: &str, words: &[(&str, T)]) -> Result<T, SettingsError> {
        let found = words.iter().find(|(word, _)| *word == given);
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            self.bad(words.join(", "))
        })
    }

    /// The value as a number of bytes with an optional suffix `K` or `M`, or as a percentage of the
    /// block size.
    pub(super) fn bytes(self, block_size: u32) -> Option<u32> {
        let value = self.value?;
        if let Some(percent) = value.strip_suffix('%') {
            // Tenths of a percent are allowed: 37.5 % gives a valid dictionary size.
            let tenths = match percent.split_once('.') {
                Some((whole, tenth)) if tenth.len() == 1 => decimal(whole)?
                    .checked_mul(10)?
                    .checked_add(decimal(tenth)?)?,
                Some(_) => return None,
                None => decimal(percent)?.checked_mul(10)?,
            };
            let bytes = u64::from(block_size) * u64::from(tenths) / 1000;
            return u32::try_from(bytes).ok();
        }
        u32::try_from(size_bytes(value.as_bytes())?).ok()
    }

    pub(super) fn bad(self, allowed: impl Into<String>) -> SettingsError {
        SettingsError::BadValue {
            compressor: self.compressor,
            key: self.key.to_owned(),
            value: self.value.unwrap_or_default().to_owned(),
            allowed: allowed.into(),
        }
    }

    pub(super) fn unknown(self, allowed: &'static str) -> SettingsError {
        SettingsError::UnknownKey {
            compressor: self.compressor,
            key: self.key.to_owned(),
            allowed,
        }
    }
}

/// Accepts only digits: `parse` alone would accept a sign.
fn decimal(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// The words of a bit set, separated by commas, in the order of `words`.
pub(super) fn listed(bits: u32, words: &[(&str, u32)]) -> String {
    let set = words.iter().filter(|(_, bit)| bits & bit != 0);
    set.map(|(word, _)| *word).collect::<Vec<_>>().join(",")
}
