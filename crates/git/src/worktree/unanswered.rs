//! System errors that leave the state of a path unknown.

use hedgerow_fs::is_unfollowed_link;
use std::io;

/// Whether an error tells nothing about a path: neither that it does not exist, nor that it is of
/// another kind or that permissions deny access. Causes are a failing disk, a server that forgot a
/// file, or a lack of descriptors or memory. Git reports such a file as changed; here it is not
/// reported at all, since that would be a guess.
pub(crate) fn is_unanswered(error: &io::Error) -> bool {
    use io::ErrorKind::*;
    let answers = [
        NotFound,
        NotADirectory,
        IsADirectory,
        PermissionDenied,
        InvalidFilename,
        InvalidInput,
        // Larger than the size limit for reading.
        InvalidData,
        FileTooLarge,
    ];
    !answers.contains(&error.kind()) && !is_unfollowed_link(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_tells_of_the_path_is_an_answer() {
        let is = |errno: i32| is_unanswered(&io::Error::from_raw_os_error(errno));
        // ENOENT, EPERM, EACCES, ENOTDIR, EISDIR, ENAMETOOLONG, ELOOP
        for errno in [2, 1, 13, 20, 21, 36, 40] {
            assert!(!is(errno), "{errno}");
        }
        // EIO, EAGAIN, ENOMEM, ENFILE, EMFILE, ETIMEDOUT, ESTALE
        for errno in [5, 11, 12, 23, 24, 110, 116] {
            assert!(is(errno), "{errno}");
        }
    }
}
