use super::*;

fn applied(records: &[(&str, &[u8])]) -> Result<Extended, Malformed> {
    let mut payload = Vec::new();
    for (keyword, value) in records {
        push_record(&mut payload, keyword.as_bytes(), value);
    }
    let mut extended = Extended::default();
    extended.apply(&payload, 3)?;
    Ok(extended)
}

#[test]
fn the_length_counts_itself() {
    for len in (0..120).chain(985..1000).chain([9_990, 99_985, 99_990]) {
        let mut records = Vec::new();
        push_record(&mut records, b"path", &vec![b'p'; len]);
        let space = records.iter().position(|byte| *byte == b' ').unwrap();
        assert_eq!(parse_decimal(&records[..space]), Some(records.len() as u64));
        let (keyword, value, rest) = split_record(&records).unwrap();
        assert_eq!((keyword, value.len(), rest.len()), (&b"path"[..], len, 0));
    }
}

#[test]
fn later_records_replace_earlier_ones() {
    let extended = applied(&[
        ("path", b"a"),
        ("comment", b"x=y\n"),
        ("path", b"b=\n"),
        ("uid", b"7"),
        ("uid", b""),
        ("size", b"9000000000"),
    ]);
    let extended = extended.unwrap();
    assert_eq!(extended.path.as_deref(), Some(&b"b=\n"[..]));
    assert_eq!((extended.uid, extended.size), (None, Some(9_000_000_000)));
    assert_eq!(extended.weight(), 3);
}

#[test]
fn records_that_cannot_be_read_are_refused() {
    for records in [
        "x path=a\n",
        "8 path=a\n",
        "11 path=a\n",
        "10 path=a ",
        "10 path:a\n",
        "0 path=a\n",
        "99999999999999999999 path=a\n",
        "184467440737095516150 p=a\n",
        "-1 path=a\n",
        "1",
        "2 ",
        "3 \n",
    ] {
        let applied = Extended::default().apply(records.as_bytes(), 3);
        assert_eq!(applied, Err(Malformed::Record), "{records:?}");
    }
    assert_eq!(Extended::default().apply(b"10 path=a\n\0\0", 3), Ok(()));
    for (keyword, value, what) in [
        ("size", "-1", "size"),
        ("uid", "1.5", "owner"),
        ("gid", "x", "group"),
        ("mtime", "1.x", "time"),
    ] {
        let refused = applied(&[(keyword, value.as_bytes())]).unwrap_err();
        assert_eq!(refused, Malformed::Number(what));
    }
}

#[test]
fn times_have_fractions_and_signs() {
    for (text, time) in [
        ("0", (0, 0)),
        ("1700000000", (1_700_000_000, 0)),
        ("1.5", (1, 500_000_000)),
        ("1.000000001", (1, 1)),
        ("-1", (-1, 0)),
        ("-1.5", (-2, 500_000_000)),
        ("-0.25", (-1, 750_000_000)),
        ("-0.000000001", (-1, 999_999_999)),
    ] {
        assert_eq!(parse_time(text.as_bytes()), Some(time), "{text}");
        assert_eq!(format_time(time.0, time.1), text);
    }
    assert_eq!(parse_time(b"1.0000000019"), Some((1, 1)));
    assert_eq!(parse_time(b"-1.0000000011"), Some((-2, 999_999_998)));
    assert_eq!(parse_time(b"-1.9999999999"), Some((-2, 0)));
    assert_eq!(parse_time(b"5."), Some((5, 0)));
    for (text, time) in [
        ("1e-09", (0, 1)),
        ("1.5e-05", (0, 15_000)),
        ("-2.5e-05", (-1, 999_975_000)),
        ("1e-10", (0, 0)),
        ("1.25e+3", (1250, 0)),
        ("1e3", (1000, 0)),
        ("1.5e0", (1, 500_000_000)),
    ] {
        assert_eq!(parse_time(text.as_bytes()), Some(time), "{text}");
    }
    let exponents = [
        "e1",
        "1e",
        "1e+",
        "1e1e1",
        "1e41",
        "1e-2147483648",
        "1e30",
        "1.x5e1",
        "1e 1",
    ];
    let others = ["", "-", ".", ".5", "--1", "9223372036854775808"];
    for text in exponents.into_iter().chain(others) {
        assert_eq!(parse_time(text.as_bytes()), None, "{text}");
    }
    assert_eq!(format_time(i64::MIN, 1), "-9223372036854775807.999999999");
}

#[test]
fn attributes_come_in_two_spellings() {
    let extended = applied(&[
        ("SCHILY.xattr.user.a", b"\0\n="),
        ("SCHILY.xattr.user.e%3Df", b""),
        ("LIBARCHIVE.xattr.user.b%20c", b"Zm9v"),
        ("SCHILY.acl.access", b"user::rwx"),
    ]);
    let extended = extended.unwrap();
    let xattrs: Vec<_> = extended.xattrs.into_iter().collect();
    let expected: [(&[u8], &[u8]); 3] = [
        (b"user.a", b"\0\n="),
        (b"user.b c", b"foo"),
        (b"user.e=f", b""),
    ];
    assert_eq!(
        xattrs,
        expected.map(|(name, value)| (name.to_vec(), value.to_vec()))
    );
    assert_eq!(extended.acl_access.as_deref(), Some(&b"user::rwx"[..]));
    assert!(!extended.bad_xattr);
    assert!(applied(&[("LIBARCHIVE.xattr.a", b"!")]).unwrap().bad_xattr);
    assert!(applied(&[("SCHILY.xattr.", b"")]).unwrap().bad_xattr);
}

#[test]
fn maps_are_pairs_and_not_too_many() {
    let segments = |records: &[(&str, &[u8])]| {
        let mut map = MapBuilder::new(3);
        applied(records)?.sparse.segments(&mut map)?;
        map.finish(100)
    };
    let old = segments(&[
        ("GNU.sparse.offset", b"1"),
        ("GNU.sparse.numbytes", b"2"),
        ("GNU.sparse.offset", b"10"),
        ("GNU.sparse.numbytes", b"0"),
    ]);
    assert_eq!(old, segments(&[("GNU.sparse.map", b"1,2,10,0")]));
    assert_eq!(old.unwrap().stored_bytes(), 2);
    assert!(segments(&[("GNU.sparse.map", b"")]).is_ok());
    for map in ["1", "1,2,3", "1,,2", ",", "1,2,", "50,2,1,1", "99,2"] {
        let refused = segments(&[("GNU.sparse.map", map.as_bytes())]);
        assert_eq!(refused, Err(Malformed::SparseMap), "{map:?}");
    }
    let two_lengths: [(&str, &[u8]); 1] = [("GNU.sparse.numbytes", b"1")];
    assert_eq!(segments(&two_lengths), Err(Malformed::SparseMap));
    let long = segments(&[("GNU.sparse.map", b"1,1,3,1,5,1,7,1")]);
    assert_eq!(long, Err(Malformed::SparseMapTooLong(3)));
}
