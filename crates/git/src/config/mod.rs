//! What is set: the environment, the merged configuration (git-config(1) under "FILES" and
//! "ENVIRONMENT"), and the settings that are read out of both. Nothing here knows a repository.

mod checked;
mod edit;
mod environment;
mod fsync;
mod hooks;
mod installation;
mod mounting;
mod reftable;
mod serving;
mod settings;
mod sharing;
mod syntax;
mod trouble_listener;
mod values;

pub(crate) use edit::{prepare_changes, prepare_edit, ConfigChange};
pub use environment::{Environment, InPlaceOf, PathspecSettings, Person};
pub(crate) use fsync::sync_if;
pub use fsync::Fsync;
pub(crate) use installation::Installation;
pub use mounting::{MountSettings, WorktreeMonitor, WorktreeMount};
pub(crate) use reftable::ReftableSettings;
pub use serving::{ResponseCacheSettings, ServingSettings};
pub use settings::{Abbreviation, CheckoutSettings, FsMonitor, LogRefUpdates, UntrackedCache};
pub use sharing::Sharing;
pub use trouble_listener::{Trouble, TroubleListener};
pub use values::boolean;

use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_config::file::{includes, init, Metadata, SectionRef};
use gix_config::path::interpolate;
use gix_config::{File, Source};
use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A configuration file larger than this is refused.
const FILE_LIMIT_BYTES: u64 = 64 << 20;

/// The configuration that applies to a repository: system, user, repository, working tree and
/// environment merged in this order, so that the last value of a key wins.
#[derive(Clone, Debug, Default)]
pub struct Config {
    file: File,
    home: Option<PathBuf>,
    installation: Installation,
    /// A hash of every key that is set, in lower case: most of those that are asked for are not.
    keys: HashSet<u64>,
}

/// The repository whose own files belong to a configuration.
pub(crate) struct Scope<'a> {
    pub git_dir: &'a Path,
    pub common_dir: &'a Path,
    /// Whether `config.worktree` is read.
    pub worktree_config: bool,
    /// The full name of the branch that is checked out, for `includeIf "onbranch:..."`.
    pub branch: Option<&'a gix_ref::FullNameRef>,
}

impl Config {
    /// Reads and merges everything; `None` leaves the repository's own files out.
    pub(crate) fn load(environment: &Environment, scope: Option<&Scope<'_>>) -> Result<Self> {
        Self::load_with(environment, scope, None)
    }

    /// The same, of which the file `known` was read before and need not be again.
    pub(crate) fn load_with(
        environment: &Environment,
        scope: Option<&Scope<'_>>,
        mut known: Option<File>,
    ) -> Result<Self> {
        let installation = Installation::find(environment);
        let options = options(environment, scope, &installation);
        let mut merged = File::default();
        for (source, path) in files(environment, scope, &installation) {
            let is_known = |file: &mut File| {
                let meta = file.meta();
                meta.source == source && meta.path.as_ref() == Some(&path)
            };
            let file = match known.take_if(is_known) {
                Some(file) => Some(file),
                None => parse_file(&path, source)?,
            };
            if let Some(file) = file {
                append(&mut merged, spelled(file)?)?;
            }
        }
        // Conditions may ask for a remote's address, which any of the files may give.
        merged
            .resolve_includes(options)
            .map_err(|error| bad(include_words(&error)))?;
        let mut given = spelled(overrides(environment)?)?;
        given
            .resolve_includes(options)
            .map_err(|error| bad(include_words(&error)))?;
        append(&mut merged, given)?;
        Ok(Config {
            home: environment.home.clone(),
            installation,
            ..Config::of(merged)
        })
    }

    /// The configuration of one file alone, such as `.gitmodules`, includes unfollowed. `path` is what
    /// errors name.
    pub(crate) fn of_file(content: &[u8], path: &Path) -> Result<Self> {
        Ok(Config::of(parse(content, path, Source::Local)?))
    }

    fn of(file: File) -> Self {
        let mut keys = HashSet::new();
        for section in file.sections() {
            let header = section.header();
            let mut start = lower_hash(NO_BYTES_HASH, header.name());
            if let Some(subsection) = header.subsection_name() {
                start = lower_hash(lower_hash(start, b"."), subsection);
            }
            start = lower_hash(start, b".");
            for name in section.body().value_names() {
                keys.insert(lower_hash(start, name.as_ref()));
            }
        }
        Config {
            file,
            keys,
            ..Config::default()
        }
    }

