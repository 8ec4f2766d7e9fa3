use rustix::io::Errno;
use std::io;
use std::path::{Path, PathBuf};

/// A failed system call: the operation, the path, and the system's reason.
///
/// Shown as `cannot create 'a/b': No space left on device`.
#[derive(Debug)]
pub struct Error {
    /// The operation, as the verb of a sentence: `create`, `open`, `read`, `rename`.
    pub operation: &'static str,
    /// The path of the operation, as the user would name it if known.
    pub path: PathBuf,
    /// The system's reason.
    pub source: io::Error,
}

/// The result of a system call.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of `operation` on `path` with the system's reason `source`.
    pub fn new(
        operation: &'static str,
        path: impl AsRef<Path>,
        source: impl Into<io::Error>,
    ) -> Self {
        Error {
            operation,
            path: path.as_ref().to_owned(),
            source: source.into(),
        }
    }

    /// The system's error number, if the reason came from the system.
    pub fn raw_os_error(&self) -> Option<i32> {
        self.source.raw_os_error()
    }

    /// The reason in the system's words, without operation and path.
    pub fn reason(&self) -> String {
        reason(&self.source)
    }

    /// Whether the reason means that nothing is, or can be, at the path; see [`is_absent`].
    pub fn is_absent(&self) -> bool {
        is_absent(&self.source)
    }

    /// Whether the reason is that nothing is at the path, links followed: as [`is_missing`].
    pub fn is_missing(&self) -> bool {
        is_missing(&self.source)
    }

    /// The kind of the reason.
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "cannot {} '{}': {}",
            self.operation,
            self.path.display(),
            reason(&self.source)
        )
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// The reason in the C library's words, without Rust's trailing `(os error N)`.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match (error.raw_os_error(), text.find(" (os error ")) {
        (Some(_), Some(end)) => text[..end].to_owned(),
        _ => text,
    }
}

/// Whether `error` means that nothing is at a path: the entry does not exist, a component on the
/// way is not a directory, or there is a link where none is followed.
pub fn is_absent(error: &io::Error) -> bool {
    is_one_of(error, &[Errno::NOENT, Errno::NOTDIR]) || is_unfollowed_link(error)
}

/// Whether `error` says that there is no such entry, or that something on the way to it is no
/// directory. For calls that follow links: a link that is not followed, or leads in circles, is there.
pub fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Whether `error` says that there is a link where none is followed, or that links lead in circles.
pub fn is_unfollowed_link(error: &io::Error) -> bool {
    is_one_of(error, &[Errno::LOOP])
}

/// Whether `error` has one of these error numbers.
pub(crate) fn is_one_of(error: &io::Error, errnos: &[Errno]) -> bool {
    let errno = error.raw_os_error();
    errnos.iter().any(|one| Some(one.raw_os_error()) == errno)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tells_of_absence() {
        // ENOENT, ENOTDIR, ELOOP; EIO, EACCES, EMFILE, ESTALE
        let is = |errno: &i32| is_absent(&io::Error::from_raw_os_error(*errno));
        assert!([2, 20, 40].iter().all(is));
        assert!(![5, 13, 24, 116].iter().any(is));
        let is = |errno: &i32| is_missing(&io::Error::from_raw_os_error(*errno));
        assert!([2, 20].iter().all(is));
        assert!(![40, 5, 13].iter().any(is));
        assert!(is_unfollowed_link(&io::Error::from_raw_os_error(40)));
    }

    #[test]
    fn an_error_reads_as_one_sentence() {
        let error = Error::new("create", "a/b", io::Error::from_raw_os_error(28));
        assert_eq!(
            error.to_string(),
            "cannot create 'a/b': No space left on device"
        );
    }
}
