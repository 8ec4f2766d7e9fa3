//! An ignore file from any bytes: it is refused, or it says of every path whether it matches.
#![no_main]

use hedgerow_hg::ignore::Ignore;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|content: &[u8]| {
    let Ok(ignore) = Ignore::parse(content, Path::new(".hgignore")) else {
        return;
    };
    for path in [&b""[..], b"a", b"a/b.c", b"\xff\xfe/ \n", content] {
        // An expression that looks around may give up, with an error.
        let _ = ignore.matches(path);
    }
});
