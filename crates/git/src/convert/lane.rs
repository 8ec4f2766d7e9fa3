//! The files that must pass through a filter program, one after the other.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_fs::FilterCancel;

use super::filter_program::{Direction, File, FilterProgram, Outcome};
use super::options::Driver;
use crate::repository::GitPrograms;
use crate::{Error, Result};

/// Information that filter programs receive besides the content.
#[derive(Clone, Debug, Default)]
pub struct FilterContext {
    /// Their current directory: the top of the working tree.
    pub directory: PathBuf,
    /// Variables to set, or to unset if there is no value. git sets `GIT_DIR` and `GIT_WORK_TREE`
    /// only in a clone and if they differ from what discovery would find.
    pub environment: Vec<(OsString, Option<OsString>)>,
    /// Where git's own programs are; those come first in `PATH`.
    pub git_programs: Option<Arc<GitPrograms>>,
    /// The full name of the reference that is checked out, if any.
    pub reference: Option<BString>,
    /// The commit or tree that is checked out.
    pub treeish: Option<ObjectId>,
    /// Whether a process may delay files.
    pub can_delay: bool,
    /// The blob of a file is not told.
    pub hides_blob: bool,
}

/// All files of one driver, handled in order on one thread; it runs beside the workers.
///
/// If the driver has a `process` command, one process handles all files, else each file has its
/// own. Dropping the lane kills and reaps running processes.
#[derive(Debug)]
pub struct FilterLane {
    program: FilterProgram,
    /// Files that the process delayed: the row and the blob of each path.
    delayed: BTreeMap<BString, (usize, ObjectId)>,
}

/// A file that has been filtered.
pub struct Delivery<'a> {
    /// The row that was passed in with it.
    pub row: usize,
    /// Its path.
    pub path: &'a BStr,
    /// The content for the working tree.
    pub content: Filtered<'a>,
    /// Git's messages about it. The file is written all the same.
    pub messages: Vec<String>,
}

/// The content of a filtered file.
pub enum Filtered<'a> {
    /// All of it.
    Content(&'a [u8]),
    /// Content too large for memory. It must be read to its end; if reading fails, the file must be
    /// removed again.
    Stream(&'a mut dyn Read),
    /// No content: this file is not written, others are.
    Failed(Error),
}

/// Content that went through [`FilterLane::clean`].
#[derive(Debug, PartialEq, Eq)]
pub struct Cleaned {
    /// The result; `None` if the filter did nothing and the content stays unchanged.
    pub content: Option<Vec<u8>>,
    /// Git's messages about it.
    pub messages: Vec<String>,
}

/// Receives filtered files. Its error ends the lane.
pub type Deliver<'a> = dyn FnMut(Delivery<'_>) -> Result<()> + 'a;

impl FilterLane {
    /// A lane for `driver`. No process is started before the first file.
    ///
    /// # Errors
    /// No file descriptor is left for `cancel_handle`.
    pub fn open(driver: &Driver, context: FilterContext) -> Result<FilterLane> {
        let cancel = FilterCancel::new()
            .map_err(|error| hedgerow_fs::Error::new("prepare", &context.directory, error))?;
        Ok(FilterLane {
            program: FilterProgram::new(driver.clone(), context, cancel),
            delayed: BTreeMap::new(),
        })
    }

    /// A handle to end the lane from another thread: current and later operations then fail with an
    /// error of kind `Interrupted`.
    pub fn cancel_handle(&self) -> FilterCancel {
        self.program.cancel_handle()
    }

    /// Whether a file was not filtered because the program failed, or refused it. Git has no words for all
    /// of these.
    pub fn has_failed(&self) -> bool {
        self.program.has_failed()
    }

