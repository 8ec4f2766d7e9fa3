//! A working tree and how its files stand to the index: what checkout and status share.

pub(crate) mod compare;
pub(crate) mod conversion_options;
pub(crate) mod pathspecs;
mod progress;
pub(crate) mod sparse;
mod sparse_index;
pub(crate) mod state;
pub(crate) mod survey;
pub(crate) mod unanswered;

pub use progress::Progress;

use crate::convert::{AttributeSources, Attributes, Converter, FilterContext};
use crate::ignore::Ignore;
use crate::index::{CheckStat, Index, Mode, StatRules, Version, WriteOptions};
use crate::patterns::Patterns;
use crate::repository::{CheckoutSettings, Repository};
use crate::{Error, Result};
use bstr::{BString, ByteSlice};
use compare::{Comparison, Settled};
use gix_hash::ObjectId;
use hedgerow_engine::{CancelToken, Jobs, Recorder, Report};
use hedgerow_fs::{Dir, LockFile, Stat, Timestamp};
use hedgerow_tree::NameRules;
use sparse::SparsePatterns;
use state::{State, StateRules};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;
use unanswered::is_unanswered;

/// Files of patterns and attributes beyond are refused.
const PATTERNS_LIMIT_BYTES: u64 = 100 << 20;

/// A step of so long is done by one worker: starting threads, and stopping them, takes as long.
const ALONE: Duration = Duration::from_micros(500);

/// How a checkout or a status is to be run.
#[derive(Clone, Debug, Default)]
pub struct Execution {
    /// How many workers.
    pub jobs: Jobs,
    /// With fewer files than this to write, one worker writes them.
    pub threshold: Option<u64>,
    /// Ends the checkout early, the old index staying.
    pub cancel: CancelToken,
    /// Counts what the workers do.
    pub recorder: Option<Arc<Recorder>>,
    /// Where to show how far it is.
    pub progress: Arc<Progress>,
}

/// The index as it was found.
pub(crate) struct OldIndex {
    pub index: Index,
    /// There was no index file.
    pub is_new: bool,
    /// When it was last written.
    pub mtime: Timestamp,
    /// The state of its file, to see whether another has taken its place meanwhile.
    pub stat: Option<Stat>,
    /// If its file is sparse: the directories that it has in place of files that are not to be
    /// there, without slashes at their ends.
    pub sparse_directories: Option<Vec<BString>>,
}

/// The working tree of a repository, with what a command needs to know of it.
pub(crate) struct Worktree<'r> {
    pub repository: &'r Repository,
    pub root: Dir,
    pub progress: Arc<Progress>,
    execution: Execution,
    /// What the threads are called.
    name: &'static str,
    /// The full name of the branch, and the commit or tree, that filters are told of.
    source: (Option<BString>, Option<ObjectId>),
    /// How many workers the last step of this command was at work with at its end.
    workers: Cell<Option<usize>>,
}

impl<'r> Worktree<'r> {
    /// Opens the working tree for the command `name`.
    pub(crate) fn open(
        repository: &'r Repository,
        execution: &Execution,
        name: &'static str,
    ) -> Result<Self> {
        Ok(Worktree {
            repository,
            root: Dir::open(repository.require_work_tree()?)?.without_label(),
            progress: execution.progress.clone(),
            execution: execution.clone(),
            name,
            source: (None, None),
            workers: Cell::new(None),
        })
    }

    /// Lets the next step begin with as many workers as the last one ended with.
    pub(crate) fn learn(&self, report: &Report) {
        self.workers.set(Some(report.workers_last));
    }

    /// Says what is checked out, for filter programs: a branch by its full name if it is one, and
    /// a commit or tree.
    pub(crate) fn set_source(&mut self, branch: Option<BString>, treeish: Option<ObjectId>) {
        self.source = (branch, treeish);
    }

    /// What filter programs are told, and where they run.
    pub(crate) fn filter_context(&self) -> FilterContext {
        FilterContext {
            directory: self
                .repository
                .work_tree()
                .map(Into::into)
                .unwrap_or_default(),
            environment: self.repository.child_variables(),
            reference: self.source.0.clone(),
            treeish: self.source.1,
            can_delay: true,
        }
    }

    pub(crate) fn settings(&self) -> &CheckoutSettings {
        self.repository.settings()
    }

    pub(crate) fn names(&self) -> NameRules {
        let settings = self.settings();
        NameRules {
            protect_ntfs: settings.protect_ntfs,
            protect_hfs: settings.protect_hfs,
        }
    }

