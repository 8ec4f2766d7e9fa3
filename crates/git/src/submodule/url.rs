//! Addresses of submodules that are relative to that of the repository around them: gitmodules(5)
//! under `submodule.<name>.url`.

use crate::refs::Head;
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use std::os::unix::ffi::OsStrExt;

/// Whether `url` begins with `./` or `../`.
pub(super) fn is_relative(url: &BStr) -> bool {
    url.starts_with(b"./") || url.starts_with(b"../")
}

/// The address that `url` is in `repository`; relative ones begin at that of the remote that the
/// current branch follows, or `origin`. `warn` is told if there is none.
pub(super) fn resolved(
    repository: &Repository,
    url: &BStr,
    warn: &mut dyn FnMut(String),
) -> Result<BString> {
    if !is_relative(url) {
        return Ok(url.to_owned());
    }
    let remote = default_remote(repository);
    let config = repository.config();
    let base = match config.string_in("remote", remote.as_bstr(), "url") {
        Some(base) => base,
        None => {
            warn(format!(
                "could not look up configuration 'remote.{remote}.url'. Assuming this repository \
                 is its own authoritative upstream."
            ));
            repository
                .require_work_tree()?
                .as_os_str()
                .as_bytes()
                .into()
        }
    };
    joined(base.as_bstr(), url)
}

/// The remote that the current branch follows, the only one, or `origin`.
pub(super) fn default_remote(repository: &Repository) -> BString {
    let remote = match repository.head() {
        Ok(Head::Branch { name, .. }) => {
            let short = name.strip_prefix(b"refs/heads/").unwrap_or(&name);
            let config = repository.config();
            config.string_in("branch", short.as_bstr(), "remote")
        }
        _ => None,
    };
    let only = || match repository.remotes().as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    };
    remote.or_else(only).unwrap_or_else(|| "origin".into())
}

/// `base` with one part less for each `../` at the start of `url`, and the rest of `url` behind it.
pub(crate) fn joined(base: &BStr, url: &BStr) -> Result<BString> {
    let mut start = base.strip_suffix(b"/").unwrap_or(base).to_vec();
    // Without this, nothing would be left of a single part.
    let is_bare = !is_relative(base) && !base.contains(&b':') && !base.starts_with(b"/");
    if is_bare {
        start.splice(0..0, *b"./");
    }
    let mut rest: &[u8] = url;
    let mut separator = b'/';
    loop {
        if let Some(below) = rest.strip_prefix(b"../") {
            rest = below;
            let cut = start.rfind_byte(b'/').map(|at| (at, b'/'));
            let cut = cut.or_else(|| start.rfind_byte(b':').map(|at| (at, b':')));
            let (at, byte) = cut.ok_or_else(|| Error::Setup {
                reason: format!("cannot strip one component off url '{}'", start.as_bstr()),
            })?;
            start.truncate(at);
            separator = byte;
        } else if let Some(below) = rest.strip_prefix(b"./") {
            rest = below;
        } else {
            break;
        }
    }
    let whole = [&start[..], &[separator], rest].concat();
    let whole = whole.strip_suffix(b"/").unwrap_or(&whole);
    let plain = whole.strip_prefix(b"./").unwrap_or(whole);
    Ok(plain.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_up_takes_a_part_away() {
        for (base, url, expected) in [
            ("https://host/a/b.git", "../c.git", "https://host/a/c.git"),
            ("https://host/a/b/", "../../c", "https://host/c"),
            ("https://host/a", "./sub", "https://host/a/sub"),
            ("host:a/b", "../c", "host:a/c"),
            ("host:a", "../c", "host:c"),
            ("/srv/a", "../c/", "/srv/c"),
            ("../a", "../c", "../c"),
            ("a/b", "../c", "a/c"),
            ("a", "../c", "c"),
        ] {
            let found = joined(base.into(), url.into());
            assert_eq!(found.unwrap(), expected, "{base} {url}");
        }
    }
}
