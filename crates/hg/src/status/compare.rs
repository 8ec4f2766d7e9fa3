//! Files whose content must be compared to decide whether they changed.
//!
//! `hg status` would decide, but it writes below `.hg`: a file to get the time of the file system,
//! locks, and a dirstate with the files marked clean. So Mercurial is asked only for the first
//! parent's content of these paths, with `hg cat`, and with `hg files` where the dirstate does not
//! know the flags. Both only read; the comparison is made here.

use super::judge::Verdict;
use super::Options;
use crate::astray::Ancestors;
use crate::dirstate::{hexadecimal, Dirstate, Entry, NULL_ID};
use crate::{Error, Repository, Result};
use bstr::{BString, ByteSlice};
use hedgerow_fs::{Answer, Dir, Exit, FileKind, Process, ReadFile, Stat};
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of paths passed to one Mercurial process.
const BATCH: usize = 10_000;
/// Minimum number of paths that justify starting another Mercurial process.
const LEAST_BATCH: usize = 500;
/// Size of the pieces that are compared, in bytes.
const PIECE_BYTES: usize = 64 << 10;
/// Maximum length of a path in Mercurial's answer, in bytes.
const PATH_BYTES: u64 = 1 << 20;

/// Compares files by means of Mercurial.
pub(super) struct Comparison<'c> {
    repository: &'c Repository,
    dirstate: &'c Dirstate,
    options: &'c Options,
}

/// Result of the comparison.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// A verdict for each entry.
    pub verdicts: Vec<Verdict>,
    /// Why some entries are undecided.
    pub reason: String,
}

/// The flags of a file in the first parent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Flags {
    executable: bool,
    symlink: bool,
}

impl<'c> Comparison<'c> {
    pub fn new(repository: &'c Repository, dirstate: &'c Dirstate, options: &'c Options) -> Self {
        Comparison {
            repository,
            dirstate,
            options,
        }
    }

    /// Judges `entries` by their content.
    pub fn run(&self, entries: &[&Entry]) -> Result<Outcome> {
        if self.dirstate.parents().first() == Some(&NULL_ID) {
            // The parent is empty, so nothing can equal it.
            return Ok(Outcome {
                verdicts: vec![Verdict::Modified; entries.len()],
                reason: String::new(),
            });
        }
        if let Some(reason) = self.obstacle() {
            return Ok(undecided(entries.len(), reason));
        }
        let Some(judged) = self.batches(entries)? else {
            return Ok(undecided(entries.len(), "hg is not installed".into()));
        };
        Ok(Outcome {
            verdicts: judged,
            reason: String::new(),
        })
    }