    /// How the engine is to run a step.
    pub(crate) fn engine(&self) -> hedgerow_engine::Options {
        hedgerow_engine::Options {
            jobs: self.execution.jobs,
            cancel: self.execution.cancel.clone(),
            name: self.name,
            recorder: self.execution.recorder.clone(),
            hint: self.workers.get(),
            patience: ALONE,
        }
    }

    /// How the engine is to write that many files.
    pub(crate) fn engine_for(&self, files: usize) -> hedgerow_engine::Options {
        let mut options = self.engine();
        if self
            .execution
            .threshold
            .is_some_and(|threshold| (files as u64) < threshold)
        {
            options.jobs = Jobs::Fixed(NonZeroUsize::MIN);
        }
        options
    }

    pub(crate) fn read_index(&self) -> Result<OldIndex> {
        let path = self.repository.index_path();
        let hash = self.repository.hash_kind();
        let Some((index, stat)) = Index::load(path, hash)? else {
            return Ok(OldIndex {
                index: Index::empty(hash),
                is_new: true,
                mtime: Timestamp::default(),
                stat: None,
                sparse_directories: None,
            });
        };
        let is_sparse = index.has_sparse_directories();
        let (index, directories) = sparse_index::expand(self.repository, index, self.names())?;
        Ok(OldIndex {
            index,
            is_new: false,
            mtime: stat.mtime,
            stat: Some(stat),
            sparse_directories: is_sparse.then_some(directories),
        })
    }

    pub(crate) fn rules(&self, old: &OldIndex) -> StateRules {
        let settings = self.settings();
        StateRules {
            stat: StatRules {
                trust_ctime: settings.trust_ctime,
                check_stat: match settings.check_whole_stat {
                    true => CheckStat::Default,
                    false => CheckStat::Minimal,
                },
                nanoseconds: true,
            },
            proven_by_nanoseconds: false,
            trust_mode: settings.file_mode,
            symlinks: settings.symlinks,
            index_mtime: old.mtime,
        }
    }

    pub(crate) fn sparse_patterns(&self) -> Result<Option<SparsePatterns>> {
        if !self.settings().sparse_checkout {
            return Ok(None);
        }
        let path = self.repository.git_dir().join("info/sparse-checkout");
        let content = hedgerow_fs::read_file(&path, PATTERNS_LIMIT_BYTES)?;
        let ignore_case = self.settings().ignore_case;
        Ok(content.map(|content| SparsePatterns::parse(&content, ignore_case)))
    }

    pub(crate) fn ignore(&self) -> Result<Ignore> {
        Ok(Ignore::new(
            self.outer_patterns()?,
            self.settings().ignore_case,
        ))
    }

    /// The patterns of ignored files that are not in the working tree, lowest precedence first.
    pub(crate) fn outer_patterns(&self) -> Result<Vec<Patterns>> {
        let info = self.read_info("exclude")?;
        let user = match &self.settings().excludes_file {
            Some(path) => hedgerow_fs::read_file(path, PATTERNS_LIMIT_BYTES)?,
            None => None,
        };
        let ignore_case = self.settings().ignore_case;
        let files = [user, info].into_iter().flatten();
        Ok(files
            .map(|content| Patterns::parse(&content, ignore_case))
            .collect())
    }

    fn read_info(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let path = self.repository.common_dir().join("info").join(name);
        Ok(hedgerow_fs::read_file(&path, PATTERNS_LIMIT_BYTES)?)
    }

    /// The converter for files that are to be written: the attributes of the new tree count.
    pub(crate) fn converter_of_tree(&self, index: &Index) -> Result<Converter> {
        let mut directories = Vec::new();
        for (directory, id) in attribute_files(index) {
            let (_, content) = self.repository.read_object(&id)?;
            directories.push((directory, content));
        }
        self.converter(&directories)
    }

