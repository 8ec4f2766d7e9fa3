//! Libraries that pretend other owners and devices than files have: fakeroot(1), pseudo(1).

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use thiserror::Error;

/// The libraries as they are preloaded, and who they belong to.
const KNOWN: [(&str, &str); 2] = [("libfakeroot", "fakeroot"), ("libpseudo", "pseudo")];

/// Files are read for an image while somebody pretends other owners, which would not be in it.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "owners, permissions and devices that {0} pretends would not be in the image, because hedgerow asks \
     the kernel: let '{0} tar -c' write an archive, and make the image of that"
)]
pub struct Pretence(&'static str);

/// Refuses to read files while a library pretends other owners; `preloaded` is the variable `LD_PRELOAD`.
///
/// # Errors
/// There is such a library.
pub fn without_pretence(preloaded: Option<OsString>) -> Result<(), Pretence> {
    let preloaded = preloaded.unwrap_or_default();
    let mut paths = preloaded.as_bytes().split(|byte| b" :".contains(byte));
    let found = paths.find_map(|path| {
        let name = std::path::Path::new(OsStr::from_bytes(path)).file_name()?;
        let known = KNOWN
            .iter()
            .find(|(library, _)| name.as_bytes().starts_with(library.as_bytes()));
        known.map(|(_, owner)| *owner)
    });
    found.map_or(Ok(()), |owner| Err(Pretence(owner)))
}

#[cfg(test)]
mod tests {
    use super::{without_pretence, Pretence};

    #[test]
    fn known_libraries_are_found_among_others() {
        for (preloaded, owner) in [
            ("libfakeroot-sysv.so", "fakeroot"),
            (
                "/usr/lib/x.so:/usr/lib/libfakeroot/libfakeroot-tcp.so",
                "fakeroot",
            ),
            ("x.so libpseudo.so y.so", "pseudo"),
        ] {
            assert_eq!(
                without_pretence(Some(preloaded.into())),
                Err(Pretence(owner))
            );
        }
        for preloaded in [None, Some(""), Some("/opt/libfakeroot/libjemalloc.so")] {
            assert_eq!(without_pretence(preloaded.map(Into::into)), Ok(()));
        }
    }
}
