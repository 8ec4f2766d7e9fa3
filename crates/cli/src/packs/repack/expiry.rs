//! Times before which objects that nothing reaches may go.

use crate::failure::Failure;
use bstr::ByteSlice;
use hedgerow_git::repository::date_seconds;

/// The time that `text` means, in seconds since 1970; `None` for never.
pub fn parse(text: &str) -> Result<Option<i64>, Failure> {
    let now = hedgerow_fs::file_time().seconds;
    match text {
        "never" | "false" => return Ok(None),
        "now" | "all" => return Ok(Some(now)),
        _ => {}
    }
    if let Some(age) = age_seconds(text) {
        return Ok(Some(now.saturating_sub(age)));
    }
    let found = date_seconds(text.as_bytes().as_bstr());
    let unknown = || Failure::fatal(format_args!("malformed expiration date '{text}'"));
    found.map(Some).ok_or_else(unknown)
}

/// How long ago `2.weeks.ago` is, or `2 weeks`.
fn age_seconds(text: &str) -> Option<i64> {
    let mut words = text.split([' ', '.']).filter(|word| !word.is_empty());
    let number: i64 = words.next()?.parse().ok()?;
    let unit = words.next()?;
    let seconds = match unit.strip_suffix('s').unwrap_or(unit) {
        "second" => 1,
        "minute" => 60,
        "hour" => 3600,
        "day" => 24 * 3600,
        "week" => 7 * 24 * 3600,
        "month" => 30 * 24 * 3600,
        "year" => 365 * 24 * 3600,
        _ => return None,
    };
    match words.next() {
        None | Some("ago") => number.checked_mul(seconds),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_counted_back() {
        assert_eq!(age_seconds("2.weeks.ago"), Some(14 * 24 * 3600));
        assert_eq!(age_seconds("1 hour ago"), Some(3600));
        assert_eq!(age_seconds("1 fortnight ago"), None);
        assert_eq!(age_seconds("2005-04-07"), None);
        assert_eq!(parse("never").unwrap(), None);
        assert_eq!(
            parse("2005-04-07 22:13:13 +0200").unwrap(),
            Some(1_112_904_793)
        );
        assert!(parse("some day").is_err());
    }
}
