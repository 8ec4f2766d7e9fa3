//! Carries out the `glob` lines of a description, which add entries of a directory.

use super::input::Input;
use super::pattern::{matches, matches_path};
use super::statement::{Glob, GlobPattern, Statement};
use super::tree::{Attributes, Body, Number, Tree};
use hedgerow_fs::{device_numbers, Dir, DirEntry, FileKind, Stat};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A `glob` line that is being carried out.
struct Scan<'s> {
    glob: &'s Glob,
    statement: &'s Statement,
    mtime_s: i64,
    line: u64,
    /// The device of the file system to stay on, if the line says so.
    device: Option<u64>,
}

/// A directory that is still to be read: the tree node for its entries, and its path relative to
/// the inputs.
struct Pending {
    into: Number,
    path: Vec<u8>,
}

/// Adds what the glob of `statement` finds. Links below its directory are never followed. Hard
/// links become separate files, because their attributes may differ. A directory that already
/// exists in the tree stays as it is; any other existing entry is an error.
pub(super) fn add_found(
    tree: &mut Tree,
    (statement, glob): (&Statement, &Glob),
    inputs: &Path,
    mtime_s: i64,
    line: u64,
) -> Result<(), String> {
    let into = tree.directory(&statement.path, line)?;
    let start = inputs.join(OsStr::from_bytes(&glob.directory));
    let start = if start.as_os_str().is_empty() {
        Path::new(".")
    } else {
        &start
    };
    let directory = Dir::open(start).map_err(said)?;
    let device = directory.stat_self().map_err(said)?.dev;
    let scan = Scan {
        glob,
        statement,
        mtime_s,
        line,
        device: glob.one_file_system.then_some(device),
    };
    let mut pending = scan.read(tree, &directory, into, &glob.directory)?;
    while let Some(next) = pending.pop() {
        let below = relative(&next.path, &glob.directory);
        let directory = directory.open_dir(below).map_err(said)?;
        pending.extend(scan.read(tree, &directory, next.into, &next.path)?);
    }
    Ok(())
}

/// The part of `path` below `directory`, without leading slashes.
fn relative<'p>(path: &'p [u8], directory: &[u8]) -> &'p [u8] {
    let below = path.get(directory.len()..).unwrap_or_default();
    let start = below.iter().position(|byte| *byte != b'/');
    start.and_then(|at| below.get(at..)).unwrap_or_default()
}

fn said(error: hedgerow_fs::Error) -> String {
    error.to_string()
}

impl Scan<'_> {
    /// Adds the matching entries of one directory. Returns the subdirectories that are still to be
    /// read.
    fn read(
        &self,
        tree: &mut Tree,
        directory: &Dir,
        into: Number,
        path: &[u8],
    ) -> Result<Vec<Pending>, String> {
        let mut listed = directory.list().map_err(said)?;
        listed.sort_by(|a, b| a.name.cmp(&b.name));
        let mut pending = Vec::new();
        for DirEntry { name, .. } in listed {
            let stat = directory.stat(&name).map_err(said)?;
            if self.device.is_some_and(|device| stat.dev != device) {
                continue;
            }
            let existing = tree
                .children(into)
                .and_then(|children| children.get(&*name));
            let existing = existing.copied();
            let is_wanted = self.glob.wants(letter(stat.kind));
            let own = match path {
                b"" => name.clone(),
                path if path.ends_with(b"/") => [path, &name].concat(),
                path => [path, b"/", &name].concat(),
            };
            let added = match (stat.kind, existing) {
                (FileKind::Directory, Some(existing)) if tree.children(existing).is_some() => {
                    Some(existing)
                }
                _ if !is_wanted => None,
                (_, Some(existing)) => {
                    // An existing entry is a conflict only if the glob matches it.
                    if self.fits(tree, into, &name) {
                        return Err(tree.exists(existing));
                    } else {
                        None
                    }
                }
                (_, None) if !self.fits(tree, into, &name) => None,
                (_, None) => {
                    let body = body(directory, &name, &own, &stat)?;
                    Some(tree.insert(into, &name, self.attributes(&stat), body, self.line)?)
                }
            };
            if let (FileKind::Directory, Some(into), false) =
                (stat.kind, added, self.glob.nonrecursive)
            {
                pending.push(Pending { into, path: own });
            }
        }
        Ok(pending)
    }

    fn fits(&self, tree: &Tree, into: Number, name: &[u8]) -> bool {
        match &self.glob.pattern {
            None => true,
            Some(GlobPattern::Name(pattern)) => matches(pattern, name),
            Some(GlobPattern::Path(pattern)) => {
                let parent = tree.path(into);
                let path = if parent.is_empty() {
                    name.to_vec()
                } else {
                    [&parent, &b"/"[..], name].concat()
                };
                matches_path(pattern, &path)
            }
        }
    }

    fn attributes(&self, stat: &Stat) -> Attributes {
        let statement = self.statement;
        Attributes {
            mode: statement.mode.unwrap_or((stat.mode & 0o7777) as u16),
            uid: statement.uid.unwrap_or(stat.uid),
            gid: statement.gid.unwrap_or(stat.gid),
            mtime_s: if self.glob.keep_time {
                stat.mtime.seconds
            } else {
                self.mtime_s
            },
        }
    }
}

fn body(directory: &Dir, name: &[u8], path: &[u8], stat: &Stat) -> Result<Body, String> {
    let device = |is_block| Body::Device {
        is_block,
        numbers: device_numbers(stat.rdev),
    };
    Ok(match stat.kind {
        FileKind::Directory => Body::directory(false),
        FileKind::File => Body::File(Input {
            path: path.into(),
            is_found: true,
        }),
        FileKind::Symlink => Body::Symlink(directory.read_link(name).map_err(said)?.into()),
        FileKind::Fifo => Body::Fifo,
        FileKind::Socket => Body::Socket,
        FileKind::BlockDevice => device(true),
        FileKind::CharacterDevice => device(false),
    })
}

/// The letter of the kind in `find -type`.
fn letter(kind: FileKind) -> u8 {
    match kind {
        FileKind::File => b'f',
        FileKind::Directory => b'd',
        FileKind::Symlink => b'l',
        FileKind::Fifo => b'p',
        FileKind::Socket => b's',
        FileKind::BlockDevice => b'b',
        FileKind::CharacterDevice => b'c',
    }
}
