//! A working tree and its relation to the index: the common part of checkout and status.

pub(crate) mod attribute_files;
pub(crate) mod compare;
pub(crate) mod conversion_options;
pub(crate) mod pathspecs;
pub(crate) mod present;
pub(crate) mod sparse;
pub(crate) mod sparse_index;
mod split_index;
pub(crate) mod state;
pub(crate) mod survey;
pub(crate) mod unanswered;

use crate::config::{sync_if, CheckoutSettings};
use crate::convert::{AttributeSources, Attributes, Converter, FilterContext, FilterLane};
use crate::ignore::Ignore;
use crate::index::{CacheTree, CheckStat, Index, OffsetTable, StatRules, Version, WriteOptions};
use crate::repository::Repository;
use crate::sparse::{current_rules, SparseRules};
use crate::untracked_cache;
use crate::{Error, Result};
use attribute_files::{directories_above, Direction, OuterAttributes};
use bstr::{BStr, BString, ByteSlice};
use compare::{Comparison, Settled};
use gix_hash::ObjectId;
use hedgerow_engine::{Execution, Jobs, Report};
use hedgerow_fs::{Dir, LockFile, Stat, Timestamp};
use hedgerow_tree::{EntryKind, NameRules};
use hedgerow_walk::Patterns;
use sparse::SparsePatterns;
use sparse_index::{collapse, IndexForm, SparseDirectory};
use state::{State, StateRules};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

/// Upper size limit of pattern and attribute files, in bytes; larger ones are refused.
const PATTERNS_LIMIT_BYTES: u64 = 100 << 20;

/// A step that takes less time than this is done by one worker: starting and ending four threads, with
/// the first use of their stacks and heaps, costs about a millisecond. In a repository of 400 files a
/// switch has three steps of some 2 ms; with 0.5 ms it took a quarter more time.
const ALONE: Duration = Duration::from_millis(2);

/// The index as it was read.
pub(crate) struct OldIndex {
    pub index: Index,
    /// There was no index file.
    pub is_new: bool,
    /// Something was added to the index or removed from it, because the settings ask for that.
    pub is_adjusted: bool,
    /// When the file was last written.
    pub mtime: Timestamp,
    /// The stat data of its file, to detect whether it was replaced meanwhile.
    pub stat: Option<Stat>,
    /// If its file is sparse: the directories that it has in place of files outside the cone.
    pub sparse_directories: Option<Vec<SparseDirectory>>,
}

/// The cache tree of an index that is known to equal a whole tree of the repository. One whose root is
/// not the tree of what is at the top of the index is not believed, nor one that names a tree which the
/// repository does not have: git recovers from both, too.
pub(crate) fn known_tree<'i>(repository: &Repository, index: &'i Index) -> Option<&'i CacheTree> {
    let tree = index.cache_tree()?;
    let is_there = tree.root_id().is_some_and(|id| repository.has_tree(id));
    (is_there && tree.fits(index) && tree.has_root_of(index)).then_some(tree)
}

/// The working tree of a repository, with the context of a command.
pub(crate) struct Worktree<'r> {
    pub repository: &'r Repository,
    pub root: Dir,
    execution: Execution,
    /// With fewer files than this to write, a single worker writes them.
    threshold: Option<u64>,
    /// The name of the threads.
    name: &'static str,
    /// The branch's full name, and the commit or tree, which filters are told.
    source: (Option<BString>, Option<ObjectId>),
    /// As what filters are asked for the content of files.
    filtering: Filtering,
    /// Filters that were started to compare files and can be reused, by the positions of their
    /// drivers.
    filters: RefCell<BTreeMap<usize, FilterLane>>,
    /// Number of workers active at the end of this command's last step.
    workers: Cell<Option<usize>>,
    /// The form in which the index is written.
    index_form: IndexForm,
}

/// As what filter programs are asked for the content of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Filtering {
    /// A checkout: they may delay files.
    #[default]
    Checkout,
    /// Copying, as git-checkout-index(1) does: they may not.
    Copy,
    /// Applying a patch, as git-apply(1) does: they may not, and are told nothing but the path.
    Patch,
}

