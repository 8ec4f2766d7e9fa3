//! Local time.

use super::fields::Fields;
use jiff::tz::{Dst, TimeZone};
use jiff::{Timestamp, Zoned};

/// A time zone.
#[derive(Debug)]
pub(super) struct Zone(TimeZone);

/// How local time differs from UTC at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offset {
    pub seconds: i64,
    pub is_summer: bool,
}

impl Zone {
    /// That of the system.
    pub fn local() -> Self {
        Zone(Zoned::now().time_zone().clone())
    }

    #[cfg(test)]
    pub fn utc() -> Self {
        Zone(TimeZone::UTC)
    }

    /// Seconds since 1970.
    pub fn now(&self) -> i64 {
        Timestamp::now().as_second()
    }

    pub fn offset_at(&self, seconds: i64) -> Offset {
        let utc = Offset {
            seconds: 0,
            is_summer: false,
        };
        Timestamp::from_second(seconds).map_or(utc, |time| {
            let info = self.0.to_offset_info(time);
            Offset {
                seconds: info.offset().seconds().into(),
                is_summer: info.dst() == Dst::Yes,
            }
        })
    }

    /// The local time at `seconds`.
    pub fn fields(&self, seconds: i64) -> Fields {
        Fields::of_utc(seconds.saturating_add(self.offset_at(seconds).seconds))
    }

    /// When local clocks show what is `shown` seconds after the start of 1970. If `like` says so,
    /// that is of summer time, or not, even where it is not in use.
    pub fn seconds(&self, shown: i64, like: Option<Offset>) -> i64 {
        let before = |offset: Offset| shown.saturating_sub(offset.seconds);
        let guess = before(self.offset_at(shown));
        let offset = self.offset_at(guess);
        match like {
            Some(like) if like.is_summer != offset.is_summer => before(like),
            _ => before(offset),
        }
    }
}
