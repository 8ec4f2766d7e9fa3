//! Objects that somebody names.

use super::format::write_nothing;
use super::line::{is_as_missing, write_content, write_line, Subject};
use super::output::push_hex;
use super::{ObjectQuery, OutputStream};
use crate::config::boolean;
use crate::repository::Repository;
use crate::revision::RevisionProblem;
use crate::revision::{Followed, IndexPaths, Wanted};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_pack::{Location, ObjectId, Reader};
use std::ops::ControlFlow;

/// How much a reader caches for the objects that come next, in bytes.
const RECENT_BYTES: usize = 32 << 20;

/// The mode of a submodule, whose commit is in another repository.
const SUBMODULE: u32 = 0o160_000;

/// Writes objects that are named one after the other.
pub struct NamedObjects<'r> {
    repository: &'r Repository,
    query: &'r ObjectQuery,
    index: IndexPaths<'r>,
    reader: Reader<'r>,
    output: OutputStream<'r>,
    /// The objects that wait for a `flush`, and whether their contents are wanted.
    queued: Vec<(bool, Vec<u8>)>,
}

/// What a name leads to.
enum Resolved {
    /// An object, with its mode if that is known.
    Object(ObjectId, Option<u32>),
    /// Nothing, for the reason that this word says.
    Nothing(&'static str),
    /// Something that symbolic links do not lead to, or that is outside: the word and the path.
    Link(&'static str, BString),
}

impl<'r> NamedObjects<'r> {
    /// Of `repository`, as `query` says, to `output`.
    pub fn new(
        repository: &'r Repository,
        query: &'r ObjectQuery,
        output: OutputStream<'r>,
    ) -> Self {
        NamedObjects {
            repository,
            query,
            index: IndexPaths::new(repository),
            reader: Reader::with_recent(repository.objects(), RECENT_BYTES),
            output,
            queued: Vec::new(),
        }
    }

    /// Obeys a line of `--batch-command`: `contents NAME`, `info NAME` or `flush`. `Break`: the
    /// output takes no more.
    ///
    /// # Errors
    /// [`Error::Query`] for a line that is no command; [`Error::NotBuilt`] for one that asks for mapped
    /// identities; those of [`NamedObjects::write`].
    pub fn obey(&mut self, line: &BStr) -> Result<ControlFlow<()>> {
        let refused = |reason: String| Err(Error::Query { reason });
        if line.is_empty() {
            return refused("empty command in input".into());
        }
        if line.first().is_some_and(u8::is_ascii_whitespace) {
            return refused(format!("whitespace before command: '{line}'"));
        }
        for (name, contents) in [("contents", true), ("info", false)] {
            let Some(rest) = line.strip_prefix(name.as_bytes()) else {
                continue;
            };
            let Some(object) = rest.strip_prefix(b" ") else {
                return refused(format!("{name} requires arguments"));
            };
            if self.query.is_buffered {
                self.queued.push((contents, object.to_vec()));
                return Ok(ControlFlow::Continue(()));
            }
            return self.write_named(object.as_bstr(), b"", contents);
        }
        if let Some(rest) = line.strip_prefix(b"mailmap") {
            let Some(value) = rest.strip_prefix(b" ") else {
                return refused("mailmap requires arguments".into());
            };
            return obey_mailmap(value.as_bstr());
        }
        match line.strip_prefix(b"flush") {
            Some(b"") if self.query.is_buffered => {
                self.write_queued()?;
                Ok(ControlFlow::Continue(()))
            }
            Some(b"") => refused("flush is only for --buffer mode".into()),
            Some(_) => refused("flush takes no arguments".into()),
            None => refused(format!("unknown command: '{line}'")),
        }
    }

    /// Writes what waits. What the output makes of it is known to whoever owns the sink.
    ///
    /// # Errors
    /// Those of [`NamedObjects::write`].
    pub fn write_queued(&mut self) -> Result<()> {
        let queued = std::mem::take(&mut self.queued);
        // What waits is fetched at once, whatever becomes of it; each asks again for what is still missing.
        let ids = queued
            .iter()
            .map(|(_, name)| whole_id(self.repository, name.as_bstr()));
        let _ = self
            .repository
            .fetch_missing(&ids.flatten().collect::<Vec<_>>());
        for (contents, object) in queued {
            if self
                .write_named(object.as_bstr(), b"", contents)?
                .is_break()
            {
                break;
            }
        }
        let _ = self.output.flush();
        Ok(())
    }

    /// Writes the line about the object that `line` names, and its content if `contents`; or why
    /// there is none. If the format has `%(rest)`, the name ends at the first space. `Break`: the
    /// output takes no more.
    ///
    /// # Errors
    /// If an object that is there cannot be read; everything before it was written. One of which not even
    /// kind and size can be read counts as missing, as with git.
    pub fn write(&mut self, line: &BStr, contents: bool) -> Result<ControlFlow<()>> {
        let mut name = line;
        let mut rest: &[u8] = b"";
        if self.query.format.needs.rest {
            if let Some(at) = line.find_byteset(b" \t") {
                let (before, after) = line.split_at(at);
                name = before.as_bstr();
                rest = after.trim_start_with(|space| space == ' ' || space == '\t');
            }
        }
        self.write_named(name, rest, contents)
    }

    fn write_named(&mut self, name: &BStr, rest: &[u8], contents: bool) -> Result<ControlFlow<()>> {
        let written = self.try_to_write(name, rest, contents);
        if written.is_err() {
            let _ = self.output.flush();
        }
        written
    }

    fn try_to_write(
        &mut self,
        name: &BStr,
        rest: &[u8],
        contents: bool,
    ) -> Result<ControlFlow<()>> {
        let (id, mode) = match self.resolve(name) {
            Ok(Resolved::Object(id, mode)) => (id, mode),
            Ok(Resolved::Nothing(word)) => return Ok(self.say(name, word)),
            Ok(Resolved::Link(word, path)) => return Ok(self.say_path(name, word, path.as_bstr())),
            Err(error) => return self.say_unread(name, error),
        };
        let found = self.repository.replacement(&id)?;
        let store = self.repository.objects();
        let is_elsewhere = mode == Some(SUBMODULE);
        let located = match locate(self.repository, &found, !is_elsewhere) {
            Ok(located) => located,
            Err(error) => return self.say_unread(name, error),
        };
        let location = match located {
            Some(location) => location,
            None if is_elsewhere => {
                let id = id.to_string();
                return Ok(self.say(id.as_bytes().as_bstr(), "submodule"));
            }
            None => return Ok(self.say(name, "missing")),
        };
        let subject = Subject {
            id: &found,
            location,
            disk: None,
            is_by_place: false,
            rest,
            mode,
        };
        let start = self.output.buffer().len();
        let buffer = self.output.buffer();
        match write_line(self.query, store, &mut self.reader, subject, buffer) {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(self.say(name, "excluded")),
            Err(error) if is_as_missing(&error) => {
                buffer.truncate(start);
                return self.say_unread(name, error.into());
            }
            Err(error) => return Err(error.into()),
        }
        if found != id {
            self.rename(start, &found, &id);
        }
        if contents {
            let output = &mut self.output;
            let written = write_content(self.query, store, &mut self.reader, subject, output)?;
            if written.is_break() {
                return Ok(written);
            }
        }
        Ok(self.step())
    }

    /// That an object is missing which cannot be found or read for a reason that git passes over, and the
    /// reason.
    fn say_unread(&mut self, name: &BStr, error: Error) -> Result<ControlFlow<()>> {
        match &error {
            Error::Pack(reason) if is_as_missing(reason) => {
                self.output.tell(&error);
                Ok(self.say(name, "missing"))
            }
            _ => Err(error),
        }
    }

    /// A replaced object keeps its own name.
    fn rename(&mut self, start: usize, found: &ObjectId, id: &ObjectId) {
        let mut digits = Vec::new();
        push_hex(&mut digits, found.as_slice());
        let mut own = Vec::new();
        push_hex(&mut own, id.as_slice());
        let line = self.output.buffer().split_off(start);
        self.output.buffer().extend(line.replace(&digits, &own));
    }

    /// What `name` leads to.
    fn resolve(&self, name: &BStr) -> Result<Resolved> {
        if let Some(id) = whole_id(self.repository, name) {
            return Ok(Resolved::Object(id, None));
        }
        let index = |path: &BStr, stage| self.index.find(path, stage);
        let found = if self.query.follows_links {
            self.repository
                .with_objects_read(|| self.repository.resolve_following(name, &index))
        } else {
            self.repository
                .with_objects_read(|| {
                    self.repository
                        .resolve_with(name, Wanted::Any, Some(&index))
                })
                .map(Followed::Object)
        };
        let link = |word| Ok(Resolved::Link(word, name.to_owned()));
        match found {
            Ok(Followed::Object(found)) => Ok(Resolved::Object(found.id, found.mode)),
            Ok(Followed::Outside(path)) => Ok(Resolved::Link("symlink", path)),
            Ok(Followed::Dangling) => link("dangling"),
            Ok(Followed::Loop) => link("loop"),
            Ok(Followed::NotDirectory) => link("notdir"),
            Err(Error::Revision { reason, .. }) => {
                let is_ambiguous = matches!(reason, RevisionProblem::AmbiguousId(_));
                let word = if is_ambiguous { "ambiguous" } else { "missing" };
                Ok(Resolved::Nothing(word))
            }
            // A tree on the way is not there.
            Err(Error::Pack(hedgerow_pack::Error::Missing { .. })) => {
                Ok(Resolved::Nothing("missing"))
            }
            Err(error) => Err(error),
        }
    }

    /// A word, the length of a path, and the path.
    fn say_path(&mut self, name: &BStr, word: &str, path: &BStr) -> ControlFlow<()> {
        let end = self.query.line_end;
        let buffer = self.output.buffer();
        if self.query.format.is_json() {
            let outside = (path != name).then_some(path.as_bytes());
            write_nothing(buffer, name, word, outside);
            buffer.push(end);
            return self.output.flush();
        }
        buffer.extend_from_slice(format!("{word} {}", path.len()).as_bytes());
        buffer.push(end);
        buffer.extend_from_slice(path);
        buffer.push(end);
        self.output.flush()
    }

    fn say(&mut self, name: &BStr, word: &str) -> ControlFlow<()> {
        let end = self.query.line_end;
        let buffer = self.output.buffer();
        if self.query.format.is_json() {
            write_nothing(buffer, name, word, None);
        } else {
            buffer.extend_from_slice(name);
            buffer.push(b' ');
            buffer.extend_from_slice(word.as_bytes());
        }
        buffer.push(end);
        self.output.flush()
    }

    fn step(&mut self) -> ControlFlow<()> {
        if self.query.is_buffered {
            self.output.step()
        } else {
            self.output.flush()
        }
    }
}

/// Obeys `mailmap VALUE`: here, no mailmap is ever used.
fn obey_mailmap(value: &BStr) -> Result<ControlFlow<()>> {
    match boolean(value) {
        Some(false) => Ok(ControlFlow::Continue(())),
        Some(true) => Err(Error::NotBuilt {
            reason: "cat-file does not support mailmaps".into(),
        }),
        None => Err(Error::Query {
            reason: format!("mailmap: invalid boolean '{value}'"),
        }),
    }
}

/// The object that `name` names, and git's warnings about the name. A whole id is taken as it is,
/// whether there is such an object or not.
///
/// # Errors
/// [`Error::Revision`] if it names nothing.
pub fn find_object(repository: &Repository, name: &BStr) -> Result<(ObjectId, Vec<String>)> {
    if let Some(id) = whole_id(repository, name) {
        return Ok((id, Vec::new()));
    }
    if name.starts_with(b":/") {
        // Git takes what follows for a path here, and no path begins with a slash.
        return Err(Error::Revision {
            spec: name.to_owned(),
            reason: RevisionProblem::Unresolved(format!("Not a valid object name {name}")),
        });
    }
    let paths = IndexPaths::new(repository);
    let index = |path: &BStr, stage| paths.find(path, stage);
    let found = repository
        .with_objects_read(|| repository.resolve_with(name, Wanted::Any, Some(&index)))?;
    Ok((found.id, found.warnings))
}

/// Whether the object is here, or could be fetched into a partial clone.
///
/// # Errors
/// [`Error::NotFetched`] if a remote has promised it and does not give it.
pub fn has_object(repository: &Repository, id: &ObjectId) -> Result<bool> {
    locate(repository, id, true).map(|found| found.is_some())
}

/// Where the object is; a partial clone fetches it if it `may_be_fetched`.
fn locate(
    repository: &Repository,
    id: &ObjectId,
    may_be_fetched: bool,
) -> Result<Option<Location>> {
    let store = repository.objects();
    let here = store.locate(id)?;
    if here.is_some() {
        return Ok(here);
    }
    if id.is_empty_tree() {
        return Ok(Some(Location::Loose { directory: 0 }));
    }
    if may_be_fetched {
        repository.fetch_missing(&[*id])?;
        return Ok(store.locate(id)?);
    }
    Ok(None)
}

/// The id that `name` is, if it has all its digits.
fn whole_id(repository: &Repository, name: &BStr) -> Option<ObjectId> {
    let is_whole = name.len() == repository.hash_kind().len_in_hex();
    is_whole.then(|| ObjectId::from_hex(name).ok())?
}
