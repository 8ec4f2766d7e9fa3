//! Questions about the working tree that the system does not answer.

use hedgerow_fs::is_unfollowed_link;
use std::io;

/// Whether an error says nothing of what is at a path: neither that it is not there, nor that it is
/// of another kind or that this user may not look at it. It may be a disk that fails, a server that
/// forgot a file, or that no descriptor or memory is left. To git, such a file has changed; here
/// nothing is said of it, since that would be guessed.
pub(crate) fn is_unanswered(error: &io::Error) -> bool {
    use io::ErrorKind::*;
    let answers = [
        NotFound,
        NotADirectory,
        IsADirectory,
        PermissionDenied,
        InvalidFilename,
        InvalidInput,
        // Larger than what is read at all.
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
