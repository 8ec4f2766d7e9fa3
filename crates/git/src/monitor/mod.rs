//! What changed in the working tree, as a file system monitor tells it: Git's daemon, or a program
//! of the user (`core.fsmonitor`). A file that the index calls unchanged as of a moment (its token),
//! and that the monitor does not name, need not be examined. In a working tree that is mounted over an
//! image, its layer of changes tells it, and no monitor is needed.

mod daemon;
mod hook;
mod image;
mod layer;

pub(crate) use image::{as_in_image, AsInImage};
pub(crate) use layer::token;

pub use layer::answer;

use crate::config::FsMonitor;
use crate::index::Index;
use crate::repository::Repository;
use bstr::{BStr, BString, ByteSlice};

/// The longest answer that is read, in bytes.
const ANSWER_LIMIT_BYTES: u64 = 32 << 20;

/// A monitor's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heard {
    /// The moment of the answer: what to ask with the next time.
    pub token: Vec<u8>,
    /// The paths that may have changed, a slash at the end of directories; `None` if anything may
    /// have changed.
    pub changed: Option<Vec<BString>>,
}

/// Asks the monitor of `repository` what changed since `index` was written, and takes back what
/// `index` says of those entries. `None` if there is no monitor, or it does not answer: then nothing
/// that the index says of a monitor counts.
pub(crate) fn consult(repository: &Repository, index: &mut Index) -> Option<Heard> {
    let token = index.fsmonitor_token();
    let heard = match &repository.settings().fsmonitor {
        FsMonitor::Off => return None,
        FsMonitor::Daemon => daemon::ask(repository, token),
        FsMonitor::Hook(program) => hook::ask(repository, program, token),
    };
    let mut heard = heard?;
    if token.is_none() {
        heard.changed = None;
    }
    match &heard.changed {
        None => (0..index.entries().len()).for_each(|row| doubt(index, row)),
        Some(paths) => paths
            .iter()
            .flat_map(|path| rows_of(index, path.as_bstr()))
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|row| doubt(index, row)),
    }
    Some(heard)
}

/// The same for readers that write no new moment into the index: of a monitor that does not answer, nothing
/// is left in `index`.
pub(crate) fn consult_or_doubt(repository: &Repository, index: &mut Index) {
    if consult(repository, index).is_none() {
        (0..index.entries().len()).for_each(|row| doubt(index, row));
    }
}

fn doubt(index: &mut Index, row: usize) {
    index.entries_mut()[row].flags.fsmonitor_valid = false;
}

/// The rows of the entries at `path` and below it.
fn rows_of(index: &Index, path: &BStr) -> impl Iterator<Item = usize> {
    let path = path.strip_suffix(b"/").unwrap_or(path).as_bstr();
    index.rows_at(path).chain(index.range_under(path))
}

/// Takes an answer apart: a token, then paths, each ending with a NUL.
fn parse(answer: &[u8]) -> Option<Heard> {
    let (token, rest) = answer.split_once_str("\0")?;
    if token.is_empty() {
        return None;
    }
    // Each path ends with a NUL; one that is cut off changed, too.
    let paths = rest.strip_suffix(b"\0").unwrap_or(rest);
    let paths = paths.split(|byte| *byte == 0).filter(|_| !rest.is_empty());
    let paths: Vec<BString> = paths.map(BString::from).collect();
    // With anything that is no path below the top, this is no answer.
    let is_path = |path: &BString| !path.is_empty() && !path.starts_with(b"/");
    let is_everything = !paths.iter().all(is_path);
    Some(Heard {
        token: token.to_owned(),
        changed: (!is_everything).then_some(paths),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_taken_apart() {
        let heard = parse(b"builtin:1:2\0a/b\0c/\0").unwrap();
        assert_eq!(heard.token, b"builtin:1:2");
        assert_eq!(heard.changed, Some(vec!["a/b".into(), "c/".into()]));
        assert_eq!(parse(b"t\0").unwrap().changed, Some(Vec::new()));
        for everything in [&b"t\0x\0/\0"[..], b"t\0/etc\0", b"t\0\0", b"t\0a\0\0b\0"] {
            assert_eq!(parse(everything).unwrap().changed, None);
        }
        for broken in [&b""[..], b"token", b"\0a\0"] {
            assert_eq!(parse(broken), None);
        }
    }
}
