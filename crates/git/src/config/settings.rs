//! Every setting that a checkout needs, read and checked once: git-config(1).

use super::{Config, Environment, Fsync, Sharing};
use crate::convert::{AutoCrlf, Eol, SafeCrlf};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use std::path::PathBuf;

/// `core.bigFileThreshold` where it is not set, in bytes.
const BIG_FILE_BYTES: i64 = 512 << 20;
/// `checkout.thresholdForParallelism` where it is not set.
const PARALLEL_THRESHOLD: i64 = 100;
/// `core.filesRefLockTimeout` where it is not set.
const REF_LOCK_TIMEOUT_MS: i64 = 100;
/// The default of `core.packedRefsTimeout`.
const PACKED_LOCK_TIMEOUT_MS: i64 = 1000;
/// The shortest abbreviation of an object id.
const SHORTEST_ABBREVIATION: i64 = 4;

/// The settings of a checkout, with git's defaults where nothing is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckoutSettings {
    /// `checkout.workers` as it is set; below 1 it means one worker a processor.
    pub workers: Option<i64>,
    /// `checkout.thresholdForParallelism`, in files.
    pub parallel_threshold: i64,
    /// `checkout.guess`: a name that fits one remote branch creates a local one.
    pub guess: bool,
    /// `checkout.defaultRemote`: whose branch is meant if several remotes have it.
    pub default_remote: Option<BString>,
    /// `core.fileMode`: the executable bit of files is trusted.
    pub file_mode: bool,
    /// `core.symlinks`: the file system has symbolic links.
    pub symlinks: bool,
    /// `core.ignoreCase`: the file system does not tell upper and lower case apart.
    pub ignore_case: bool,
    /// `core.precomposeUnicode`: the file system decomposes names.
    pub precompose_unicode: bool,
    /// `core.protectNTFS`: paths that NTFS could take for `.git` are refused.
    pub protect_ntfs: bool,
    /// `core.protectHFS`: paths that HFS+ could take for `.git` are refused.
    pub protect_hfs: bool,
    /// `core.autocrlf`.
    pub autocrlf: AutoCrlf,
    /// `core.eol`, where it names a line end.
    pub eol: Option<Eol>,
    /// `core.safecrlf`.
    pub safecrlf: SafeCrlf,
    /// `core.checkStat` is `default`: all fields of a file's state are compared.
    pub check_whole_stat: bool,
    /// `core.trustctime`.
    pub trust_ctime: bool,
    /// `core.bigFileThreshold` in bytes: larger files are streamed.
    pub big_file_bytes: u64,
    /// `core.sparseCheckout`.
    pub sparse_checkout: bool,
    /// `core.sparseCheckoutCone`.
    pub sparse_checkout_cone: bool,
    /// `index.version`, or 4 for `feature.manyFiles`.
    pub index_version: Option<i64>,
    /// `index.skipHash`: the index has no checksum.
    pub index_skip_hash: bool,
    /// `index.sparse`: the index may have entries for whole directories.
    pub index_sparse: bool,
    /// The attributes of the system, where git is installed.
    pub system_attributes_file: Option<PathBuf>,
    /// `core.attributesFile`, or the user's default one.
    pub attributes_file: Option<PathBuf>,
    /// `core.excludesFile`, or the user's default one.
    pub excludes_file: Option<PathBuf>,
    /// `core.hooksPath`.
    pub hooks_path: Option<PathBuf>,
    /// `core.logAllRefUpdates`.
    pub log_ref_updates: LogRefUpdates,
    /// `core.preferSymlinkRefs`.
    pub prefer_symlink_refs: bool,
    /// `core.sharedRepository`.
    pub sharing: Sharing,
    /// `core.fsync`.
    pub fsync: Fsync,
    /// `core.filesRefLockTimeout` in milliseconds; below 0 there is no limit.
    pub ref_lock_timeout_ms: i64,
    /// `core.packedRefsTimeout` in milliseconds; below 0 there is no limit.
    pub packed_lock_timeout_ms: i64,
    /// `core.preloadIndex`.
    pub preload_index: bool,
    /// `submodule.recurse`.
    pub recurse_submodules: bool,
    /// `pack.readReverseIndex`.
    pub read_reverse_index: bool,
    /// `core.multiPackIndex`.
    pub multi_pack_index: bool,
    /// `core.untrackedCache`.
    pub untracked_cache: UntrackedCache,
    /// `core.fsmonitor`.
    pub fsmonitor: FsMonitor,
    /// `core.quotePath`: bytes above 127 are escaped in messages.
    pub quote_path: bool,
    /// `core.abbrev`.
    pub abbreviation: Abbreviation,
    /// `attr.tree`, or `GIT_ATTR_SOURCE` over it: where attributes are read from.
    pub attributes_tree: Option<BString>,
}

