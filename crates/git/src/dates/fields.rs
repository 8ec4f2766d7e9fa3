//! The known parts of a time.

/// Number of seconds in a day.
pub(super) const DAY_SECONDS: i64 = 24 * 3600;

/// Dates given by numbers alone are at most this far in the future.
const FUTURE_SECONDS: i64 = 10 * DAY_SECONDS;

#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    pub year: Option<i64>,
    /// Counted from 0.
    pub month: Option<i64>,
    pub day: Option<i64>,
    pub hour: Option<i64>,
    pub minute: Option<i64>,
    pub second: Option<i64>,
    /// Counted from Sunday, which is 0.
    pub weekday: i64,
}

impl Fields {
    /// The fields of a time in UTC.
    pub fn of_utc(seconds: i64) -> Self {
        let (days, rest) = (
            seconds.div_euclid(DAY_SECONDS),
            seconds.rem_euclid(DAY_SECONDS),
        );
        let (year, month, day) = date_of(days);
        Fields {
            year: Some(year),
            month: Some(month),
            day: Some(day),
            hour: Some(rest / 3600),
            minute: Some(rest / 60 % 60),
            second: Some(rest % 60),
            weekday: (days + 4).rem_euclid(7),
        }
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        let all = [self.year, self.month, self.day];
        let times = [self.hour, self.minute, self.second];
        all.iter().chain(&times).all(Option::is_none)
    }

    pub fn has_date(&self) -> bool {
        self.year.is_some() && self.month.is_some() && self.day.is_some()
    }

    /// Seconds since the start of 1970 on a clock that shows these fields, if all are known. Days
    /// and months that are too large carry over into the next ones.
    pub fn shown(&self) -> Option<i64> {
        let date = days_of(self.year?, self.month?, self.day?);
        Some(date * DAY_SECONDS + self.hour? * 3600 + self.minute? * 60 + self.second?)
    }

    /// Like [`Fields::shown`], but only for years for which git accepts exact dates.
    pub fn shown_exactly(&self) -> Option<i64> {
        let year = self.year.filter(|year| (1970..2100).contains(year));
        year.and(self.shown())
    }

    /// Sets the time of day. Returns false if it is not valid.
    pub fn set_time(&mut self, hour: i64, minute: i64, second: i64) -> bool {
        let is_one =
            (0..=24).contains(&hour) && (0..60).contains(&minute) && (0..=60).contains(&second);
        if is_one {
            self.hour = Some(hour);
            self.minute = Some(minute);
            self.second = Some(second);
        }
        is_one
    }

    /// Sets a date with a year of two or four digits. Returns whether it is valid. Month and day
    /// are set even if the year is not valid.
    pub fn set_date(&mut self, year: i64, month: i64, day: i64) -> bool {
        if !is_day(month, day) {
            return false;
        }
        self.month = Some(month - 1);
        self.day = Some(day);
        let year = full_year(year);
        if year.is_some() {
            self.year = year;
        }
        year.is_some()
    }

    /// Sets a date that is not far in the future; without a year, the year of `now` is used.
    /// Returns whether it is valid; if not, nothing is set.
    pub fn set_past_date(&mut self, year: Option<i64>, month: i64, day: i64, now: i64) -> bool {
        let given = match year {
            Some(year) => full_year(year),
            None => Fields::of_utc(now).year,
        };
        if !is_day(month, day) || given.is_none() {
            return false;
        }
        let candidate = Fields {
            year: given,
            month: Some(month - 1),
            day: Some(day),
            ..self.clone()
        };
        let is_future = |shown: i64| shown > now.saturating_add(FUTURE_SECONDS);
        if candidate.shown_exactly().is_some_and(is_future) {
            return false;
        }
        let before = self.year;
        *self = candidate;
        if year.is_none() {
            self.year = before;
        }
        true
    }
}

fn is_day(month: i64, day: i64) -> bool {
    (1..=12).contains(&month) && (1..=31).contains(&day)
}

/// The full year for a number of two or four digits.
fn full_year(year: i64) -> Option<i64> {
    match year {
        1970..2100 => Some(year),
        71..100 => Some(year + 1900),
        0..38 => Some(year + 2000),
        _ => None,
    }
}

/// Days from the start of 1970 to a date. Months and days may be out of range.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = (year + month.div_euclid(12), month.rem_euclid(12));
    // Years are counted from March, so that the leap day is their last.
    let (year, month) = match month {
        0 | 1 => (year - 1, month + 10),
        _ => (year, month - 2),
    };
    let leap = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let in_year = (month * 153 + 2) / 5 + day - 1;
    year * 365 + leap + in_year - 719_468
}

/// The year, the month (from 0) and the day of the month for a number of days since 1970.
fn date_of(days: i64) -> (i64, i64, i64) {
    // No year is longer than 366 days, and four centuries have a fixed length.
    let mut year = 1970 + days.div_euclid(146_097) * 400 + days.rem_euclid(146_097) / 366;
    while days_of(year + 1, 0, 1) <= days {
        year += 1;
    }
    let mut month = 11;
    while days_of(year, month, 1) > days {
        month -= 1;
    }
    (year, month, days - days_of(year, month, 1) + 1)
}
