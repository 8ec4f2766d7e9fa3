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

/// The date of a signature, as `GIT_COMMITTER_DATE` gives it: seconds since 1970, and minutes east of
/// UTC. `None` unless `text` has a day and a time of day; words such as `yesterday` are no such date.
pub fn signature_date(text: &BStr) -> Option<(i64, i64)> {
    let zone = Zone::Local;
    let stamp = exact::parse(text.as_bytes(), zone.now(), &zone)?;
    Some((stamp.seconds, stamp.offset_minutes))
}

/// The time before which something has expired, in seconds since 1970, as git's options and
/// settings have it: [`date_seconds`], or a word.
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
    match exact::parse(text, now, zone) {
        Some(stamp) => Some(stamp.seconds),
        None => rough::parse(text, now, zone),
    }
}

#[cfg(test)]
mod tests;
