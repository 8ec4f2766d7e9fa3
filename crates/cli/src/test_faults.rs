//! How end-to-end tests let system calls fail.

use crate::environment;

/// The hook by which end-to-end tests make system calls fail or take their time, to see that a
/// checkout survives it. `HEDGEROW_TEST_FAULT=OP[+OP...]:FIRST[-LAST]:ERRNO` lets the calls with
/// these numbers (from 1) among those kinds fail, `HEDGEROW_TEST_DELAY=SEED` delays every call a
/// little at random. What cannot be read arms nothing, and nor does anything arm a program that
/// was built for use.
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

/// Tells a test how many calls of the kinds that were to fail there were: it tries each.
pub fn tell() {
    if cfg!(debug_assertions) && environment::variable("HEDGEROW_TEST_FAULT").is_some() {
        let seen = hedgerow_fs::fault::seen();
        let line = format!("HEDGEROW_TEST_FAULT saw {seen} calls\n");
        // Nobody but the test is there to be told that this failed.
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
