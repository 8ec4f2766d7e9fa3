//! What git takes from the environment of a process: git(1) under "ENVIRONMENT VARIABLES".

use super::trouble_listener::TroubleListener;
use super::values::boolean;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_pack::alternate_paths;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Everything git takes from the environment of a process, as plain data.
///
/// The library reads nothing from the environment itself: the program builds one of these with
/// [`Environment::from_vars`], a test writes one down. Paths may be relative to
/// [`Environment::cwd`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// The current directory; absolute.
    pub cwd: PathBuf,
    /// `GIT_DIR`.
    pub git_dir: Option<PathBuf>,
    /// `GIT_WORK_TREE`.
    pub work_tree: Option<PathBuf>,
    /// `GIT_INDEX_FILE`.
    pub index_file: Option<PathBuf>,
    /// `GIT_COMMON_DIR`.
    pub common_dir: Option<PathBuf>,
    /// `GIT_OBJECT_DIRECTORY`.
    pub object_directory: Option<PathBuf>,
    /// `GIT_ALTERNATE_OBJECT_DIRECTORIES`.
    pub alternate_object_directories: Vec<PathBuf>,
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// `PATH`, for programs that are run.
    pub path: Option<OsString>,
    /// `XDG_CONFIG_HOME`.
    pub xdg_config_home: Option<PathBuf>,
    /// `GIT_CONFIG_GLOBAL`.
    pub config_global: Option<PathBuf>,
    /// `GIT_CONFIG_SYSTEM`; if absent, the file of the place where git is installed.
    pub config_system: Option<PathBuf>,
    /// `GIT_CONFIG_NOSYSTEM`.
    pub no_system_config: bool,
    /// `GIT_ATTR_NOSYSTEM`.
    pub no_system_attributes: bool,
    /// Settings of `GIT_CONFIG_COUNT` and its pairs, then those of `GIT_CONFIG_PARAMETERS`
    /// (`git -c`). A setting without a value is a boolean that is on.
    pub config_overrides: Vec<(BString, Option<BString>)>,
    /// `GIT_AUTHOR_NAME`, `_EMAIL` and `_DATE`.
    pub author: Person,
    /// `GIT_COMMITTER_NAME`, `_EMAIL` and `_DATE`.
    pub committer: Person,
    /// `EMAIL`, the last resort for an address.
    pub email: Option<BString>,
    /// `GIT_CEILING_DIRECTORIES`: discovery does not go above these.
    pub ceiling_directories: Vec<PathBuf>,
    /// `GIT_DISCOVERY_ACROSS_FILESYSTEM`.
    pub discover_across_file_systems: bool,
    /// `GIT_NO_REPLACE_OBJECTS`.
    pub no_replace_objects: bool,
    /// `GIT_REPLACE_REF_BASE`; `refs/replace/` if absent.
    pub replace_ref_base: Option<BString>,
    /// `GIT_COMMIT_GRAPH_PARANOIA`: of the commit-graph, only commits count that are there.
    pub commit_graph_paranoia: bool,
    /// Nothing is believed that only makes reading faster, like the commit-graph: for commands that
    /// delete what they find unused. No variable says so.
    pub unaided: bool,
    /// This program: its `fetch` takes the place of git's where objects are fetched, and its `upload-pack-hook`
    /// may make packs where they come from a repository on this machine. No variable says so.
    pub own_program: Option<PathBuf>,
    /// The command of git in whose place this process was called. No variable says so.
    pub in_place_of: Option<InPlaceOf>,
    /// Who hears of hooks that do not run, and of rules that are not read. No variable says so.
    pub troubles: TroubleListener,
    /// `GIT_SHALLOW_FILE`: where the boundary of a shallow clone is listed; empty for nowhere.
    pub shallow_file: Option<PathBuf>,
    /// `GIT_GRAFT_FILE`: the file of grafts; `info/grafts` if absent.
    pub graft_file: Option<PathBuf>,
    /// `GIT_INDEX_VERSION`: the version of an index that is new. Where that is none, it is 3, as with git.
    pub index_version: Option<i64>,
    /// `GIT_PRINT_SHA1_ELLIPSIS` is `yes`: shortened names of objects in lists end in dots.
    pub shows_ellipsis: bool,
    /// `GIT_QUARANTINE_PATH` is set, to whatever: objects that were received are not accepted yet, and no
    /// reference may change.
    pub is_quarantined: bool,
    /// `GIT_TEST_FSYNC` is off: nothing is waited for.
    pub no_fsync: bool,
    /// `GIT_ATTR_SOURCE`.
    pub attr_source: Option<BString>,
    /// How all pathspecs are read.
    pub pathspecs: PathspecSettings,
    /// `GIT_OPTIONAL_LOCKS` is off: locks that only speed later commands up are not taken.
    pub no_optional_locks: bool,
    /// `GIT_DISABLE_UNTRACKED_CACHE` is on: the untracked cache is neither used nor filled.
    pub no_untracked_cache: bool,
    /// `GIT_FORCE_UNTRACKED_CACHE`: whether an index is written for new records of the untracked
    /// cache alone, whatever `core.untrackedCache` says.
    pub force_untracked_cache: Option<bool>,
    /// `GIT_NO_LAZY_FETCH` is on: what a remote has promised is not fetched.
    pub no_lazy_fetch: bool,
    /// `GIT_ADVICE` is off: no hints are shown, whatever the configuration says.
    pub no_advice: bool,
    /// `GIT_REFLOG_ACTION`: what the logs of references say in place of what was done.
    pub reflog_action: Option<BString>,
    /// `GIT_REFERENCE_BACKEND`: how references are stored, whatever the repository says.
    pub reference_backend: Option<BString>,
    /// `GIT_IMPLICIT_WORK_TREE` is off: `GIT_DIR` alone names a repository without a work tree.
    pub no_implicit_work_tree: bool,
    /// `GIT_LFS_SKIP_SMUDGE`, unread: what git-lfs, a filter, puts in the place of its pointers.
    pub lfs_skip_smudge: Option<BString>,
    /// `GIT_TEST_CHECKOUT_WORKERS`, unread.
    pub test_checkout_workers: Option<BString>,
    /// `GIT_TEST_ASSUME_DIFFERENT_OWNER`: every repository counts as somebody else's.
    pub assume_different_owner: bool,
    /// `SUDO_UID`: whose repositories root may also use.
    pub sudo_uid: Option<u32>,
}

