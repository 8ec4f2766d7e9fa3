//! A fetch from a repository on this machine: git starts the server itself, with this user's
//! rights, and lets it make the pack with its own program. Another program may make it instead
//! (git-config(1) under `uploadpack.packObjectsHook`).

use super::Repository;
use crate::config::Config;
use crate::convert::shell_quoted;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

impl Repository {
    /// The command that serves a fetch from `remote` and makes packs with
    /// [`own_program`](crate::Environment::own_program): for `git fetch --upload-pack`. `None` where
    /// the remote is not a directory of this machine, or where somebody has said how it is served.
    pub(super) fn local_server(&self, remote: &BStr) -> Result<Option<BString>> {
        let Some(maker) = &self.environment().own_program else {
            return Ok(None);
        };
        if !self.is_local_directory(remote)? || !hedgerow_fs::is_executable(maker) {
            return Ok(None);
        }
        let protected = Config::load(self.environment(), None)?;
        if protected.string("uploadpack.packObjectsHook").is_some() {
            return Ok(None);
        }
        let maker = maker.as_os_str().as_bytes().as_bstr();
        let mut setting = BString::from("uploadpack.packObjectsHook=");
        setting.extend_from_slice(&shell_quoted(maker));
        setting.extend_from_slice(b" upload-pack-hook");
        let mut server = BString::from("git -c ");
        server.extend_from_slice(&shell_quoted(setting.as_bstr()));
        server.extend_from_slice(b" upload-pack");
        Ok(Some(server))
    }

    /// Whether git reaches `remote` as a directory, without a helper or another machine. Settings
    /// that change how its address is read count as a no.
    fn is_local_directory(&self, remote: &BStr) -> Result<bool> {
        let config = self.config();
        let is_set = |name| config.string_in("remote", remote, name).is_some();
        if is_set("uploadpack") || is_set("vcs") || !config.subsections("url").is_empty() {
            return Ok(false);
        }
        let addresses = config.strings_in("remote", remote, "url");
        let Some(address) = addresses.first() else {
            return Ok(false);
        };
        let path = address.strip_prefix(b"file://").unwrap_or(address);
        if !path.starts_with(b"/") {
            return Ok(false);
        }
        let stat = hedgerow_fs::stat(Path::new(OsStr::from_bytes(path)))?;
        Ok(stat.is_some_and(|stat| stat.kind == hedgerow_fs::FileKind::Directory))
    }
}
