use crate::samples::*;
use hedgerow_codec::block::{Compressor, Settings};

fn refused(words: &str) -> String {
    let (name, options) = words.split_once(' ').unwrap_or((words, ""));
    let settings = Compressor::from_name(name)
        .and_then(|compressor| Settings::parse(compressor, BLOCK, None, options.split(' ')));
    settings.expect_err(words).to_string()
}

#[test]
fn an_error_names_the_option_the_value_and_what_is_allowed() {
    for (words, expected) in [
        ("brotli", "no compressor 'brotli': expected gzip, lzma, lzo, xz, lz4 or zstd"),
        ("gzip level=13", "bad gzip option 'level=13': expected 1 to 12"),
        ("gzip level=", "bad gzip option 'level=': expected 1 to 12"),
        ("gzip level", "bad gzip option 'level=': expected 1 to 12"),
        ("gzip level=+5", "bad gzip option 'level=+5': expected 1 to 12"),
        ("gzip window=7", "bad gzip option 'window=7': expected 8 to 15"),
        ("gzip hc", "gzip has no option 'hc': expected level, profile, window or strategies"),
        ("gzip rle=1", "gzip has no option 'rle': expected level, profile, window or strategies"),
        (
            "gzip strategies=rle,best",
            "bad gzip option 'strategies=rle,best': expected default, filtered, huffman, rle, fixed",
        ),
        ("gzip profile=fast", "bad gzip option 'profile=fast': expected libdeflate, zlib"),
        ("gzip window=9 profile=libdeflate", "gzip option 'window' needs 'profile=zlib'"),
        ("gzip rle profile=libdeflate", "gzip option 'strategies' needs 'profile=zlib'"),
        ("gzip level=10 rle", "gzip option 'level above 9' needs 'profile=libdeflate'"),
        ("lz4 level=9", "lz4 option 'level' needs 'hc'"),
        ("lz4 hc=maybe", "bad lz4 option 'hc=maybe': expected true or false"),
        ("lz4 hc level=13", "bad lz4 option 'level=13': expected 1 to 12"),
        (
            "lzo algorithm=lzo2a",
            "bad lzo option 'algorithm=lzo2a': expected lzo1x_1, lzo1x_1_11, lzo1x_1_12, \
             lzo1x_1_15, lzo1x_999",
        ),
        ("lzo algorithm=lzo1x_1 level=3", "lzo option 'level' needs 'algorithm=lzo1x_999'"),
        ("lzma x86", "lzma has no option 'x86': expected level, extreme, dictsize, lc, lp or pb"),
        ("lzma lc=3 lp=2", "lzma option 'lc and lp' needs 'lc + lp of at most 4'"),
        ("xz lp=2", "xz option 'lc and lp' needs 'lc + lp of at most 4'"),
        (
            "xz dictsize=10000",
            "bad xz option 'dictsize=10000': expected bytes (with K or M) or a percentage of the \
             block size, 8192 to 131072, of the form 2^n or 2^n + 2^(n+1)",
        ),
        (
            "xz filters=mips",
            "bad xz option 'filters=mips': expected x86, powerpc, ia64, arm, armthumb, sparc, \
             arm64, riscv",
        ),
        ("zstd level=0", "bad zstd option 'level=0': expected 1 to 22"),
        ("zstd window=9", "zstd has no option 'window': expected level or checksum"),
    ] {
        assert_eq!(refused(words), expected);
    }
}

#[test]
fn a_dictionary_is_given_in_bytes_or_as_a_part_of_the_block() {
    for (given, bytes) in [
        ("8192", 8192),
        ("12k", 12 << 10),
        ("96K", 96 << 10),
        ("100%", 128 << 10),
        ("75%", 96 << 10),
        ("37.5%", 48 << 10),
    ] {
        let settings = parse(&format!("xz dictsize={given}"), BLOCK);
        let expected = format!("xz level=6 extreme=false dictsize={bytes}");
        assert_eq!(settings.to_string(), expected);
    }
    for given in [
        "4096",
        "256K",
        "1M",
        "200%",
        "",
        "%",
        "K",
        "-8192",
        "99999999999",
        "37.55%",
    ] {
        let refused = refused(&format!("xz dictsize={given}"));
        assert!(refused.contains("expected bytes"), "{refused}");
    }
}

#[test]
fn what_is_printed_gives_the_same_settings_again() {
    for words in SETTINGS {
        let printed = parse(words, BLOCK).to_string();
        assert_eq!(parse(&printed, BLOCK).to_string(), printed, "{words}");
    }
}

#[test]
fn the_level_option_and_the_level_key_are_one() {
    let by_option = Settings::parse(Compressor::Zstd, BLOCK, Some("7"), []).unwrap();
    assert_eq!(by_option.to_string(), "zstd level=7 checksum=true");
    let last = Settings::parse(Compressor::Zstd, BLOCK, Some("7"), ["level=3"]).unwrap();
    assert_eq!(last.to_string(), "zstd level=3 checksum=true");
    let refused = Settings::parse(Compressor::Xz, BLOCK, Some("10"), []).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "bad xz option 'level=10': expected 0 to 9"
    );
}

#[test]
fn the_defaults_are_near_those_of_other_packers() {
    let printed = Compressor::ALL.map(|compressor| {
        let settings = Settings::default_for(compressor, 4096);
        settings.to_string()
    });
    assert_eq!(
        printed,
        [
            "gzip level=9 profile=libdeflate",
            "lzma level=5 extreme=false dictsize=8192",
            "lzo algorithm=lzo1x_999 level=8",
            "xz level=6 extreme=false dictsize=8192",
            "lz4 hc=false",
            "zstd level=15 checksum=true",
        ]
    );
    assert_eq!(parse("lz4 hc", BLOCK).to_string(), "lz4 hc=true level=10");
}

#[test]
fn compressors_are_known_by_number_and_name() {
    for (compressor, id) in Compressor::ALL.into_iter().zip(1..) {
        assert_eq!(compressor.id(), id);
        assert_eq!(Compressor::from_id(id), Some(compressor));
        assert_eq!(Compressor::from_name(compressor.name()), Ok(compressor));
    }
    assert_eq!(Compressor::from_id(0), None);
    assert_eq!(Compressor::from_id(7), None);
}
