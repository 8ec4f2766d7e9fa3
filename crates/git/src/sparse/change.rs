//! Changing the rules of a sparse checkout.

use super::apply::apply;
use super::outside::{directories, remove_leftovers};
use super::rules::{normalized, Cone, SparseRules};
use crate::checkout::Done;
use crate::display::unquoted;
use crate::index::{Index, Stage};
use crate::repository::Repository;
use crate::worktree::sparse_index::IndexForm;
use crate::worktree::{check_paths, name_rules};
use crate::worktrees::tree_removal::remove_tree_below;
use crate::{Error, Result};
use bstr::{BString, ByteSlice};
use hedgerow_engine::Execution;
use hedgerow_fs::LockFile;
use std::path::{Path, PathBuf};

const RULES_LIMIT_BYTES: u64 = 100 << 20;

/// Which kinds of rules and of index are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    /// `--[no-]cone`.
    pub cone: Option<bool>,
    /// `--[no-]sparse-index`.
    pub sparse_index: Option<bool>,
}

/// How the rules are changed.
#[derive(Clone, Debug, Default)]
pub struct SparseOptions {
    /// Which kinds are asked for.
    pub modes: Modes,
    /// The words are taken as they are.
    pub skip_checks: bool,
    /// The rules, as lines of an input. The words beside them are checked, and then left out.
    pub lines: Option<Vec<BString>>,
    /// With fewer files than this to write, a single worker writes them.
    pub threshold: Option<u64>,
    /// How to run; [`Stage::Files`](hedgerow_engine::Stage::Files) counts the files written.
    pub execution: Execution,
}

/// What was changed.
#[derive(Debug, Default)]
pub struct Changed {
    /// What was done in the working tree.
    pub done: Done,
    /// Git's warnings before that.
    pub warnings: Vec<String>,
}

struct Change<'a> {
    repository: &'a Repository,
    options: &'a SparseOptions,
    is_cone: bool,
    /// Of before the change; `None` if there is none.
    index: Option<Index>,
    warnings: Vec<String>,
}

/// Turns the sparse checkout on: with the rules that there are, or with the files at the top alone.
pub fn init(repository: &Repository, options: &SparseOptions) -> Result<Changed> {
    let mut change = Change::begin(repository, options)?;
    if let Some(rules) = change.existing()? {
        change.refuse_intended(&rules)?;
        change.record_modes()?;
        return change.apply(&rules);
    }
    let rules = if change.is_cone {
        SparseRules::Cone(Cone::default())
    } else {
        SparseRules::Patterns(["/*", "!/*/"].map(BString::from).into())
    };
    change.refuse_intended(&rules)?;
    change.record_modes()?;
    if repository.head()?.id().is_none() {
        change.lock()?.write(&rules)?;
        return change.finish(Done::default());
    }
    change.write_and_apply(&rules)
}

/// Replaces the rules by those that `words` give.
pub fn set(repository: &Repository, words: &[BString], options: &SparseOptions) -> Result<Changed> {
    let mut change = Change::begin(repository, options)?;
    let words = if !change.is_cone && options.lines.is_none() && words.is_empty() {
        ["/*", "!/*/"].map(BString::from).to_vec()
    } else {
        change.wanted(words)?
    };
    let rules = SparseRules::of_words(&words, change.is_cone)?;
    change.refuse_intended(&rules)?;
    change.record_modes()?;
    change.write_and_apply(&rules)
}

/// Adds to the rules what `words` give.
pub fn add(repository: &Repository, words: &[BString], options: &SparseOptions) -> Result<Changed> {
    if !repository.settings().sparse_checkout {
        return refused("no sparse-checkout to add to");
    }
    let mut change = Change::begin(repository, options)?;
    let words = change.wanted(words)?;
    let rules = SparseRules::of_words(&words, change.is_cone)?;
    let Some(existing) = change.existing()? else {
        return refused("unable to load existing sparse-checkout patterns");
    };
    let rules = match (rules, existing) {
        (SparseRules::Cone(mut cone), SparseRules::Cone(existing)) => {
            cone.extend(existing);
            SparseRules::Cone(cone)
        }
        (SparseRules::Patterns(words), SparseRules::Patterns(mut lines)) => {
            lines.extend(words);
            SparseRules::Patterns(lines)
        }
        _ => return refused("existing sparse-checkout patterns do not use cone mode"),
    };
    change.write_and_apply(&rules)
}

/// Brings the working tree to the rules that there are.
pub fn reapply(repository: &Repository, options: &SparseOptions) -> Result<Changed> {
    if !repository.settings().sparse_checkout {
        return refused("must be in a sparse-checkout to reapply sparsity patterns");
    }
    let mut change = Change::begin(repository, options)?;
    let rules = change.existing()?;
    if let Some(rules) = &rules {
        change.refuse_intended(rules)?;
    }
    change.record_modes()?;
    match rules {
        Some(rules) => change.apply(&rules),
        None => change.finish(Done::default()),
    }
}

