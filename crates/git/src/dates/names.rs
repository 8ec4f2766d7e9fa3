//! The words used in dates.

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

pub(super) const WEEKDAYS: [&str; 7] = [
    "Sundays",
    "Mondays",
    "Tuesdays",
    "Wednesdays",
    "Thursdays",
    "Fridays",
    "Saturdays",
];

pub(super) const NUMBERS: [&str; 10] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
];

/// Units of a fixed length, in seconds.
pub(super) const UNITS: [(&str, i64); 5] = [
    ("seconds", 1),
    ("minutes", 60),
    ("hours", 3600),
    ("days", 24 * 3600),
    ("weeks", 7 * 24 * 3600),
];

/// Offsets from UTC in hours, including the summer-time hour for names of summer time.
pub(super) const ZONES: [(&str, i64); 44] = [
    ("IDLW", -12),
    ("NT", -11),
    ("CAT", -10),
    ("HST", -10),
    ("HDT", -9),
    ("YST", -9),
    ("YDT", -8),
    ("PST", -8),
    ("PDT", -7),
    ("MST", -7),
    ("MDT", -6),
    ("CST", -6),
    ("CDT", -5),
    ("EST", -5),
    ("EDT", -4),
    ("AST", -3),
    ("ADT", -2),
    ("WAT", -1),
    ("GMT", 0),
    ("UTC", 0),
    ("Z", 0),
    ("WET", 0),
    ("BST", 1),
    ("CET", 1),
    ("MET", 1),
    ("MEWT", 1),
    ("MEST", 2),
    ("CEST", 2),
    ("MESZ", 2),
    ("FWT", 1),
    ("FST", 2),
    ("EET", 2),
    ("EEST", 3),
    ("WAST", 7),
    ("WADT", 8),
    ("CCT", 8),
    ("JST", 9),
    ("EAST", 10),
    ("EADT", 11),
    ("GST", 10),
    ("NZT", 12),
    ("NZST", 12),
    ("NZDT", 13),
    ("IDLE", 12),
];

/// Number of letters at the start of `text` that match the beginning of `name`, ignoring case, if
/// the word ends there (neither a letter nor a digit follows); otherwise 0.
pub(super) fn matched(text: &[u8], name: &str) -> usize {
    let end = text.iter().position(|byte| !byte.is_ascii_alphanumeric());
    let word = text.get(..end.unwrap_or(text.len())).unwrap_or_default();
    let start = name.as_bytes().get(..word.len());
    if start.is_some_and(|start| start.eq_ignore_ascii_case(word)) {
        word.len()
    } else {
        0
    }
}

/// Whether `text` starts with all of `name`.
pub(super) fn is_word(text: &[u8], name: &str) -> bool {
    matched(text, name) == name.len()
}

/// The position of the name that `text` starts with at least three letters of, and the number of
/// letters.
pub(super) fn find(text: &[u8], names: &[&str]) -> Option<(i64, usize)> {
    let matches = names.iter().zip(0..);
    let mut matches = matches.map(|(name, number)| (number, matched(text, name)));
    matches.find(|(_, length)| *length >= 3)
}

/// The number at the start of `text`, and its number of digits. A number that is too large becomes
/// the largest.
pub(super) fn number(text: &[u8]) -> (i64, usize) {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    let length = digits.clone().count();
    let add = |sum: i64, byte: &u8| {
        let digit = i64::from(byte - b'0');
        sum.saturating_mul(10).saturating_add(digit)
    };
    (digits.fold(0, add), length)
}

/// Whether there is a digit at `at`.
pub(super) fn is_digit(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(u8::is_ascii_digit)
}
