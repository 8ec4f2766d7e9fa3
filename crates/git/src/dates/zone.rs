//! Local time.

use super::fields::Fields;
use hedgerow_fs::{local_offset, LocalOffset};

/// A time zone.
#[derive(Debug)]
pub(super) enum Zone {
    /// The system's time zone.
    Local,
    #[cfg(test)]
    Utc,
}

impl Zone {
    /// The current time in seconds since 1970.
    pub fn now(&self) -> i64 {
        hedgerow_fs::file_time().seconds
    }

    pub fn offset_at(&self, seconds: i64) -> LocalOffset {
        match self {
            Zone::Local => local_offset(seconds),
            #[cfg(test)]
            Zone::Utc => LocalOffset {
                seconds: 0,
                is_summer: false,
            },
        }
    }

    /// The local time at `seconds`.
    pub fn fields(&self, seconds: i64) -> Fields {
        Fields::of_utc(seconds.saturating_add(self.offset_at(seconds).seconds))
    }

    /// The time at which local clocks show `shown` seconds after the start of 1970. `like` tells
    /// whether that is summer time, even if it is not in use then.
    pub fn seconds(&self, shown: i64, like: Option<LocalOffset>) -> i64 {
        let before = |offset: LocalOffset| shown.saturating_sub(offset.seconds);
        let guess = before(self.offset_at(shown));
        let offset = self.offset_at(guess);
        match like {
            Some(like) if like.is_summer != offset.is_summer => before(like),
            _ => before(offset),
        }
    }
}