/// Turns the sparse checkout off: all files are there again. The rules stay for the next time.
pub fn disable(repository: &Repository, options: &SparseOptions) -> Result<Changed> {
    let mut change = Change::begin(repository, options)?;
    let everything = SparseRules::Patterns(vec!["/*".into()]);
    let changed = change.apply(&everything)?;
    if changed.done.unwritten == 0 {
        repository.set_sparse(false, false)?;
    }
    Ok(changed)
}

/// The rules of this working tree, and git's warnings about them; `None` if it has none.
pub fn current_rules(repository: &Repository) -> Result<Option<(SparseRules, Vec<String>)>> {
    let content = hedgerow_fs::read_file(&rules_path(repository), RULES_LIMIT_BYTES)?;
    let is_cone = repository.settings().sparse_checkout_cone;
    Ok(content.map(|content| SparseRules::parse(&content, is_cone)))
}

/// How directories outside the cone are cleaned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CleanOptions {
    /// Remove them; that must be said unless `clean.requireForce` is off.
    pub force: bool,
    /// Only show them.
    pub dry_run: bool,
}

/// Removes directories outside the cone with everything in them. `visit` is shown each before it goes.
/// Returns git's warnings.
pub fn clean(
    repository: &Repository,
    options: CleanOptions,
    visit: &mut dyn FnMut(&BString),
) -> Result<Vec<String>> {
    if !repository.settings().sparse_checkout {
        return refused("must be in a sparse-checkout to clean directories");
    }
    if !repository.settings().sparse_checkout_cone {
        return refused("must be in a cone-mode sparse-checkout to clean directories");
    }
    let requires = repository
        .config()
        .bool("clean.requireForce")?
        .unwrap_or(true);
    if requires && !options.force && !options.dry_run {
        return refused("for safety, refusing to clean without one of --force or --dry-run");
    }
    let failed = "failed to convert index to a sparse index; resolve merge conflicts and try again";
    let Some((SparseRules::Cone(cone), _)) = current_rules(repository)? else {
        return refused(failed);
    };
    let Some(found) = directories(repository, &cone)? else {
        return refused(failed);
    };
    let top = repository.require_work_tree()?;
    let mut warnings = Vec::new();
    for directory in found {
        visit(&directory);
        let bare = directory.trim_end_with(|character| character == '/');
        if !options.dry_run && remove_tree_below(top, bare.as_bstr()).is_err() {
            warnings.push(format!("failed to remove '{directory}'"));
        }
    }
    Ok(warnings)
}

impl<'a> Change<'a> {
    /// Decides on the kind of rules; changes nothing.
    fn begin(repository: &'a Repository, options: &'a SparseOptions) -> Result<Self> {
        repository.require_work_tree()?;
        let index = repository.load_index()?.map(|(index, _)| index);
        if let Some(index) = &index {
            check_paths(index, name_rules(repository))?;
        }
        let settings = repository.settings();
        let known = settings
            .sparse_checkout
            .then_some(settings.sparse_checkout_cone);
        Ok(Change {
            repository,
            options,
            is_cone: options.modes.cone.or(known).unwrap_or(true),
            index,
            warnings: Vec::new(),
        })
    }

    fn record_modes(&self) -> Result<()> {
        let Modes { cone, sparse_index } = self.options.modes;
        if cone.is_some() || !self.repository.settings().sparse_checkout {
            self.repository.set_sparse(true, self.is_cone)?;
        }
        if let Some(is_on) = sparse_index {
            self.repository.set_sparse_index(is_on)?;
        }
        Ok(())
    }

    /// The rules that there are.
    fn existing(&mut self) -> Result<Option<SparseRules>> {
        let path = rules_path(self.repository);
        let content = hedgerow_fs::read_file(&path, RULES_LIMIT_BYTES)?;
        let parsed = content.map(|content| SparseRules::parse(&content, self.is_cone));
        Ok(parsed.map(|(rules, warnings)| {
            self.warnings.extend(warnings);
            rules
        }))
    }

    /// The lines, if there are any, or else the words, which are checked in both cases.
    fn wanted(&mut self, words: &[BString]) -> Result<Vec<BString>> {
        let words = self.checked(words)?;
        match &self.options.lines {
            Some(lines) if self.is_cone => lines.iter().map(directory).collect(),
            Some(lines) => Ok(lines.clone()),
            None => Ok(words),
        }
    }

    /// The words as they are meant, checked against common mistakes.
    fn checked(&mut self, words: &[BString]) -> Result<Vec<BString>> {
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let prefix = self.repository.prefix();
        let top = self.repository.require_work_tree()?;
        let mut words = words.to_vec();
        if !prefix.is_empty() && self.is_cone {
            for word in &mut words {
                // It is no path from the top, but one of the file system.
                if word.starts_with(b"/") {
                    return Err(outside(word, top));
                }
                let whole = BString::from([prefix.as_bytes(), &word[..]].concat());
                *word = normalized(whole.as_ref()).ok_or_else(|| outside(word, top))?;
            }
        }
        if self.options.skip_checks {
            return Ok(words);
        }
        if !prefix.is_empty() && !self.is_cone {
            return refused("please run from the toplevel directory in non-cone mode");
        }
        if self.is_cone {
            words.iter().try_for_each(check_directory)?;
        }
        let Some((index, _)) = self.repository.load_index()? else {
            return Ok(words);
        };
        for word in &words {
            if index.find(word.as_ref(), Stage::Merged).is_err() {
                continue;
            }
            if self.is_cone {
                return Err(Error::Setup {
                    reason: format!(
                        "'{word}' is not a directory; to treat it as a directory anyway, rerun \
                         with --skip-checks"
                    ),
                });
            }
            self.warnings.push(format!(
                "pass a leading slash before paths such as '{word}' if you want a single file (see \
                 NON-CONE PROBLEMS in the git-sparse-checkout manual)."
            ));
        }
        Ok(words)
    }

