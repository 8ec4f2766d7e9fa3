use super::*;
use proptest::prelude::*;

fn linear(pattern: &str) -> String {
    let translation = translate(pattern.as_bytes(), Dialect::Linear).unwrap();
    assert!(!translation.needs_backtracking, "{pattern}");
    translation.regex
}

#[test]
fn what_means_the_same_is_said_in_the_other_syntax() {
    for (pattern, expected) in [
        (r"a/b\.c", r"a/b\x2ec"),
        (r"\Z\A$^", r"\z\A$^"),
        ("a{,3}b{2}c{2,}d{x}", r"a{0,3}b{2,2}c{2,}d\x7bx\x7d"),
        ("[]a&&b~-]", r"[\x5da\x26\x26b\x7e\x2d]"),
        ("[^[:x]", r"[^\x5b\x3ax]"),
        (r"[\w\b\x41-\103]", r"[\w\x08A-C]"),
        ("(?P<name>a)(?:b)(?#c)", "(?:a)(?:b)"),
        ("(?ax: a # b)\n c)d e", r"(?:ac)d\x20e"),
        ("(?i-s:a)", "(?i-s:a)"),
        (r"\0\012\141", r"\x00\x0aa"),
    ] {
        assert_eq!(linear(pattern), expected, "{pattern}");
    }
    let translation = translate(b"caf\xe9", Dialect::Linear).unwrap();
    assert_eq!(translation.regex, r"caf\xe9");
}

#[test]
fn looking_around_or_back_or_holding_on_needs_another_crate() {
    for pattern in [
        "(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", r"(a)\1", "a*+", "(?>a)",
    ] {
        let translation = translate(pattern.as_bytes(), Dialect::Linear).unwrap();
        assert!(translation.needs_backtracking, "{pattern}");
    }
    let translation = translate(br"(?P<n>a)(?P=n)1", Dialect::Backtracking).unwrap();
    assert_eq!(translation.regex, r"(a)(?:\1)1");
}

#[test]
fn what_is_wrong_is_told() {
    for (pattern, reason) in [
        ("(?#a", "missing ), unterminated comment"),
        (
            "(a)(?(1)b|c)",
            "a group that depends on another is not supported",
        ),
        ("a{99999999999}", "the repetition number is too large"),
        (r"[\8]", r"bad escape \8"),
        ("(?i", "missing ), unterminated subpattern"),
    ] {
        let told = translate(pattern.as_bytes(), Dialect::Linear).unwrap_err();
        assert_eq!(told, reason, "{pattern}");
    }
}

proptest! {
    #[test]
    fn both_crates_match_the_same(
        pattern in r"([a-c.*+?|()\[\]^$\\wdsbBWDS{}0-3,/ i:-]|\\xe9){0,12}",
        text in proptest::collection::vec(
            prop_oneof![Just(b'a'), Just(b'b'), Just(b'1'), Just(b'/'), Just(0xe9), Just(b'_')],
            0..8,
        ),
    ) {
        let Ok(one) = translate(pattern.as_bytes(), Dialect::Linear) else {
            prop_assert!(translate(pattern.as_bytes(), Dialect::Backtracking).is_err());
            return Ok(());
        };
        prop_assume!(!one.needs_backtracking);
        let regex = regex::bytes::RegexBuilder::new(&one.regex).unicode(false).build();
        let regex = regex.expect("what is translated is an expression");
        let other = translate(pattern.as_bytes(), Dialect::Backtracking).unwrap();
        let other = fancy_regex::RegexBuilder::new(&other.regex)
            .bytes_mode(fancy_regex::BytesMode::Ascii)
            .build();
        let other = other.expect("what is translated is an expression");
        prop_assert_eq!(regex.is_match(&text), other.is_match(&text[..]).unwrap());
    }
}