/// A call of git that this process answers, as far as the configuration leaves it to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InPlaceOf {
    /// Git's command.
    pub command: &'static str,
    /// Its output goes to a terminal, where git may start a pager.
    pub is_paged: bool,
    /// It receives objects that a remote promises (`--promisor`). Those of this repository to which they
    /// refer would then no longer be kept, so git repacks them.
    pub is_promised: bool,
}

/// How all pathspecs are read, whatever magic they have themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathspecSettings {
    /// `GIT_LITERAL_PATHSPECS`: nothing in them is a wildcard or magic.
    pub literal: bool,
    /// `GIT_GLOB_PATHSPECS`: wildcards do not match slashes.
    pub glob: bool,
    /// `GIT_NOGLOB_PATHSPECS`: nothing in them is a wildcard.
    pub no_glob: bool,
    /// `GIT_ICASE_PATHSPECS`: upper and lower case are the same.
    pub ignore_case: bool,
}

/// A name, an address and a date, as far as the environment gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Person {
    /// The name.
    pub name: Option<BString>,
    /// The mail address.
    pub email: Option<BString>,
    /// The date, in any format git reads.
    pub date: Option<BString>,
}

/// More settings than this in the environment are refused.
const CONFIG_COUNT_LIMIT: usize = 1 << 20;