    fn lock(&self) -> Result<RulesLock> {
        let path = rules_path(self.repository);
        let sharing = self.repository.settings().sharing;
        if let Some(directory) = path.parent() {
            sharing.create_directories(directory)?;
        }
        match LockFile::acquire_linked(&path) {
            Ok(lock) => {
                sharing.open_lock(&lock)?;
                Ok(RulesLock(lock))
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                let path = path.display();
                refused(&format!("Unable to create '{path}.lock': File exists."))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The rules are written after the working tree was brought to them.
    fn write_and_apply(mut self, rules: &SparseRules) -> Result<Changed> {
        let lock = self.lock()?;
        let changed = self.apply(rules)?;
        if changed.done.unwritten == 0 {
            lock.write(rules)?;
        } else if !self.repository.settings().sparse_checkout {
            self.repository.set_sparse(false, false)?;
        }
        Ok(changed)
    }

    fn apply(&mut self, rules: &SparseRules) -> Result<Changed> {
        let (execution, threshold) = (&self.options.execution, self.options.threshold);
        self.refuse_intended(rules)?;
        let form = self.form(rules);
        let run = || apply(self.repository, rules, &form, threshold, execution);
        let mut done = self.repository.with_promised(run)?;
        if let (SparseRules::Cone(cone), 0) = (rules, done.unwritten) {
            let warnings = remove_leftovers(self.repository, cone, execution)?;
            done.warnings.extend(warnings);
        }
        self.finish(done)
    }

    fn form(&self, rules: &SparseRules) -> IndexForm {
        let is_collapsed = self.options.modes.sparse_index;
        let is_collapsed = is_collapsed.unwrap_or(self.repository.settings().index_sparse);
        match rules {
            SparseRules::Cone(cone) if is_collapsed => IndexForm::Collapsed(cone.clone()),
            _ => IndexForm::Full,
        }
    }

    /// Refuses a sparse index with a file that is only to be added later, outside: git crashes when
    /// it reads that, also where the directory has an entry for each file.
    fn refuse_intended(&self, rules: &SparseRules) -> Result<()> {
        let (IndexForm::Collapsed(_), Some(index)) = (self.form(rules), &self.index) else {
            return Ok(());
        };
        let matcher = rules.matcher(self.repository.settings().ignore_case);
        let top = self.repository.work_tree();
        let mut intended = index.iter().filter(|(_, entry)| entry.flags.intent_to_add);
        match intended.find(|(path, _)| matcher.excludes_entry(path, top)) {
            None => Ok(()),
            Some((path, _)) => refused(&format!(
                "'{path}' is outside and marked intent-to-add: git cannot read a sparse index with it"
            )),
        }
    }

    fn finish(&mut self, done: Done) -> Result<Changed> {
        Ok(Changed {
            done,
            warnings: std::mem::take(&mut self.warnings),
        })
    }
}

struct RulesLock(LockFile);

impl RulesLock {
    fn write(mut self, rules: &SparseRules) -> Result<()> {
        self.0.write_all(&rules.to_content())?;
        self.0.sync()?;
        self.0.commit()?;
        Ok(())
    }
}

/// The directory in a line, which may be in quotes; patterns never are.
fn directory(line: &BString) -> Result<BString> {
    if !line.starts_with(b"\"") {
        return Ok(line.clone());
    }
    unquoted(line).ok_or_else(|| Error::Setup {
        reason: format!("unable to unquote C-style string '{line}'"),
    })
}

fn outside(word: &BString, top: &Path) -> Error {
    Error::Setup {
        reason: format!("'{word}' is outside repository at '{}'", top.display()),
    }
}

fn check_directory(word: &BString) -> Result<()> {
    let wanted = "specify directories rather than patterns";
    if word.starts_with(b"/") {
        return refused(&format!("{wanted} (no leading slash)"));
    }
    if word.starts_with(b"!") {
        return refused(&format!(
            "{wanted}.  If your directory starts with a '!', pass --skip-checks"
        ));
    }
    if word.find_byteset(b"*?[]").is_some() {
        return refused(&format!(
            "{wanted}.  If your directory really has any of '*?[]\\' in it, pass --skip-checks"
        ));
    }
    Ok(())
}

fn rules_path(repository: &Repository) -> PathBuf {
    repository.git_dir().join("info/sparse-checkout")
}

fn refused<T>(reason: &str) -> Result<T> {
    Err(Error::Setup {
        reason: reason.to_owned(),
    })
}
