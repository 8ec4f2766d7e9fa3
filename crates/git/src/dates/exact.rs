//! Dates with a day and a time of day: ISO 8601, RFC 2822 and the like, and seconds since 1970.

use super::fields::Fields;
use super::names::{find, is_digit, is_word, matched, number, MONTHS, WEEKDAYS, ZONES};
use super::zone::Zone;

/// Numbers from here on are seconds since 1970, if nothing precedes them.
const LEAST_SECONDS: i64 = 100_000_000;
/// The last second before the year 2100.
const LAST_SECONDS: i64 = 4_102_444_799;

/// A time with the offset from UTC that it was given with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Seconds since 1970.
    pub seconds: i64,
    /// Minutes east of UTC: what the text says, or local time.
    pub offset_minutes: i64,
}

/// The time that `text` says, as git's `parse_date` reads it; `None` if a part is missing.
pub(super) fn parse(text: &[u8], now: i64, zone: &Zone) -> Option<Stamp> {
    let plain = text.strip_prefix(b"@").and_then(raw);
    if plain.is_some() {
        return plain;
    }
    let mut date = Exact {
        fields: Fields::default(),
        offset_minutes: None,
        is_utc: false,
        now,
    };
    let mut rest = text;
    while let Some(first) = rest.first().filter(|byte| **byte != b'\n') {
        let taken = match first {
            b'a'..=b'z' | b'A'..=b'Z' => date.word(rest),
            b'0'..=b'9' => date.number(rest),
            b'+' | b'-' if is_digit(rest, 1) => date.offset(rest),
            _ => 1,
        };
        rest = rest.get(taken.max(1)..).unwrap_or_default();
    }
    let shown = date.fields.shown_exactly()?;
    let local = || (shown - zone.seconds(shown, None)) / 60;
    let offset_minutes = date.offset_minutes.unwrap_or_else(local);
    let seconds = if date.is_utc {
        shown
    } else {
        shown - offset_minutes * 60
    };
    let stamp = Stamp {
        seconds,
        offset_minutes,
    };
    (date.is_utc || (0..=LAST_SECONDS).contains(&seconds)).then_some(stamp)
}

/// Seconds since 1970 with an offset, as objects have them.
fn raw(text: &[u8]) -> Option<Stamp> {
    let (seconds, length) = number(text);
    let rest = text.get(length..)?.strip_prefix(b" ")?;
    let (is_west, rest) = match rest.split_first()? {
        (b'+', rest) => (false, rest),
        (b'-', rest) => (true, rest),
        _ => return None,
    };
    let (offset, digits) = number(rest);
    let is_end = rest.get(4).is_none_or(|byte| *byte == b'\n');
    let minutes = offset / 100 * 60 + offset % 100;
    let stamp = Stamp {
        seconds,
        offset_minutes: if is_west { -minutes } else { minutes },
    };
    (length > 0 && digits == 4 && is_end && seconds < i64::MAX).then_some(stamp)
}

struct Exact {
    fields: Fields,
    offset_minutes: Option<i64>,
    /// Whether the time was given in seconds since 1970.
    is_utc: bool,
    now: i64,
}

impl Exact {
    /// Consumes the word at the start of `text`. Returns its length in bytes.
    fn word(&mut self, text: &[u8]) -> usize {
        if let Some((month, length)) = find(text, &MONTHS) {
            self.fields.month = Some(month);
            return length;
        }
        if let Some((_, length)) = find(text, &WEEKDAYS) {
            return length;
        }
        let zone = ZONES.iter().find_map(|(name, hours)| {
            let length = matched(text, name);
            (length >= 3 || length == name.len()).then_some((hours * 60, length))
        });
        if let Some((minutes, length)) = zone {
            self.offset_minutes.get_or_insert(minutes);
            return length;
        }
        for (name, hours) in [("AM", 0), ("PM", 12)] {
            if is_word(text, name) {
                // Without an hour, the result lies before the day.
                let hour = self.fields.hour.unwrap_or(-1) % 12 + hours;
                self.fields.hour = (hour >= 0).then_some(hour);
                return name.len();
            }
        }
        if text.first() == Some(&b'T') && is_digit(text, 1) && self.fields.hour.is_none() {
            // A time may follow, with or without minutes.
            self.fields.minute = Some(0);
            self.fields.second = Some(0);
            return 1;
        }
        text.iter()
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count()
    }

