//! Descriptors that this process inherited from its parent.

use crate::{Error, Result};

/// Keeps every descriptor that is open now, except standard input, output and error, from being
/// inherited by programs that are started later. Needs Linux 5.11.
#[allow(unsafe_code)]
pub fn close_inherited_descriptors_on_exec() -> Result<()> {
    let (first, last) = (3 as libc::c_uint, libc::c_uint::MAX);
    // SAFETY: no memory is passed, and with this flag no descriptor is closed in this process.
    let done = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            first,
            last,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    match done {
        0 => Ok(()),
        _ => {
            let source = std::io::Error::last_os_error();
            Err(Error::new("keep", "inherited descriptors", source))
        }
    }
}
