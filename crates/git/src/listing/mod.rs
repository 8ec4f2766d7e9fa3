//! Lists files of the index and of the working tree: git-ls-files(1).

mod entries;
mod excluded;
mod format;
mod killed;
mod line_ends;
mod lines;
mod model;

pub use format::shows_line_ends;
pub use line_ends::{LineEndReader, LineEnds};
pub use lines::Lines;
pub use model::{Line, Listed, Options, Reason, Undone};

use crate::index::Index;
use crate::monitor;
use crate::others::{others, retain_others, IgnoredPaths, Wish};
use crate::repository::Repository;
use crate::status::exclusion::Rules;
use crate::status::remarks::Warning;
use crate::worktree::pathspecs::Pathspecs;
use crate::worktree::sparse_index::expand;
use crate::worktree::{name_rules, OldIndex, Worktree};
use crate::{Error, Result};
use bstr::{BString, ByteSlice};
use excluded::rules;
use model::Row;

/// Lists the files of `repository` that `options` ask for.
///
/// # Errors
/// The options contradict each other, or need a working tree and there is none, in git's words; the
/// index cannot be read; it was cancelled.
pub fn list(repository: &Repository, options: &Options) -> Result<Listed> {
    let needs_work_tree = options.needs_work_tree();
    if needs_work_tree {
        repository.require_work_tree()?;
    }
    let worktree = match repository.work_tree() {
        Some(_) => Some(Worktree::open(repository, &options.execution, "ls-files")?),
        None => None,
    };
    let mut old = read_index(repository, worktree.as_ref(), options)?;
    if let Some(worktree) = &worktree {
        worktree.include_present(&mut old)?;
    }
    if options.asks_monitor {
        monitor::consult_or_doubt(repository, &mut old.index);
    }
    let mut pathspecs = match &worktree {
        None if options.pathspecs.is_empty() => None,
        _ => Pathspecs::here(repository, &options.pathspecs)?,
    };
    options.check()?;
    let mut listed = Listed::default();
    let mut selection = Selection {
        records: options.error_unmatch,
        pathspecs: pathspecs.as_mut(),
    };
    let rules = match worktree.as_ref().filter(|_| options.reads_patterns()) {
        Some(worktree) => Some(rules(worktree, options)?),
        None => None,
    };
    let searches = options.others || options.killed;
    if let (true, Some(worktree), Some(rules)) = (searches, &worktree, &rules) {
        let index = &old.index;
        search(worktree, index, rules, options, &mut selection, &mut listed)?;
    }
    entries::list(
        worktree.as_ref(),
        &old,
        rules.as_ref().filter(|_| options.ignored),
        options,
        &mut selection,
        &mut listed,
    )?;
    if options.resolve_undo {
        for (path, sides) in old.index.resolve_undo() {
            if selection.fits_file(path.as_bstr()) {
                let sides = (1..).zip(sides);
                let sides = sides.filter_map(|(stage, side)| Some((stage, side?)));
                listed
                    .undone
                    .extend(sides.map(|(stage, (mode, id))| Undone {
                        path: path.clone(),
                        mode,
                        id,
                        stage,
                    }));
            }
        }
    }
    if let (true, Some(pathspecs)) = (selection.records, &pathspecs) {
        listed.unmatched = pathspecs.unmatched();
    }
    listed.index = Some(old.index);
    Ok(listed)
}

/// The index; directories of a sparse one are replaced by their files unless they are to be listed.
fn read_index(
    repository: &Repository,
    worktree: Option<&Worktree<'_>>,
    options: &Options,
) -> Result<OldIndex> {
    let is_plain = options.sparse && !options.needs_work_tree();
    if let Some(worktree) = worktree.filter(|_| !is_plain) {
        return worktree.read_index();
    }
    let hash = repository.hash_kind();
    let loaded = repository.load_index()?;
    let (is_new, stat) = (loaded.is_none(), loaded.as_ref().map(|(_, stat)| *stat));
    let mut index = loaded.map_or_else(|| Index::empty(hash), |(index, _)| index);
    if !is_plain {
        index = expand(repository, index, name_rules(repository))?.0;
    }
    Ok(OldIndex {
        is_adjusted: false,
        is_new,
        mtime: stat.map(|stat| stat.mtime).unwrap_or_default(),
        stat,
        index,
        sparse_directories: None,
    })
}

