//! fakeroot(1) and pseudo(1) show other owners, permissions and devices than files have. They do so in
//! libraries that are preloaded, and are not seen by a program that asks the kernel itself.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use thiserror::Error;

/// The libraries as they are preloaded, and the programs that do so.
const KNOWN: [(&str, &str); 2] = [("libfakeroot", "fakeroot"), ("libpseudo", "pseudo")];

/// An image is to be made of files under one of these programs.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "the owners and devices that {0} shows would be missing from the image, because hedgerow does not \
     see them: make the image of an archive that '{0} tar -c' writes"
)]
pub struct UnderFakeroot(&'static str);

/// Refuses to make an image of files under one of these programs; `preloaded` is the value of
/// `LD_PRELOAD`.
///
/// # Errors
/// [`UnderFakeroot`] if one of their libraries is in it.
pub fn refuse_fakeroot(preloaded: Option<OsString>) -> Result<(), UnderFakeroot> {
    let preloaded = preloaded.unwrap_or_default();
    let mut paths = preloaded.as_bytes().split(|byte| b" :".contains(byte));
    let found = paths.find_map(|path| {
        let name = std::path::Path::new(OsStr::from_bytes(path)).file_name()?;
        let known = KNOWN
            .iter()
            .find(|(library, _)| name.as_bytes().starts_with(library.as_bytes()));
        known.map(|(_, program)| *program)
    });
    found.map_or(Ok(()), |program| Err(UnderFakeroot(program)))
}

#[cfg(test)]
mod tests {
    use super::{refuse_fakeroot, UnderFakeroot};

    #[test]
    fn known_libraries_are_found_among_others() {
        for (preloaded, program) in [
            ("libfakeroot-sysv.so", "fakeroot"),
            (
                "/usr/lib/x.so:/usr/lib/libfakeroot/libfakeroot-tcp.so",
                "fakeroot",
            ),
            ("x.so libpseudo.so y.so", "pseudo"),
        ] {
            assert_eq!(
                refuse_fakeroot(Some(preloaded.into())),
                Err(UnderFakeroot(program))
            );
        }
        for preloaded in [None, Some(""), Some("/opt/libfakeroot/libjemalloc.so")] {
            assert_eq!(refuse_fakeroot(preloaded.map(Into::into)), Ok(()));
        }
    }
}
