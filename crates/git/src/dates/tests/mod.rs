//! `expected.txt` holds the results of git's `test-tool date timestamp` in UTC: the current time,
//! the resulting time, the text. A text that git interprets as now because it means nothing has no
//! time here. Times before 1970 are given as git's unsigned numbers. Numbers of more than 31 bits
//! that are not dates are left out, because git's counts overflow there.

use super::zone::Zone;
use super::*;

#[test]
fn texts_mean_what_they_mean_to_git() {
    let zone = Zone::Utc;
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in include_str!("expected.txt").lines() {
        let mut parts = line.split('\t');
        let mut number = || parts.next().unwrap().parse::<i64>().unwrap();
        let (now, expected) = (number(), number());
        let text = parts.next().unwrap();
        let found = seconds_at(text.into(), now, &zone);
        count += 1;
        if found.unwrap_or(now) != expected {
            wrong.push(format!("{text}: {found:?}, git {expected}, now {now}"));
        }
    }
    assert!(count > 900);
    assert!(wrong.is_empty(), "{}: {wrong:#?}", wrong.len());
}

#[test]
fn what_means_nothing_is_no_date() {
    for text in ["", "garbage", "some", "...", "x", "ago"] {
        assert_eq!(date_seconds(text.into()), None, "{text}");
    }
    assert_eq!(Expiry::parse("never".into()), Some(Expiry::Never));
    assert_eq!(Expiry::parse("all".into()), Some(Expiry::Now));
    assert_eq!(Expiry::parse("garbage".into()), None);
}

#[test]
fn huge_numbers_are_no_harm() {
    let zone = Zone::Utc;
    for unit in [
        "seconds", "days", "weeks", "fridays", "months", "years", "/1/1", ":1",
    ] {
        for digits in [9, 10, 18, 19, 20, 40] {
            let text = format!("{} {unit} 99999999999:9", "9".repeat(digits));
            seconds_at(text.as_str().into(), 1_251_660_000, &zone);
            let text = format!("{}{unit}", "9".repeat(digits));
            seconds_at(text.as_str().into(), 1_251_660_000, &zone);
        }
    }
}

/// What git makes of the same text in `GIT_COMMITTER_DATE`.
#[test]
fn dates_of_signatures_are_those_of_git() {
    let kept = include_str!("expected.txt").lines();
    let kept = kept.filter_map(|line| line.split('\t').nth(2)).step_by(3);
    let own = [
        "@1700000000 +0530",
        "@1700000000 -0130",
        "@1700000000",
        "1700000000 +0100",
        "1700000000",
        "99999999",
        "2005-04-07T22:13:13",
        "2005-04-07T22:13:13Z",
        "2005-04-07 22:13:13 +02:00",
        "Thu, 07 Apr 2005 22:13:13 -0700",
        "07.04.2005 22:13",
        "4/7/2005",
        "2005-04-07",
        "yesterday",
        "now",
        "noon",
        "1 week ago",
    ];
    let zone = Zone::Utc;
    let mut wrong = Vec::new();
    for text in kept.chain(own).filter(|text| !text.is_empty()) {
        let output = hedgerow_testkit::isolated("git")
            .args(["var", "GIT_COMMITTER_IDENT"])
            .env("GIT_COMMITTER_DATE", text)
            .output()
            .unwrap();
        let line = String::from_utf8(output.stdout).unwrap();
        let expected = line
            .trim()
            .split_once("> ")
            .map(|(_, date)| date.to_owned());
        let stamp = exact::parse(text.as_bytes(), zone.now(), &zone);
        let found = stamp.map(|stamp| {
            let sign = if stamp.offset_minutes < 0 { '-' } else { '+' };
            let minutes = stamp.offset_minutes.abs();
            let seconds = stamp.seconds;
            format!("{seconds} {sign}{:02}{:02}", minutes / 60, minutes % 60)
        });
        if found != expected {
            wrong.push(format!("{text}: {found:?}, git {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}: {wrong:#?}", wrong.len());
}