impl<'r> Worktree<'r> {
    /// Opens the working tree for the command `name`.
    pub(crate) fn open(
        repository: &'r Repository,
        execution: &Execution,
        name: &'static str,
    ) -> Result<Self> {
        let root = repository.require_work_tree()?;
        Worktree::open_at(root, repository, execution, name)
    }

    /// The same, with the Git directory in its place if the repository has no working tree, for
    /// those who do not look at files.
    pub(crate) fn open_if_any(
        repository: &'r Repository,
        execution: &Execution,
        name: &'static str,
    ) -> Result<Self> {
        let root = repository.work_tree().unwrap_or(repository.git_dir());
        Worktree::open_at(root, repository, execution, name)
    }

    /// The same with another directory in its place.
    pub(crate) fn open_at(
        root: &Path,
        repository: &'r Repository,
        execution: &Execution,
        name: &'static str,
    ) -> Result<Self> {
        Ok(Worktree {
            repository,
            root: Dir::open(root)?.without_label(),
            execution: execution.clone(),
            threshold: None,
            name,
            source: (None, None),
            filtering: Filtering::default(),
            filters: RefCell::default(),
            workers: Cell::new(None),
            index_form: IndexForm::default(),
        })
    }

    /// Whether it is in its repository's place, not in another one.
    pub(crate) fn is_own(&self) -> bool {
        let own = self.repository.work_tree().map(hedgerow_fs::stat);
        let own = own.and_then(|stat| stat.ok().flatten());
        let here = self.root.stat_self().ok();
        here.zip(own)
            .is_some_and(|(here, own)| (here.dev, here.ino) == (own.dev, own.ino))
    }

    /// How the command is run.
    pub(crate) fn execution(&self) -> &Execution {
        &self.execution
    }

    /// With fewer files than this to write, a single worker writes them.
    pub(crate) fn threshold(&self) -> Option<u64> {
        self.threshold
    }

    /// With fewer files than `threshold` to write, a single worker writes them.
    pub(crate) fn set_threshold(&mut self, threshold: Option<u64>) {
        self.threshold = threshold;
    }

    /// Sets the form in which the index is written, if not as the settings ask for it.
    pub(crate) fn set_index_form(&mut self, form: IndexForm) {
        self.index_form = form;
    }