    /// Consumes the number at the start of `text`, and the numbers joined to it by separators of
    /// dates or times. Returns the length in bytes.
    fn number(&mut self, text: &[u8]) -> usize {
        let (value, length) = number(text);
        if value >= LEAST_SECONDS && self.fields.is_empty() {
            self.fields = Fields::of_utc(value);
            self.is_utc = true;
            return length;
        }
        if let Some(taken) = separated(&mut self.fields, text, self.now) {
            return taken;
        }
        let thirds = (value / 10_000, value / 100 % 100, value % 100);
        match length {
            8 => {
                self.fields.set_date(thirds.0, thirds.1, thirds.2);
                return length;
            }
            6 => {
                let is_time = self.fields.set_time(thirds.0, thirds.1, thirds.2);
                return if is_time {
                    length + fraction(text, length)
                } else {
                    length
                };
            }
            _ => {}
        }
        if !self.short_time(value, length) {
            self.lone(value, length);
        }
        length
    }

    /// Consumes hours, or hours and minutes, after a `T`.
    fn short_time(&mut self, value: i64, length: usize) -> bool {
        let Fields {
            hour: None,
            minute: Some(0),
            second: Some(0),
            ..
        } = self.fields
        else {
            return false;
        };
        let (hour, minute) = match length {
            4 => (value / 100, value % 100),
            _ => (value, 0),
        };
        if matches!(length, 2 | 4) && self.fields.set_time(hour, minute, 0) {
            return true;
        }
        (self.fields.minute, self.fields.second) = (None, None);
        false
    }

    /// Consumes a single number: a year, an offset, a day or a month, depending on its digits.
    fn lone(&mut self, value: i64, length: usize) {
        let fields = &mut self.fields;
        match (length, value) {
            (4, 0..=1400) if self.offset_minutes.is_none() => {
                self.offset_minutes = Some(value / 100 * 60 + value % 100);
            }
            (4, 1901..2100) => fields.year = Some(value),
            (3.., _) => {}
            (_, 1..32) if fields.day.is_none() => fields.day = Some(value),
            (2, 0..10) if fields.year.is_none() && fields.day.is_some() => {
                fields.year = Some(value + 2000);
            }
            (2, 70..) if fields.year.is_none() => fields.year = Some(value + 1900),
            (_, 1..13) if fields.month.is_none() => fields.month = Some(value - 1),
            _ => {}
        }
    }

    /// Consumes an offset from UTC: `+hhmm`, `+hh:mm` or `+hh`. Returns its length in bytes.
    fn offset(&mut self, text: &[u8]) -> usize {
        let digits = text.get(1..).unwrap_or_default();
        let (value, length) = number(digits);
        let mut taken = 1 + length;
        let (hours, minutes) = match length {
            4 => (value / 100, Some(value % 100)),
            2 if digits.get(2) == Some(&b':') => {
                let (minutes, more) = number(digits.get(3..).unwrap_or_default());
                taken += 1 + more;
                (value, (more == 2).then_some(minutes))
            }
            2 => (value, Some(0)),
            _ => (value, None),
        };
        if let Some(minutes) = minutes.filter(|minutes| *minutes < 60 && hours < 24) {
            let sum = hours * 60 + minutes;
            let is_west = text.first() == Some(&b'-');
            self.offset_minutes = Some(if is_west { -sum } else { sum });
        }
        taken
    }
}

/// Consumes two or three numbers separated by one of `:-/.` as a time or a date, if valid. Returns
/// the length in bytes.
pub(super) fn separated(fields: &mut Fields, text: &[u8], now: i64) -> Option<usize> {
    let (first, length) = number(text);
    let separator = *text.get(length).filter(|byte| b":-/.".contains(byte))?;
    if !is_digit(text, length + 1) {
        return None;
    }
    let (second, more) = number(text.get(length + 1..)?);
    let mut end = length + 1 + more;
    let mut third = None;
    if text.get(end) == Some(&separator) && is_digit(text, end + 1) {
        let (value, more) = number(text.get(end + 1..)?);
        third = Some(value);
        end += 1 + more;
    }
    if separator == b':' {
        let is_time = fields.set_time(first, second, third.unwrap_or(0));
        let has_fraction = is_time && fields.has_date();
        return is_time.then(|| end + if has_fraction { fraction(text, end) } else { 0 });
    }
    let last = third.unwrap_or(-1);
    let is_year_first = first > 70
        && (fields.set_date(first, second, last) || fields.set_date(first, last, second));
    let mut past = |month, day| fields.set_past_date(third, month, day, now);
    let is_date = is_year_first
        || separator != b'.' && past(first, second)
        || past(second, first)
        || separator == b'.' && past(first, second);
    is_date.then_some(end)
}

/// Length of a fraction of a second at `at`, which is ignored, in bytes.
fn fraction(text: &[u8], at: usize) -> usize {
    if text.get(at) == Some(&b'.') && is_digit(text, at + 1) {
        1 + number(text.get(at + 1..).unwrap_or_default()).1
    } else {
        0
    }
}