impl Environment {
    /// The first variable that is set and says where a part of a repository is.
    pub fn variable_of_place(&self) -> Option<&'static str> {
        let places = [
            ("GIT_DIR", &self.git_dir),
            ("GIT_WORK_TREE", &self.work_tree),
            ("GIT_INDEX_FILE", &self.index_file),
            ("GIT_OBJECT_DIRECTORY", &self.object_directory),
            ("GIT_COMMON_DIR", &self.common_dir),
        ];
        let named = places.iter().find(|(_, place)| place.is_some());
        named.map(|(name, _)| *name)
    }

    /// The variables with which a program has the settings of this environment and then `setting`, which is
    /// `KEY=VALUE`. A name without `=`, which is true, gets the word.
    pub(crate) fn with_setting(&self, setting: &str) -> Vec<(OsString, Option<OsString>)> {
        let setting = setting.split_once('=').unwrap_or((setting, "true"));
        let overrides = self.config_overrides.iter();
        let overrides = overrides.map(|(key, value)| {
            let value = value
                .as_ref()
                .map_or("true".into(), |value| value.as_bstr());
            (key.as_bstr(), value)
        });
        let all: Vec<(&BStr, &BStr)> = overrides
            .chain([(setting.0.into(), setting.1.into())])
            .collect();
        let text = |text: &BStr| Some(OsString::from_vec(text.to_vec()));
        let mut variables = vec![
            ("GIT_CONFIG_PARAMETERS".into(), None),
            (
                "GIT_CONFIG_COUNT".into(),
                Some(all.len().to_string().into()),
            ),
        ];
        for (number, (key, value)) in all.into_iter().enumerate() {
            variables.push((format!("GIT_CONFIG_KEY_{number}").into(), text(key)));
            variables.push((format!("GIT_CONFIG_VALUE_{number}").into(), text(value)));
        }
        variables
    }

    /// Picks what git reads out of `variables`; `cwd` is the current directory.
    ///
    /// Fails for a boolean that is none and for settings git would refuse.
    pub fn from_vars(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        cwd: PathBuf,
    ) -> Result<Self> {
        let variables = Variables::new(variables);
        Ok(Environment {
            cwd,
            git_dir: variables.path_or_empty("GIT_DIR"),
            work_tree: variables.path_or_empty("GIT_WORK_TREE"),
            index_file: variables.path_or_empty("GIT_INDEX_FILE"),
            common_dir: variables.path_or_empty("GIT_COMMON_DIR"),
            object_directory: variables.path_or_empty("GIT_OBJECT_DIRECTORY"),
            alternate_object_directories: alternate_paths(
                &variables
                    .bytes("GIT_ALTERNATE_OBJECT_DIRECTORIES")
                    .unwrap_or_default(),
                b':',
            ),
            home: variables.path("HOME"),
            path: variables.path("PATH").map(PathBuf::into_os_string),
            xdg_config_home: variables.path("XDG_CONFIG_HOME"),
            config_global: variables.path_or_empty("GIT_CONFIG_GLOBAL"),
            config_system: variables.path_or_empty("GIT_CONFIG_SYSTEM"),
            no_system_config: variables.boolean("GIT_CONFIG_NOSYSTEM", false)?,
            no_system_attributes: variables.boolean("GIT_ATTR_NOSYSTEM", false)?,
            config_overrides: variables.config_overrides()?,
            author: variables.person("AUTHOR"),
            committer: variables.person("COMMITTER"),
            email: variables.bytes("EMAIL").filter(|email| !email.is_empty()),
            ceiling_directories: variables.paths("GIT_CEILING_DIRECTORIES"),
            discover_across_file_systems: variables
                .boolean("GIT_DISCOVERY_ACROSS_FILESYSTEM", false)?,
            no_replace_objects: variables.bytes("GIT_NO_REPLACE_OBJECTS").is_some(),
            replace_ref_base: variables.bytes("GIT_REPLACE_REF_BASE"),
            commit_graph_paranoia: variables.boolean("GIT_COMMIT_GRAPH_PARANOIA", false)?,
            unaided: false,
            own_program: None,
            in_place_of: None,
            troubles: TroubleListener::default(),
            shallow_file: variables.path_or_empty("GIT_SHALLOW_FILE"),
            graft_file: variables.path_or_empty("GIT_GRAFT_FILE"),
            index_version: variables.index_version(),
            shows_ellipsis: variables
                .bytes("GIT_PRINT_SHA1_ELLIPSIS")
                .is_some_and(|wish| wish.eq_ignore_ascii_case(b"yes")),
            is_quarantined: variables.bytes("GIT_QUARANTINE_PATH").is_some(),
            no_fsync: !variables.boolean("GIT_TEST_FSYNC", true)?,
            attr_source: variables.bytes("GIT_ATTR_SOURCE"),
            pathspecs: variables.pathspecs()?,
            no_optional_locks: !variables.boolean("GIT_OPTIONAL_LOCKS", true)?,
            no_untracked_cache: variables.boolean("GIT_DISABLE_UNTRACKED_CACHE", false)?,
            force_untracked_cache: match variables.bytes("GIT_FORCE_UNTRACKED_CACHE") {
                None => None,
                Some(_) => Some(variables.boolean("GIT_FORCE_UNTRACKED_CACHE", false)?),
            },
            no_lazy_fetch: variables.boolean("GIT_NO_LAZY_FETCH", false)?,
            no_advice: !variables.boolean("GIT_ADVICE", true)?,
            reflog_action: variables.bytes("GIT_REFLOG_ACTION"),
            reference_backend: variables.bytes("GIT_REFERENCE_BACKEND"),
            no_implicit_work_tree: !variables.boolean("GIT_IMPLICIT_WORK_TREE", true)?,
            lfs_skip_smudge: variables.bytes("GIT_LFS_SKIP_SMUDGE"),
            test_checkout_workers: variables.bytes("GIT_TEST_CHECKOUT_WORKERS"),
            assume_different_owner: variables.boolean("GIT_TEST_ASSUME_DIFFERENT_OWNER", false)?,
            sudo_uid: variables
                .bytes("SUDO_UID")
                .and_then(|uid| uid.to_str().ok()?.parse().ok()),
        })
    }
}

