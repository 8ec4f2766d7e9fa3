use crate::dot_git;
use crate::EntryKind;
use bstr::{BString, ByteSlice};

/// Which spellings of `.git`, besides the plain one, are rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameRules {
    /// Reject spellings that NTFS of Windows treats as `.git`: short names, trailing dots and
    /// spaces, streams (`core.protectNTFS`).
    pub protect_ntfs: bool,
    /// Reject spellings that HFS+ of Apple treats as `.git`, because it ignores some code points
    /// (`core.protectHFS`).
    pub protect_hfs: bool,
}

impl Default for NameRules {
    /// Git's own defaults on Linux.
    fn default() -> Self {
        NameRules {
            protect_ntfs: true,
            protect_hfs: false,
        }
    }
}

/// Why a name must not become a path on disk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The path or one of its components is empty, or the path is absolute.
    #[error("invalid path '{0}': an empty component")]
    Empty(BString),
    /// A component is `.` or `..`.
    #[error("invalid path '{0}': it leaves its directory")]
    Traversal(BString),
    /// A component contains a separator or a NUL byte.
    #[error("invalid path '{0}': a byte that no name can have")]
    Byte(BString),
    /// A component is treated as `.git` by some file system.
    #[error("invalid path '{0}': a spelling of .git")]
    DotGit(BString),
    /// `.gitmodules` must not be a symbolic link.
    #[error("invalid path '{0}': .gitmodules may not be a symbolic link")]
    SymlinkedModules(BString),
}

/// Checks a component of a path, for an entry of the given kind.
pub fn check_name(name: &[u8], kind: EntryKind, rules: NameRules) -> Result<(), NameError> {
    let fail = |error: fn(BString) -> NameError| Err(error(name.into()));
    if name.is_empty() {
        return fail(NameError::Empty);
    }
    if name == b"." || name == b".." {
        return fail(NameError::Traversal);
    }
    if name.find_byteset(b"/\0").is_some() {
        return fail(NameError::Byte);
    }
    // A shortcut for most names: every other spelling has a dot, a tilde or a non-ASCII character.
    if name.is_ascii() && name.find_byteset(b".~").is_none() {
        return Ok(());
    }
    if dot_git::is_dot_git(name, rules) {
        return fail(NameError::DotGit);
    }
    if kind == EntryKind::Symlink && dot_git::is_dot_gitmodules(name, rules) {
        return fail(NameError::SymlinkedModules);
    }
    Ok(())
}

/// Checks a relative path with `/` between components: calls [`check_name`] for each component,
/// where all but the last are directories.
pub fn check_path(path: &[u8], kind: EntryKind, rules: NameRules) -> Result<(), NameError> {
    let mut rest = path;
    while let Some(at) = rest.find_byte(b'/') {
        check_name(&rest[..at], EntryKind::Directory, rules).map_err(|error| whole(error, path))?;
        rest = &rest[at + 1..];
    }
    check_name(rest, kind, rules).map_err(|error| whole(error, path))
}

/// The same error for the whole path.
fn whole(error: NameError, path: &[u8]) -> NameError {
    let path = BString::from(path);
    match error {
        NameError::Empty(_) => NameError::Empty(path),
        NameError::Traversal(_) => NameError::Traversal(path),
        NameError::Byte(_) => NameError::Byte(path),
        NameError::DotGit(_) => NameError::DotGit(path),
        NameError::SymlinkedModules(_) => NameError::SymlinkedModules(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: NameRules = NameRules {
        protect_ntfs: true,
        protect_hfs: true,
    };
    const NONE: NameRules = NameRules {
        protect_ntfs: false,
        protect_hfs: false,
    };

    fn allowed(path: &str, rules: NameRules) -> bool {
        check_path(path.as_bytes(), EntryKind::File, rules).is_ok()
    }

    #[test]
    fn paths_that_leave_the_tree_are_rejected_under_all_rules() {
        for path in [
            "", "/a", "a/", "a//b", ".", "..", "a/..", "../a", "a/./b", "a\0b",
        ] {
            assert!(!allowed(path, NONE), "{path:?}");
        }
        for path in ["a", "a/b", "...", "..a", "a..", ".a/b", "a b", "-", "~"] {
            assert!(allowed(path, ALL), "{path:?}");
        }
    }

    #[test]
    fn the_plain_spelling_of_dot_git_is_rejected_in_any_case_and_place() {
        for path in [".git", ".GIT", ".Git", "a/.git", ".git/config", "a/.gIt/b"] {
            assert!(!allowed(path, NONE), "{path:?}");
        }
        for path in [".gitignore", ".github", "git", "a.git", ".git1", ".gi"] {
            assert!(allowed(path, ALL), "{path:?}");
        }
    }

    #[test]
    fn ntfs_spellings_are_rejected_where_asked() {
        let spellings = [
            "git~1",
            "GIT~1",
            ".git.",
            ".git ",
            ".git. .",
            ".git::$INDEX_ALLOCATION",
            ".git:x",
            ".git\\config",
            "a\\.git",
            "a\\git~1",
            "a/git~1/b",
            ".git \\x",
            "a\\.GIT .\\b",
        ];
        for path in spellings {
            assert!(!allowed(path, NameRules::default()), "{path:?}");
            assert!(allowed(path, NONE), "{path:?}");
        }
        for path in ["git~2", "git~11", ".git x", "a\\b", ".git~1"] {
            assert!(allowed(path, NameRules::default()), "{path:?}");
        }
    }

    #[test]
    fn hfs_spellings_are_rejected_where_asked() {
        let spellings = [
            "\u{200c}.git",
            ".g\u{200d}it",
            ".gi\u{feff}t",
            ".git\u{206f}",
            ".GI\u{202a}T",
        ];
        for path in spellings {
            assert!(!allowed(path, ALL), "{path:?}");
            assert!(allowed(path, NameRules::default()), "{path:?}");
        }
        assert!(allowed(".g\u{2010}it", ALL));
        assert!(check_path(b".git\xff", EntryKind::File, ALL).is_err());
    }

    #[test]
    fn gitmodules_may_be_a_file_but_not_a_link() {
        let spellings = [
            (".gitmodules", NONE),
            (".GITmodules", NONE),
            (".gitmodules ", NameRules::default()),
            (".gitmodules .", NameRules::default()),
            ("gitmod~1", NameRules::default()),
            ("GITMOD~4", NameRules::default()),
            ("gi7eba~1", NameRules::default()),
            ("gi7eb~10", NameRules::default()),
            (".gitmodules:$DATA", NameRules::default()),
            (".git\u{200c}modules", ALL),
        ];
        for (name, rules) in spellings {
            assert!(
                check_name(name.as_bytes(), EntryKind::File, rules).is_ok(),
                "{name:?}"
            );
            assert!(
                check_name(name.as_bytes(), EntryKind::Symlink, rules).is_err(),
                "{name:?}"
            );
        }
        for name in [
            "gitmod~5",
            "gitmodules",
            ".gitmodulesx",
            "gi7eba~0",
            "gi7d29~1",
        ] {
            let rules = NameRules::default();
            assert!(
                check_name(name.as_bytes(), EntryKind::Symlink, rules).is_ok(),
                "{name:?}"
            );
        }
    }
}
