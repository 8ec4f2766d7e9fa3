//! The configuration files, and which of them are trusted: `hg help config.files`,
//! `hg help config.trusted`.

use super::parse::{parse, Stop};
use super::Config;
use crate::environment::Environment;
use crate::{Error, Result};
use bstr::{BString, ByteSlice};
use hedgerow_fs::{Account, FileKind};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Upper size limit of a configuration file, in bytes; a larger one is refused.
const FILE_BYTES: u64 = 16 << 20;
/// Maximum nesting depth of included files.
const DEPTH: usize = 50;

/// Reads all configuration files for a repository with the directories `repository`: that of the
/// repository it is shared from, if its settings apply, and `.hg`.
///
/// Messages about untrusted files are added to `warnings`.
pub(crate) fn load(
    environment: &Environment,
    repository: &[PathBuf],
    warnings: &mut Vec<String>,
) -> Result<Config> {
    let mut config = Config::default();
    for path in user_files(environment)? {
        read(&path, true, environment, warnings, &mut config)?;
    }
    if environment.variable("HGRCSKIPREPO").is_none() {
        for directory in repository {
            let path = directory.join("hgrc");
            read(&path, false, environment, warnings, &mut config)?;
        }
        if let Some(own) = repository.last() {
            let path = own.join("hgrc-not-shared");
            read(&path, false, environment, warnings, &mut config)?;
        }
    }
    Ok(config)
}

fn user_files(environment: &Environment) -> Result<Vec<PathBuf>> {
    if let Some(paths) = environment.variable("HGRCPATH") {
        let mut files = Vec::new();
        for path in paths.as_bytes().split(|byte| *byte == b':') {
            let path = environment.expand(path);
            if hedgerow_fs::is_directory(&path) {
                files.extend(settings_in(&path)?);
            } else if !path.as_os_str().is_empty() {
                files.push(path);
            }
        }
        return Ok(files);
    }
    let system = Path::new("/etc/mercurial");
    let mut files = vec![system.join("hgrc")];
    files.extend(settings_in(&system.join("hgrc.d"))?);
    let home = environment.home();
    files.extend(home.as_ref().map(|home| home.join(".hgrc")));
    let of_variable = environment.variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let of_variable = of_variable.filter(|path| path.is_absolute());
    let configuration = of_variable.or_else(|| Some(home?.join(".config")));
    files.extend(configuration.map(|path| path.join("hg/hgrc")));
    Ok(files)
}

/// The files of a directory with the extension `.rc`, in order.
fn settings_in(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = hedgerow_fs::list_directory(directory)?.unwrap_or_default();
    let mut names: Vec<Vec<u8>> = entries.into_iter().map(|entry| entry.name).collect();
    names.retain(|name| name.ends_with(b".rc"));
    names.sort_unstable();
    let path = |name: &Vec<u8>| directory.join(OsStr::from_bytes(name));
    Ok(names.iter().map(path).collect())
}

/// Adds the settings of the file at `path`, if it exists and is trusted: whoever can write to a
/// repository can write its settings, and these can name programs and files.
fn read(
    path: &Path,
    is_believed: bool,
    environment: &Environment,
    warnings: &mut Vec<String>,
    config: &mut Config,
) -> Result<()> {
    let stat = hedgerow_fs::stat(path)?;
    let Some(stat) = stat.filter(|stat| stat.kind == FileKind::File) else {
        return Ok(());
    };
    if !is_believed && !is_trusted(stat.uid, config) {
        let name = account_name(stat.uid);
        let path = path.display();
        warnings.push(format!(
            "not trusting file {path} from untrusted user {name}"
        ));
        return Ok(());
    }
    include(path, environment, 0, config)?;
    if environment.is_plain() {
        forget_looks(config);
    }
    Ok(())
}

fn include(
    path: &Path,
    environment: &Environment,
    depth: usize,
    config: &mut Config,
) -> Result<()> {
    let Some(content) = hedgerow_fs::read_file(path, FILE_BYTES)? else {
        return Ok(());
    };
    let directory = path.parent().unwrap_or(path);
    let outcome = parse(&content, config, &mut |config, name| {
        if depth >= DEPTH {
            let reason = "too many files are included, one in the other".to_owned();
            return Err(Stop::Line(1, reason));
        }
        let path = directory.join(environment.expand(name));
        let is_file = hedgerow_fs::stat(&path)
            .map_err(|error| Stop::Included(error.into()))?
            .is_some_and(|stat| stat.kind == FileKind::File);
        if is_file {
            include(&path, environment, depth + 1, config).map_err(Stop::Included)
        } else {
            Ok(())
        }
    });
    outcome.map_err(|stop| match stop {
        Stop::Included(error) => error,
        Stop::Line(line, reason) => Error::Config {
            path: path.to_owned(),
            line,
            reason,
        },
    })
}

/// Whether a file's owner is trusted. Files of another user are read only if `trusted.users` names
/// that user or everybody.
fn is_trusted(uid: u32, config: &Config) -> bool {
    if uid == hedgerow_fs::effective_uid() {
        return true;
    }
    let name = account_name(uid);
    let listed = |setting: &str| -> Vec<BString> {
        let value = config.get("trusted", setting).unwrap_or_default();
        let words = value.split(|byte| matches!(byte, b' ' | b',' | b'\n'));
        words.map(BString::from).collect()
    };
    let users = listed("users");
    users.contains(&name)
        || users.iter().any(|user| user == "*")
        || listed("groups").iter().any(|group| group == "*")
}

fn account_name(uid: u32) -> BString {
    let name = hedgerow_fs::account_by_uid(uid).map(|account: Account| account.name);
    name.map_or_else(|| uid.to_string().into(), BString::from)
}

/// Settings that `HGPLAIN` disables.
const LOOKS: [&str; 5] = ["quiet", "verbose", "slash", "statuscopies", "tweakdefaults"];

fn forget_looks(config: &mut Config) {
    for name in LOOKS {
        config.unset(b"ui".as_bstr(), name.as_bytes().as_bstr());
    }
    for section in ["commands", "alias", "defaults"] {
        let names = config.section(section).map(|(name, _)| name.to_owned());
        for name in names.collect::<Vec<BString>>() {
            config.unset(section.as_bytes().as_bstr(), name.as_bstr());
        }
    }
}