    /// Starts as many Mercurial processes as there are processors, each for some of the entries;
    /// `None` if Mercurial is not found.
    fn batches(&self, entries: &[&Entry]) -> Result<Option<Vec<Verdict>>> {
        let processors = hedgerow_fs::cpu::available();
        let size = entries.len().div_ceil(processors).clamp(LEAST_BATCH, BATCH);
        let batches: Vec<&[&Entry]> = entries.chunks(size).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                match batches.get(number) {
                    Some(batch) => done.push((number, self.batch(batch))),
                    None => return done,
                }
            }
        };
        let others = processors.min(batches.len()).saturating_sub(1);
        let mut done = Vec::with_capacity(batches.len());
        for judged in hedgerow_fs::threads::together("compare", others, work) {
            done.extend(judged.map_err(|_| Error::Internal {
                reason: "a thread that compares files panicked".into(),
            })?);
        }
        done.sort_unstable_by_key(|(number, _)| *number);
        let mut verdicts = Vec::with_capacity(entries.len());
        for (_, judged) in done {
            match judged? {
                Some(judged) => verdicts.extend(judged),
                None => return Ok(None),
            }
        }
        Ok(Some(verdicts))
    }

    /// Why the content cannot be compared byte by byte, if so.
    fn obstacle(&self) -> Option<String> {
        let config = self.repository.config();
        if self.options.program.is_none() {
            return Some("hg was not to be asked".into());
        }
        if self.repository.requires("lfs") {
            return Some("the store has only pointers to large files (lfs)".into());
        }
        for section in ["encode", "decode"] {
            if config.section(section).any(|(_, value)| value != "!") {
                return Some(format!("files are converted (section '{section}')"));
            }
        }
        for name in ["eol", "win32text", "keyword", "lfs", "largefiles"] {
            let long = format!("hgext.{name}");
            let mut enabled = config
                .section("extensions")
                .filter(|(extension, _)| *extension == name || *extension == long);
            if enabled.any(|(_, value)| !value.starts_with(b"!")) {
                return Some(format!("files are converted (extension '{name}')"));
            }
        }
        None
    }

    /// Judges some entries; `None` if Mercurial is not found.
    fn batch(&self, entries: &[&Entry]) -> Result<Option<Vec<Verdict>>> {
        let all: Vec<&[u8]> = entries
            .iter()
            .map(|entry| self.dirstate.path(entry))
            .collect();
        let position: HashMap<&[u8], usize> = all
            .iter()
            .enumerate()
            .map(|(at, path)| (*path, at))
            .collect();
        let is_known = |entry: &Entry| entry.expected.is_some_and(|e| e.symlink.is_some());
        let unknown: Vec<&[u8]> = entries
            .iter()
            .zip(&all)
            .filter_map(|(entry, path)| (!is_known(entry)).then_some(*path))
            .collect();
        let flags = if unknown.is_empty() {
            HashMap::new()
        } else {
            match self.flags(&unknown)? {
                Some(flags) => flags,
                None => return Ok(None),
            }
        };
        let mut place = Place {
            root: Dir::open(self.repository.root())?,
            ancestors: Ancestors::new(self.repository.root()),
        };
        // A file that the first parent does not have is modified.
        let mut verdicts = vec![Verdict::Modified; entries.len()];
        let mut failure = None;
        let asked = self.ask(
            "cat",
            "{path}\\0{data|count}\\0{data}",
            &all,
            &mut |output| {
                let mut output = BufReader::with_capacity(PIECE_BYTES, output);
                while let Some((path, bytes)) = head(&mut output)? {
                    let mut data = output.by_ref().take(bytes);
                    if let Some(at) = position.get(path.as_slice()) {
                        let compared = place.compare(&path, bytes, &mut data, &flags)?;
                        if let Some(verdict) = verdicts.get_mut(*at) {
                            *verdict = compared.unwrap_or_else(|error| {
                                failure.get_or_insert(error);
                                Verdict::Undecided
                            });
                        }
                    }
                    io::copy(&mut data, &mut io::sink())?;
                    if data.limit() > 0 {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Ok(())
            },
        )?;
        match failure {
            Some(error) => Err(error),
            None => Ok(asked.map(|_| verdicts)),
        }
    }

    /// The flags that the first parent has for files.
    fn flags(&self, paths: &[&[u8]]) -> Result<Option<HashMap<BString, Flags>>> {
        let mut flags = HashMap::with_capacity(paths.len());
        let asked = self.ask("files", "{path}\\0{flags}\\0", paths, &mut |output| {
            let mut output = BufReader::new(output);
            while let Some(path) = field(&mut output)? {
                let text = field(&mut output)?.unwrap_or_default();
                let has = Flags {
                    executable: text.contains(&b'x'),
                    symlink: text.contains(&b'l'),
                };
                flags.insert(path, has);
            }
            Ok(())
        })?;
        Ok(asked.map(|_| flags))
    }

    /// Runs a Mercurial command on paths of the first parent; `None` if Mercurial is not found.
    fn ask(
        &self,
        command: &str,
        template: &str,
        paths: &[&[u8]],
        read: &mut dyn FnMut(&mut dyn Read) -> io::Result<()>,
    ) -> Result<Option<Answer>> {
        let [first, _] = self.dirstate.parents();
        let parent = hexadecimal(first);
        let mut patterns = Vec::new();
        for path in paths {
            patterns.extend_from_slice(b"path:");
            patterns.extend_from_slice(path);
            patterns.push(0);
        }
        let words = [
            "--pager=never",
            command,
            "--rev",
            &parent,
            "--template",
            template,
        ];
        let words = words.into_iter().chain(["listfile0:/dev/stdin"]);
        let process = Process {
            program: self.options.program.clone().unwrap_or_default(),
            arguments: words.map(Into::into).collect(),
            directory: Some(self.repository.root().to_owned()),
            variables: vec![
                ("HGPLAIN".into(), Some("1".into())),
                ("PYTHONDONTWRITEBYTECODE".into(), Some("1".into())),
            ],
            ..Process::default()
        };
        let answer = match process.ask(&patterns, read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        match answer.exit {
            // 1 means that the first parent has none of the paths.
            Exit::Status(0 | 1) => Ok(Some(answer)),
            exit => Err(Error::Program {
                reason: ended(command, exit, &answer.messages),
            }),
        }
    }
}

fn undecided(count: usize, reason: String) -> Outcome {
    Outcome {
        verdicts: vec![Verdict::Undecided; count],
        reason,
    }
}

fn ended(command: &str, exit: Exit, messages: &[u8]) -> String {
    let last = ByteSlice::lines(messages).rfind(|line| !line.is_empty());
    let last = last.unwrap_or_default().as_bstr();
    match exit {
        Exit::Status(status) => format!("hg {command} ended with status {status}: {last}"),
        Exit::Signal(signal) => format!("hg {command} was ended by signal {signal}: {last}"),
    }
}

/// The path and size of the next file in the answer; `None` at its end.
fn head(output: &mut impl BufRead) -> io::Result<Option<(BString, u64)>> {
    let Some(path) = field(output)? else {
        return Ok(None);
    };
    let size = field(output)?.unwrap_or_default();
    let size = size.to_str().ok().and_then(|text| text.parse().ok());
    let size = size.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
    Ok(Some((path, size)))
}

fn field(output: &mut impl BufRead) -> io::Result<Option<BString>> {
    let mut bytes = Vec::new();
    output.take(PATH_BYTES).read_until(0, &mut bytes)?;
    match bytes.pop() {
        None => Ok(None),
        Some(0) => Ok(Some(bytes.into())),
        Some(_) => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// The working copy whose files are compared.
struct Place<'p> {
    root: Dir,
    ancestors: Ancestors<'p>,
}

impl Place<'_> {
    /// Compares a file with the next `bytes` bytes of `data`, some of which may be left unread. The
    /// outer error is about the answer, the inner one about the file.
    fn compare(
        &mut self,
        path: &BString,
        bytes: u64,
        data: &mut dyn Read,
        flags: &HashMap<BString, Flags>,
    ) -> io::Result<Result<Verdict>> {
        let stat = match self.stat(path) {
            Ok(Some(stat)) => stat,
            Ok(None) => return Ok(Ok(Verdict::Missing)),
            Err(error) => return Ok(Err(error)),
        };
        if flags
            .get(path)
            .is_some_and(|flags| *flags != flags_of(&stat))
        {
            return Ok(Ok(Verdict::Modified));
        }
        match stat.kind {
            // Not by size: some file systems report a size of links that differs from their
            // target's.
            FileKind::Symlink => {
                let target = match hedgerow_fs::read_link(&self.root.path_of(path)) {
                    Ok(target) => target,
                    Err(error) => return Ok(gone(error)),
                };
                let target = target.as_os_str().as_bytes();
                let mut expected = Vec::new();
                data.take(target.len() as u64 + 1)
                    .read_to_end(&mut expected)?;
                Ok(Ok(equality(target == expected)))
            }
            _ if stat.size != bytes => Ok(Ok(Verdict::Modified)),
            FileKind::File => match self.open(path) {
                Ok(Some(file)) => Ok(compare_file(&file, data)?.map_err(Error::from)),
                Ok(None) => Ok(Ok(Verdict::Missing)),
                Err(error) => Ok(Err(error)),
            },
            _ => Ok(Ok(Verdict::Missing)),
        }
    }

    /// The stat data of a file, and of links to be read, is found through other links as well, as
    /// in Mercurial; contents are not.
    fn stat(&self, path: &[u8]) -> Result<Option<Stat>> {
        Ok(hedgerow_fs::lstat(&self.root.path_of(path))?)
    }

    /// Opens a file; `None` if it was removed after it was seen.
    fn open(&mut self, path: &[u8]) -> Result<Option<ReadFile>> {
        self.ancestors.check(path)?;
        match self.root.open_file(path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

fn flags_of(stat: &Stat) -> Flags {
    let symlink = stat.kind == FileKind::Symlink;
    Flags {
        executable: !symlink && stat.is_executable(),
        symlink,
    }
}

fn equality(is_equal: bool) -> Verdict {
    if is_equal {
        Verdict::Clean
    } else {
        Verdict::Modified
    }
}

/// A file that was removed after it was seen is missing.
fn gone(error: hedgerow_fs::Error) -> Result<Verdict> {
    if error.is_missing() {
        Ok(Verdict::Missing)
    } else {
        Err(error.into())
    }
}

fn compare_file(
    file: &ReadFile,
    data: &mut dyn Read,
) -> io::Result<std::result::Result<Verdict, hedgerow_fs::Error>> {
    let mut expected = vec![0; PIECE_BYTES];
    let mut actual = vec![0; PIECE_BYTES];
    loop {
        let wanted = data.read(&mut expected)?;
        let (wanted, _) = expected.split_at(wanted);
        let mut filled = 0;
        // Reading one byte more at the end detects a longer file.
        while filled < wanted.len().max(1) {
            let rest = &mut actual[filled..wanted.len().max(1)];
            match file.read(rest) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) => return Ok(Err(error)),
            }
        }
        if actual.get(..filled) != Some(wanted) {
            return Ok(Ok(Verdict::Modified));
        }
        if wanted.is_empty() {
            return Ok(Ok(Verdict::Clean));
        }
    }
}
