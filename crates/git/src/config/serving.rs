//! What the operator of a server sets, and nobody whose repository is served.

use super::{Config, Environment};
use crate::{Error, Result};
use std::path::PathBuf;

/// `hedgerow.responseCacheSize` where it is not set, in bytes.
const CACHE_BYTES: u64 = 1 << 30;
/// `hedgerow.responseCacheExpiry` where it is not set.
const CACHE_SECONDS: u64 = 3600;
/// `hedgerow.responseCacheWait` where it is not set.
const WAIT_SECONDS: u64 = 60;

/// The settings of a server: all keys of the section `hedgerow`.
///
/// They name files that the server writes, with its own rights. So they come from protected
/// configuration only, as git reads `uploadpack.packObjectsHook` (git-config(1) under "SCOPES"):
/// system, global and command line, never a repository's `config`, its `config.worktree`, or what
/// these include. Keys of the section are read nowhere else; a test of the sources holds that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServingSettings {
    /// `hedgerow.responseCache` and what belongs to it, if responses are to be kept.
    pub response_cache: Option<ResponseCacheSettings>,
    /// `hedgerow.serveLog`: the file that gets a line for each request.
    pub serve_log: Option<PathBuf>,
}

/// Where and how long responses are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseCacheSettings {
    /// `hedgerow.responseCache`, an absolute path.
    pub directory: PathBuf,
    /// `hedgerow.responseCacheSize`, in bytes.
    pub max_bytes: u64,
    /// `hedgerow.responseCacheExpiry`, in seconds.
    pub max_age_seconds: u64,
    /// `hedgerow.responseCacheWait`, in seconds.
    pub max_wait_seconds: u64,
}

impl ServingSettings {
    /// The settings of the server, from protected configuration.
    ///
    /// # Errors
    /// [`Error::Config`] if one of them has no value of its kind, or a path is not absolute: the
    /// current directory of a server is the repository that is served.
    pub fn load(environment: &Environment) -> Result<Self> {
        let protected = Config::load(environment, None)?;
        let number = |key: &str, usual: u64| -> Result<u64> {
            let Some(number) = protected.integer(key)? else {
                return Ok(usual);
            };
            u64::try_from(number).map_err(|_| Error::Config {
                reason: format!("'{key}' is negative: {number}"),
            })
        };
        let response_cache = match absolute(&protected, "hedgerow.responseCache")? {
            None => None,
            Some(directory) => Some(ResponseCacheSettings {
                directory,
                max_bytes: number("hedgerow.responseCacheSize", CACHE_BYTES)?,
                max_age_seconds: number("hedgerow.responseCacheExpiry", CACHE_SECONDS)?,
                max_wait_seconds: number("hedgerow.responseCacheWait", WAIT_SECONDS)?,
            }),
        };
        Ok(ServingSettings {
            response_cache,
            serve_log: absolute(&protected, "hedgerow.serveLog")?,
        })
    }
}

fn absolute(protected: &Config, key: &str) -> Result<Option<PathBuf>> {
    match protected.path(key)? {
        Some(path) if path.as_os_str().is_empty() => Ok(None),
        Some(path) if !path.is_absolute() => Err(Error::Config {
            reason: format!("'{key}' is not an absolute path: '{}'", path.display()),
        }),
        path => Ok(path),
    }
}