/// The paths that are listed.
struct Selection<'p> {
    /// All paths if `None`.
    pathspecs: Option<&'p mut Pathspecs>,
    /// Whether it counts which pathspecs have matched something.
    records: bool,
}

impl Selection<'_> {
    fn fits(&mut self, path: &bstr::BStr, mode: crate::index::Mode) -> bool {
        match &mut self.pathspecs {
            None => true,
            Some(specs) if self.records => specs.matches(path, mode),
            Some(specs) => specs.fits(path, mode),
        }
    }

    fn fits_file(&mut self, path: &bstr::BStr) -> bool {
        self.fits(path, crate::index::Mode::File)
    }
}

/// Lists untracked paths, and those in the way of tracked ones.
fn search(
    worktree: &Worktree<'_>,
    index: &Index,
    rules: &Rules<'_>,
    options: &Options,
    selection: &mut Selection<'_>,
    listed: &mut Listed,
) -> Result<()> {
    let wish = Wish {
        folds: options.directory,
        hides_empty: options.no_empty_directory,
        ignored: if options.ignored {
            IgnoredPaths::Alone
        } else {
            IgnoredPaths::Hidden
        },
        only_killed: !options.others,
        prunes_index: true,
        ..Wish::default()
    };
    let pathspecs = selection.pathspecs.as_deref();
    let found = others(worktree, index, rules, pathspecs, wish)?;
    let leading = selection
        .pathspecs
        .as_deref()
        .map(|specs| specs.leading().len());
    let least = leading.unwrap_or_default().saturating_sub(1);
    if found.paths.iter().any(|path| path.len() < least) {
        // An ignored directory above the one that is asked about.
        let reason = "git ls-files: internal error - directory entry not superset of prefix";
        return Err(Error::Setup {
            reason: reason.into(),
        });
    }
    let mut note = |path: &BString| {
        if selection.records {
            // A directory may be named with a slash at its end.
            let name = path.strip_suffix(b"/");
            let mode = name.map_or(crate::index::Mode::File, |_| crate::index::Mode::Gitlink);
            selection.fits(name.unwrap_or(path).as_bstr(), mode);
        }
    };
    let killed: Vec<BString> = if options.killed {
        let paths = found.paths.iter();
        let is_killed = |path: &&BString| killed::is_killed(index, path.as_bstr());
        paths.filter(is_killed).cloned().collect()
    } else {
        Vec::new()
    };
    if options.others {
        let mut paths = found.paths;
        retain_others(index, &mut paths);
        paths.iter().for_each(&mut note);
        listed.rows.extend(paths.into_iter().map(Row::Other));
    }
    killed.iter().for_each(&mut note);
    listed.rows.extend(killed.into_iter().map(Row::Killed));
    let (failures, warnings) = Warning::parted(found.warnings);
    listed.failures.extend(failures);
    listed.warnings.extend(warnings);
    Ok(())
}

impl Options {
    fn needs_work_tree(&self) -> bool {
        self.modified || self.others || self.deleted || self.ignored || self.killed
    }

    /// Whether the entries of the index are listed as they are.
    fn lists_entries(&self) -> bool {
        let lists_others = self.deleted || self.others || self.killed || self.modified;
        let is_default = !lists_others && !self.resolve_undo;
        self.cached || self.stage || self.unmerged || is_default
    }

    /// Whether it needs the patterns. A file that lists some is read whatever is listed.
    fn reads_patterns(&self) -> bool {
        self.others || self.killed || self.ignored || !self.exclude_from.is_empty()
    }

    fn check(&self) -> Result<()> {
        let refused = |reason: &str| {
            Err(Error::Setup {
                reason: reason.into(),
            })
        };
        let has_patterns = !self.excludes.is_empty()
            || !self.exclude_from.is_empty()
            || self.exclude_standard
            || self.exclude_per_directory.is_some();
        if self.ignored && !self.others && !self.cached {
            return refused("ls-files -i must be used with either -o or -c");
        }
        if self.ignored && !has_patterns {
            return refused("ls-files --ignored needs some exclude pattern");
        }
        Ok(())
    }
}
