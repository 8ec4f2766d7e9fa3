//! The history of a reference: gitrepository-layout(5) under `logs`.

use super::ref_update::Logged;
use super::{Repository, Signature};
use crate::Result;
use bstr::{BStr, BString, ByteSlice, ByteVec};
use hedgerow_pack::ObjectId;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// A log larger than this is refused.
pub(crate) const LOG_LIMIT_BYTES: u64 = 1 << 30;

/// One line of a reference's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// What the reference pointed to before; null if it did not exist.
    pub old: ObjectId,
    /// What it points to since.
    pub new: ObjectId,
    /// When.
    pub time: gix_date::Time,
    /// Why, in one line.
    pub message: BString,
}

impl Repository {
    /// The log of the reference with the full name `name`, newest entry first; empty if it has
    /// none. Lines that cannot be read are left out.
    pub fn reflog(&self, name: &BStr) -> Result<Vec<LogEntry>> {
        let Some(path) = self.log_path(name) else {
            return Ok(Vec::new());
        };
        let content = hedgerow_fs::read_file(&path, LOG_LIMIT_BYTES)?.unwrap_or_default();
        Ok(content.lines().rev().filter_map(parse).collect())
    }

    pub(crate) fn has_log(&self, name: &BStr) -> bool {
        self.log_path(name)
            .is_some_and(|path| hedgerow_fs::exists(&path))
    }

    /// The name of the branch (or the id of the commit) that was left `n` switches ago, as the
    /// log of `HEAD` has it: what `-` and `@{-1}` mean for `n` = 1.
    pub fn previous_branch(&self, n: usize) -> Result<Option<BString>> {
        let moves = self.reflog("HEAD".into())?;
        let mut left = moves
            .iter()
            .filter_map(|entry| moved_from(entry.message.as_ref()));
        Ok(n.checked_sub(1)
            .and_then(|skipped| left.nth(skipped))
            .map(BStr::to_owned))
    }

    /// Appends to the log of `name`, creating it where `core.logAllRefUpdates` or `log` says so.
    pub(crate) fn append_log(
        &self,
        name: &BStr,
        log: &Logged,
        committer: &Signature,
        message: &BStr,
    ) -> Result<()> {
        let Some(path) = self.log_path(name) else {
            return Ok(());
        };
        let old = log.old.unwrap_or(ObjectId::null(self.hash));
        let mut line = BString::from(format!("{old} {} ", log.new));
        line.push_str(committer.to_line());
        let message = one_line(message);
        if !message.is_empty() {
            line.push(b'\t');
            line.push_str(&message);
        }
        line.push(b'\n');
        let create = log.always || self.settings.log_ref_updates.covers(name);
        let sharing = self.settings.sharing;
        if create {
            if let Some(directory) = path.parent() {
                sharing.create_directories(directory)?;
            }
        }
        if hedgerow_fs::append_file(&path, &line, create)? {
            sharing.open_file(&path)?;
        }
        Ok(())
    }

    fn log_path(&self, name: &BStr) -> Option<PathBuf> {
        let path = self.reference_path(name)?;
        let base = if path.starts_with(&self.git_dir) {
            &self.git_dir
        } else {
            &self.common_dir
        };
        let inner = path.strip_prefix(base).ok()?;
        Some(
            base.join("logs")
                .join(OsStr::from_bytes(inner.as_os_str().as_bytes())),
        )
    }
}

/// `OLD NEW NAME <MAIL> SECONDS ZONE`, then a tab and the message.
pub(crate) fn parse(line: &[u8]) -> Option<LogEntry> {
    let (head, message) = line.split_once_str("\t").unwrap_or((line, b""));
    let mut words = head.splitn(3, |byte| *byte == b' ');
    let old = ObjectId::from_hex(words.next()?).ok()?;
    let new = ObjectId::from_hex(words.next()?).ok()?;
    let mut end = words.next()?.rsplitn(3, |byte| *byte == b' ');
    let offset = zone_offset(end.next()?)?;
    let seconds = end.next()?.to_str().ok()?.parse().ok()?;
    Some(LogEntry {
        old,
        new,
        time: gix_date::Time::new(seconds, offset),
        message: message.into(),
    })
}

/// `+HHMM` or `-HHMM` in seconds.
fn zone_offset(zone: &[u8]) -> Option<i32> {
    let number: i32 = zone.to_str().ok()?.parse().ok()?;
    let minutes = (number.abs() / 100).checked_mul(60)? + number.abs() % 100;
    minutes.checked_mul(60 * number.signum())
}

fn moved_from(message: &BStr) -> Option<&BStr> {
    let moved = message.strip_prefix(b"checkout: moving from ")?;
    let (from, _to) = moved.split_once_str(" to ")?;
    Some(from.as_bstr())
}

/// A message as a log has it: runs of white space become one space, the ends lose theirs.
fn one_line(message: &BStr) -> BString {
    let words: Vec<&[u8]> = message
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .collect();
    BString::from(bstr::join(" ", words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read() {
        let null = "0".repeat(40);
        let id = "1".repeat(40);
        let line = format!("{null} {id} A B <a@b> 1700000000 +0100\tcheckout: moving from a to b");
        let entry = parse(line.as_bytes()).unwrap();
        assert!(entry.old.is_null());
        assert_eq!(entry.new.to_string(), id);
        assert_eq!(entry.time, gix_date::Time::new(1_700_000_000, 3600));
        assert_eq!(moved_from(entry.message.as_ref()).unwrap(), "a");
        for broken in ["", "x", &null, &format!("{null} {id} A <a> x y\tm")] {
            assert_eq!(parse(broken.as_bytes()), None, "{broken}");
        }
    }

    #[test]
    fn a_message_becomes_one_line() {
        assert_eq!(one_line("  a\n\n b\tc ".into()), "a b c");
        assert_eq!(one_line("\n".into()), "");
    }
}