/// `core.logAllRefUpdates`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogRefUpdates {
    /// Only logs that exist grow.
    Existing,
    /// Branches, remote-tracking branches, notes and `HEAD` have logs.
    Usual,
    /// Every reference has one.
    Always,
}

impl LogRefUpdates {
    /// Whether a log is created for the reference `name`.
    pub fn covers(self, name: &BStr) -> bool {
        match self {
            LogRefUpdates::Existing => false,
            LogRefUpdates::Always => true,
            LogRefUpdates::Usual => {
                name == "HEAD"
                    || ["refs/heads/", "refs/remotes/", "refs/notes/"]
                        .iter()
                        .any(|prefix| name.starts_with_str(prefix))
            }
        }
    }
}

/// `core.untrackedCache`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UntrackedCache {
    /// One that exists is kept.
    #[default]
    Keep,
    /// One is removed.
    Remove,
    /// One is added.
    Write,
}

/// `core.fsmonitor`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FsMonitor {
    /// None is asked.
    #[default]
    Off,
    /// Git's own daemon.
    Daemon,
    /// This program.
    Hook(PathBuf),
}

/// `core.abbrev`: how many digits of an object id messages show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Abbreviation {
    /// Enough for the number of objects.
    #[default]
    Auto,
    /// At least this many.
    Digits(usize),
    /// All.
    Full,
}

impl CheckoutSettings {
    /// Reads the settings out of `config`; `bare` tells whether the repository is. Fails in git's
    /// words for a value that is none.
    pub(crate) fn resolve(
        config: &Config,
        environment: &Environment,
        bare: bool,
        hash: gix_hash::Kind,
    ) -> Result<Self> {
        config.check()?;
        let on = |key: &str| Ok::<_, Error>(config.bool(key)?.unwrap_or(true));
        let off = |key: &str| Ok::<_, Error>(config.bool(key)?.unwrap_or(false));
        let many_files = off("feature.manyFiles")?;
        Ok(CheckoutSettings {
            workers: config.integer("checkout.workers")?,
            parallel_threshold: config
                .integer("checkout.thresholdForParallelism")?
                .unwrap_or(PARALLEL_THRESHOLD),
            guess: on("checkout.guess")?,
            default_remote: config.text("checkout.defaultRemote")?,
            file_mode: on("core.fileMode")?,
            symlinks: on("core.symlinks")?,
            ignore_case: off("core.ignoreCase")?,
            precompose_unicode: off("core.precomposeUnicode")?,
            protect_ntfs: on("core.protectNTFS")?,
            protect_hfs: off("core.protectHFS")?,
            autocrlf: autocrlf(config)?,
            eol: line_end(config)?,
            safecrlf: safecrlf(config)?,
            check_whole_stat: check_whole_stat(config)?,
            trust_ctime: on("core.trustctime")?,
            big_file_bytes: big_file_bytes(config)?,
            sparse_checkout: off("core.sparseCheckout")?,
            sparse_checkout_cone: off("core.sparseCheckoutCone")?,
            index_version: environment
                .index_version
                .or(config.integer("index.version")?)
                .or(many_files.then_some(4)),
            index_skip_hash: config.bool("index.skipHash")?.unwrap_or(many_files),
            index_sparse: off("index.sparse")?,
            system_attributes_file: (!environment.no_system_attributes)
                .then(|| config.installation().system_file("gitattributes")),
            attributes_file: user_file(config, environment, "core.attributesFile", "attributes")?,
            excludes_file: user_file(config, environment, "core.excludesFile", "ignore")?,
            hooks_path: config.path("core.hooksPath")?,
            log_ref_updates: log_ref_updates(config, bare)?,
            prefer_symlink_refs: off("core.preferSymlinkRefs")?,
            sharing: Sharing::resolve(config)?,
            fsync: Fsync::resolve(config, environment, &mut |_| {})?,
            ref_lock_timeout_ms: config
                .integer("core.filesRefLockTimeout")?
                .unwrap_or(REF_LOCK_TIMEOUT_MS),
            packed_lock_timeout_ms: config
                .integer("core.packedRefsTimeout")?
                .unwrap_or(PACKED_LOCK_TIMEOUT_MS),
            preload_index: on("core.preloadIndex")?,
            recurse_submodules: off("submodule.recurse")?,
            read_reverse_index: on("pack.readReverseIndex")?,
            multi_pack_index: on("core.multiPackIndex")?,
            untracked_cache: untracked_cache(config, many_files),
            fsmonitor: fsmonitor(config)?,
            quote_path: on("core.quotePath")?,
            abbreviation: abbreviation(config, hash)?,
            attributes_tree: environment
                .attr_source
                .clone()
                .or_else(|| config.string("attr.tree")),
        })
    }
}

