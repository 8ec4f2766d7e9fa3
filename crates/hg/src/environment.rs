use bstr::{BString, ByteSlice};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The part of a process's environment that Mercurial uses, as plain data.
///
/// The library reads nothing from the environment itself: the program creates this value with
/// [`Environment::from_vars`], a test directly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// The current directory; absolute.
    pub cwd: PathBuf,
    /// Variables by name. Configuration files may refer to any of them.
    pub variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// The environment of a process with these variables, in the directory `cwd`.
    pub fn from_vars(vars: impl Iterator<Item = (OsString, OsString)>, cwd: PathBuf) -> Self {
        Environment {
            cwd,
            variables: vars.collect(),
        }
    }

    /// The value of a variable, if set.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
    }

    /// `HGPLAIN` or `HGPLAINEXCEPT` is set: the user's display settings do not apply.
    pub(crate) fn is_plain(&self) -> bool {
        self.variable("HGPLAIN").is_some() || self.variable("HGPLAINEXCEPT").is_some()
    }

    /// The user's home directory.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.variable("HOME").map(PathBuf::from)
    }

    /// Expands a path of a configuration file: `~` and `~name` at its start are home directories,
    /// `$NAME` and `${NAME}` variables. Unknown ones are kept unchanged.
    pub(crate) fn expand(&self, path: &[u8]) -> PathBuf {
        let path = self.expand_variables(path);
        let expanded = self.expand_home(&path).unwrap_or(path);
        PathBuf::from(OsString::from_vec(expanded.into()))
    }

    fn expand_home(&self, path: &[u8]) -> Option<BString> {
        let rest = path.strip_prefix(b"~")?;
        let end = rest.find_byte(b'/').unwrap_or(rest.len());
        let (name, rest) = rest.split_at_checked(end)?;
        let home = if name.is_empty() {
            self.home()?
        } else {
            hedgerow_fs::account_by_name(name)?.home
        };
        let home = home.as_os_str().as_bytes();
        Some(
            [home.trim_end_with(|byte| byte == '/'), rest]
                .concat()
                .into(),
        )
    }

    fn expand_variables(&self, path: &[u8]) -> BString {
        let mut expanded = BString::default();
        let mut rest = path;
        while let Some(at) = rest.find_byte(b'$') {
            let (before, after) = rest.split_at_checked(at).unwrap_or((rest, b""));
            expanded.extend_from_slice(before);
            let (name, used) = variable_name(after);
            let (word, following) = after.split_at_checked(used).unwrap_or((after, b""));
            match self.variables.get(OsStr::from_bytes(name)) {
                Some(value) if !name.is_empty() => expanded.extend_from_slice(value.as_bytes()),
                _ => expanded.extend_from_slice(word),
            }
            rest = following;
        }
        expanded.extend_from_slice(rest);
        expanded
    }
}

/// The variable name after a `$`, and the length of the whole reference.
fn variable_name(text: &[u8]) -> (&[u8], usize) {
    if let Some(inside) = text.strip_prefix(b"${") {
        return match inside.find_byte(b'}') {
            Some(end) => (inside.get(..end).unwrap_or_default(), end + 3),
            None => (b"", 1),
        };
    }
    let after = text.get(1..).unwrap_or_default();
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let length = after.iter().take_while(is_name).count();
    (after.get(..length).unwrap_or_default(), 1 + length)
}

/// The path `to` relative to the directory `from`; both are relative to the same root.
pub(crate) fn relative(from: &Path, to: &[u8]) -> BString {
    let from = from.as_os_str().as_bytes();
    let mut up: Vec<&[u8]> = from
        .split(|byte| *byte == b'/')
        .filter(|part| !part.is_empty())
        .collect();
    let mut down: Vec<&[u8]> = to.split(|byte| *byte == b'/').collect();
    let common = up.iter().zip(&down).take_while(|(a, b)| a == b).count();
    let mut parts = vec![b"..".as_slice(); up.split_off(common).len()];
    parts.extend(down.split_off(common));
    if parts.is_empty() {
        ".".into()
    } else {
        bstr::join(b"/", parts).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_configuration_files_are_expanded() {
        let vars = [("HOME", "/home/me"), ("A", "x y"), ("B_1", "z")];
        let vars = vars.map(|(name, value)| (name.into(), value.into()));
        let environment = Environment::from_vars(vars.into_iter(), "/".into());
        for (path, expected) in [
            ("~/.hgignore", "/home/me/.hgignore"),
            ("~", "/home/me"),
            ("~nobody-of-that-name/a", "~nobody-of-that-name/a"),
            ("$A/${B_1}/c", "x y/z/c"),
            ("$NONE/${NONE}/$", "$NONE/${NONE}/$"),
            ("${A", "${A"),
            ("a$A~", "ax y~"),
        ] {
            let made = environment.expand(path.as_bytes());
            assert_eq!(made, Path::new(expected), "{path}");
        }
    }

    #[test]
    fn a_path_is_seen_from_a_directory() {
        for (from, to, expected) in [
            ("", "a/b", "a/b"),
            ("a", "a/b", "b"),
            ("a/c", "a/b/d", "../b/d"),
            ("x", "a", "../a"),
            ("a", "a", "."),
        ] {
            assert_eq!(relative(Path::new(from), to.as_bytes()), expected);
        }
    }
}
