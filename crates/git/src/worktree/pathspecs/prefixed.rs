//! A pathspec as it is shown and handed on: with the directory in which it was given spelled out.

use crate::repository::Repository;
use bstr::{BStr, BString, ByteSlice};

/// A pathspec as git passes it on to a command at the top of the working tree.
pub fn prefixed(repository: &Repository, spec: &BString) -> BString {
    if repository.environment().pathspecs.literal {
        return spec.clone();
    }
    let prefix = repository.prefix();
    let length = prefix.len();
    match spec
        .strip_prefix(b":(")
        .and_then(|rest| rest.split_once_str(")"))
    {
        Some((magic, rest)) => {
            let start = [b":(", magic].concat();
            [
                &start,
                format!(",prefix:{length})").as_bytes(),
                prefix,
                rest,
            ]
            .concat()
            .into()
        }
        None if spec.starts_with(b":") => spelled_out(spec, prefix),
        None => [format!(":(prefix:{length})").as_bytes(), prefix, spec]
            .concat()
            .into(),
    }
}

/// The same for magic in its short form.
fn spelled_out(spec: &BString, prefix: &BStr) -> BString {
    let rest = spec[1..].trim_start_with(|letter| matches!(letter, '/' | '!' | '^'));
    let magic = &spec[1..spec.len() - rest.len()];
    let is_at_top = magic.contains(&b'/');
    let mut words = Vec::new();
    words.extend(is_at_top.then(|| "top".to_owned()));
    words.extend(
        magic
            .iter()
            .any(|letter| b"!^".contains(letter))
            .then(|| "exclude".to_owned()),
    );
    let prefix = if is_at_top { BStr::new("") } else { prefix };
    words.push(format!("prefix:{}", prefix.len()));
    let rest = rest.strip_prefix(b":").unwrap_or(rest);
    [format!(":({})", words.join(",")).as_bytes(), prefix, rest]
        .concat()
        .into()
}
