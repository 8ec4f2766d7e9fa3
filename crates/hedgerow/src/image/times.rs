//! Times as options of squashfs-tools give them, and as its listings show them.

use super::{Kind, Time};
use hedgerow_fs::{Exit, Process};
use std::ffi::OsStr;
use std::io::Read;

/// Maximum length of what date(1) prints, in bytes.
const DATE_BYTES: u64 = 64;
const SECONDS_PER_DAY: i64 = 86_400;

/// The value of `SOURCE_DATE_EPOCH`, in seconds since 1970, for an image of this kind.
///
/// # Errors
/// It is no number of seconds, or a time that the format does not hold: an image without it could not
/// be reproduced.
pub fn source_date_epoch(word: &OsStr, kind: Kind) -> Result<i64, String> {
    let (format, last) = match kind {
        Kind::SquashFs => ("SquashFS", i64::from(u32::MAX)),
        Kind::Erofs => ("EROFS", i64::MAX),
    };
    let is_number = word.as_encoded_bytes().iter().all(u8::is_ascii_digit);
    let digits = word.to_str().filter(|_| is_number);
    let reason = match digits.map(str::parse) {
        Some(Ok(epoch)) if epoch <= last => return Ok(epoch),
        Some(_) if !word.is_empty() => format!("{format} holds no time after {last}"),
        _ => "it is not a number of seconds since 1970".into(),
    };
    let shown = word.to_string_lossy();
    Err(format!("cannot use SOURCE_DATE_EPOCH '{shown}': {reason}"))
}

impl Time {
    /// Parses seconds since 1970, `inode` for the time of the newest entry, or, as squashfs-tools
    /// 4.7, whatever date(1) understands.
    ///
    /// # Errors
    /// The word is none of these, the time is not from 1970 to February 2106, or date(1) cannot be
    /// run.
    pub fn parse(word: &str) -> Result<Time, String> {
        if word == "inode" {
            return Ok(Time::Newest);
        }
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        let seconds = if is_number {
            Some(word.to_owned())
        } else {
            seconds_of(word)?
        };
        let seconds = seconds.and_then(|text| text.trim_end().parse().ok());
        seconds.map(Time::At).ok_or_else(|| {
            format!(
                "'{word}' is neither 'inode' nor a time from 1970 to February 2106: seconds \
                 since 1970, or a date that date(1) understands"
            )
        })
    }
}

/// The options of mksquashfs about the times of an image and of its entries.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimeOptions<'o> {
    /// `-repro`: the image has the time of the newest entry.
    pub repro: bool,
    /// `-mkfs-time`: the time of the image.
    pub image: Option<&'o str>,
    /// `-inode-time`: the time of all entries.
    pub entries: Option<&'o str>,
    /// `-repro-time`: the time of both.
    pub both: Option<&'o str>,
}

impl TimeOptions<'_> {
    /// The time of the image and that of all entries.
    ///
    /// # Errors
    /// A word is no time, see [`Time::parse`], or two options set different times.
    pub fn times(self) -> Result<(Option<Time>, Option<Time>), String> {
        let time = |word: Option<&str>| word.map(Time::parse).transpose();
        let (image, entries) = (time(self.image)?, time(self.entries)?);
        let both = time(self.both)?;
        let differs = |time: Option<Time>, other: Option<Time>| {
            time.is_some_and(|time| other.is_some_and(|other| other != time))
        };
        let repro = self.repro.then_some(Time::Newest);
        for (first, second, names) in [
            (repro, image, "-repro and -mkfs-time"),
            (repro, both, "-repro and -repro-time"),
            (both, image, "-repro-time and -mkfs-time"),
            (both, entries, "-repro-time and -inode-time"),
        ] {
            if differs(first, second) {
                return Err(format!(
                    "{names} set different times: leave one of them out"
                ));
            }
        }
        Ok((image.or(both), entries.or(both)))
    }
}

