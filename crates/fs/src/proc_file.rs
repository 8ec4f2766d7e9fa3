use rustix::fs::{Mode, OFlags};
use std::path::Path;

/// Files of `/proc` and of control groups are small; more is not read.
const LIMIT_BYTES: usize = 256 * 1024;

/// The content of a file the kernel makes up, or `None` if it cannot be read. These say no length
/// before they are read, and are no part of what fault injection counts.
pub(crate) fn read_proc_file(path: &Path) -> Option<String> {
    let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut content = vec![0; 4096];
    let mut filled = 0;
    loop {
        match rustix::io::read(&file, &mut content[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return None,
        }
        if filled == content.len() {
            if filled >= LIMIT_BYTES {
                return None;
            }
            content.resize(filled * 2, 0);
        }
    }
    content.truncate(filled);
    String::from_utf8(content).ok()
}
