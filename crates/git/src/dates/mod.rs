//! Dates as people write them, interpreted like git: `2.weeks.ago`, `last friday`, `noon`,
//! `2005-04-07 22:13:13 +0200` and everything else.
//!
//! A text is first parsed as an exact date (`exact`), which has a day and a time of day. Otherwise
//! it is parsed word by word (`rough`); each word modifies a time that starts as now. Both use what
//! they understand and skip the rest.

mod exact;
mod fields;
mod names;
mod rough;
mod zone;

use bstr::{BStr, ByteSlice};
use zone::Zone;

/// The time that `text` means, in seconds since 1970; `None` if nothing in it is understood.
pub fn date_seconds(text: &BStr) -> Option<i64> {
    let zone = Zone::Local;
    seconds_at(text, zone.now(), &zone)
}

/// The time before which something has expired, in seconds since 1970, as in git's options and
/// settings: [`date_seconds`], or a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// `never` or `false`: nothing expires.
    Never,
    /// `now` or `all`: everything has expired.
    Now,
    /// Everything older has expired.
    Before(i64),
}

impl Expiry {
    /// Parses `text`; `None` if it is not understood.
    pub fn parse(text: &BStr) -> Option<Self> {
        match text.as_bytes() {
            b"never" | b"false" => Some(Expiry::Never),
            b"now" | b"all" => Some(Expiry::Now),
            _ => date_seconds(text).map(Expiry::Before),
        }
    }
}

fn seconds_at(text: &BStr, now: i64, zone: &Zone) -> Option<i64> {
    let text = text.as_bytes();
    exact::parse(text, now, zone).or_else(|| rough::parse(text, now, zone))
}

#[cfg(test)]
mod tests;
