//! Objects that a partial clone does not have, because a remote has promised them: git-clone(1)
//! under `--filter`, and gitrepository-layout(5) under `.promisor`.

use super::Repository;
use crate::tree::Difference;
use crate::worktree::name_rules;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Options;
use hedgerow_fs::{Exit, Process};
use hedgerow_tree::EntryKind;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::sync::PoisonError;

/// What is asked for is known: the setting with which git fetches it, too.
const NEGOTIATE_NOTHING: &str = "fetch.negotiationAlgorithm=noop";

impl Repository {
    /// The remotes that have promised objects, in the order in which git asks them.
    pub fn promisor_remotes(&self) -> Vec<BString> {
        let is_promisor = |name: &BString| {
            let setting = |key| self.config().string_in("remote", name.as_bstr(), key);
            let promised = setting("promisor").map(|text| crate::config::boolean(text.as_bstr()));
            promised == Some(Some(true)) || setting("partialCloneFilter").is_some()
        };
        let first = self.partial_clone_remote();
        let mut remotes = self.remotes();
        remotes.retain(|name| is_promisor(name) && Some(name.as_bstr()) != first);
        // The one that the extension names is asked last, as in git.
        remotes.extend(first.map(ToOwned::to_owned));
        remotes
    }

    /// Whether objects that are missing are asked for.
    pub fn fetches_promised(&self) -> bool {
        !self.environment().no_lazy_fetch && !self.promisor_remotes().is_empty()
    }

    /// Whether there are objects that no remote has promised: loose ones, or packs without a `.promisor`.
    pub(crate) fn has_own_objects(&self) -> Result<bool> {
        let objects = self.objects().directory();
        let names = |path: &Path| {
            let entries = hedgerow_fs::list_directory(path)?.unwrap_or_default();
            Ok::<_, Error>(entries.into_iter().map(|entry| entry.name))
        };
        let packs: Vec<_> = names(&objects.join("pack"))?.collect();
        let is_promised = |stem: &[u8]| {
            let promise = [stem, b".promisor"].concat();
            packs.iter().any(|name| *name == *promise)
        };
        let mut stems = packs.iter().filter_map(|name| name.strip_suffix(b".pack"));
        if stems.any(|stem| !is_promised(stem)) {
            return Ok(true);
        }
        let is_fan = |name: &[u8]| name.len() == 2 && name.iter().all(u8::is_ascii_hexdigit);
        let found = names(objects)?.any(|name| is_fan(&name));
        Ok(found)
    }

    /// Runs `run`, and again as often as it ends with an error for objects that are missing here and
    /// can be fetched: nothing must have been changed then. All that such an error names is fetched
    /// in one request.
    ///
    /// # Errors
    /// Those of `run`; the one about missing objects if no remote gives them.
    pub(crate) fn with_promised<T>(&self, mut run: impl FnMut() -> Result<T>) -> Result<T> {
        let mut asked = BTreeSet::new();
        loop {
            let error = match run() {
                Err(error) => error,
                done => return done,
            };
            let missing = error.missing_objects();
            let is_new = missing.iter().any(|id| !asked.contains(id));
            if !is_new || self.environment().no_lazy_fetch || !self.fetch_promised(&missing)? {
                return Err(error);
            }
            asked.extend(missing);
        }
    }

    /// The same, where one object after the other is read.
    ///
    /// # Errors
    /// Those of `run`; [`Error::NotFetched`] for an object that a remote has promised and does not give.
    pub(crate) fn with_objects_read<T>(&self, run: impl FnMut() -> Result<T>) -> Result<T> {
        match self.with_promised(run) {
            Err(Error::Pack(hedgerow_pack::Error::Missing { id })) if self.fetches_promised() => {
                self.refuse_promised(&[id])?;
                Err(hedgerow_pack::Error::Missing { id }.into())
            }
            done => done,
        }
    }

    /// In a partial clone, fetches what `check` ends with an error for.
    ///
    /// # Errors
    /// Those of `check`; [`Error::MissingBlob`] for contents that no remote gives.
    pub(crate) fn supply(&self, check: &dyn Fn() -> Result<()>) -> Result<()> {
        if self.promisor_remotes().is_empty() {
            return Ok(());
        }
        match self.with_promised(check) {
            Err(Error::MissingContent { ids, .. }) => Err(Error::MissingBlob { id: ids[0] }),
            done => done,
        }
    }

    /// In a partial clone, fetches in one request those of `ids` that are not here.
    ///
    /// # Errors
    /// [`Error::NotFetched`] if one of them is still missing that a remote has promised.
    pub fn fetch_missing(&self, ids: &[ObjectId]) -> Result<()> {
        if !self.fetches_promised() {
            return Ok(());
        }
        let wanted = self.missing_of(ids)?;
        if wanted.is_empty() || self.fetch_promised(&wanted)? {
            return Ok(());
        }
        // Only now: whoever asks whether there is such an object need not wait for all packs to be read.
        self.refuse_promised(&self.missing_of(ids)?)
    }

    /// Refuses to go on without one of `ids` that a remote has promised.
    fn refuse_promised(&self, ids: &[ObjectId]) -> Result<()> {
        match hedgerow_reach::first_promised(self.objects(), ids)? {
            Some(id) => Err(Error::NotFetched { id }),
            None => Ok(()),
        }
    }

