//! Which program this process is.

use crate::{real_path, stat_path, Stat};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The path of this program, with links resolved. Where `/proc` is not mounted, that is what the path by
/// which it was started leads to now.
pub fn own_program() -> std::io::Result<PathBuf> {
    std::env::current_exe().or_else(|error| real_path(started_as()).map_err(|_| error))
}

/// The stat data of this program; likewise.
pub fn own_program_stat() -> Option<Stat> {
    let own = stat_path(Path::new("/proc/self/exe"), true);
    own.or_else(|_| stat_path(started_as(), true)).ok()
}

/// The path that was executed, as the kernel was given it.
fn started_as() -> &'static Path {
    Path::new(OsStr::from_bytes(rustix::param::linux_execfn().to_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_lead_to_the_same_program() {
        let own = own_program().unwrap();
        assert_eq!(real_path(started_as()).unwrap(), own);
        let (id, other) = (own_program_stat().unwrap(), stat_path(&own, true).unwrap());
        assert_eq!((id.dev, id.ino), (other.dev, other.ino));
    }
}
