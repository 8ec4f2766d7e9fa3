//! References as files: one for each, `packed-refs`, and logs. gitrepository-layout(5).

mod logs;
mod packed;
mod transaction;

use super::model::{problem, RefValue, ReferenceProblem};
use super::names::is_safe_name;
use super::{Listed, RefEdit, RefStore, RefTransaction, WriteOptions};
use super::{Log, LogEntry, LogMessage, Logged};
use crate::config::Sharing;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::{FileKind, Stat};
use hedgerow_pack::ObjectId;
use packed::PackedRefs;
use std::cmp::Ordering;
use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The size limit of the file of a reference, which holds one line, in bytes.
const REFERENCE_LIMIT_BYTES: u64 = 64 << 10;
/// Directories of references nested deeper are refused.
const NESTING_LIMIT: usize = 256;

/// The references of a repository in files, as one working tree sees them.
#[derive(Debug)]
pub(super) struct Files {
    git_dir: PathBuf,
    common_dir: PathBuf,
    hash: gix_hash::Kind,
    packed: Arc<PackedRefs>,
}

impl Files {
    /// Those of the working tree with the directory `git_dir`. Nothing is read yet.
    pub(super) fn new(git_dir: &Path, common_dir: &Path, hash: gix_hash::Kind) -> Self {
        Files {
            git_dir: git_dir.to_owned(),
            common_dir: common_dir.to_owned(),
            hash,
            packed: Arc::new(PackedRefs::new(common_dir, hash)),
        }
    }
}

