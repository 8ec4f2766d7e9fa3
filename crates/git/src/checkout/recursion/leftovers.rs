//! What a submodule that goes leaves in its directory: the files that it does not track. They are in
//! the way where something else comes into its place.

use crate::checkout::obstacles::Obstacle;
use crate::checkout::rejects::{Reason, Rejects};
use crate::ignore::Ignore;
use crate::index::{Index, Mode, Stage};
use crate::repository::Repository;
use crate::submodule::{opened, read_index, Modules};
use crate::worktree::Worktree;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use hedgerow_engine::Execution;
use hedgerow_fs::{Dir, FileKind};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A submodule that goes.
#[derive(Debug)]
pub(in crate::checkout) struct Leaving {
    pub path: BString,
    /// Examined only where something else comes into its place.
    pub leftovers: Vec<Leftover>,
}

/// Something that a submodule does not track.
#[derive(Debug)]
pub(in crate::checkout) struct Leftover {
    /// Its path in the submodule.
    path: BString,
    /// It is a repository: nothing overwrites it.
    is_repository: bool,
    /// The submodule's own rules ignore it.
    is_ignored: bool,
}

/// Which leftovers may be removed.
pub(in crate::checkout) struct MayGo<'a> {
    /// By the rules of the repository around the submodule; the path is in that repository.
    pub around: &'a dyn Fn(&BStr) -> Result<bool>,
    /// Those that the submodule itself ignores, where all of it goes for a file.
    pub ignored: bool,
}

impl Leaving {
    /// Whether `path` is that of the submodule, or below it.
    pub(in crate::checkout) fn covers(&self, path: &BStr) -> bool {
        let rest = path.strip_prefix(&self.path[..]);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }

    /// Judges what is in the way of a file to write to `path`, which this covers. Where a directory
    /// comes into the submodule's place, only the rules around it count, as in git; where a file does,
    /// git removes everything, and this only what one of the repositories ignores.
    pub(in crate::checkout) fn judge(
        &self,
        path: &BStr,
        may_go: &MayGo<'_>,
        obstacles: &mut Vec<Obstacle>,
        rejects: &mut Rejects,
    ) -> Result<()> {
        let place_of = |left: &Leftover| {
            let parts = [&self.path[..], b"/", &left.path[..]];
            BString::from(parts.concat())
        };
        let inner = path[self.path.len()..].strip_prefix(b"/");
        let Some(inner) = inner else {
            // A file comes into its place.
            for left in &self.leftovers {
                let is_ignored = may_go.ignored && left.is_ignored;
                let goes = is_ignored || (may_go.around)(place_of(left).as_bstr())?;
                if left.is_repository || !goes {
                    rejects.add(Reason::DirectoryNotClean, path);
                    return Ok(());
                }
            }
            obstacles.push(Obstacle {
                path: path.to_owned(),
                directory: true,
            });
            return Ok(());
        };
        for left in &self.leftovers {
            let is_below = below(left.path.as_bstr(), inner);
            if !is_below && left.path != inner && !below(inner.as_bstr(), &left.path) {
                continue;
            }
            let own = place_of(left);
            let goes = !left.is_repository && (may_go.around)(own.as_bstr())?;
            let place = if is_below { path.to_owned() } else { own };
            if goes {
                obstacles.push(Obstacle {
                    path: place,
                    directory: is_below,
                });
            } else if is_below {
                rejects.add(Reason::DirectoryNotClean, place);
            } else {
                rejects.add(Reason::UntrackedOverwritten, place);
            }
        }
        Ok(())
    }
}

fn below(path: &BStr, directory: &[u8]) -> bool {
    let rest = path.strip_prefix(directory);
    rest.is_some_and(|rest| rest.starts_with(b"/"))
}

/// What is in the working tree of `submodule` and not in its index; the same of submodules that go
/// with it.
pub(super) fn leftovers(submodule: &Repository, execution: &Execution) -> Result<Vec<Leftover>> {
    let worktree = Worktree::open(submodule, execution, "checkout")?;
    let index = read_index(submodule)?;
    let search = Search {
        submodule,
        root: &worktree.root,
        ignore: worktree.ignore()?,
        modules: Modules::read(submodule, &index)?,
        index,
        execution,
    };
    search.run()
}

struct Search<'a> {
    submodule: &'a Repository,
    root: &'a Dir,
    ignore: Ignore,
    modules: Modules,
    index: Index,
    execution: &'a Execution,
}

impl Search<'_> {
    fn run(&self) -> Result<Vec<Leftover>> {
        let mut found = Vec::new();
        let mut pending = vec![BString::default()];
        while let Some(directory) = pending.pop() {
            let handle = self.root.open_dir(&directory)?;
            for entry in handle.list()? {
                let is_top = directory.is_empty();
                if is_top && entry.name == b".git" {
                    continue;
                }
                let slash: &[u8] = if is_top { b"" } else { b"/" };
                let path = BString::from([&directory[..], slash, &entry.name].concat());
                let kind = match entry.kind {
                    Some(kind) => kind,
                    None => handle.stat(&entry.name)?.kind,
                };
                if kind == FileKind::Directory {
                    self.visit_directory(path, &mut pending, &mut found)?;
                } else if !self.is_tracked(path.as_bstr()) {
                    let is_ignored = self.ignore.is_ignored(self.root, path.as_bstr(), false)?;
                    found.push(Leftover {
                        path,
                        is_repository: false,
                        is_ignored,
                    });
                }
            }
        }
        Ok(found)
    }

    fn is_tracked(&self, path: &BStr) -> bool {
        let row = self.index.find(path, Stage::Merged);
        row.is_ok_and(|row| self.index.entries()[row].mode != Mode::Gitlink)
    }

    fn visit_directory(
        &self,
        path: BString,
        pending: &mut Vec<BString>,
        found: &mut Vec<Leftover>,
    ) -> Result<()> {
        let row = self.index.find(path.as_bstr(), Stage::Merged);
        let is_link = row.is_ok_and(|row| self.index.entries()[row].mode == Mode::Gitlink);
        if is_link && self.root.open_dir(&path)?.stat(b".git").is_ok() {
            if !self.modules.is_active(self.submodule, path.as_bstr())? {
                found.push(Leftover {
                    path,
                    is_repository: true,
                    is_ignored: false,
                });
                return Ok(());
            }
            let directory = self.submodule.require_work_tree()?;
            let directory = directory.join(Path::new(OsStr::from_bytes(&path)));
            let inner = opened(self.submodule.environment(), &directory, None)?;
            let inner = leftovers(&inner, self.execution)?;
            found.extend(inner.into_iter().map(|left| Leftover {
                path: [&path[..], b"/", &left.path[..]].concat().into(),
                ..left
            }));
            return Ok(());
        }
        pending.push(path);
        Ok(())
    }
}