    /// The converter for files that are to be compared: the attributes in the working tree count,
    /// and those of the index where it has none. `others` are directories with attributes that the
    /// index does not know. Also says whose attributes cannot be read, and why.
    pub(crate) fn converter_of_worktree(
        &self,
        index: &Index,
        others: &[BString],
    ) -> Result<(Converter, BTreeMap<BString, String>)> {
        let mut directories = Vec::new();
        let mut unreadable = BTreeMap::new();
        let mut unanswered = None;
        let mut read = |directory: &BString| {
            let error = match self.attributes_in(directory) {
                Ok(content) => return Some(content),
                Err(error) => error,
            };
            use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
            if is_unanswered(&error.source) {
                unanswered.get_or_insert(error);
            } else if !matches!(error.kind(), NotFound | NotADirectory | IsADirectory) {
                unreadable.insert(directory.clone(), error.reason());
            }
            None
        };
        for (directory, id) in attribute_files(index) {
            let content = match read(&directory) {
                Some(content) => content,
                None => self.repository.read_object(&id)?.1,
            };
            directories.push((directory, content));
        }
        let known: BTreeSet<BString> = directories.iter().map(|(path, _)| path.clone()).collect();
        for directory in others.iter().filter(|path| !known.contains(*path)) {
            let content = read(directory);
            directories.extend(content.map(|content| (directory.clone(), content)));
        }
        if let Some(error) = unanswered {
            return Err(error.into());
        }
        Ok((self.converter(&directories)?, unreadable))
    }

    fn attributes_in(&self, directory: &BString) -> hedgerow_fs::Result<Vec<u8>> {
        let handle = self.root.open_dir(directory)?;
        let file = handle.open_file(b".gitattributes")?;
        let mut content = Vec::new();
        file.read_to_end(&mut content, PATTERNS_LIMIT_BYTES)?;
        Ok(content)
    }

    fn converter(&self, directories: &[(BString, Vec<u8>)]) -> Result<Converter> {
        let global = match &self.settings().attributes_file {
            Some(path) => hedgerow_fs::read_file(path, PATTERNS_LIMIT_BYTES)?,
            None => None,
        };
        let info = self.read_info("attributes")?;
        let attributes = Attributes::new(&AttributeSources {
            system: None,
            global: global.as_deref(),
            directories: directories
                .iter()
                .map(|(d, c)| (d.as_bstr(), c.as_slice()))
                .collect(),
            info: info.as_deref(),
            ignore_case: self.settings().ignore_case,
        });
        let options = conversion_options::options(self.repository)?;
        Ok(Converter::new(options, attributes))
    }

    /// Reads the suspect files: see [`Comparison::settle`]. `attributes` are directories that have a
    /// `.gitattributes` which the index does not know.
    pub(crate) fn settle(
        &self,
        states: &mut [State],
        index: &Index,
        attributes: &[BString],
    ) -> Result<Settled> {
        let (converter, unreadable) = match states.iter().any(|state| state.may_be_read()) {
            true => self.converter_of_worktree(index, attributes)?,
            false => return Ok(Settled::default()),
        };
        let settled = self
            .comparison(index, &converter)
            .settle(states, &self.engine())?;
        Ok(Settled {
            unreadable,
            ..settled
        })
    }

    /// What compares files of the working tree with the index.
    pub(crate) fn comparison<'a>(
        &'a self,
        index: &'a Index,
        converter: &'a Converter,
    ) -> Comparison<'a> {
        Comparison {
            root: &self.root,
            index,
            converter,
            objects: self.repository.shared_objects(),
            filters: self.filter_context(),
        }
    }

    /// Writes the index to the lock file and moves it into place.
    pub(crate) fn write_index(
        &self,
        index: &Index,
        version: Option<Version>,
        mut lock: LockFile,
    ) -> Result<()> {
        let mut content = Vec::new();
        let options = WriteOptions {
            version,
            skip_hash: self.settings().index_skip_hash,
            index_mtime_for_racy: None,
        };
        index.write(&mut content, &options);
        if self.execution.cancel.is_cancelled() {
            return Err(Error::Interrupted);
        }
        lock.write_all(&content)?;
        lock.commit()?;
        Ok(())
    }
}

/// The version of the index that `index.version` wants.
pub(crate) fn version(number: i64) -> Option<Version> {
    match number {
        2 => Some(Version::V2),
        3 => Some(Version::V3),
        4 => Some(Version::V4),
        _ => None,
    }
}

/// The directories that have a `.gitattributes`, and its blob. A link does not count.
fn attribute_files(index: &Index) -> Vec<(BString, ObjectId)> {
    const NAME: &[u8] = b".gitattributes";
    let mut files = Vec::new();
    for (path, entry) in index.iter() {
        let Some(directory) = path.strip_suffix(NAME) else {
            continue;
        };
        let is_file = matches!(entry.mode, Mode::File | Mode::Executable);
        if is_file && (directory.is_empty() || directory.ends_with(b"/")) {
            let directory = directory.strip_suffix(b"/").unwrap_or(directory);
            files.push((BString::from(directory), entry.id));
        }
    }
    files
}
