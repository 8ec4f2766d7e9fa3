//! Formats numbers for people, and places them on an axis.

/// Above this maximum, an axis uses the square root, so that small numbers are visible beside large
/// ones; a logarithm could not show 0, which matters most.
const LINEAR_MAX: f64 = 100.0;

/// An axis from 0 to a maximum, with a length in pixels.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    max: f64,
    length: f64,
    is_root: bool,
}

impl Scale {
    /// An axis for times and small counts.
    pub fn linear(max: f64, length: f64) -> Self {
        Scale {
            max: max.max(1.0),
            length,
            is_root: false,
        }
    }

    /// An axis for counts of any size.
    pub fn counts(max: f64, length: f64) -> Self {
        Scale {
            is_root: max > LINEAR_MAX,
            ..Scale::linear(max, length)
        }
    }

    /// Whether the axis uses the square root.
    pub fn is_root(&self) -> bool {
        self.is_root
    }

    /// The distance of a value from the origin, in pixels.
    pub fn place(&self, value: f64) -> f64 {
        let share = (value / self.max).clamp(0.0, 1.0);
        if self.is_root {
            share.sqrt() * self.length
        } else {
            share * self.length
        }
    }

    /// Round values for labels, 0 first, at least `apart` pixels from each other.
    pub fn ticks(&self, apart: f64) -> Vec<f64> {
        if self.is_root {
            self.root_ticks(apart)
        } else {
            let step = round_up(self.max * apart / self.length);
            let count = (self.max / step * (1.0 + 1e-9)) as usize;
            (0..=count).map(|tick| tick as f64 * step).collect()
        }
    }

    fn root_ticks(&self, apart: f64) -> Vec<f64> {
        let mut ticks = vec![0.0];
        let mut value = round_up(1.0);
        while value <= self.max {
            let last = ticks.last().copied().unwrap_or(0.0);
            if self.place(value) - self.place(last) >= apart {
                ticks.push(value);
            }
            value = round_up(value * 1.5);
        }
        ticks
    }
}

/// The next value of 1, 2, 5, 10, 20, 50 and so on, and their fractions.
fn round_up(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    let fits = |step: &&f64| *step * power >= value * (1.0 - 1e-9);
    steps.iter().find(fits).copied().unwrap_or(10.0) * power
}

/// A time in seconds since 1970, as a date and a time of UTC.
pub fn date(seconds: u64) -> String {
    // A file may claim any time; four digits have room for years up to 9999.
    let seconds = seconds.min(253_402_300_799);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Counted in eras of 400 years from the first of March of the year 0, so that a leap day is the
    // last of its year.
    let day = days + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

/// Formats microseconds with a suitable unit.
pub fn duration(us: u64) -> String {
    let value = us as f64;
    match us {
        0..=999 => format!("{us} us"),
        1000..=999_999 => format!("{} ms", digits(value / 1e3)),
        _ => format!("{} s", digits(value / 1e6)),
    }
}

/// Formats with three digits, or all digits before the decimal point.
fn digits(value: f64) -> String {
    match value {
        0.0..9.995 => format!("{value:.2}"),
        9.995..99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Formats a count with thousands separators.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats an average: with a decimal if it is small.
pub fn quantity(value: f64) -> String {
    if value < 100.0 {
        format!("{value:.1}")
    } else {
        grouped(value.round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_apart() {
        let linear = Scale::linear(8.0, 100.0);
        assert_eq!(linear.ticks(20.0), [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(linear.place(4.0), 50.0);
        let root = Scale::counts(6400.0, 160.0);
        assert!(root.is_root());
        assert_eq!(root.place(1600.0), 80.0);
        assert_eq!(root.ticks(20.0), [0.0, 100.0, 500.0, 2000.0, 5000.0]);
    }

    #[test]
    fn any_maximum_has_ticks() {
        for max in [0.0, 1.0, 7.0, 99.0, 101.0, 1e6, 1.8e19] {
            let ticks = Scale::counts(max, 150.0).ticks(20.0);
            assert!(ticks.len() < 10 && ticks[0] == 0.0, "{max}: {ticks:?}");
        }
        let time = Scale::linear(123_456.0, 800.0).ticks(80.0);
        assert_eq!(time[1], 20_000.0);
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, words) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_399, "2000-02-28 23:59 UTC"),
            (951_868_800, "2000-03-01 00:00 UTC"),
            (1_709_164_800, "2024-02-29 00:00 UTC"),
            (1_735_689_599, "2024-12-31 23:59 UTC"),
            (u64::MAX, "9999-12-31 23:59 UTC"),
        ] {
            assert_eq!(date(seconds), words);
        }
    }

    #[test]
    fn numbers_read_well() {
        let shown = [0, 999, 1000, 12_345, 999_999, 2_500_000, 99_960_000].map(duration);
        let expected = [
            "0 us", "999 us", "1.00 ms", "12.3 ms", "1000 ms", "2.50 s", "100 s",
        ];
        assert_eq!(shown, expected);
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(
            (quantity(3.26), quantity(1234.5)),
            ("3.3".into(), "1,235".into())
        );
    }
}
