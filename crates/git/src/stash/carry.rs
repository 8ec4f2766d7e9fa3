//! Switching with local changes that stand in the way: they are put aside, the switch is made, and
//! they are merged with what it brought. git-checkout(1) under `--merge`.
//!
//! From before anything is touched until the changes are back or in the stash, a reference names the
//! commit that has them.

use super::apply::{apply, new_index, ApplyLabels, ApplyOptions, ApplyOutcome};
use super::capture::index_tree;
use super::entry::StashEntry;
use super::list::store_entry;
use super::push::{record, PushOptions, PushOutcome};
use crate::checkout::{
    move_to, short, try_to_switch, Autostash, LocalChange, Outcome, Session, SparseWords,
    SwitchOptions, Switched, Target, Way, WAIT,
};
use crate::merge::{ConflictStyle, Labels, TreeMerge};
use crate::objects::ObjectWriter;
use crate::refs::{Expected, Head, RefChange, RefEdit, RefValue};
use crate::repository::Repository;
use crate::status::{tree_differences, DifferenceOptions};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use std::time::Instant;

/// The reference that names the changes while they are nowhere else.
const AUTOSTASH: &str = "CHECKOUT_AUTOSTASH_HEAD";

/// How a switch ended that may merge local changes.
#[derive(Debug)]
pub enum MergingSwitch {
    /// As a switch ends.
    Switched(Box<Switched>),
    /// The local changes cannot be put aside, for this reason; nothing was touched.
    Unstashable(PushOutcome),
}

/// Switches to `target` as [`switch`](crate::checkout::switch) does. Where that is refused because of
/// local changes, they are put aside for the switch and merged afterwards, with conflicts as `style`
/// says, or else the configuration. A refusal for another reason comes before anything is touched.
pub fn switch_merging(
    repository: &Repository,
    target: &Target,
    options: &SwitchOptions,
    style: Option<ConflictStyle>,
) -> Result<MergingSwitch> {
    repository.with_promised(|| {
        let first = try_to_switch(repository, target, options, SparseWords::None)?;
        if !matches!(first.outcome, Outcome::Rejected(_)) {
            return Ok(MergingSwitch::Switched(Box::new(first)));
        }
        let carrier = Carrier {
            repository,
            target,
            options,
            style,
            message: [
                b"autostash while switching to '",
                &target.commit_name[..],
                b"'",
            ]
            .concat()
            .into(),
        };
        carrier.switch(first)
    })
}

struct Carrier<'a> {
    repository: &'a Repository,
    target: &'a Target,
    options: &'a SwitchOptions,
    style: Option<ConflictStyle>,
    /// The message of the entry.
    message: BString,
}