impl RefStore for Files {
    fn read(&self, name: &BStr) -> Result<Option<RefValue>> {
        let Some(path) = self.path(name) else {
            return Ok(None);
        };
        let stat = stat_of(&path)?;
        if stat.is_some_and(|stat| stat.kind == FileKind::Symlink) {
            if let Some(target) = symlink_target(&path)? {
                return Ok(Some(RefValue::Symbolic(target)));
            }
        }
        if stat.is_some_and(|stat| stat.kind != FileKind::Directory) {
            match hedgerow_fs::read_file(&path, REFERENCE_LIMIT_BYTES) {
                Ok(Some(content)) => return self.parse(name, &content).map(Some),
                // A link may lead to a directory, and a name without a slash to any file.
                Err(error) if is_no_reference(name, &error) => {}
                // Larger than any reference.
                Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                    let reason = ReferenceProblem::TooLarge(error.to_string());
                    return Err(problem(name, reason));
                }
                // That it cannot be read does not mean that there is none.
                Err(error) => return Err(error.into()),
                Ok(None) => {}
            }
        }
        self.read_packed(name)
    }

    fn contains(&self, name: &BStr) -> Result<bool> {
        let Some(path) = self.path(name) else {
            return Ok(false);
        };
        Ok(stat_of(&path)?.is_some() || self.read_packed(name)?.is_some())
    }

    fn check_absent(&self, name: &BStr) -> Result<()> {
        match self.packed.whole()? {
            Some(packed) => packed::check_absent(&packed, name),
            None => Ok(()),
        }
    }

    /// Files come first: a reference that is packed in between is found all the same.
    fn list(&self, prefix: &BStr, visit: &mut Listed<'_>) -> Result<()> {
        let mut loose = Vec::new();
        let directory = OsStr::from_bytes(prefix);
        list_loose(&self.common_dir.join(directory), prefix, 0, &mut loose)?;
        if self.git_dir != self.common_dir {
            list_loose(&self.git_dir.join(directory), prefix, 0, &mut loose)?;
        }
        loose.sort_unstable();
        loose.dedup();
        // Below a narrower prefix only the lines there are looked at.
        let buffer = if prefix == "refs/" {
            self.packed.whole()?
        } else {
            self.packed.now()?
        };
        let packed = match &buffer {
            Some(buffer) => packed::records(buffer, prefix, self.hash)?,
            None => Vec::new(),
        };
        let mut loose = loose.iter().map(|name| name.as_bstr()).peekable();
        let mut packed = packed.into_iter().peekable();
        loop {
            let order = match (loose.peek(), packed.peek()) {
                (None, None) => return Ok(()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(loose), Some((packed, _))) => loose.cmp(packed),
            };
            if order == Ordering::Greater {
                // Its name is well-formed: others are an error.
                if let Some((name, id)) = packed.next() {
                    visit(name, Ok(RefValue::Direct(id)))?;
                }
                continue;
            }
            // What has a file is not what is packed under the same name.
            if order == Ordering::Equal {
                packed.next();
            }
            let name = loose.next().expect("it was there when it was peeked at");
            if let Some(value) = self.read(name).transpose() {
                visit(name, value)?;
            }
        }
    }

    fn read_log_until(
        &self,
        name: &BStr,
        visit: &mut dyn FnMut(LogEntry) -> ControlFlow<()>,
    ) -> Result<()> {
        self.read_log_file(name, visit)
    }

    fn has_log(&self, name: &BStr) -> bool {
        self.log_path(name)
            .is_some_and(|path| hedgerow_fs::exists(&path))
    }

    fn append_log(
        &self,
        name: &BStr,
        old: Option<ObjectId>,
        logged: Logged,
        options: &WriteOptions<'_>,
        message: LogMessage<'_>,
    ) -> Result<()> {
        self.append_log_file(name, (old, logged), options.sharing, message)
    }

    fn create_log(&self, name: &BStr, options: &WriteOptions<'_>) -> Result<()> {
        self.create_log_file(name, options.sharing)
    }

    fn drop_log_entry(
        &self,
        name: &BStr,
        number: usize,
        options: &WriteOptions<'_>,
    ) -> Result<bool> {
        self.drop_from_log(name, number, options)
    }

    fn delete_log(&self, name: &BStr, _: &WriteOptions<'_>) -> Result<()> {
        let Some(path) = self.log_path(name) else {
            return Ok(());
        };
        // A directory there has the logs of others.
        let stat = hedgerow_fs::lstat(&path)?;
        if stat.is_some_and(|stat| stat.kind == FileKind::File) {
            hedgerow_fs::remove_file(&path)?;
        }
        Ok(())
    }

    fn logs(&self) -> Result<Vec<Log>> {
        logs::all_below(&self.git_dir.join("logs"))
    }

    fn prepare<'s>(
        &'s self,
        edits: &[RefEdit<'_>],
        options: &WriteOptions<'_>,
    ) -> Result<Box<dyn RefTransaction + 's>> {
        Ok(Box::new(transaction::prepare(self, edits, options)?))
    }

    fn create_worktree_refs(&self, git_dir: &Path, sharing: Sharing) -> Result<()> {
        sharing.create_directories(&git_dir.join("refs"))?;
        Ok(())
    }

    fn worktree_refs(&self, git_dir: &Path) -> Arc<dyn RefStore> {
        Arc::new(Files {
            git_dir: git_dir.to_owned(),
            common_dir: self.common_dir.clone(),
            hash: self.hash,
            packed: Arc::clone(&self.packed),
        })
    }
}

impl Files {
    fn parse(&self, name: &BStr, content: &[u8]) -> Result<RefValue> {
        if let Some(target) = content.strip_prefix(b"ref:") {
            let line = target.lines().next().unwrap_or_default();
            let target = line.trim().as_bstr();
            if !is_safe_name(target) {
                let reason = ReferenceProblem::BadTarget(target.to_owned());
                return Err(problem(name, reason));
            }
            return Ok(RefValue::Symbolic(target.to_owned()));
        }
        let no_id = || problem(name, ReferenceProblem::NoObjectId);
        let length = self.hash.len_in_hex();
        let (digits, rest) = content.split_at_checked(length).ok_or_else(no_id)?;
        if rest.first().is_some_and(|byte| !byte.is_ascii_whitespace()) {
            return Err(no_id());
        }
        match ObjectId::from_hex(digits) {
            // As by git, a HEAD of only zeros is detached, at a commit that does not exist.
            Ok(id) if !id.is_null() || name == "HEAD" => Ok(RefValue::Direct(id)),
            _ => Err(no_id()),
        }
    }

