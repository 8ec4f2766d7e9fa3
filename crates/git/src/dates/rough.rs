//! Dates in words: each word moves a time that starts as now, or gives a meaning to the preceding
//! number.

use super::exact::separated;
use super::fields::{Fields, DAY_SECONDS};
use super::names::{find, is_word, matched, number, MONTHS, NUMBERS, UNITS, WEEKDAYS};
use super::zone::Zone;
use hedgerow_fs::LocalOffset;

/// Larger numbers are replaced by this: no time is that far away.
const LARGEST: i64 = i32::MAX as i64;

/// The time given by `text`, in seconds since 1970; `None` if nothing is understood.
pub(super) fn parse(text: &[u8], now: i64, zone: &Zone) -> Option<i64> {
    let local = zone.fields(now);
    let mut date = Rough {
        fields: Fields {
            year: None,
            month: None,
            day: None,
            ..local.clone()
        },
        is_day_before: false,
        number: 0,
        now,
        local,
        offset: zone.offset_at(now),
        zone,
    };
    let mut is_any = false;
    let mut rest = text;
    while let Some(first) = rest.first() {
        let taken = match first {
            b'0'..=b'9' => {
                is_any = true;
                date.number(rest)
            }
            b'a'..=b'z' | b'A'..=b'Z' => {
                is_any |= date.word(rest);
                rest.iter()
                    .take_while(|byte| byte.is_ascii_alphabetic())
                    .count()
            }
            _ => 1,
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    date.place_number();
    is_any.then(|| date.settle(0))
}

struct Rough<'z> {
    /// The time of day is always known, the date only if given.
    fields: Fields,
    /// Whether an unknown day means yesterday instead of today.
    is_day_before: bool,
    /// The pending number that the next word refers to; 0 if there is none.
    number: i64,
    now: i64,
    local: Fields,
    offset: LocalOffset,
    zone: &'z Zone,
}

impl Rough<'_> {
    /// Fills in the unknown parts of the date and goes back by `back_seconds`. Returns the time.
    fn settle(&mut self, back_seconds: i64) -> i64 {
        let mut back_seconds = back_seconds;
        let fields = &mut self.fields;
        if fields.day.is_none() {
            if back_seconds == 0 && self.is_day_before {
                back_seconds = DAY_SECONDS;
            }
            fields.day = self.local.day;
        }
        let month = *fields.month.get_or_insert(self.local.month.unwrap_or(0));
        if fields.year.is_none() {
            let is_last_year = self.local.month.is_some_and(|now| month > now);
            fields.year = self.local.year.map(|year| year - i64::from(is_last_year));
        }
        let shown = fields.shown().unwrap_or(self.now);
        let seconds = self.zone.seconds(shown, Some(self.offset));
        let seconds = seconds.saturating_sub(back_seconds);
        self.offset = self.zone.offset_at(seconds);
        self.fields = self.zone.fields(seconds);
        self.is_day_before = false;
        seconds
    }

    /// Uses a pending number without a word as a day, a month or a year.
    fn place_number(&mut self) {
        let fields = &mut self.fields;
        match std::mem::take(&mut self.number) {
            0 => {}
            day @ ..32 if fields.day.is_none() => fields.day = Some(day),
            month @ ..13 if fields.month.is_none() => fields.month = Some(month - 1),
            number if fields.year.is_none() => match number {
                1970..2100 => fields.year = Some(number),
                70..100 => fields.year = Some(number + 1900),
                ..38 => fields.year = Some(number + 2000),
                _ => {}
            },
            _ => {}
        }
    }

    /// Consumes the number at the start of `text`. Returns its length in bytes.
    fn number(&mut self, text: &[u8]) -> usize {
        self.place_number();
        if let Some(taken) = separated(&mut self.fields, text, self.now) {
            return taken;
        }
        let (value, length) = number(text);
        if text.first() != Some(&b'0') || length <= 2 {
            self.number = value.min(LARGEST);
        }
        length
    }

    /// Interprets the word at the start of `text`. Returns whether it is understood.
    fn word(&mut self, text: &[u8]) -> bool {
        if let Some((month, _)) = find(text, &MONTHS) {
            self.fields.month = Some(month);
            return true;
        }
        if self.moment(text) {
            return true;
        }
        if self.number == 0 {
            let counted = NUMBERS.iter().zip(1..);
            let mut counted = counted.chain([(&"last", 1)]);
            let found = counted.find(|(name, _)| is_word(text, name));
            self.number = found.map_or(0, |(_, number)| number);
            return found.is_some();
        }
        self.unit(text)
    }

    /// Interprets a word for a time or a day.
    fn moment(&mut self, text: &[u8]) -> bool {
        let is = |name| is_word(text, name);
        if is("yesterday") {
            self.number = 0;
            self.fields.day = None;
            self.settle(DAY_SECONDS);
        } else if is("midnight") || is("noon") || is("tea") {
            self.place_number();
            self.last_time(if is("tea") {
                17
            } else if is("noon") {
                12
            } else {
                0
            });
        } else if is("PM") {
            self.half_day(12);
        } else if is("AM") {
            self.half_day(0);
        } else if is("never") {
            self.number = 0;
            self.offset = self.zone.offset_at(0);
            self.fields = self.zone.fields(0);
        } else if is("now") {
            self.number = 0;
            self.settle(0);
        } else if is("today") {
            let time = |fields: &Fields| (fields.hour, fields.minute, fields.second);
            if time(&self.fields) == time(&self.local) {
                self.last_time(0);
            }
            self.number = 0;
            self.fields.day = None;
            self.is_day_before = false;
            self.settle(0);
        } else {
            return false;
        }
        true
    }

    /// Sets the hour `hour`, on the previous day if it is still to come today and no day was given.
    fn last_time(&mut self, hour: i64) {
        let is_to_come = self.fields.hour.is_some_and(|now| now < hour);
        self.is_day_before |= self.fields.day.is_none() && is_to_come;
        self.fields.set_time(hour, 0, 0);
    }

    /// The pending number is an hour in the half of the day that starts at `start`.
    fn half_day(&mut self, start: i64) {
        let mut hour = self.fields.hour.unwrap_or(0);
        let number = std::mem::take(&mut self.number);
        if number != 0 {
            hour = number;
            (self.fields.minute, self.fields.second) = (Some(0), Some(0));
        }
        self.fields.hour = Some(hour % 12 + start);
    }

    /// Interprets a word as the unit of the pending number.
    fn unit(&mut self, text: &[u8]) -> bool {
        // The plural `s` is optional.
        let is = |name: &str| matched(text, name) >= name.len() - 1;
        if let Some((_, seconds)) = UNITS.iter().find(|(name, _)| is(name)) {
            let back = self.number.saturating_mul(*seconds);
            self.settle(back);
        } else if let Some((weekday, _)) = find(text, &WEEKDAYS) {
            let days = self.fields.weekday - weekday;
            let weeks = self.number - i64::from(days > 0);
            self.settle(
                days.saturating_add(weeks.saturating_mul(7))
                    .saturating_mul(DAY_SECONDS),
            );
        } else if is("months") || is("years") {
            self.settle(0);
            let months = if is("months") {
                self.number
            } else {
                self.number.saturating_mul(12)
            };
            let year = self.fields.year.unwrap_or(1970);
            let month = self.fields.month.unwrap_or(0).saturating_sub(months);
            self.fields.year = Some(year.saturating_add(month.div_euclid(12)));
            self.fields.month = Some(month.rem_euclid(12));
        } else {
            return false;
        }
        self.number = 0;
        true
    }
}