struct Variables(BTreeMap<OsString, OsString>);

impl Variables {
    fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let wanted = |name: &OsString| {
            let name = name.as_bytes();
            name.starts_with(b"GIT_")
                || [
                    b"HOME".as_slice(),
                    b"PATH",
                    b"XDG_CONFIG_HOME",
                    b"EMAIL",
                    b"SUDO_UID",
                ]
                .contains(&name)
        };
        Variables(
            variables
                .into_iter()
                .filter(|(name, _)| wanted(name))
                .collect(),
        )
    }

    fn bytes(&self, name: &str) -> Option<BString> {
        let value = self.0.get(std::ffi::OsStr::new(name))?;
        Some(value.as_bytes().into())
    }

    fn path_or_empty(&self, name: &str) -> Option<PathBuf> {
        self.0.get(std::ffi::OsStr::new(name)).map(PathBuf::from)
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        self.path_or_empty(name)
            .filter(|path| !path.as_os_str().is_empty())
    }

    fn paths(&self, name: &str) -> Vec<PathBuf> {
        let value = self.bytes(name).unwrap_or_default();
        let parts = value.split(|byte| *byte == b':');
        parts
            .filter(|part| !part.is_empty())
            .map(|part| PathBuf::from(OsString::from_vec(part.to_vec())))
            .collect()
    }

    fn boolean(&self, name: &str, default: bool) -> Result<bool> {
        let Some(value) = self.bytes(name) else {
            return Ok(default);
        };
        boolean(value.as_ref()).ok_or_else(|| Error::Config {
            reason: format!("bad boolean environment value '{value}' for '{name}'"),
        })
    }

    fn index_version(&self) -> Option<i64> {
        let value = self.bytes("GIT_INDEX_VERSION")?;
        let number = value.trim_start().to_str().ok().map(str::parse);
        let number = number.and_then(|number| number.ok());
        let number = number.filter(|number| (2..=4).contains(number));
        (!value.is_empty()).then_some(number.unwrap_or(3))
    }

    fn pathspecs(&self) -> Result<PathspecSettings> {
        Ok(PathspecSettings {
            literal: self.boolean("GIT_LITERAL_PATHSPECS", false)?,
            glob: self.boolean("GIT_GLOB_PATHSPECS", false)?,
            no_glob: self.boolean("GIT_NOGLOB_PATHSPECS", false)?,
            ignore_case: self.boolean("GIT_ICASE_PATHSPECS", false)?,
        })
    }

    fn person(&self, role: &str) -> Person {
        Person {
            name: self.bytes(&format!("GIT_{role}_NAME")),
            email: self.bytes(&format!("GIT_{role}_EMAIL")),
            date: self
                .bytes(&format!("GIT_{role}_DATE"))
                .filter(|date| !date.is_empty()),
        }
    }

    fn config_overrides(&self) -> Result<Vec<(BString, Option<BString>)>> {
        let mut settings = Vec::new();
        let count = self.bytes("GIT_CONFIG_COUNT").unwrap_or_default();
        if !count.is_empty() {
            let count: usize = count
                .to_str()
                .ok()
                .and_then(|count| count.trim_start().parse().ok())
                .ok_or_else(|| bad("bogus count in GIT_CONFIG_COUNT"))?;
            if count > CONFIG_COUNT_LIMIT {
                return Err(bad("too many entries in GIT_CONFIG_COUNT"));
            }
            for number in 0..count {
                settings.push(self.config_pair(number)?);
            }
        }
        if let Some(parameters) = self.bytes("GIT_CONFIG_PARAMETERS") {
            settings.extend(
                parse_parameters(&parameters)
                    .ok_or_else(|| bad("bogus format in GIT_CONFIG_PARAMETERS"))?,
            );
        }
        Ok(settings)
    }

    fn config_pair(&self, number: usize) -> Result<(BString, Option<BString>)> {
        let variable = |part: &str| {
            let name = format!("GIT_CONFIG_{part}_{number}");
            self.bytes(&name)
                .ok_or_else(|| bad(format!("missing config {} {name}", part.to_lowercase())))
        };
        Ok((variable("KEY")?, Some(variable("VALUE")?)))
    }
}