    /// The last value of `key` (`section.name` or `section.subsection.name`), if it has one. A
    /// name without `=` has no text.
    pub fn string(&self, key: &str) -> Option<BString> {
        self.lookup(key)?.value
    }

    /// All values of `key`, in order of rising precedence. A name without `=` is an empty text.
    pub fn strings(&self, key: &str) -> Vec<BString> {
        self.file.strings(key).unwrap_or_default()
    }

    /// The last value of `section.subsection.name`, for a subsection of any bytes.
    pub fn string_in(&self, section: &str, subsection: &BStr, name: &str) -> Option<BString> {
        self.file
            .string_implicit_by(section, Some(subsection), name)
            .flatten()
    }

    /// All values of `section.subsection.name`, for a subsection of any bytes.
    pub fn strings_in(&self, section: &str, subsection: &BStr, name: &str) -> Vec<BString> {
        self.file
            .strings_by(section, Some(subsection), name)
            .unwrap_or_default()
    }

    /// The subsections of `section`, each once, in order of first occurrence.
    pub fn subsections(&self, section: &str) -> Vec<BString> {
        let mut names: Vec<BString> = Vec::new();
        for section in self.file.sections_by_name(section).into_iter().flatten() {
            if let Some(name) = section.header().subsection_name() {
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
            }
        }
        names
    }

    /// The boolean `key`, if it is set. A name without `=` is true.
    pub fn bool(&self, key: &str) -> Result<Option<bool>> {
        let Some(found) = self.lookup(key) else {
            return Ok(None);
        };
        let Some(text) = &found.value else {
            return Ok(Some(true));
        };
        match values::boolean(text.as_ref()) {
            Some(value) => Ok(Some(value)),
            None => Err(bad(format!(
                "bad boolean config value '{text}' for '{}'",
                shown(key)
            ))),
        }
    }

    /// The whole number `key`, if it is set; `k`, `m` and `g` multiply by powers of 1024.
    pub fn integer(&self, key: &str) -> Result<Option<i64>> {
        let Some(found) = self.lookup(key) else {
            return Ok(None);
        };
        let text = required(key, found.value)?;
        match hedgerow_numbers::integer(text.as_ref()) {
            Ok(number) => Ok(Some(number)),
            Err(why) => Err(bad(format!(
                "bad numeric config value '{text}' for '{}'{}: {}",
                shown(key),
                found.origin,
                why.words()
            ))),
        }
    }

    /// The whole number `key`, if it is set, which must not be negative.
    pub(crate) fn unsigned(&self, key: &str) -> Result<Option<u64>> {
        let Some(number) = self.integer(key)? else {
            return Ok(None);
        };
        let origin = self.lookup(key).map(|found| found.origin);
        let not_negative = u64::try_from(number).map_err(|_| {
            bad(format!(
                "bad numeric config value '{number}' for '{}'{}: invalid unit",
                shown(key),
                origin.unwrap_or_default()
            ))
        });
        not_negative.map(Some)
    }

    /// The path `key`, if it is set, with `~/`, `~user/` and `%(prefix)/` replaced.
    pub fn path(&self, key: &str) -> Result<Option<PathBuf>> {
        let Some(found) = self.lookup(key) else {
            return Ok(None);
        };
        let text = required(key, found.value)?;
        match self.interpolate(text.as_ref()) {
            Some(path) => Ok(Some(path)),
            None => Err(bad(format!("failed to expand user dir in: '{text}'"))),
        }
    }

    /// The last value of `key`, where a name without `=` is an error in git's words.
    pub fn text(&self, key: &str) -> Result<Option<BString>> {
        self.lookup(key)
            .map(|found| required(key, found.value))
            .transpose()
    }

    /// The merged files, for what reads a part of its own.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    pub(crate) fn interpolate(&self, text: &BStr) -> Option<PathBuf> {
        values::interpolate(text, self.home.as_deref(), self.installation.prefix())
    }

    /// Where git is installed, whose files of the system count.
    pub(crate) fn installation(&self) -> &Installation {
        &self.installation
    }

    fn lookup(&self, key: &str) -> Option<SettingFound> {
        if !self
            .keys
            .contains(&lower_hash(NO_BYTES_HASH, key.as_bytes()))
        {
            return None;
        }
        let mut origin = String::new();
        let value = self.file.string_implicit_filter(key, |meta| {
            origin = origin_words(meta);
            true
        })?;
        Some(SettingFound { value, origin })
    }
}

/// The hash (FNV-1a) of no bytes.
const NO_BYTES_HASH: u64 = 0xcbf2_9ce4_8422_2325;

