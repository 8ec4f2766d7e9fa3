use super::report::Reports;
use super::severity::Rule;

/// Dates over this overflow in programs that use signed 64-bit numbers.
const LAST_DATE: u64 = i64::MAX as u64;

/// Checks that the headers at the start of a commit or tag end properly. Returns false if not.
pub(super) fn headers_end(content: &[u8], reports: &mut Reports<'_>) -> bool {
    let mut bytes = content.iter().enumerate();
    let end = bytes.find_map(|(at, byte)| match byte {
        0 => Some(Err(at)),
        b'\n' if content.get(at + 1) == Some(&b'\n') => Some(Ok(())),
        _ => None,
    });
    match end {
        Some(Ok(())) => true,
        Some(Err(at)) => {
            let words = format!("unterminated header: NUL at offset {at}");
            reports.add(Rule::NulInHeader, &words);
            false
        }
        None if content.last() == Some(&b'\n') => true,
        None => {
            reports.add(Rule::UnterminatedHeader, "unterminated header");
            false
        }
    }
}

/// Checks `line`, what follows `author` and the like. Returns whether what is wrong is an error.
pub(super) fn check(line: &[u8], reports: &mut Reports<'_>) -> bool {
    match find_fault(line) {
        None => false,
        Some((rule, words)) => {
            reports.add(rule, &format!("invalid author/committer line - {words}"))
        }
    }
}

fn find_fault(line: &[u8]) -> Option<(Rule, &'static str)> {
    if line.first() == Some(&b'<') {
        let words = "missing space before email";
        return Some((Rule::MissingNameBeforeEmail, words));
    }
    let Some(open) = line.iter().position(|byte| matches!(byte, b'<' | b'>')) else {
        return Some((Rule::MissingEmail, "missing email"));
    };
    let (name, email) = line.split_at(open);
    if email.first() == Some(&b'>') {
        return Some((Rule::BadName, "bad name"));
    }
    if name.last() != Some(&b' ') {
        return Some((Rule::MissingSpaceBeforeEmail, "missing space before email"));
    }
    let email = email.get(1..).unwrap_or_default();
    let close = email.iter().position(|byte| matches!(byte, b'<' | b'>'));
    let rest = match close.and_then(|at| email.get(at..)?.split_first()) {
        Some((b'>', rest)) => rest,
        _ => return Some((Rule::BadEmail, "bad email")),
    };
    let Some(date) = rest.strip_prefix(b" ") else {
        return Some((Rule::MissingSpaceBeforeDate, "missing space before date"));
    };
    find_date_fault(date)
}

fn find_date_fault(date: &[u8]) -> Option<(Rule, &'static str)> {
    let blanks = date.iter().take_while(|byte| matches!(byte, b' ' | b'\t'));
    let date = date.get(blanks.count()..).unwrap_or_default();
    let digits = date.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = date.split_at(digits);
    if digits.is_empty() {
        return Some((Rule::BadDate, "bad date"));
    }
    if digits.first() == Some(&b'0') && date.get(1) != Some(&b' ') {
        return Some((Rule::ZeroPaddedDate, "zero-padded date"));
    }
    let seconds = std::str::from_utf8(digits)
        .ok()
        .and_then(|text| text.parse::<u64>().ok());
    if seconds.is_none_or(|seconds| seconds > LAST_DATE) {
        return Some((Rule::BadDateOverflow, "date causes integer overflow"));
    }
    let Some(zone) = rest.strip_prefix(b" ") else {
        return Some((Rule::BadDate, "bad date"));
    };
    match zone {
        [b'+' | b'-', digits @ ..]
            if digits.len() == 4 && digits.iter().all(u8::is_ascii_digit) =>
        {
            None
        }
        _ => Some((Rule::BadTimezone, "bad time zone")),
    }
}
