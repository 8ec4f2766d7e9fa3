//! The files that belong to a pack: they have its name and other extensions (gitformat-pack(5),
//! gitrepository-layout(5)).

use crate::error::Result;
use std::io::ErrorKind;
use std::path::Path;

/// The extensions of a pack and of all that belongs to it, in the order in which they are deleted.
/// The pack goes first: without it nobody uses the others, and what is left of it if that is
/// interrupted is small. That its objects were promised is known to the last.
pub const PACK_EXTENSIONS: [&str; 6] = ["pack", "idx", "rev", "bitmap", "mtimes", "promisor"];

/// The extensions of what a pack need not have.
pub const OPTIONAL_EXTENSIONS: [&str; 4] = ["rev", "bitmap", "mtimes", "promisor"];

/// Whether the pack at `path` is to stay: it has a `.keep` file.
///
/// # Errors
/// If the system does not tell.
pub fn is_kept(path: &Path) -> Result<bool> {
    Ok(hedgerow_fs::is_there(&path.with_extension("keep"))?)
}

/// Deletes the pack at `path`, and what belongs to it, unless it is to be kept since just now. A directory that
/// has the name of one of these files stays.
///
/// # Errors
/// If a file cannot be removed; what comes after it in [`PACK_EXTENSIONS`] is there still.
pub fn delete_pack(path: &Path) -> Result<()> {
    if is_kept(path)? {
        return Ok(());
    }
    for extension in PACK_EXTENSIONS {
        match hedgerow_fs::remove_file(&path.with_extension(extension)) {
            Err(error) if error.kind() == ErrorKind::IsADirectory => {}
            removed => removed.map(drop)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests look at files")]

    use super::*;

    #[test]
    fn a_pack_goes_with_all_that_is_its_own_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let pack = directory.path().join("pack-1.pack");
        let write = |name: &str| std::fs::write(directory.path().join(name), "").unwrap();
        PACK_EXTENSIONS
            .iter()
            .for_each(|extension| write(&format!("pack-1.{extension}")));
        write("pack-1.keep");
        write("pack-2.idx");
        delete_pack(&pack).unwrap();
        assert!(pack.exists());
        std::fs::remove_file(pack.with_extension("keep")).unwrap();
        delete_pack(&pack).unwrap();
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
        assert_eq!(PACK_EXTENSIONS[2..], OPTIONAL_EXTENSIONS);
    }
}
