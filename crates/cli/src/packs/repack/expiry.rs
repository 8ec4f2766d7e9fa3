//! Times before which objects that nothing reaches may go.

use crate::failure::Failure;
use hedgerow_git::dates::Expiry;

/// The time that `text` means, in seconds since 1970; `None` for never.
pub fn parse(text: &str) -> Result<Option<i64>, Failure> {
    match Expiry::parse(text.into()) {
        Some(Expiry::Never) => Ok(None),
        Some(Expiry::Now) => Ok(Some(hedgerow_fs::file_time().seconds)),
        Some(Expiry::Before(seconds)) => Ok(Some(seconds)),
        None => Err(Failure::fatal(format_args!(
            "malformed expiration date '{text}'"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_dates() {
        assert_eq!(parse("never").unwrap(), None);
        let date = parse("2005-04-07 22:13:13 +0200").unwrap();
        assert_eq!(date, Some(1_112_904_793));
        assert!(parse("gibberish").is_err());
    }
}
