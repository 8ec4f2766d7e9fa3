//! Content that git refuses to add, or to check out.

use hedgerow_git::convert::{
    AttributeSources, Attributes, Buffers, ConvertOptions, Converter, SafeCrlf, ToGit,
};

use hedgerow_testkit::{blob_id, Repository};

/// Adds `content` as `a`, by git and by us; both must say the same, or both nothing.
fn check(
    attributes: &str,
    configuration: &[(&str, &str)],
    options: ConvertOptions,
    content: &[u8],
) {
    let repository = Repository::init(&[]);
    for (key, value) in configuration {
        repository.git(&["config", key, value]);
    }
    repository.write(".gitattributes", attributes.as_bytes());
    repository.write("a", content);
    let output = repository.run(&["add", "a"], b"");
    let attributes = Attributes::new(&AttributeSources {
        directories: vec![("".into(), attributes.as_bytes())],
        ..AttributeSources::default()
    });
    let converter = Converter::new(options, attributes);
    let mut buffers = Buffers::default();
    let request = ToGit {
        write_object: true,
        tell_line_ends: false,
        renormalize: false,
        index_content: &mut || Ok(None),
    };
    let conversion = converter.conversion("a".into());
    match converter.to_git(&mut buffers, conversion, "a".into(), content, request) {
        Ok(converted) => {
            assert_eq!(output.code, 0, "{}", output.stderr);
            let id = repository.git(&["rev-parse", ":a"]);
            let id = String::from_utf8(id).unwrap();
            assert_eq!(blob_id(converted.content).to_string(), id.trim());
        }
        Err(error) => {
            assert_eq!(output.code, 128, "{error}");
            let reason = error.to_string();
            let reason = reason.strip_prefix("cannot convert 'a': ").unwrap();
            let fatal = format!("fatal: {reason}");
            let said = output.stderr.lines().any(|line| line == fatal);
            assert!(said, "{fatal} / {}", output.stderr);
        }
    }
}

fn with(safe_crlf: SafeCrlf) -> ConvertOptions {
    ConvertOptions {
        safe_crlf,
        ..ConvertOptions::default()
    }
}

#[test]
fn content_that_is_not_in_its_encoding() {
    for encoding in [
        "UTF-16",
        "UTF-16LE",
        "UTF-32",
        "UTF-16BE-BOM",
        "ASCII",
        "nonsense",
    ] {
        let attributes = format!("* text working-tree-encoding={encoding}\n");
        for content in [&b"abc\n"[..], b"\xff\xfea\0\n\0", b"\xff\n", b""] {
            check(&attributes, &[], ConvertOptions::default(), content);
        }
    }
}

#[test]
fn content_that_does_not_come_back_from_its_encoding() {
    let options = ConvertOptions {
        round_trip_encodings: vec!["UTF-16".into()],
        ..ConvertOptions::default()
    };
    let configuration = [("core.checkRoundtripEncoding", "UTF-16")];
    for content in [&b"\xfe\xff\0a"[..], b"\xff\xfea\0"] {
        check(
            "* working-tree-encoding=UTF-16\n",
            &configuration,
            options.clone(),
            content,
        );
    }
}

#[test]
fn line_ends_that_do_not_come_back() {
    for (safe, value) in [(SafeCrlf::True, "true"), (SafeCrlf::False, "false")] {
        for attributes in ["* text\n", "* text eol=crlf\n", "* text=auto eol=crlf\n"] {
            for content in [&b"a\r\nb\r\n"[..], b"a\nb\n", b"a\r\nb\n", b"a\0\r\n"] {
                check(attributes, &[("core.safecrlf", value)], with(safe), content);
            }
        }
    }
}

#[test]
fn an_encoding_without_a_name() {
    for attributes in ["a working-tree-encoding\n", "a -working-tree-encoding\n"] {
        check(attributes, &[], ConvertOptions::default(), b"abc\n");
    }
}

#[test]
fn failing_to_read_the_index_is_an_error() {
    let attributes = Attributes::new(&AttributeSources {
        directories: vec![("".into(), b"* text=auto\n")],
        ..AttributeSources::default()
    });
    let converter = Converter::new(ConvertOptions::default(), attributes);
    let mut buffers = Buffers::default();
    let mut add = |content: &[u8]| {
        let request = ToGit {
            write_object: false,
            tell_line_ends: false,
            renormalize: false,
            index_content: &mut || Err(hedgerow_git::Error::NoWorkTree),
        };
        let conversion = converter.conversion("a".into());
        let converted = converter.to_git(&mut buffers, conversion, "a".into(), content, request);
        converted.is_ok()
    };
    assert!(!add(b"a\r\n"));
    // Not asked where it does not matter.
    assert!(add(b"a\n"));
}