/// The seconds since 1970 that date(1) prints for a date; `None` if it does not understand it.
fn seconds_of(word: &str) -> Result<Option<String>, String> {
    let program = Process {
        program: "date".into(),
        arguments: vec!["-d".into(), word.into(), "+%s".into()],
        ..Process::default()
    };
    let mut seconds = String::new();
    let answer = program.ask(b"", &mut |output| {
        let mut output = output.take(DATE_BYTES);
        output.read_to_string(&mut seconds).map(drop)
    });
    let answer = answer.map_err(|error| error.to_string())?;
    Ok((answer.exit == Exit::Status(0)).then_some(seconds))
}

/// A time in the form of ctime(3).
pub fn long_time(seconds: i64, utc: bool) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let offset = if utc {
        0
    } else {
        hedgerow_fs::local_offset(seconds).seconds
    };
    let local = seconds.saturating_add(offset);
    let days = local.div_euclid(SECONDS_PER_DAY);
    let ((year, month, day), (hour, minute, second)) = calendar(local);
    let weekday = DAYS
        .get(days.rem_euclid(7) as usize)
        .copied()
        .unwrap_or_default();
    let month = MONTHS.get(month as usize - 1).copied().unwrap_or_default();
    format!("{weekday} {month} {day:>2} {hour:02}:{minute:02}:{second:02} {year}")
}

/// Year, month and day, and hour, minute and second, from the seconds since 1970 in some time zone.
pub fn calendar(seconds: i64) -> ((i64, i64, i64), (i64, i64, i64)) {
    let second = seconds.rem_euclid(SECONDS_PER_DAY);
    (
        date(seconds.div_euclid(SECONDS_PER_DAY)),
        (second / 3600, second / 60 % 60, second % 60),
    )
}

/// Year, month and day, from the days since 1970.
fn date(days: i64) -> (i64, i64, i64) {
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let (mut year, mut rest) = (
        1970 + days.div_euclid(146_097) * 400,
        days.rem_euclid(146_097),
    );
    while rest >= 365 + i64::from(is_leap(year)) {
        rest -= 365 + i64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + i64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if rest < length {
            break;
        }
        rest -= length;
        month += 1;
    }
    (year, month, rest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_dates_and_the_newest_are_times() {
        for (word, expected) in [
            ("inode", Some(Time::Newest)),
            ("0", Some(Time::At(0))),
            ("4294967295", Some(Time::At(u32::MAX))),
            ("4294967296", None),
            ("1970-01-02 00:00 UTC", Some(Time::At(86_400))),
            ("1969-12-31 UTC", None),
            ("no such date", None),
        ] {
            assert_eq!(Time::parse(word).ok(), expected, "{word}");
        }
    }

    #[test]
    fn times_of_different_options_must_agree() {
        let with = |repro, image, entries, both| TimeOptions {
            repro,
            image,
            entries,
            both,
        };
        let at = |seconds| Some(Time::At(seconds));
        for (options, expected) in [
            (with(false, None, None, None), Some((None, None))),
            (with(true, None, Some("6"), None), Some((None, at(6)))),
            (
                with(true, Some("inode"), None, None),
                Some((Some(Time::Newest), None)),
            ),
            (
                with(false, Some("5"), Some("6"), None),
                Some((at(5), at(6))),
            ),
            (
                with(false, Some("5"), Some("5"), Some("5")),
                Some((at(5), at(5))),
            ),
            (with(false, None, None, Some("5")), Some((at(5), at(5)))),
            (with(true, Some("5"), None, None), None),
            (with(true, None, None, Some("5")), None),
            (with(false, Some("6"), None, Some("5")), None),
            (with(false, Some("inode"), None, Some("5")), None),
            (with(false, None, Some("6"), Some("5")), None),
            (with(false, None, Some("never"), None), None),
        ] {
            assert_eq!(options.times().ok(), expected, "{options:?}");
        }
    }

    #[test]
    fn leap_days_are_days() {
        assert_eq!(calendar(951_782_400), ((2000, 2, 29), (0, 0, 0)));
        assert_eq!(calendar(-1), ((1969, 12, 31), (23, 59, 59)));
        assert_eq!(long_time(0, true), "Thu Jan  1 00:00:00 1970");
    }
}
