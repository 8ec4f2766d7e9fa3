//! Which accelerators were found right, so that they are not read from end to end each time they
//! are opened.
//!
//! A single wrong bit in a bitmap or a reverse index is a wrong answer, so both are checked before
//! they are used; on a large repository that takes longer than most questions. What passed is
//! noted in `objects/info/hedgerow-verified`, one line for each check, with the files it was about
//! as lstat shows them: a file that is replaced or written to has another line. Whoever could
//! write a false line could as well write a false accelerator.

use hedgerow_fs::MappedFile;
use hedgerow_fs::{OutputFile, Stat, Timestamp};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const FILE: &str = "info/hedgerow-verified";
const HEADER: &str = "hedgerow verified 1";
/// Upper size limit of the list; larger files are ignored.
const LIMIT_BYTES: u64 = 1 << 20;
/// More than this many lines are not kept.
const MAX_LINES: usize = 2048;
/// A file that changed just now, in seconds, could change again without another time.
const SETTLED_AFTER_SECONDS: i64 = 3;

/// What is noted of the accelerators of one object directory.
#[derive(Debug)]
pub(crate) struct VerifiedFiles {
    objects: PathBuf,
    /// Whether new lines are written.
    notes: bool,
    /// A file is not noted that changed this many seconds ago or less.
    settled_after: i64,
    lines: OnceLock<HashSet<String>>,
}

/// A file that a check is about.
pub(crate) type Checked<'c> = (&'c Path, &'c MappedFile);

impl VerifiedFiles {
    /// Those of the object directory `objects`. `notes`: what passes from now on is noted there,
    /// if this process has the rights of its owner.
    pub fn new(objects: &Path, notes: bool) -> Self {
        VerifiedFiles {
            objects: objects.to_owned(),
            notes,
            settled_after: SETTLED_AFTER_SECONDS,
            lines: OnceLock::new(),
        }
    }