/// That of the bytes with the hash `before`, and `text` in lower case. Two keys with the same one cost a search
/// that finds nothing.
fn lower_hash(before: u64, text: &[u8]) -> u64 {
    text.iter().fold(before, |hash, byte| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3)
    })
}

struct SettingFound {
    value: Option<BString>,
    origin: String,
}

/// The configuration that a repository cannot influence, read when first asked for.
pub(crate) struct Protected<'a> {
    environment: &'a Environment,
    config: Option<Config>,
}

impl<'a> Protected<'a> {
    pub(crate) fn new(environment: &'a Environment) -> Self {
        Protected {
            environment,
            config: None,
        }
    }

    pub(crate) fn config(&mut self) -> Result<&Config> {
        let config = match self.config.take() {
            Some(config) => config,
            None => Config::load(self.environment, None)?,
        };
        Ok(self.config.insert(config))
    }
}

/// Parses the file at `path` alone, includes unfollowed; `None` if there is none.
pub(crate) fn read_file(path: &Path) -> Result<Option<File>> {
    parse_file(path, Source::Local)
}

/// The names of a section in lower case, each once with its last value; `None` without `=`.
pub(crate) fn settings_of(section: SectionRef<'_>) -> Vec<(BString, Option<BString>)> {
    let body = section.body();
    let mut settings: Vec<(BString, Option<BString>)> = Vec::new();
    for name in body.value_names() {
        let lower = BString::from(name.to_ascii_lowercase());
        if settings.iter().all(|(known, _)| *known != lower) {
            let value = body.value_implicit(&name).flatten();
            settings.push((lower, value));
        }
    }
    settings
}

/// The files in order of rising precedence.
fn files(
    environment: &Environment,
    scope: Option<&Scope<'_>>,
    installation: &Installation,
) -> Vec<(Source, PathBuf)> {
    let mut files = Vec::new();
    if !environment.no_system_config {
        let path = environment.config_system.clone();
        let usual = || installation.system_file("gitconfig");
        files.push((Source::System, path.unwrap_or_else(usual)));
    }
    match &environment.config_global {
        Some(path) => files.push((Source::User, path.clone())),
        None => {
            let home = environment.home.as_deref();
            let xdg = environment.xdg_config_home.clone();
            let xdg = xdg.or_else(|| home.map(|home| home.join(".config")));
            files.extend(xdg.map(|xdg| (Source::Git, xdg.join("git/config"))));
            files.extend(home.map(|home| (Source::User, home.join(".gitconfig"))));
        }
    }
    if let Some(scope) = scope {
        files.push((Source::Local, scope.common_dir.join("config")));
        if scope.worktree_config {
            files.push((Source::Worktree, scope.git_dir.join("config.worktree")));
        }
    }
    files.retain(|(_, path)| !path.as_os_str().is_empty());
    for (_, path) in &mut files {
        *path = environment.cwd.join(&*path);
    }
    files
}

fn options<'a>(
    environment: &'a Environment,
    scope: Option<&Scope<'a>>,
    installation: &'a Installation,
) -> init::Options<'a> {
    let interpolate = interpolate::Context {
        git_install_dir: Some(installation.prefix()),
        home_dir: environment.home.as_deref(),
        home_for_user: Some(|name| Some(hedgerow_fs::account_by_name(name.as_bytes())?.home)),
    };
    let conditional = includes::conditional::Context {
        git_dir: scope.map(|scope| scope.git_dir),
        branch_name: scope.and_then(|scope| scope.branch),
    };
    init::Options {
        includes: includes::Options {
            err_on_missing_config_path: false,
            ..includes::Options::follow(interpolate, conditional)
        },
        ..init::Options::default()
    }
}

fn parse_file(path: &Path, source: Source) -> Result<Option<File>> {
    let content = match hedgerow_fs::read_file(path, FILE_LIMIT_BYTES) {
        // Under another user's identity, `HOME` may still be that of whoever called: as with git, what is
        // there and may not be read counts as not there.
        Err(error) if is_of_user(source) && error.kind() == ErrorKind::PermissionDenied => None,
        read => read?,
    };
    content
        .map(|content| parse(&content, path, source))
        .transpose()
}

/// Whether a file belongs to the user, neither to the system nor to the repository.
fn is_of_user(source: Source) -> bool {
    matches!(source, Source::Git | Source::User)
}

