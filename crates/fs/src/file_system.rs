//! The type of a path's file system.

use crate::{Error, Result};
use std::path::Path;

/// The kernel's number for the type of the file system that `path` is on: `f_type` of `statfs(2)`.
/// Links are followed.
pub fn file_system_magic(path: &Path) -> Result<u64> {
    let state = rustix::fs::statfs(path).map_err(|source| Error::new("open", path, source))?;
    // On 32-bit machines the number is signed.
    Ok(state.f_type as u64 & 0xFFFF_FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_system_of_processes_has_its_number() {
        assert_eq!(file_system_magic(Path::new("/proc")).unwrap(), 0x9FA0);
        let error = file_system_magic(Path::new("/proc/absent")).unwrap_err();
        let expected = "cannot open '/proc/absent': No such file or directory";
        assert_eq!(error.to_string(), expected);
    }
}
