//! Fault injection for end-to-end tests.

use crate::environment;

/// Makes system calls fail or take longer, so that end-to-end tests can see that a checkout
/// survives it. `HEDGEROW_TEST_FAULT=OP[+OP...]:FIRST[-LAST]:ERRNO` makes the calls of these kinds
/// with these numbers (from 1) fail, `HEDGEROW_TEST_DELAY=SEED` delays every call a little at
/// random. An invalid value has no effect, nor has any value in a release build.
pub fn arm() {
    if !cfg!(debug_assertions) {
        return;
    }
    let value = |name| environment::variable(name)?.into_string().ok();
    if let Some((kinds, first, last, errno)) = value("HEDGEROW_TEST_FAULT").and_then(fault) {
        hedgerow_fs::fault::arm(kinds, first, last, errno);
    }
    if let Some(seed) = value("HEDGEROW_TEST_DELAY").and_then(|seed| seed.parse().ok()) {
        hedgerow_fs::fault::delay(seed);
    }
}

/// Tells the test how many calls of these kinds there were, so that it can fail each of them.
pub fn tell() {
    if cfg!(debug_assertions) && environment::variable("HEDGEROW_TEST_FAULT").is_some() {
        let seen = hedgerow_fs::fault::seen();
        let line = format!("HEDGEROW_TEST_FAULT saw {seen} calls\n");
        // A failure of standard error cannot be reported.
        let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
    }
}

fn fault(text: String) -> Option<(u32, u64, u64, i32)> {
    let mut parts = text.split(':');
    let (kinds, span, errno) = (parts.next()?, parts.next()?, parts.next()?);
    let (first, last) = span.split_once('-').unwrap_or((span, span));
    let mut sum = 0;
    for name in kinds.split('+') {
        sum |= hedgerow_fs::fault::Op::from_name(name)? as u32;
    }
    Some((
        sum,
        first.parse().ok()?,
        last.parse().ok()?,
        errno.parse().ok()?,
    ))
}