pub(crate) fn parse(content: &[u8], path: &Path, source: Source) -> Result<File> {
    let meta = Metadata::from(source).at(path);
    let options = init::Options {
        includes: includes::Options::no_follow(),
        ..init::Options::default()
    };
    let refused = |line| bad(format!("bad config line {line} in file {}", path.display()));
    if let Some(line) = syntax::bad_line(content) {
        return Err(refused(line));
    }
    File::from_bytes_no_includes(content, meta, options).map_err(|error| {
        let error = error.downcast_any_ref::<gix_config::parse::Error>();
        refused(error.map_or(1, gix_config::parse::Error::line_number))
    })
}

/// The file with the names of sections that include others in the letters in which they are looked for:
/// git ignores their case.
fn spelled(mut file: File) -> Result<File> {
    for name in ["include", "includeIf"] {
        let differs = |section: &SectionRef<'_>| {
            let found = section.header().name();
            found.eq_ignore_ascii_case(name.as_bytes()) && found != name
        };
        let others = file.sections().filter(differs);
        let conditions: Vec<Option<BString>> = others
            .map(|section| section.header().subsection_name().map(BString::from))
            .collect();
        for condition in conditions {
            let condition = condition.as_ref().map(|condition| condition.as_bstr());
            file.rename_section(name, condition, name, condition.map(BString::from))
                .map_err(|error| bad(error.to_string()))?;
        }
    }
    Ok(file)
}

/// The settings of the environment as a file of its own.
fn overrides(environment: &Environment) -> Result<File> {
    let mut file = File::new(Metadata::from(Source::Env));
    for (key, value) in &environment.config_overrides {
        let wrong = |reason| Error::AfterFailures {
            failures: vec![reason],
            error: Box::new(bad("unable to parse command-line config".to_owned())),
        };
        let refused = || wrong(what_is_wrong(key.as_bstr()));
        let is_relative = |value: &BString| !value.starts_with(b"/") && !value.starts_with(b"~");
        if key.eq_ignore_ascii_case(b"include.path") && value.as_ref().is_some_and(is_relative) {
            let reason = "relative config includes must come from files";
            return Err(wrong(reason.to_owned()));
        }
        let parts = key.to_str().ok().and_then(split_key);
        let (section, subsection, name) = parts.ok_or_else(refused)?;
        let mut section = file
            .section_mut_or_create_new(section, subsection.map(BStr::new))
            .map_err(|_| refused())?;
        let value = value.as_ref().map(|value| value.as_bstr());
        section.push(name, value).map_err(|_| refused())?;
    }
    Ok(file)
}

/// What is wrong with a key, in git's words.
fn what_is_wrong(key: &BStr) -> String {
    match key.rfind_byte(b'.') {
        _ if key.is_empty() => "empty config key".to_owned(),
        None | Some(0) => format!("key does not contain a section: {key}"),
        Some(at) if at + 1 == key.len() => format!("key does not contain variable name: {key}"),
        Some(_) => format!("invalid key: {key}"),
    }
}

fn split_key(key: &str) -> Option<(&str, Option<&str>, &str)> {
    let (section, rest) = key.split_once('.')?;
    if section.is_empty() {
        return None;
    }
    match rest.rsplit_once('.') {
        Some((subsection, name)) => Some((section, Some(subsection), name)),
        None => Some((section, None, rest)),
    }
}

fn append(merged: &mut File, file: File) -> Result<()> {
    merged
        .append(file)
        .map(|_| ())
        .map_err(|error| bad(error.to_string()))
}

/// Where a value comes from, as git puts it into a message.
fn origin_words(meta: &Metadata) -> String {
    match (&meta.path, meta.source) {
        (Some(path), _) => format!(" in file {}", path.display()),
        (None, Source::Env) => " in command line".to_owned(),
        (None, _) => String::new(),
    }
}

fn include_words(error: &gix_error::Error) -> String {
    match error.downcast_any_ref::<gix_config::parse::Error>() {
        Some(parse) => format!("bad config line {} in included file", parse.line_number()),
        None => format!("cannot follow includes: {}", error.probable_cause()),
    }
}

/// A key as git shows it: all but the subsection in lower case.
fn shown(key: &str) -> String {
    match split_key(key) {
        Some((section, Some(subsection), name)) => format!(
            "{}.{subsection}.{}",
            section.to_ascii_lowercase(),
            name.to_ascii_lowercase()
        ),
        _ => key.to_ascii_lowercase(),
    }
}

fn required(key: &str, value: Option<BString>) -> Result<BString> {
    value.ok_or_else(|| bad(format!("missing value for '{}'", shown(key))))
}

fn bad(reason: String) -> Error {
    Error::Config { reason }
}