/// Settings of the environment are wrong, for this reason.
fn bad(reason: impl Into<String>) -> Error {
    Error::AfterFailures {
        failures: vec![reason.into()],
        error: Box::new(Error::Config {
            reason: "unable to parse command-line config".to_owned(),
        }),
    }
}

/// Reads `GIT_CONFIG_PARAMETERS`: words in the shell's single quotes, each `'key'='value'`,
/// `'key'=` or, as written by git before 2.31, `'key=value'` or `'key'`.
fn parse_parameters(text: &[u8]) -> Option<Vec<(BString, Option<BString>)>> {
    let mut settings = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (word, after) = unquote(rest)?;
        let (setting, after) = match after.strip_prefix(b"=") {
            Some(after) if after.first() == Some(&b'\'') => {
                let (value, after) = unquote(after)?;
                ((word, Some(value)), after)
            }
            Some(after) => ((word, None), after),
            None => match word.split_once_str("=") {
                Some((key, value)) => ((key.into(), Some(value.into())), after),
                None => ((word, None), after),
            },
        };
        if !after.first().is_none_or(u8::is_ascii_whitespace) {
            return None;
        }
        settings.push(setting);
        rest = after.trim_start();
    }
    Some(settings)
}

/// Takes a word in single quotes off the front of `text`. Between quoted parts a backslash may
/// protect a quote or an exclamation mark, as the shell has it.
fn unquote(text: &[u8]) -> Option<(BString, &[u8])> {
    let mut word = BString::default();
    let mut rest = text;
    loop {
        rest = rest.strip_prefix(b"'")?;
        let end = rest.find_byte(b'\'')?;
        word.extend_from_slice(rest.get(..end)?);
        rest = rest.get(end + 1..)?;
        match rest {
            [b'\\', quoted @ (b'\'' | b'!'), b'\'', ..] => {
                word.push(*quoted);
                rest = rest.get(2..)?;
            }
            _ => return Some((word, rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Result<Environment> {
        let variables = variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        Environment::from_vars(variables, "/work".into())
    }

    #[test]
    fn what_git_reads_is_picked_out() {
        let read = environment(&[
            ("GIT_DIR", "/a/.git"),
            ("GIT_WORK_TREE", ""),
            ("GIT_CEILING_DIRECTORIES", "/x::/y"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_COMMITTER_NAME", "Ada"),
            ("GIT_COMMITTER_DATE", ""),
            ("GIT_CONFIG_GLOBAL", ""),
            ("SUDO_UID", "1000"),
            ("PATH", "/bin"),
        ])
        .unwrap();
        assert_eq!(read.git_dir, Some("/a/.git".into()));
        assert_eq!(read.work_tree, Some("".into()));
        assert_eq!(read.ceiling_directories, [PathBuf::from("/x"), "/y".into()]);
        assert!(read.no_optional_locks);
        assert_eq!(read.committer.name, Some("Ada".into()));
        assert_eq!(read.committer.date, None);
        assert_eq!(read.config_global, Some("".into()));
        assert_eq!(read.sudo_uid, Some(1000));
        assert!(!read.no_implicit_work_tree);
    }

    #[test]
    fn settings_arrive_in_order() {
        let read = environment(&[
            ("GIT_CONFIG_COUNT", "2"),
            ("GIT_CONFIG_KEY_0", "a.b"),
            ("GIT_CONFIG_VALUE_0", "1"),
            ("GIT_CONFIG_KEY_1", "a.c"),
            ("GIT_CONFIG_VALUE_1", ""),
            (
                "GIT_CONFIG_PARAMETERS",
                r"'d.e'='it'\''s' 'f.g=old style' 'h.i' 'j.k'=",
            ),
        ])
        .unwrap();
        let expected: Vec<(BString, Option<BString>)> = vec![
            ("a.b".into(), Some("1".into())),
            ("a.c".into(), Some("".into())),
            ("d.e".into(), Some("it's".into())),
            ("f.g".into(), Some("old style".into())),
            ("h.i".into(), None),
            ("j.k".into(), None),
        ];
        assert_eq!(read.config_overrides, expected);
        // A program that is started gets them, and one more.
        let given = read.with_setting("k.l=m");
        assert!(given.contains(&("GIT_CONFIG_PARAMETERS".into(), None)));
        let text = |text: &OsString| text.to_str().unwrap().to_owned();
        let given: Vec<(String, String)> = given
            .iter()
            .filter_map(|(name, value)| Some((text(name), text(value.as_ref()?))))
            .collect();
        let given: Vec<(&str, &str)> = given.iter().map(|(a, b)| (&**a, &**b)).collect();
        let again = environment(&given).unwrap().config_overrides;
        let mut expected = expected;
        for (_, value) in &mut expected[4..] {
            *value = Some("true".into());
        }
        expected.push(("k.l".into(), Some("m".into())));
        assert_eq!(again, expected);
    }

    #[test]
    fn what_git_refuses_is_refused_in_its_words() {
        for (variables, words) in [
            (
                &[("GIT_CONFIG_COUNT", "1")][..],
                "missing config key GIT_CONFIG_KEY_0",
            ),
            (
                &[("GIT_CONFIG_COUNT", "many")],
                "bogus count in GIT_CONFIG_COUNT",
            ),
            (
                &[("GIT_CONFIG_COUNT", "99999999999")],
                "too many entries in GIT_CONFIG_COUNT",
            ),
            (
                &[("GIT_CONFIG_PARAMETERS", "'a.b'='c")],
                "bogus format in GIT_CONFIG_PARAMETERS",
            ),
            (
                &[("GIT_OPTIONAL_LOCKS", "perhaps")],
                "bad boolean environment value 'perhaps' for 'GIT_OPTIONAL_LOCKS'",
            ),
        ] {
            let error = match environment(variables).unwrap_err() {
                Error::AfterFailures { failures, error } => format!("{failures:?} {error}"),
                error => error.to_string(),
            };
            assert!(error.contains(words), "{error}");
        }
    }
}