impl Carrier<'_> {
    /// Switches with the changes put aside. `first` is how it ended without that.
    fn switch(&self, first: Switched) -> Result<MergingSwitch> {
        let (repository, options) = (self.repository, self.options);
        let mut session = self.begin()?;
        let wish = PushOptions {
            message: Some(self.message.clone()),
            threshold: options.threshold,
            execution: options.execution.clone(),
            ..PushOptions::default()
        };
        let recorded = match record(&session, &wish).map_err(without_entry)? {
            Ok(recorded) => recorded,
            Err(unrecorded) => return self.unrecorded(&session, unrecorded.outcome, first),
        };
        let (commit, warnings) = (recorded.commit, recorded.warnings);
        let refreshed = recorded.refreshed;
        let entry = StashEntry::of_commit(repository, &commit, commit.to_string().as_str().into())?;
        let has_index = repository.config().bool("stash.index")? == Some(true);
        let labels = self.labels(&first.old)?;
        self.try_to_merge(&session, &entry, &labels)?;
        if let Some(index) = refreshed {
            // As in git, a file whose stat data alone are stale is not written anew.
            session.write_index(&index, false)?;
            drop(session);
            session = self.begin()?;
        }
        let mut is_held = false;
        let begun = Instant::now();
        let hold = &mut || {
            if begun.elapsed() > WAIT || repository.has_hook("reference-transaction")? {
                self.refuse_saved(&wish, &entry)?;
            }
            self.hold(commit)?;
            is_held = true;
            Ok(())
        };
        let mut moved = match move_to(session, self.target, options, Way::Overwrite, hold) {
            Err(error) if is_held => return Err(self.save(commit, error)),
            moved => moved?,
        };
        if !matches!(moved.switched.outcome, Outcome::Done(_)) {
            if is_held {
                let mut kept = Autostash {
                    is_applied: true,
                    ..Autostash::default()
                };
                self.let_go(commit, &mut kept)?;
            }
            // Git puts the changes aside, finds that out, and brings them back; not what was staged.
            moved.switched.autostash = Some(Autostash {
                is_applied: true,
                warnings,
                ..Autostash::default()
            });
            return Ok(MergingSwitch::Switched(Box::new(moved.switched)));
        }
        let mut autostash = self.bring_back(&entry, labels, has_index);
        autostash.warnings.splice(..0, warnings);
        if let Err(error) = self.let_go(commit, &mut autostash) {
            autostash.failures.push(error);
        }
        moved.switched.autostash = Some(autostash);
        let mut switched = moved.conclude(repository, self.target, options)?;
        if let (Some(autostash), true) = (&mut switched.autostash, options.list_changes) {
            autostash.local_changes = self.local_changes()?;
        }
        Ok(MergingSwitch::Switched(Box::new(switched)))
    }

    /// Refuses to go on if files were saved since `entry` was made of them.
    fn refuse_saved(&self, wish: &PushOptions, entry: &StashEntry) -> Result<()> {
        let options = self.options;
        let session = Session::read_only(self.repository, options.threshold, &options.execution)?;
        let is_same = match record(&session, wish)? {
            Ok(again) => self.repository.commit(&again.commit)?.tree == entry.tree,
            Err(_) => false,
        };
        if is_same {
            return Ok(());
        }
        Err(Error::Setup {
            reason: "files were saved while a lock or a hook was waited for; nothing was changed"
                .into(),
        })
    }

    fn begin(&self) -> Result<Session<'_>> {
        let options = self.options;
        let mut session = Session::begin(self.repository, options.threshold, &options.execution)?;
        session.recurse(options.recurse_submodules);
        // Their changes are not put aside.
        session.keeps_assumed = true;
        // What is put aside are changes of files, not those in submodules.
        if let Some(recursion) = &mut session.recursion {
            recursion.keeps_changes = true;
        }
        Ok(session)
    }

    /// How it ends if nothing can be put aside. `first` is how it ended without that.
    fn unrecorded(
        &self,
        session: &Session<'_>,
        outcome: PushOutcome,
        first: Switched,
    ) -> Result<MergingSwitch> {
        // Without a commit, only what is staged is a change.
        let has_none = match outcome {
            PushOutcome::NoChanges(_) => true,
            PushOutcome::NoCommit => session.read_index()?.index.entries().is_empty(),
            _ => false,
        };
        Ok(if has_none {
            MergingSwitch::Switched(Box::new(first))
        } else {
            MergingSwitch::Unstashable(outcome)
        })
    }

    /// The names of the sides in conflicts: the branches, and `local`.
    fn labels(&self, old: &Head) -> Result<ApplyLabels> {
        let base = match (old.branch(), old.id()) {
            (Some(branch), _) => Some(short(branch)),
            (None, Some(id)) => Some(self.repository.short_id(&id)?.into()),
            (None, None) => None,
        };
        Ok(ApplyLabels {
            ours: Some(self.target.commit_name.clone()),
            theirs: Some("local".into()),
            base,
        })
    }

    /// Merges without touching anything, since what cannot be merged here has to be refused before the
    /// switch.
    fn try_to_merge(
        &self,
        session: &Session<'_>,
        entry: &StashEntry,
        labels: &ApplyLabels,
    ) -> Result<()> {
        let (repository, writer) = (self.repository, ObjectWriter::new(self.repository)?);
        let tree = self.tree()?;
        let index = new_index(session, tree)?;
        let label = |given: &Option<BString>| given.clone().unwrap_or_default();
        let merge = TreeMerge {
            worktree: session,
            writer: &writer,
            ours: &index,
            our_tree: index_tree(session, &writer, &index)?,
            base: entry.base_tree,
            theirs: entry.tree,
            labels: Labels {
                base: label(&labels.base),
                ours: label(&labels.ours),
                theirs: label(&labels.theirs),
            },
            style: crate::merge::style(repository, self.style)?,
            // They may look at the working tree, which is not yet what it will be.
            runs_programs: false,
        };
        merge.run().map(drop)
    }

    /// The tree that is switched to.
    fn tree(&self) -> Result<Option<ObjectId>> {
        let commit = self.target.commit.map(|id| self.repository.commit(&id));
        Ok(commit.transpose()?.map(|commit| commit.tree))
    }

    /// Lets the reference name the changes, which are about to leave the working tree.
    fn hold(&self, commit: ObjectId) -> Result<()> {
        let edit = RefEdit {
            name: AUTOSTASH.into(),
            change: RefChange::Set(RefValue::Direct(commit)),
            expected: Expected::Absent,
            log: None,
            message: None,
        };
        let committer = self.repository.committer()?;
        let cancel = &self.options.execution.cancel;
        self.repository
            .prepare_reference(edit, &|| cancel.is_cancelled())
            .map_err(left_over)?
            .commit("".into(), &committer)
    }

    /// Merges the changes with what is there now, and with `has_index` puts back what was staged; what
    /// does not come back as a whole goes to the stash.
    fn bring_back(&self, entry: &StashEntry, labels: ApplyLabels, has_index: bool) -> Autostash {
        let options = ApplyOptions {
            index: has_index,
            is_switching: true,
            labels,
            style: self.style,
            threshold: self.options.threshold,
            execution: self.options.execution.clone(),
        };
        let (mut failures, mut warnings) = (Vec::new(), Vec::new());
        let mut is_applied = false;
        match apply(self.repository, entry, &options) {
            Err(error) => failures.push(error),
            Ok(applied) => {
                is_applied = matches!(applied.outcome, ApplyOutcome::Clean)
                    && applied.done.failures.is_empty();
                warnings = applied.done.warnings;
                let reasons = applied.done.failures.into_iter().map(|it| it.reason);
                failures.extend(reasons.map(|reason| Error::Setup { reason }));
            }
        }
        Autostash {
            is_applied,
            warnings,
            failures,
            ..Autostash::default()
        }
    }

    /// Deletes the reference once the changes are in the working tree or in the stash.
    fn let_go(&self, commit: ObjectId, autostash: &mut Autostash) -> Result<()> {
        if !autostash.is_applied {
            autostash.unstored = Some(commit);
            store_entry(self.repository, &commit, self.message.as_bstr())?;
            autostash.unstored = None;
        }
        let name: &BStr = AUTOSTASH.into();
        self.repository
            .delete_reference(name, Expected::Id(commit))
            .map(drop)
    }

    /// Puts the changes into the stash, since the switch ended halfway with `error`.
    fn save(&self, commit: ObjectId, error: Error) -> Error {
        let reason = match self.let_go(commit, &mut Autostash::default()) {
            Ok(()) => "the local changes are in the stash: 'git stash pop' brings them back".into(),
            Err(error) => format!("the local changes are in the commit {commit}: {error}"),
        };
        Error::AfterFailures {
            failures: vec![reason],
            error: Box::new(error),
        }
    }

    fn local_changes(&self) -> Result<Vec<LocalChange>> {
        let Some(tree) = self.tree()? else {
            return Ok(Vec::new());
        };
        let options = DifferenceOptions {
            execution: self.options.execution.clone(),
            ..DifferenceOptions::default()
        };
        let found = tree_differences(self.repository, tree, &options)?;
        let change = |difference: crate::status::Difference| LocalChange {
            status: difference.kind().map_or('U', |kind| kind.letter()),
            path: difference.path,
        };
        Ok(found.list.into_iter().map(change).collect())
    }
}

/// Git leaves the entry to another process, and says what it makes of its end.
fn without_entry(error: Error) -> Error {
    match error {
        Error::Identity { unknown, reason } => Error::Identity {
            unknown,
            reason: format!("{reason}\nfatal: Cannot autostash"),
        },
        error => error,
    }
}

/// The reference is there: a switch was interrupted, and its changes may be nowhere else.
fn left_over(error: Error) -> Error {
    match error {
        Error::Reference { name, .. } if name == AUTOSTASH => Error::Setup {
            reason: format!(
                "update_ref failed for ref '{AUTOSTASH}': cannot lock ref '{AUTOSTASH}': reference \
                 already exists\nA switch that was interrupted has left local changes there: 'git \
                 stash store {AUTOSTASH}'\nputs them into the stash, 'git update-ref -d {AUTOSTASH}' \
                 then makes room"
            ),
        },
        error => error,
    }
}