    /// In a partial clone, fetches the object that somebody names by its whole id, if it is not here. Asked for once:
    /// if no remote gives it, whoever reads it tells.
    pub(crate) fn fetch_named(&self, id: &ObjectId) -> Result<()> {
        let is_lacking = || {
            let found = self.replacement(id).ok();
            found.is_some_and(|found| matches!(self.has_object(&found), Ok(false)))
        };
        if id.is_null()
            || self.environment().no_lazy_fetch
            || !is_lacking()
            || self.promisor_remotes().is_empty()
        {
            return Ok(());
        }
        let mut ungiven = self.ungiven.lock().unwrap_or_else(PoisonError::into_inner);
        if ungiven.insert(*id) {
            self.fetch_promised(&[*id])?;
        }
        Ok(())
    }

    /// In a partial clone, finds all blobs of `tree` that are missing and whose path and kind `is_wanted`, so
    /// that they are fetched at once.
    ///
    /// # Errors
    /// [`Error::MissingContent`] if there are any.
    pub(crate) fn require_contents(
        &self,
        tree: ObjectId,
        is_wanted: &dyn Fn(&BStr, EntryKind) -> bool,
        engine: &Options,
    ) -> Result<()> {
        if self.promisor_remotes().is_empty() {
            return Ok(());
        }
        let all = Difference::between(self, None, Some(tree), name_rules(self), engine)?;
        let objects = self.shared_objects();
        let (mut first, mut ids) = (None, Vec::new());
        for change in all.changes() {
            let path = all.path(change);
            let side = change.new.filter(|side| side.kind != EntryKind::Gitlink);
            let Some(side) = side.filter(|side| is_wanted(path, side.kind)) else {
                continue;
            };
            if objects
                .store
                .locate(&objects.replacement(&side.id)?)?
                .is_none()
            {
                first.get_or_insert_with(|| path.to_owned());
                ids.push(side.id);
            }
        }
        match first {
            Some(path) => Err(Error::MissingContent { path, ids }),
            None => Ok(()),
        }
    }

    fn missing_of(&self, ids: &[ObjectId]) -> Result<Vec<ObjectId>> {
        let found = self.objects().locate_all(ids)?;
        let without = ids.iter().zip(found).filter(|(_, found)| found.is_none());
        Ok(without.map(|(id, _)| *id).collect())
    }

    /// Asks the remotes for `ids`, one after the other; says whether they are here then.
    fn fetch_promised(&self, ids: &[ObjectId]) -> Result<bool> {
        let mut wanted = ids.to_vec();
        for remote in self.promisor_remotes() {
            loop {
                if self.fetch_from(remote.as_bstr(), &wanted)? {
                    return Ok(true);
                }
                // Git's server leaves contents out that are in directories which are asked for at the same time.
                let rest = self.missing_of(&wanted)?;
                if rest.is_empty() {
                    return Ok(true);
                }
                if rest.len() == wanted.len() {
                    break;
                }
                wanted = rest;
            }
        }
        Ok(false)
    }

    /// Asks one remote with `git fetch`, or this program's, which is git's with another `index-pack`; says whether
    /// it gave all.
    fn fetch_from(&self, remote: &BStr, ids: &[ObjectId]) -> Result<bool> {
        let words = [
            "fetch",
            "--no-tags",
            "--no-write-fetch-head",
            "--recurse-submodules=no",
            "--filter=blob:none",
            "--stdin",
        ];
        let mut arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
        if let Some(server) = self.local_server(remote)? {
            arguments.push("--upload-pack".into());
            arguments.push(OsString::from_vec(server.into()));
        }
        arguments.push("--end-of-options".into());
        arguments.push(OsString::from_vec(remote.to_vec()));
        let own = self.environment().own_program.as_deref();
        let own = own.filter(|program| hedgerow_fs::is_executable(program));
        let mut variables = self.child_variables();
        variables.extend(self.environment().with_setting(NEGOTIATE_NOTHING));
        let git = Process {
            program: own.unwrap_or(Path::new("git")).to_owned(),
            arguments,
            directory: Some(self.hook_base().to_owned()),
            variables,
            output_to_error: true,
            ..Process::default()
        };
        let input: String = ids.iter().map(|id| format!("{id}\n")).collect();
        match git.run_with_input(input.as_bytes())? {
            Exit::Status(0) => Ok(true),
            // It was not the remote that failed.
            _ if hedgerow_fs::caught_signal().is_some() => Err(Error::Interrupted),
            _ => Ok(false),
        }
    }
}

impl Error {
    /// Whether the error is that objects are not here.
    pub(crate) fn is_of_missing(&self) -> bool {
        !self.missing_objects().is_empty()
    }

    /// The objects that are not here and whose lack is the error.
    fn missing_objects(&self) -> Vec<ObjectId> {
        match self {
            Error::MissingContent { ids, .. } => ids.clone(),
            Error::MissingBlob { id } | Error::Pack(hedgerow_pack::Error::Missing { id }) => {
                vec![*id]
            }
            _ => Vec::new(),
        }
    }
}