    /// The index as it is written if some directories are collapsed; see [`collapse`].
    pub(crate) fn collapsed(&self, index: &Index) -> Result<Option<Index>> {
        // Git refuses an index that is both split and sparse, and even a sparse one where the settings
        // ask for a split one.
        if index.split().is_some() {
            return Ok(None);
        }
        let settings = self.settings();
        let configured = settings.sparse_checkout && settings.index_sparse;
        let rules;
        let cone = match &self.index_form {
            IndexForm::Collapsed(cone) => cone,
            IndexForm::Configured if configured => {
                rules = current_rules(self.repository)?;
                match &rules {
                    Some((SparseRules::Cone(cone), _)) => cone,
                    _ => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        collapse(self.repository, index, cone, &self.engine())
    }

    /// Makes the next step start with as many workers as the last one ended with.
    pub(crate) fn learn(&self, report: &Report) {
        self.workers.set(Some(report.workers_last));
    }

    /// Sets what filter programs are told about the checkout: a branch by its full name, if any,
    /// and a commit or tree.
    pub(crate) fn set_source(&mut self, branch: Option<BString>, treeish: Option<ObjectId>) {
        self.source = (branch, treeish);
    }

    /// Sets as what filter programs are asked for the content of files.
    pub(crate) fn set_filtering(&mut self, filtering: Filtering) {
        self.filtering = filtering;
    }

    /// The context for filter programs, including their directory.
    pub(crate) fn filter_context(&self) -> FilterContext {
        FilterContext {
            directory: self
                .repository
                .work_tree()
                .map(Into::into)
                .unwrap_or_default(),
            environment: self.repository.child_variables(),
            git_programs: Some(self.repository.git_programs()),
            reference: self.source.0.clone(),
            treeish: self.source.1,
            can_delay: self.filtering == Filtering::Checkout,
            hides_blob: self.filtering == Filtering::Patch,
        }
    }

    pub(crate) fn settings(&self) -> &CheckoutSettings {
        self.repository.settings()
    }

    pub(crate) fn names(&self) -> NameRules {
        name_rules(self.repository)
    }

    /// The engine options for a step.
    pub(crate) fn engine(&self) -> hedgerow_engine::Options {
        hedgerow_engine::Options {
            hint: self.workers.get(),
            patience: ALONE,
            ..self.execution.options(self.name)
        }
    }

    /// The engine options for writing that many files.
    pub(crate) fn engine_for(&self, files: usize) -> hedgerow_engine::Options {
        let mut options = self.engine();
        if self
            .threshold
            .is_some_and(|threshold| (files as u64) < threshold)
        {
            options.jobs = Jobs::Fixed(NonZeroUsize::MIN);
        }
        options
    }

    pub(crate) fn read_index(&self) -> Result<OldIndex> {
        match self.repository.load_index()? {
            Some((index, stat)) => self.expanded(index, Some(stat)),
            None => self.new_index(),
        }
    }

    /// The index where there is none yet, or where what there is does not count.
    pub(crate) fn new_index(&self) -> Result<OldIndex> {
        let hash = self.repository.hash_kind();
        let version = self.settings().index_version.and_then(version);
        let mut index = Index::empty_of(hash, version.unwrap_or_default());
        Ok(OldIndex {
            is_adjusted: adjust(self.repository, &mut index)?,
            index,
            is_new: true,
            mtime: Timestamp::default(),
            stat: None,
            sparse_directories: None,
        })
    }

    /// The same of an index that was read; `stat` is that of its file.
    pub(crate) fn expanded(&self, index: Index, stat: Option<Stat>) -> Result<OldIndex> {
        let is_sparse = index.has_sparse_directories();
        let (mut index, directories) = sparse_index::expand(self.repository, index, self.names())?;
        let mtime = stat.map_or(Timestamp::default(), |stat| stat.mtime);
        if let Some(cache) = index.untracked_cache_mut() {
            cache.doubt_racy(mtime);
        }
        let is_adjusted = adjust(self.repository, &mut index)?;
        Ok(OldIndex {
            index,
            is_new: false,
            is_adjusted,
            mtime,
            stat,
            sparse_directories: is_sparse.then_some(directories),
        })
    }

    /// The rules for determining states. git's default build reads all files changed in the second
    /// in which the index was written, and so notices changed attributes; here only those files are
    /// read whose content attributes can change.
    pub(crate) fn rules(&self, old: &OldIndex) -> StateRules {
        self.rules_since(old.mtime)
    }

    /// The same for an index whose file was last written then.
    pub(crate) fn rules_since(&self, index_mtime: Timestamp) -> StateRules {
        let settings = self.settings();
        StateRules {
            stat: StatRules {
                trust_ctime: settings.trust_ctime,
                check_stat: if settings.check_whole_stat {
                    CheckStat::Default
                } else {
                    CheckStat::Minimal
                },
                nanoseconds: true,
            },
            trust_mode: settings.file_mode,
            symlinks: settings.symlinks,
            index_mtime,
        }
    }

    pub(crate) fn sparse_patterns(&self) -> Result<Option<SparsePatterns>> {
        if !self.settings().sparse_checkout {
            return Ok(None);
        }
        let rules = current_rules(self.repository)?;
        let ignore_case = self.settings().ignore_case;
        Ok(rules.map(|(rules, _)| rules.matcher(ignore_case)))
    }

    /// Git's warnings if the sparse checkout should be a cone and its rules are none.
    pub(crate) fn sparse_warnings(&self) -> Result<Vec<String>> {
        if !self.settings().sparse_checkout {
            return Ok(Vec::new());
        }
        let rules = current_rules(self.repository)?;
        Ok(rules.map(|(_, warnings)| warnings).unwrap_or_default())
    }

    pub(crate) fn ignore(&self) -> Result<Ignore> {
        Ok(Ignore::new(
            self.outer_patterns()?,
            self.settings().ignore_case,
        ))
    }

    /// The ignore patterns from outside the working tree, lowest precedence first.
    pub(crate) fn outer_patterns(&self) -> Result<Vec<Patterns>> {
        let info = self.repository.common_dir().join("info/exclude");
        let read = |path: &Path| self.repository.read_rules(path, PATTERNS_LIMIT_BYTES);
        let user = self.settings().excludes_file.as_deref();
        let (user, info) = (user.map_or(Ok(None), read)?, read(&info)?);
        let ignore_case = self.settings().ignore_case;
        let files = [user, info].into_iter().flatten();
        Ok(files
            .map(|content| Patterns::parse(&content).ignoring_case(ignore_case))
            .collect())
    }

    /// The converter for files in `directories` or below; see [`Direction`]. Also returns the
    /// warnings about attribute files, by directory.
    pub(crate) fn converter(
        &self,
        index: &Index,
        directories: &BTreeSet<&BStr>,
        direction: &Direction<'_>,
    ) -> Result<(Converter, BTreeMap<BString, Vec<String>>)> {
        let (attributes, warnings) =
            self.attributes(index, directories, direction, Attributes::new)?;
        let options = conversion_options::options(self.repository)?;
        Ok((Converter::new(options, attributes), warnings))
    }

    /// The attributes of files in `directories` or below, of the set that `read` chooses; see
    /// [`Direction`]. Also returns the warnings about attribute files, by directory.
    pub(crate) fn attributes(
        &self,
        index: &Index,
        directories: &BTreeSet<&BStr>,
        direction: &Direction<'_>,
        read: impl FnOnce(&AttributeSources<'_>) -> Attributes,
    ) -> Result<(Attributes, BTreeMap<BString, Vec<String>>)> {
        let files = self.attribute_files(index, directories, direction)?;
        let outer = OuterAttributes::read(self.repository)?;
        let directories = files.directories.iter();
        let directories =
            directories.map(|(directory, content)| (directory.as_bstr(), content.as_slice()));
        let attributes = read(&outer.with(directories.collect(), self.settings().ignore_case));
        Ok((attributes, files.warnings))
    }

    /// Reads the suspect files; see [`Comparison::settle`]. `listed` are the directories that may
    /// have attribute files unknown to the index, if they are known.
    pub(crate) fn settle(
        &self,
        states: &mut [State],
        index: &Index,
        listed: Option<&[BString]>,
    ) -> Result<Settled> {
        let rows = index.entries().iter().zip(states.iter());
        let read = rows.filter(|(_, state)| state.may_be_read());
        let directories = directories_above(read.map(|(entry, _)| index.path(entry)));
        if directories.is_empty() {
            return Ok(Settled::default());
        }
        let direction = Direction::CheckIn {
            listed,
            is_gone: &|_| false,
        };
        let (converter, warnings) = self.converter(index, &directories, &direction)?;
        let settled = self.comparison(index, &converter).settle(
            states,
            &mut self.filters.borrow_mut(),
            &self.engine(),
        )?;
        Ok(Settled {
            warnings,
            ..settled
        })
    }

    /// The filters that were started to compare files.
    pub(crate) fn take_filters(&self) -> BTreeMap<usize, FilterLane> {
        self.filters.take()
    }

    /// Ends the filters that were started to compare files.
    pub(crate) fn end_filters(&self) {
        for filter in self.take_filters().into_values() {
            // Their output was valid; their exit status does not matter any more.
            let _ = filter.finish(&mut |_| Ok(()));
        }
    }

    /// The comparison of files of the working tree with the index.
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

    /// Writes the index to the lock file, moves it into place and runs the hook. `with_work_tree`:
    /// the files of the working tree were updated to match. Returns why the hook could not be run,
    /// if so.
    pub(crate) fn write_index(
        &self,
        index: &Index,
        lock: LockFile,
        with_work_tree: bool,
    ) -> Result<Option<String>> {
        self.write_index_telling(index, lock, (with_work_tree, false))
    }

    /// The same; the hook is told whether files of the working tree were updated, and whether files
    /// may have left or entered the sparse checkout.
    pub(crate) fn write_index_telling(
        &self,
        index: &Index,
        mut lock: LockFile,
        (with_work_tree, with_sparsity): (bool, bool),
    ) -> Result<Option<String>> {
        let options = write_options(self.repository)?;
        let collapsed = self.collapsed(index)?;
        let index = collapsed.as_ref().unwrap_or(index);
        if self.execution.cancel.is_cancelled() {
            return Err(Error::Interrupted);
        }
        let (content, afterwards) = split_index::written(self.repository, index, &options)?;
        lock.write_all(&content)?;
        self.settings().sharing.open_lock(&lock)?;
        sync_if(self.settings().fsync.index, &lock)?;
        lock.commit()?;
        afterwards.finish(self.repository);
        let told = self
            .repository
            .run_post_index_change(with_work_tree, with_sparsity);
        Ok(told.err().map(|error| error.to_string()))
    }
}

/// Changes `index` as the settings ask for it. Returns whether they do.
fn adjust(repository: &Repository, index: &mut Index) -> Result<bool> {
    let is_split = split_index::adjust(repository, index);
    Ok(untracked_cache::adjust(repository, index)? || is_split)
}

/// How the settings ask for an index to be written.
pub(crate) fn write_options(repository: &Repository) -> Result<WriteOptions> {
    let config = repository.config();
    let threads = match config.integer("index.threads") {
        Ok(number) => number,
        // Every processor is one, or none.
        Err(_) => config.bool("index.threads")?.map(|all| i64::from(!all)),
    };
    let for_threads = threads.is_some_and(|number| number != 1);
    let has_table = config.bool("index.recordOffsetTable")?;
    let table = match threads {
        Some(0) => Some(OffsetTable::Processors(hedgerow_fs::cpu::available())),
        Some(number) => usize::try_from(number).ok().map(OffsetTable::Threads),
        None => None,
    };
    let end_of_entries = config.bool("index.recordEndOfIndexEntries")?;
    Ok(WriteOptions {
        version: None,
        skip_hash: repository.settings().index_skip_hash,
        end_of_entries: end_of_entries.unwrap_or(for_threads),
        offset_table: table.filter(|_| for_threads && has_table.unwrap_or(true)),
    })
}

/// Which names a repository's settings allow.
pub(crate) fn name_rules(repository: &Repository) -> NameRules {
    let settings = repository.settings();
    NameRules {
        protect_ntfs: settings.protect_ntfs,
        protect_hfs: settings.protect_hfs,
    }
}

/// Refuses an index with a path that git would put into none, such as `../a` or `.git/config`.
///
/// # Errors
/// [`Error::Setup`], with the first of them.
pub(crate) fn check_paths(index: &Index, names: NameRules) -> Result<()> {
    for (path, _) in index.iter() {
        if is_plain(path) {
            continue;
        }
        check_path(path, names)?;
    }
    Ok(())
}

/// Whether nothing can be wrong with `path`, as is seen at a glance for most: every refused one has a
/// component that is empty or starts with a dot, or a byte that is rare in names.
fn is_plain(path: &BStr) -> bool {
    let mut last = b'/';
    for byte in path.iter().copied() {
        let is_start = last == b'/';
        if is_start && matches!(byte, b'.' | b'/') || matches!(byte, b'~' | b'\\' | 0x80..) {
            return false;
        }
        last = byte;
    }
    last != b'/'
}

/// Refuses a path that no index may have; a slash at its end is that of a directory.
///
/// # Errors
/// [`Error::Setup`].
pub(crate) fn check_path(path: &BStr, names: NameRules) -> Result<()> {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    hedgerow_tree::check_path(path, EntryKind::File, names).map_err(|error| Error::Setup {
        reason: error.to_string(),
    })
}

/// The index version that `index.version` asks for.
pub(crate) fn version(number: i64) -> Option<Version> {
    match number {
        2 => Some(Version::V2),
        3 => Some(Version::V3),
        4 => Some(Version::V4),
        _ => None,
    }
}
