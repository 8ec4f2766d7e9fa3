//! What the references of a repository say: gitrevisions(7) under `<refname>`, git-for-each-ref(1)
//! under `refname:short`, and the options `--glob`, `--branches=`, `--exclude=` of git-rev-list(1).

use super::Repository;
use crate::refs::{
    follow, follow_from, name_fits, problem, Head, LogEntry, NamedReference, RefStore, RefValue,
    Reference, ReferenceProblem, NAME_RULES,
};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use std::ops::ControlFlow;

impl Repository {
    /// What `HEAD` says. A `HEAD` that names no reference or an endless chain is an error.
    pub fn head(&self) -> Result<Head> {
        let found = self.reference("HEAD".into())?;
        match found {
            Some(Reference {
                target: Some(name),
                id,
                ..
            }) => {
                if id.is_none() {
                    self.refs.check_absent(name.as_bstr())?;
                }
                Ok(Head::Branch { name, id })
            }
            Some(Reference { id: Some(id), .. }) => Ok(Head::Detached { id }),
            _ => Err(problem("HEAD".into(), ReferenceProblem::Absent)),
        }
    }

    /// The reference with the full name `name`; `None` if there is none or `name` cannot be one.
    pub fn reference(&self, name: &BStr) -> Result<Option<Reference>> {
        follow(&*self.refs, name)
    }

    /// The reference that the short name `name` stands for by git's rules: as it is, then below
    /// `refs/`, `refs/tags/`, `refs/heads/`, `refs/remotes/` and as a remote's `HEAD`. What is
    /// broken or dangling is passed over.
    pub fn find_reference(&self, name: &BStr) -> Result<Option<NamedReference>> {
        let mut found: Option<NamedReference> = None;
        for (before, after) in NAME_RULES {
            let full = BString::from([before.as_bytes(), name, after.as_bytes()].concat());
            let reference = match self.reference(full.as_ref()) {
                Ok(Some(reference)) if reference.id.is_some() => reference,
                Ok(_) | Err(Error::Reference { .. }) => continue,
                Err(error) => return Err(error),
            };
            match &mut found {
                None => {
                    found = Some(NamedReference {
                        reference,
                        is_ambiguous: false,
                    });
                }
                Some(first) => first.is_ambiguous = true,
            }
        }
        Ok(found)
    }

    /// All references whose full name starts with `prefix` (which ends in `/`), by name; broken
    /// ones are left out.
    pub fn references_below(&self, prefix: &BStr) -> Result<Vec<Reference>> {
        self.listed(prefix, |_, _| None)
    }

    /// All references whose full name starts with `prefix` (which ends in `/`), by name, for those
    /// who follow them: one whose file holds no object id has the null id, which names nothing. A
    /// symbolic one that leads nowhere is left out, as by git.
    pub fn references_to_follow(&self, prefix: &BStr) -> Result<Vec<Reference>> {
        self.listed(prefix, |name, reason| {
            let null = || Reference {
                name: name.to_owned(),
                target: None,
                id: Some(self.hash.null()),
            };
            (*reason == ReferenceProblem::NoObjectId).then(null)
        })
    }

    /// The references whose names start with `prefix`, symbolic ones followed, and what `broken`
    /// puts in the place of a broken one.
    fn listed(
        &self,
        prefix: &BStr,
        broken: impl Fn(&BStr, &ReferenceProblem) -> Option<Reference>,
    ) -> Result<Vec<Reference>> {
        let mut references = Vec::new();
        self.refs.list(prefix, &mut |name, value| {
            match self.ended(name, value) {
                Ok(found) => references.push(found),
                Err(Error::Reference { reason, .. }) => references.extend(broken(name, &reason)),
                Err(error) => return Err(error),
            }
            Ok(())
        })?;
        Ok(references)
    }

    /// The reference `name`, under which `value` is stored.
    fn ended(&self, name: &BStr, value: Result<RefValue>) -> Result<Reference> {
        follow_from(&*self.refs, name.to_owned(), value?)
    }

    /// All references, by name: for those who delete what none reaches.
    ///
    /// # Errors
    /// [`Error::Reference`] if one is broken: what it reaches is not known. A symbolic one whose
    /// target does not exist is not.
    pub fn all_references(&self) -> Result<Vec<Reference>> {
        let mut references = Vec::new();
        self.refs.list("refs/".into(), &mut |name, value| {
            references.push(self.ended(name, value)?);
            Ok(())
        })?;
        Ok(references)
    }