fn autocrlf(config: &Config) -> Result<AutoCrlf> {
    if word(config, "core.autocrlf").is_some_and(|word| word == "input") {
        return Ok(AutoCrlf::Input);
    }
    Ok(match config.bool("core.autocrlf")? {
        Some(true) => AutoCrlf::True,
        _ => AutoCrlf::False,
    })
}

fn line_end(config: &Config) -> Result<Option<Eol>> {
    let text = config.text("core.eol")?.unwrap_or_default();
    Ok(match text.to_ascii_lowercase().as_slice() {
        b"lf" | b"native" => Some(Eol::Lf),
        b"crlf" => Some(Eol::CrLf),
        _ => None,
    })
}

fn safecrlf(config: &Config) -> Result<SafeCrlf> {
    if word(config, "core.safecrlf").is_some_and(|word| word == "warn") {
        return Ok(SafeCrlf::Warn);
    }
    Ok(match config.bool("core.safecrlf")? {
        None => SafeCrlf::Warn,
        Some(true) => SafeCrlf::True,
        Some(false) => SafeCrlf::False,
    })
}

fn check_whole_stat(config: &Config) -> Result<bool> {
    match config.text("core.checkStat")? {
        None => Ok(true),
        Some(text) => match text.to_ascii_lowercase().as_slice() {
            b"default" => Ok(true),
            b"minimal" => Ok(false),
            _ => Err(invalid("core.checkstat", text.as_ref())),
        },
    }
}

fn big_file_bytes(config: &Config) -> Result<u64> {
    let bytes = config.integer("core.bigFileThreshold")?;
    let bytes = bytes.unwrap_or(BIG_FILE_BYTES);
    u64::try_from(bytes)
        .map_err(|_| invalid("core.bigfilethreshold", bytes.to_string().as_str().into()))
}

/// A file of the user's: where the key says, else `$XDG_CONFIG_HOME/git/NAME`.
fn user_file(
    config: &Config,
    environment: &Environment,
    key: &str,
    name: &str,
) -> Result<Option<PathBuf>> {
    if let Some(path) = config.path(key)? {
        return Ok(Some(path));
    }
    let home = environment.home.as_ref();
    let base = environment.xdg_config_home.clone();
    let base = base.or_else(|| home.map(|home| home.join(".config")));
    Ok(base.map(|base| base.join("git").join(name)))
}

fn log_ref_updates(config: &Config, bare: bool) -> Result<LogRefUpdates> {
    if word(config, "core.logAllRefUpdates").is_some_and(|word| word == "always") {
        return Ok(LogRefUpdates::Always);
    }
    let usual = config.bool("core.logAllRefUpdates")?.unwrap_or(!bare);
    Ok(if usual {
        LogRefUpdates::Usual
    } else {
        LogRefUpdates::Existing
    })
}

fn untracked_cache(config: &Config, many_files: bool) -> UntrackedCache {
    // As with git, "keep" and everything else that is no boolean changes nothing.
    match config.bool("core.untrackedCache") {
        Ok(Some(true)) => UntrackedCache::Write,
        Ok(Some(false)) => UntrackedCache::Remove,
        _ if many_files => UntrackedCache::Write,
        _ => UntrackedCache::Keep,
    }
}

fn fsmonitor(config: &Config) -> Result<FsMonitor> {
    match config.bool("core.fsmonitor") {
        Ok(Some(true)) => Ok(FsMonitor::Daemon),
        Ok(_) => Ok(FsMonitor::Off),
        Err(_) => Ok(config
            .path("core.fsmonitor")?
            .map_or(FsMonitor::Off, FsMonitor::Hook)),
    }
}

fn abbreviation(config: &Config, hash: gix_hash::Kind) -> Result<Abbreviation> {
    let Some(text) = config.text("core.abbrev")? else {
        return Ok(Abbreviation::Auto);
    };
    let lower = text.to_ascii_lowercase();
    if lower == b"auto" {
        return Ok(Abbreviation::Auto);
    }
    if [b"no".as_slice(), b"off", b"false"].contains(&lower.as_slice()) {
        return Ok(Abbreviation::Full);
    }
    let digits = config.integer("core.abbrev")?;
    let digits = digits.expect("it has a text, so it is set");
    match usize::try_from(digits) {
        Ok(count) if digits >= SHORTEST_ABBREVIATION && count <= hash.len_in_hex() => {
            Ok(Abbreviation::Digits(count))
        }
        _ => Err(Error::Config {
            reason: format!("abbrev length out of range: {digits}"),
        }),
    }
}

fn word(config: &Config, key: &str) -> Option<String> {
    let text = config.string(key)?;
    Some(text.to_str().ok()?.to_ascii_lowercase())
}

fn invalid(key: &str, value: &BStr) -> Error {
    Error::Config {
        reason: format!("invalid value for '{key}': '{value}'"),
    }
}
