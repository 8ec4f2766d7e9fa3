//! Dates as people write them: what git makes of `2.weeks.ago`, `last friday`, `noon`,
//! `2005-04-07 22:13:13 +0200` and of everything else.
//!
//! A text is read as an exact date first (`exact`), which has a day and a time of day. What is
//! none is gone through word by word (`rough`), each of which says something about a time that
//! starts as now. Both take all that they can use and pass over the rest.

mod exact;
mod fields;
mod names;
mod rough;
mod zone;

use bstr::{BStr, ByteSlice};
use zone::Zone;

/// The time that `text` means, in seconds since 1970; `None` if nothing in it means any.
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
    /// `now` or `all`: everything that is there has expired.
    Now,
    /// What is older has expired.
    Before(i64),
}

impl Expiry {
    /// What `text` says; `None` if it says nothing.
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