    /// Whether `files` pass the check called `name`: by what is noted, or else by `check`.
    pub fn pass(&self, name: &str, files: &[Checked<'_>], check: impl FnOnce() -> bool) -> bool {
        let Some(line) = line(name, files) else {
            return check();
        };
        if self.lines().contains(&line) {
            return true;
        }
        let passed = check();
        if passed && self.notes && files.iter().all(|(_, map)| self.is_settled(map)) {
            // Without a note the check is made again.
            let _ = self.add(&line);
        }
        passed
    }

    fn lines(&self) -> &HashSet<String> {
        self.lines
            .get_or_init(|| read(&self.objects.join(FILE)).into_iter().collect())
    }

    fn add(&self, line: &str) -> hedgerow_fs::Result<()> {
        let is_own = |stat: Stat| stat.uid == hedgerow_fs::effective_uid();
        if !hedgerow_fs::stat(&self.objects)?.is_some_and(is_own) {
            return Ok(());
        }
        let path = self.objects.join(FILE);
        let mut lines = read(&path);
        lines.retain(|old| old != line && self.is_current(old));
        if let Some(surplus) = (lines.len() + 1).checked_sub(MAX_LINES) {
            lines.drain(..surplus);
        }
        let mut content = format!("{HEADER}\n");
        for line in lines.iter().map(String::as_str).chain([line]) {
            content.push_str(line);
            content.push('\n');
        }
        if let Some(directory) = path.parent() {
            hedgerow_fs::create_directories(directory)?;
        }
        let file = OutputFile::create(&path)?;
        file.write_at(content.as_bytes(), 0)?;
        // A list that lost its content would be read, and not be one, for good.
        file.sync()?;
        file.commit(true)
    }

    /// Whether another change of the file would show in its times.
    fn is_settled(&self, map: &MappedFile) -> bool {
        let latest = hedgerow_fs::file_time().seconds - self.settled_after;
        let before = |time: Timestamp| time.seconds < latest;
        map.stat()
            .is_some_and(|stat| before(stat.mtime) && before(stat.ctime))
    }

    /// Whether the first file of a line is still there.
    fn is_current(&self, line: &str) -> bool {
        let file = line.split(' ').nth(1);
        file.is_some_and(|name| hedgerow_fs::exists(&self.objects.join("pack").join(name)))
    }
}

/// The lines of a list; none if it is none.
fn read(path: &Path) -> Vec<String> {
    let content = hedgerow_fs::read_file(path, LIMIT_BYTES).ok().flatten();
    let text = String::from_utf8(content.unwrap_or_default()).unwrap_or_default();
    let mut lines = text.lines();
    match lines.next() {
        Some(HEADER) => lines.map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// The line that says that `files` passed the check `name`; `None` if they cannot be in a line.
fn line(name: &str, files: &[Checked<'_>]) -> Option<String> {
    let mut line = name.to_owned();
    for (path, map) in files {
        let file = path.file_name()?.to_str()?;
        let stat = map.stat()?;
        let (mtime, ctime) = (nanoseconds(stat.mtime), nanoseconds(stat.ctime));
        if file.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return None;
        }
        let Stat { size, dev, ino, .. } = stat;
        write!(line, " {file} {size} {mtime} {ctime} {dev} {ino}").ok()?;
    }
    Some(line)
}

fn nanoseconds(time: Timestamp) -> i128 {
    i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanoseconds)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests look at files")]

    use super::*;
    use std::cell::Cell;

    struct Case {
        home: tempfile::TempDir,
        checks: Cell<u32>,
    }

    impl Case {
        fn new() -> Self {
            let home = tempfile::tempdir().expect("a directory");
            std::fs::create_dir(home.path().join("pack")).expect("a directory");
            let case = Case {
                home,
                checks: Cell::new(0),
            };
            case.write("pack-1.rev", b"one");
            case
        }

        fn write(&self, name: &str, content: &[u8]) {
            std::fs::write(self.home.path().join("pack").join(name), content).expect("a file");
        }

        /// Whether the file passes in a new process that notes what passes; how often that was
        /// really checked so far.
        fn pass(&self, name: &str, result: bool, settled_after: i64) -> (bool, u32) {
            let mut verified = VerifiedFiles::new(self.home.path(), true);
            verified.settled_after = settled_after;
            let path = self.home.path().join("pack").join(name);
            let map = MappedFile::open(&path).expect("a file");
            let passed = verified.pass("hash", &[(&path, &map)], || {
                self.checks.set(self.checks.get() + 1);
                result
            });
            (passed, self.checks.get())
        }

        fn noted(&self) -> Vec<String> {
            read(&self.home.path().join(FILE))
        }
    }

    #[test]
    fn what_passed_is_not_checked_again() {
        let case = Case::new();
        assert_eq!(case.pass("pack-1.rev", true, -10), (true, 1));
        assert_eq!(case.pass("pack-1.rev", false, -10), (true, 1));
        case.write("pack-2.rev", b"two");
        assert_eq!(case.pass("pack-2.rev", true, -10), (true, 2));
        assert_eq!(case.noted().len(), 2);
    }

    #[test]
    fn what_failed_or_is_new_is_checked_again() {
        let case = Case::new();
        assert_eq!(case.pass("pack-1.rev", false, -10), (false, 1));
        assert_eq!(case.pass("pack-1.rev", true, 10), (true, 2));
        assert_eq!(case.pass("pack-1.rev", false, 10), (false, 3));
        assert_eq!(case.noted(), [""; 0]);
    }

    #[test]
    fn a_file_that_changed_is_checked_again() {
        let case = Case::new();
        assert_eq!(case.pass("pack-1.rev", true, -10), (true, 1));
        case.write("pack-1.rev", b"another");
        assert_eq!(case.pass("pack-1.rev", false, -10), (false, 2));
    }

    #[test]
    fn what_is_gone_is_forgotten() {
        let case = Case::new();
        case.pass("pack-1.rev", true, -10);
        std::fs::remove_file(case.home.path().join("pack/pack-1.rev")).expect("a file");
        case.write("pack-2.rev", b"two");
        case.pass("pack-2.rev", true, -10);
        let noted = case.noted();
        assert!(
            noted.len() == 1 && noted[0].contains("pack-2.rev"),
            "{noted:?}"
        );
    }

    #[test]
    fn a_list_that_is_none_says_nothing() {
        let case = Case::new();
        case.pass("pack-1.rev", true, -10);
        let path = case.home.path().join(FILE);
        let content = std::fs::read_to_string(&path).expect("a list");
        std::fs::write(&path, content.replace(HEADER, "something else")).expect("a list");
        assert_eq!(case.pass("pack-1.rev", false, -10), (false, 2));
    }
}