    /// The references to follow whose full names fit `pattern`, by name. A pattern is below `refs/` if it
    /// does not say so; one without a wildcard stands for all that is below it.
    pub fn references_like(&self, pattern: &BStr) -> Result<Vec<Reference>> {
        let mut full = BString::default();
        if !pattern.starts_with(b"refs/") {
            full.extend_from_slice(b"refs/");
        }
        full.extend_from_slice(pattern);
        if !pattern.iter().any(|byte| b"*?[".contains(byte)) {
            if !full.ends_with(b"/") {
                full.push(b'/');
            }
            full.push(b'*');
        }
        let mut found = self.references_to_follow("refs/".into())?;
        found.retain(|reference| name_fits(full.as_ref(), reference.name.as_ref()));
        Ok(found)
    }

    /// The shortest name that means the reference `name` by git's rules and none that would be
    /// tried earlier; `name` itself if there is none.
    pub fn shorten_reference(&self, name: &BStr) -> BString {
        for (at, (before, after)) in NAME_RULES.iter().enumerate().skip(1).rev() {
            let short = name
                .strip_prefix(before.as_bytes())
                .and_then(|short| short.strip_suffix(after.as_bytes()));
            let Some(short) = short.filter(|short| !short.is_empty()) else {
                continue;
            };
            let earlier = NAME_RULES.iter().take(at);
            let mut meant = earlier.map(|(before, after)| {
                BString::from([before.as_bytes(), short, after.as_bytes()].concat())
            });
            if !meant.any(|full| self.exists(full.as_ref())) {
                return short.into();
            }
        }
        name.to_owned()
    }

    fn exists(&self, name: &BStr) -> bool {
        matches!(self.reference(name), Ok(Some(found)) if found.id.is_some())
    }

    /// The log of the reference with the full name `name`, newest entry first; empty if it has
    /// none. Lines that cannot be read are left out.
    pub fn reflog(&self, name: &BStr) -> Result<Vec<LogEntry>> {
        let mut entries = Vec::new();
        self.refs.read_log(name, &mut |entry| entries.push(entry))?;
        Ok(entries)
    }

    pub(crate) fn has_log(&self, name: &BStr) -> bool {
        self.refs.has_log(name)
    }

    /// The name of the branch (or the id of the commit) that was left `n` switches ago, as the
    /// log of `HEAD` has it: what `-` and `@{-1}` mean for `n` = 1.
    pub fn previous_branch(&self, n: usize) -> Result<Option<BString>> {
        let Some(mut skipped) = n.checked_sub(1) else {
            return Ok(None);
        };
        self.find_in_log("HEAD".into(), &mut |entry| {
            let left = moved_from(entry.message.as_ref())?.to_owned();
            let is_meant = skipped == 0;
            skipped = skipped.saturating_sub(1);
            is_meant.then_some(left)
        })
    }

    /// What `find` makes of the newest entry of the log of `name` of which it makes something.
    pub(crate) fn find_in_log<T>(
        &self,
        name: &BStr,
        find: &mut dyn FnMut(LogEntry) -> Option<T>,
    ) -> Result<Option<T>> {
        let mut found = None;
        self.refs.read_log_until(name, &mut |entry| {
            found = find(entry);
            match found {
                Some(_) => ControlFlow::Break(()),
                None => ControlFlow::Continue(()),
            }
        })?;
        Ok(found)
    }
}

/// What `HEAD` says in the working tree that sees `refs`; `None` if it says nothing that makes sense.
pub(crate) fn head_value(refs: &dyn RefStore) -> Result<Option<RefValue>> {
    use ReferenceProblem::{BadTarget, NoObjectId};
    match refs.read("HEAD".into()) {
        Err(Error::Reference {
            reason: BadTarget(_) | NoObjectId,
            ..
        }) => Ok(None),
        value => value,
    }
}

fn moved_from(message: &BStr) -> Option<&BStr> {
    let moved = message.strip_prefix(b"checkout: moving from ")?;
    let (from, _to) = moved.split_once_str(" to ")?;
    Some(from.as_bstr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_of_a_switch_tells_what_was_left() {
        let left = moved_from("checkout: moving from a to b".into());
        assert_eq!(left, Some("a".into()));
        assert_eq!(moved_from("commit: from a to b".into()), None);
    }
}