    /// Filters the blob `id` for the file `path` of the working tree; `content` is the result of
    /// [`Converter::to_worktree`](super::Converter::to_worktree). The result is delivered now, or
    /// by [`finish`](FilterLane::finish).
    ///
    /// # Errors
    /// A required filter that failed; an error of `deliver`.
    pub fn smudge(
        &mut self,
        row: usize,
        path: &BStr,
        id: &ObjectId,
        content: &[u8],
        deliver: &mut Deliver<'_>,
    ) -> Result<()> {
        let file = File {
            row,
            path,
            id: Some(id),
            content,
            can_delay: true,
        };
        let (content, messages) = match self.program.apply(Direction::Smudge, &file, deliver)? {
            Outcome::Delivered => return Ok(()),
            Outcome::Delayed => {
                self.delayed.insert(path.to_owned(), (row, *id));
                return Ok(());
            }
            Outcome::Filtered(filtered) => (Some(filtered), Vec::new()),
            Outcome::Unfiltered(said) => (None, said),
        };
        deliver(Delivery {
            row,
            path,
            content: Filtered::Content(content.as_deref().unwrap_or(file.content)),
            messages,
        })
    }

    /// Filters `content` of the file `path` for the repository; the result must be passed to
    /// [`Converter::to_git`](super::Converter::to_git).
    ///
    /// # Errors
    /// A required filter that failed.
    pub fn clean(&mut self, path: &BStr, content: &[u8]) -> Result<Cleaned> {
        let file = File {
            row: 0,
            path,
            id: None,
            content,
            can_delay: false,
        };
        let (content, messages) = match self
            .program
            .apply(Direction::Clean, &file, &mut |_| Ok(()))?
        {
            Outcome::Filtered(content) => (Some(content), Vec::new()),
            Outcome::Unfiltered(said) => (None, said),
            // These occur only when smudging.
            Outcome::Delayed | Outcome::Delivered => (None, Vec::new()),
        };
        Ok(Cleaned { content, messages })
    }

    /// Delivers the delayed files in the order in which they become ready, and ends the process.
    ///
    /// # Errors
    /// A required filter that failed; an error of `deliver`; a file is ready that was not delayed, and
    /// the others are not delivered. If the filter is not required, a file that never became ready is
    /// delivered as [`Filtered::Failed`].
    pub fn finish(mut self, deliver: &mut Deliver<'_>) -> Result<()> {
        if !self.delayed.is_empty() {
            self.drain(deliver)?;
        }
        for (path, (row, _)) in std::mem::take(&mut self.delayed) {
            deliver(Delivery {
                row,
                path: path.as_bstr(),
                content: Filtered::Failed(unfiltered(path.as_bstr())),
                messages: Vec::new(),
            })?;
        }
        self.program.close()
    }

    /// Asks for delayed files until the process says that there are no more.
    fn drain(&mut self, deliver: &mut Deliver<'_>) -> Result<()> {
        loop {
            let paths = self.program.available()?;
            if paths.is_empty() {
                return Ok(());
            }
            for path in paths {
                let Some((row, id)) = self.delayed.remove(&path) else {
                    let command = self.program.process_command();
                    return Err(Error::Setup {
                        reason: format!(
                            "external filter '{command}' signaled that '{path}' is now available \
                             although it has not been delayed earlier"
                        ),
                    });
                };
                self.fetch(row, path.as_bstr(), &id, deliver)?;
            }
        }
    }

    /// Fetches one delayed file.
    fn fetch(
        &mut self,
        row: usize,
        path: &BStr,
        id: &ObjectId,
        deliver: &mut Deliver<'_>,
    ) -> Result<()> {
        let file = File {
            row,
            path,
            id: Some(id),
            content: b"",
            can_delay: false,
        };
        let outcome = self.program.apply(Direction::Smudge, &file, deliver)?;
        let content = match &outcome {
            Outcome::Delivered => return Ok(()),
            Outcome::Filtered(content) => Filtered::Content(content),
            Outcome::Delayed | Outcome::Unfiltered(_) => Filtered::Failed(unfiltered(path)),
        };
        deliver(Delivery {
            row,
            path,
            content,
            messages: Vec::new(),
        })
    }
}

/// The process had promised the file.
fn unfiltered(path: &BStr) -> Error {
    Error::Setup {
        reason: format!("'{path}' was not filtered properly"),
    }
}
