//! Names without suffixes: ids, references, `@`, `@{...}`.

use super::{failed, Resolver};
use crate::dates::date_seconds;
use crate::refs::NAME_RULES;
use crate::refs::{Head, LogEntry};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_pack::ObjectId;
use std::ops::ControlFlow;

/// A number from here on is a point in time and not the number of a log's entry.
const LARGEST_ENTRY: u64 = 99_999_999;
/// A number beyond this is neither: no log has that many entries, and for git it is no time.
const LATEST_TIME: u64 = i32::MAX as u64;
/// Marks that expand to names with marks are followed this far.
const MARK_DEPTH: usize = 16;

/// What a search of a log came to.
#[derive(Default)]
struct Searched {
    found: Option<LogEntry>,
    /// The entry before it: the next newer one, or the oldest of all if none was found.
    last: Option<LogEntry>,
    /// How many were passed over.
    passed: usize,
}

impl Resolver<'_> {
    /// The object of a full id, a reference, or an entry of a reference's log.
    pub(super) fn named(&self, spec: &BStr) -> Result<Option<ObjectId>> {
        let repository = self.repository;
        if let Some(id) = self.whole_id(spec)? {
            return Ok(Some(id));
        }
        let (name, entry) = split_log_entry(spec);
        if let Some(entry) = entry {
            return self.logged(name, entry);
        }
        if is_misplaced_previous(spec) {
            return Ok(None);
        }
        let full = self.substitute(name, 0)?;
        let name = full.as_ref().map_or(name, |full| full.as_ref());
        if let Some(id) = self.whole_id(name)? {
            return Ok(Some(id));
        }
        let Some(found) = repository.find_reference(name)? else {
            return Ok(None);
        };
        if self.warns_of_ambiguity()? && (found.is_ambiguous || self.fits_object(name)) {
            self.warn(format!("refname '{name}' is ambiguous."));
        }
        Ok(found.reference.id)
    }

    /// The id that `name` is, if it has all its digits: whatever is read of it, it has to be here.
    fn whole_id(&self, name: &BStr) -> Result<Option<ObjectId>> {
        if name.len() != self.repository.hash_kind().len_in_hex() {
            return Ok(None);
        }
        let Ok(id) = ObjectId::from_hex(name) else {
            return Ok(None);
        };
        self.repository.fetch_named(&id)?;
        Ok(Some(id))
    }

    fn warns_of_ambiguity(&self) -> Result<bool> {
        let setting = self.repository.config().bool("core.warnAmbiguousRefs")?;
        Ok(setting.unwrap_or(true))
    }

    fn fits_object(&self, name: &BStr) -> bool {
        let found = self.abbreviated(name, super::Wanted::Any);
        found.is_ok_and(|id| id.is_some())
    }

    /// The entry of a log: `NAME@{entry}`. An empty name is the branch that is checked out.
    fn logged(&self, name: &BStr, entry: &BStr) -> Result<Option<ObjectId>> {
        let Some(log) = self.log_name(name)? else {
            return Ok(None);
        };
        let shown = if name.is_empty() { log.as_bstr() } else { name };
        let shown = shown
            .strip_prefix(b"refs/heads/")
            .unwrap_or(shown)
            .as_bstr();
        let digits = entry.to_str().ok();
        let digits = digits.filter(|_| entry.iter().all(u8::is_ascii_digit));
        let number: Option<u64> = digits.map(|digits| digits.parse().unwrap_or(u64::MAX));
        match number {
            Some(number) if number <= LARGEST_ENTRY || number > LATEST_TIME => {
                let wanted = usize::try_from(number).unwrap_or(usize::MAX);
                let searched = self.search_log(&log, &|at, _| at == wanted)?;
                if let Some(found) = &searched.found {
                    return self.value_at(&log, found, searched.last.as_ref());
                }
                let count = searched.passed;
                match &searched.last {
                    None if wanted == 0 => {
                        let found = self.repository.reference(log.as_ref())?;
                        Ok(found.and_then(|found| found.id))
                    }
                    Some(oldest) if wanted == count && !oldest.old.is_null() => {
                        Ok(Some(oldest.old))
                    }
                    _ => {
                        let reason = format!("log for '{shown}' only has {count} entries");
                        // Git ends there, whatever else the words may mean.
                        Err(Error::Setup { reason })
                    }
                }
            }
            _ => {
                let Some(seconds) = date_seconds(entry) else {
                    return Ok(None);
                };
                let searched = self.search_log(&log, &|_, entry| entry.time.seconds <= seconds)?;
                if let Some(found) = &searched.found {
                    if found.time.seconds == seconds {
                        return Ok(Some(found.new));
                    }
                    return self.value_at(&log, found, searched.last.as_ref());
                }
                let Some(oldest) = searched.last else {
                    return Err(failed(shown, &format!("log for {shown} is empty")));
                };
                let first = oldest.time.format_or_unix(gix_date::time::format::RFC2822);
                self.warn(format!("log for '{shown}' only goes back to {first}"));
                let is_birth = oldest.old.is_null();
                Ok(Some(if is_birth { oldest.new } else { oldest.old }))
            }
        }
    }

    /// Reads the log of `name`, newest entry first, up to the first one that `is_wanted`.
    fn search_log(
        &self,
        name: &BString,
        is_wanted: &dyn Fn(usize, &LogEntry) -> bool,
    ) -> Result<Searched> {
        let mut searched = Searched::default();
        let visit = &mut |entry| {
            if is_wanted(searched.passed, &entry) {
                searched.found = Some(entry);
                return ControlFlow::Break(());
            }
            searched.last = Some(entry);
            searched.passed += 1;
            ControlFlow::Continue(())
        };
        self.repository
            .refs()
            .read_log_until(name.as_ref(), visit)?;
        Ok(searched)
    }

    /// The value after the entry `found` of the log of `name`, which `next` followed. If that began anew, or
    /// is missing, only the reference itself tells what it was.
    fn value_at(
        &self,
        name: &BString,
        found: &LogEntry,
        next: Option<&LogEntry>,
    ) -> Result<Option<ObjectId>> {
        let logged = found.new;
        let next = next.filter(|next| !next.old.is_null());
        let now = || {
            let found = self.repository.reference(name.as_ref())?;
            Ok::<_, Error>(found.and_then(|found| found.id))
        };
        let value = if next.is_some() { Some(logged) } else { now()? };
        let value = value.unwrap_or(logged);
        let time = || found.time.format_or_unix(gix_date::time::format::RFC2822);
        if value != logged {
            self.warn(format!(
                "log for ref {name} unexpectedly ended on {}",
                time()
            ));
        } else if next.is_some_and(|next| next.old != logged) {
            self.warn(format!("log for ref {name} has gap after {}", time()));
        }
        Ok(Some(value))
    }

    /// The full name of the reference whose log is meant.
    fn log_name(&self, name: &BStr) -> Result<Option<BString>> {
        let repository = self.repository;
        if name.is_empty() {
            let head = repository.head()?;
            // To git, a branch that is not there has no log, whatever is left of it.
            return Ok(head.id().map(|_| match head {
                Head::Branch { name, .. } => name,
                Head::Detached { .. } => "HEAD".into(),
            }));
        }
        let full = self.substitute(name, 0)?;
        let name = full.as_ref().map_or(name, |full| full.as_ref());
        for (before, after) in NAME_RULES {
            let full = BString::from([before.as_bytes(), name, after.as_bytes()].concat());
            let Ok(Some(reference)) = repository.reference(full.as_ref()) else {
                continue;
            };
            // One that leads nowhere, as HEAD does before the first commit, has no log for git.
            if reference.id.is_none() {
                continue;
            }
            if repository.has_log(full.as_ref()) {
                return Ok(Some(full));
            }
            if let Some(target) = reference.target {
                if repository.has_log(target.as_ref()) {
                    return Ok(Some(target));
                }
            }
        }
        Ok(None)
    }

    /// Replaces what stands for a branch: `@{-N}`, `NAME@{upstream}`, `NAME@{push}`, `@`. `None` if
    /// `name` has none of them.
    pub(super) fn substitute(&self, name: &BStr, depth: usize) -> Result<Option<BString>> {
        if depth > MARK_DEPTH {
            return Err(failed(name, "nested too deeply"));
        }
        if let Some((number, rest)) = previous(name) {
            let Some(branch) = self.repository.previous_branch(number)? else {
                return Ok(None);
            };
            let whole = BString::from([&branch[..], rest].concat());
            return Ok(Some(
                self.substitute(whole.as_ref(), depth + 1)?.unwrap_or(whole),
            ));
        }
        if name == "@" {
            return Ok(Some("HEAD".into()));
        }
        if let Some(rest) = name.strip_prefix(b"@@{") {
            let whole = BString::from([b"HEAD@{", rest].concat());
            return Ok(Some(
                self.substitute(whole.as_ref(), depth + 1)?.unwrap_or(whole),
            ));
        }
        let Some((branch, mark, rest)) = branch_mark(name) else {
            return Ok(None);
        };
        let full = self.marked(branch, mark)?;
        let whole = BString::from([&full[..], rest].concat());
        Ok(Some(
            self.substitute(whole.as_ref(), depth + 1)?.unwrap_or(whole),
        ))
    }

    /// The same for the short name of a branch of this repository. `None` also for what follows a
    /// branch of a remote.
    pub(super) fn substitute_local(&self, name: &BStr, depth: usize) -> Result<Option<BString>> {
        if depth > MARK_DEPTH {
            return Err(failed(name, "nested too deeply"));
        }
        let (short, rest) = if let Some((number, rest)) = previous(name) {
            let Some(branch) = self.repository.previous_branch(number)? else {
                return Ok(None);
            };
            (branch, rest)
        } else {
            let Some((branch, mark, rest)) = branch_mark(name) else {
                return Ok(None);
            };
            let full = self.marked(branch, mark)?;
            if !full.starts_with(b"refs/heads/") {
                return Ok(None);
            }
            (self.repository.shorten_reference(full.as_ref()), rest)
        };
        let whole = BString::from([&short[..], rest].concat());
        let further = self.substitute_local(whole.as_ref(), depth + 1)?;
        Ok(Some(further.unwrap_or(whole)))
    }

    fn marked(&self, branch: &BStr, mark: Mark) -> Result<BString> {
        let repository = self.repository;
        let full: BString = if branch.is_empty() || branch == "HEAD" {
            match repository.head()? {
                Head::Branch { name, .. } => name,
                Head::Detached { .. } => {
                    return Err(failed(branch, "HEAD does not point to a branch"));
                }
            }
        } else {
            [b"refs/heads/", branch.as_bytes()].concat().into()
        };
        let short = full.strip_prefix(b"refs/heads/").unwrap_or(&full).as_bstr();
        let exists = repository.reference(full.as_ref())?;
        let is_born = exists.is_some_and(|found| found.id.is_some());
        if !is_born && repository.head()?.branch() != Some(full.as_ref()) {
            return Err(failed(short, &format!("no such branch: '{short}'")));
        }
        let found = match mark {
            Mark::Upstream => repository
                .upstream(full.as_ref())?
                .map(|found| found.tracking),
            Mark::Push => repository.push_destination(full.as_ref())?,
        };
        found.ok_or_else(|| match mark {
            Mark::Upstream => failed(
                short,
                &format!("no upstream configured for branch '{short}'"),
            ),
            Mark::Push => failed(short, &format!("no push destination for branch '{short}'")),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Upstream,
    Push,
}

/// Splits `NAME@{ENTRY}` where the braces hold neither `-N` nor the name of a mark.
fn split_log_entry(spec: &BStr) -> (&BStr, Option<&BStr>) {
    let Some(body) = spec.strip_suffix(b"}") else {
        return (spec, None);
    };
    let Some(at) = body.rfind(b"@{") else {
        return (spec, None);
    };
    let entry = body[at + 2..].as_bstr();
    if entry.is_empty() || entry.starts_with(b"-") || mark_named(entry).is_some() {
        return (spec, None);
    }
    (spec[..at].as_bstr(), Some(entry))
}

/// `@{-N}` counts from the start of a name only.
fn is_misplaced_previous(spec: &BStr) -> bool {
    spec.rfind(b"@{-").is_some_and(|at| at != 0)
}

/// Splits `@{-N}` off the front.
fn previous(name: &BStr) -> Option<(usize, &[u8])> {
    let rest = name.strip_prefix(b"@{-")?;
    let (digits, rest) = rest.split_once_str("}")?;
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number: usize = digits.to_str().ok()?.parse().ok()?;
    (number > 0).then_some((number, rest))
}

/// Splits at the first `@{upstream}`, `@{u}` or `@{push}`: what is before, which, what is after.
fn branch_mark(name: &BStr) -> Option<(&BStr, Mark, &[u8])> {
    for at in name.find_iter("@{") {
        let body = name.get(at + 2..)?;
        let (word, rest) = body.split_once_str("}")?;
        if let Some(mark) = mark_named(word.as_bstr()) {
            let branch = name.get(..at)?.as_bstr();
            return (!branch.contains(&b':')).then_some((branch, mark, rest));
        }
    }
    None
}

fn mark_named(word: &BStr) -> Option<Mark> {
    match word.to_ascii_lowercase().as_slice() {
        b"u" | b"upstream" => Some(Mark::Upstream),
        b"push" => Some(Mark::Push),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_told_apart() {
        let split = |spec: &'static str| split_log_entry(spec.into());
        assert_eq!(split("a@{1}"), ("a".into(), Some("1".into())));
        assert_eq!(split("@{now}"), ("".into(), Some("now".into())));
        assert_eq!(split("a@{u}"), ("a@{u}".into(), None));
        assert_eq!(split("a@{u}@{2}"), ("a@{u}".into(), Some("2".into())));
        assert_eq!(split("@{-1}"), ("@{-1}".into(), None));
        assert_eq!(split("a@{}"), ("a@{}".into(), None));
        assert_eq!(previous("@{-2}@{u}".into()), Some((2, b"@{u}".as_slice())));
        assert_eq!(previous("@{-0}".into()), None);
        assert_eq!(
            branch_mark("a@{PUSH}x".into()),
            Some(("a".into(), Mark::Push, b"x".as_slice()))
        );
        assert_eq!(branch_mark("a@{1}".into()), None);
    }
}
