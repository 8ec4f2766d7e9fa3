//! Objects that are named on standard input.

use super::facts::{write_content, write_line, Subject};
use super::Batch;
use crate::failure::Failure;
use crate::packs::stream::{push_hex, Stream};
use bstr::{BStr, BString, ByteSlice};
use hedgerow::plumbing::git::revision::RevisionProblem;
use hedgerow::plumbing::git::revision::{Followed, IndexPaths, Wanted};
use hedgerow::plumbing::pack::{Location, ObjectId, Reader};
use hedgerow::Repository;
use std::io::BufRead;
use std::ops::ControlFlow;

/// What a reader keeps for the objects that come next, in bytes.
const RECENT_BYTES: usize = 32 << 20;

/// The mode of a submodule, whose commit is in another repository.
const SUBMODULE: u32 = 0o160_000;

struct Printer<'r> {
    repository: &'r Repository,
    batch: &'r Batch,
    index: IndexPaths<'r>,
    reader: Reader<'r>,
    stream: Stream,
}

/// What a name names.
enum Named {
    /// An object, with its mode if that is known.
    Object(ObjectId, Option<u32>),
    /// Nothing, for the reason that this word says.
    Nothing(&'static str),
    /// Something that symbolic links do not lead to, or that is outside: the word and the path.
    Link(&'static str, BString),
}

pub fn run(repository: &Repository, batch: &Batch) -> Result<(), Failure> {
    let mut printer = Printer {
        repository,
        batch,
        index: IndexPaths::new(repository),
        reader: Reader::with_recent(repository.objects(), RECENT_BYTES),
        stream: Stream::new(),
    };
    let mut input = std::io::stdin().lock();
    let mut line = Vec::new();
    let mut queued = Vec::new();
    loop {
        line.clear();
        let length = input
            .read_until(batch.input_end, &mut line)
            .map_err(Failure::fatal)?;
        if length == 0 {
            break;
        }
        if line.last() == Some(&batch.input_end) {
            line.pop();
            if batch.input_end == b'\n' && line.last() == Some(&b'\r') {
                line.pop();
            }
        }
        let next = if batch.is_command {
            printer.obey(line.as_bstr(), &mut queued)?
        } else {
            printer.object(line.as_bstr(), batch.contents)?
        };
        if next == ControlFlow::Break(()) {
            return Ok(());
        }
    }
    printer.run_queued(&mut queued)
}

impl Printer<'_> {
    fn obey(
        &mut self,
        line: &BStr,
        queued: &mut Vec<(bool, Vec<u8>)>,
    ) -> Result<ControlFlow<()>, Failure> {
        if line.is_empty() {
            return Err(Failure::fatal("empty command in input"));
        }
        if line.first().is_some_and(u8::is_ascii_whitespace) {
            return Err(Failure::fatal(format_args!(
                "whitespace before command: '{line}'"
            )));
        }
        for (name, contents) in [("contents", true), ("info", false)] {
            let Some(rest) = line.strip_prefix(name.as_bytes()) else {
                continue;
            };
            let Some(object) = rest.strip_prefix(b" ") else {
                return Err(Failure::fatal(format_args!("{name} requires arguments")));
            };
            if self.batch.is_buffered {
                queued.push((contents, object.to_vec()));
                return Ok(ControlFlow::Continue(()));
            }
            return self.object(object.as_bstr(), contents);
        }
        match line.strip_prefix(b"flush") {
            Some(b"") if self.batch.is_buffered => {
                self.run_queued(queued)?;
                Ok(ControlFlow::Continue(()))
            }
            Some(b"") => Err(Failure::fatal("flush is only for --buffer mode")),
            Some(_) => Err(Failure::fatal("flush takes no arguments")),
            None => Err(Failure::fatal(format_args!("unknown command: '{line}'"))),
        }
    }

    fn run_queued(&mut self, queued: &mut Vec<(bool, Vec<u8>)>) -> Result<(), Failure> {
        for (contents, object) in queued.drain(..) {
            if self.object(object.as_bstr(), contents)?.is_break() {
                break;
            }
        }
        let _ = self.stream.flush();
        Ok(())
    }

    /// Prints one object.
    fn object(&mut self, line: &BStr, contents: bool) -> Result<ControlFlow<()>, Failure> {
        let mut name = line;
        let mut rest: &[u8] = b"";
        if self.batch.format.needs.rest {
            if let Some(at) = line.find_byteset(b" \t") {
                let (before, after) = line.split_at(at);
                name = before.as_bstr();
                rest = after.trim_start_with(|space| space == ' ' || space == '\t');
            }
        }
        let (id, mode) = match self.resolve(name)? {
            Named::Object(id, mode) => (id, mode),
            Named::Nothing(word) => return Ok(self.say(name, word)),
            Named::Link(word, path) => return Ok(self.say_path(word, path.as_bstr())),
        };
        let found = self.repository.replacement(&id)?;
        let store = self.repository.objects();
        let location = match store.locate(&found).map_err(Failure::fatal)? {
            Some(location) => location,
            None if found.is_empty_tree() => Location::Loose { directory: 0 },
            None if mode == Some(SUBMODULE) => {
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
        let start = self.stream.buffer().len();
        let buffer = self.stream.buffer();
        let written = write_line(self.batch, store, &mut self.reader, subject, buffer);
        if written.map_err(Failure::fatal)?.is_none() {
            return Ok(self.say(name, "excluded"));
        }
        if found != id {
            self.rename(start, &found, &id);
        }
        if contents {
            let stream = &mut self.stream;
            let written = write_content(self.batch, store, &mut self.reader, subject, stream);
            if written.map_err(Failure::fatal)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(self.step())
    }

    /// A replaced object keeps its own name.
    fn rename(&mut self, start: usize, found: &ObjectId, id: &ObjectId) {
        let mut digits = Vec::new();
        push_hex(&mut digits, found.as_slice());
        let mut own = Vec::new();
        push_hex(&mut own, id.as_slice());
        let line = self.stream.buffer().split_off(start);
        self.stream.buffer().extend(line.replace(&digits, &own));
    }

    /// What `name` names.
    fn resolve(&self, name: &BStr) -> Result<Named, Failure> {
        let words: &[u8] = name;
        if words.len() == self.repository.hash_kind().len_in_hex() {
            if let Ok(id) = ObjectId::from_hex(words) {
                return Ok(Named::Object(id, None));
            }
        }
        let index = |path: &BStr, stage| self.index.find(path, stage);
        let found = if self.batch.follows_links {
            self.repository.resolve_following(name, &index)
        } else {
            self.repository
                .resolve_with(name, Wanted::Any, Some(&index))
                .map(Followed::Object)
        };
        let link = |word| Ok(Named::Link(word, name.to_owned()));
        match found {
            Ok(Followed::Object(found)) => Ok(Named::Object(found.id, found.mode)),
            Ok(Followed::Outside(path)) => Ok(Named::Link("symlink", path)),
            Ok(Followed::Dangling) => link("dangling"),
            Ok(Followed::Loop) => link("loop"),
            Ok(Followed::NotDirectory) => link("notdir"),
            Err(hedgerow::plumbing::git::Error::Revision { reason, .. }) => {
                let is_ambiguous = matches!(reason, RevisionProblem::AmbiguousId(_));
                let word = if is_ambiguous { "ambiguous" } else { "missing" };
                Ok(Named::Nothing(word))
            }
            // A tree on the way is not there.
            Err(hedgerow::plumbing::git::Error::Pack(
                hedgerow::plumbing::pack::Error::Missing { .. },
            )) => Ok(Named::Nothing("missing")),
            Err(error) => Err(error.into()),
        }
    }

    /// A word, the length of a path, and the path.
    fn say_path(&mut self, word: &str, path: &BStr) -> ControlFlow<()> {
        let end = self.batch.output_end;
        let buffer = self.stream.buffer();
        buffer.extend_from_slice(format!("{word} {}", path.len()).as_bytes());
        buffer.push(end);
        buffer.extend_from_slice(path);
        buffer.push(end);
        self.stream.flush()
    }

    fn say(&mut self, name: &BStr, word: &str) -> ControlFlow<()> {
        let end = self.batch.output_end;
        let buffer = self.stream.buffer();
        buffer.extend_from_slice(name);
        buffer.push(b' ');
        buffer.extend_from_slice(word.as_bytes());
        buffer.push(end);
        self.stream.flush()
    }

    fn step(&mut self) -> ControlFlow<()> {
        if self.batch.is_buffered {
            self.stream.step()
        } else {
            self.stream.flush()
        }
    }
}