    /// Refuses a `packed-refs` of which a part cannot be read.
    fn check_packed(&self) -> Result<()> {
        let buffer = self.packed.whole()?;
        let records = |buffer: &_| packed::records(buffer, b"refs/".as_bstr(), self.hash).map(drop);
        buffer.as_deref().map_or(Ok(()), records)
    }

    fn read_packed(&self, name: &BStr) -> Result<Option<RefValue>> {
        if !name.starts_with(b"refs/") {
            return Ok(None);
        }
        let Ok(name) = <&gix_ref::FullNameRef>::try_from(name) else {
            return Ok(None);
        };
        Ok(self.packed.find(name)?.map(RefValue::Direct))
    }

    /// The file of a loose reference; `None` for what cannot be a reference's name. Some
    /// references belong to a working tree, the rest to the repository.
    fn path(&self, name: &BStr) -> Option<PathBuf> {
        if !is_safe_name(name) {
            return None;
        }
        let own = !name.contains(&b'/')
            || [
                b"refs/bisect/".as_slice(),
                b"refs/worktree/",
                b"refs/rewritten/",
            ]
            .iter()
            .any(|prefix| name.starts_with(prefix));
        if own {
            return Some(self.git_dir.join(OsStr::from_bytes(name)));
        }
        let name = name.strip_prefix(b"main-worktree/").unwrap_or(name);
        Some(self.common_dir.join(OsStr::from_bytes(name)))
    }
}

/// Whether it is no wonder that a file cannot be read as a reference: it is a directory after all,
/// or it is not below `refs/` and may be anything.
fn is_no_reference(name: &BStr, error: &hedgerow_fs::Error) -> bool {
    let is_reference = name.starts_with(b"refs/") || name == "HEAD";
    !is_reference || error.kind() == std::io::ErrorKind::IsADirectory
}

/// The stat data of a reference's file. No file has a name that is too long for the file system.
fn stat_of(path: &Path) -> Result<Option<Stat>> {
    match hedgerow_fs::lstat(path) {
        Err(error) if error.kind() == std::io::ErrorKind::InvalidFilename => Ok(None),
        stat => Ok(stat?),
    }
}

/// The reference that a symbolic link names; `None` for other files, and for none.
fn symlink_target(path: &Path) -> Result<Option<BString>> {
    let target = match hedgerow_fs::read_link(path) {
        Ok(target) => target,
        Err(error) if error.is_missing() || error.kind() == std::io::ErrorKind::InvalidInput => {
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    let target = target.as_os_str().as_bytes().as_bstr();
    let is_reference = target.starts_with(b"refs/") && is_safe_name(target);
    Ok(is_reference.then(|| target.to_owned()))
}

fn list_loose(
    directory: &Path,
    prefix: &BStr,
    depth: usize,
    names: &mut Vec<BString>,
) -> Result<()> {
    if depth > NESTING_LIMIT {
        return Err(problem(prefix, ReferenceProblem::NestedTooDeeply));
    }
    for entry in hedgerow_fs::list_directory(directory)?.unwrap_or_default() {
        let path = directory.join(OsStr::from_bytes(&entry.name));
        let mut name = BString::from([prefix.as_bytes(), &entry.name].concat());
        let kind = match entry.kind {
            Some(kind) => Some(kind),
            None => hedgerow_fs::lstat(&path)?.map(|stat| stat.kind),
        };
        match kind {
            Some(FileKind::Directory) => {
                name.push(b'/');
                list_loose(&path, name.as_ref(), depth + 1, names)?;
            }
            Some(FileKind::File | FileKind::Symlink) if !entry.name.ends_with(b".lock") => {
                names.push(name);
            }
            _ => {}
        }
    }
    Ok(())
}
