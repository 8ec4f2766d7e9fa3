//! How commits and objects are printed.

use super::options::Options;
use crate::failure::Failure;
use bstr::ByteSlice;
use hedgerow::display::humanised;
use hedgerow::display::quoted_with_spaces;
use hedgerow::plumbing::git::object_query::{push_hex, push_number, OutputStream};
use hedgerow::plumbing::git::reachability::{push_commit, push_marked, push_missing, push_object};
use hedgerow::plumbing::pack::{ObjectId, ObjectKind};
use hedgerow::plumbing::reach::{MissingObject, Remainder, Source, Visitor, Walk, WalkedCommit};
use hedgerow_fs::StandardOutput;
use std::ops::ControlFlow;

pub struct Printer<'o> {
    options: &'o Options,
    source: Source<'o>,
    stream: OutputStream<'o>,
    left: u64,
    right: u64,
    disk_bytes: u64,
    failure: Option<Failure>,
}

impl<'o> Printer<'o> {
    pub fn new(source: Source<'o>, options: &'o Options) -> Self {
        Printer {
            options,
            source,
            stream: OutputStream::new(StandardOutput),
            left: 0,
            right: 0,
            disk_bytes: 0,
            failure: None,
        }
    }

    /// Prints what is left to tell, and the sums.
    pub fn finish(mut self, remainder: &Remainder) -> Result<(), Failure> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        for id in &remainder.omitted {
            self.marked(b'~', "omitted", id);
        }
        if self.options.print_missing {
            for object in &remainder.missing {
                self.missing(object);
            }
        }
        if self.options.count {
            let sums = if self.options.left_right {
                format!("{}\t{}\n", self.left, self.right)
            } else {
                format!("{}\n", self.left + self.right)
            };
            self.stream.buffer().extend_from_slice(sums.as_bytes());
        }
        if let Some(for_people) = self.options.disk_usage {
            let sum = disk_usage(self.disk_bytes, for_people);
            self.stream.buffer().extend_from_slice(sum.as_bytes());
        }
        // Nobody wants the rest if the pipe is closed.
        let _ = self.stream.flush();
        Ok(())
    }

    fn marked(&mut self, mark: u8, word: &str, id: &ObjectId) {
        let buffer = self.stream.buffer();
        if self.options.json {
            push_marked(buffer, id, word);
        } else {
            buffer.push(mark);
            push_hex(buffer, id.as_slice());
            buffer.push(b'\n');
        }
    }

    fn missing(&mut self, object: &MissingObject) {
        if self.options.json {
            push_missing(self.stream.buffer(), object);
            return;
        }
        let (end, quotes_high) = (self.end(), self.options.quotes_high);
        let buffer = self.stream.buffer();
        let is_line = end == b'\n';
        if is_line {
            buffer.push(b'?');
        }
        push_hex(buffer, object.id.as_slice());
        if !is_line {
            buffer.extend_from_slice(b"\0missing=yes");
        }
        if self.options.tells_of_missing {
            let separator = if is_line { b' ' } else { 0 };
            if !object.path.is_empty() {
                buffer.push(separator);
                buffer.extend_from_slice(b"path=");
                if is_line {
                    buffer.extend(quoted_with_spaces(&object.path, quotes_high))
                } else {
                    buffer.extend_from_slice(&object.path)
                }
            }
            if let Some(kind) = object.kind {
                buffer.push(separator);
                buffer.extend_from_slice(b"type=");
                buffer.extend_from_slice(kind.name().as_bytes());
            }
        }
        buffer.push(end);
    }

    fn end(&self) -> u8 {
        if self.options.null {
            0
        } else {
            b'\n'
        }
    }

    /// Adds up what the object takes on disk.
    fn weigh(&mut self, id: &ObjectId) -> ControlFlow<()> {
        match self.source.disk_bytes(id) {
            Ok(size) => {
                self.disk_bytes += size;
                ControlFlow::Continue(())
            }
            Err(error) => {
                let words = format!("unable to get disk usage of {id}: {error}");
                self.failure = Some(Failure::fatal(words));
                ControlFlow::Break(())
            }
        }
    }
}

impl Visitor for Printer<'_> {
    fn edge(&mut self, id: &ObjectId) -> ControlFlow<()> {
        self.marked(b'-', "edge", id);
        self.stream.step()
    }

    fn commit(&mut self, walk: &Walk<'_>, found: WalkedCommit) -> ControlFlow<()> {
        let id = walk.commits().id(found.commit);
        if self.options.disk_usage.is_some() {
            return self.weigh(&id);
        }
        if self.options.is_quiet {
            return ControlFlow::Continue(());
        }
        if self.options.count {
            if found.is_left {
                self.left += 1
            } else {
                self.right += 1
            }
            return ControlFlow::Continue(());
        }
        if self.options.json {
            let shows_sides = self.options.left_right;
            push_commit(self.stream.buffer(), walk, found, shows_sides);
            return self.stream.step();
        }
        let end = self.end();
        let buffer = self.stream.buffer();
        if self.options.timestamp {
            push_number(buffer, walk.seconds(found.commit));
            buffer.push(b' ');
        }
        match (found.is_boundary, self.options.left_right) {
            (true, _) if end == b'\n' => buffer.push(b'-'),
            (false, true) => buffer.push(if found.is_left { b'<' } else { b'>' }),
            _ => {}
        }
        push_hex(buffer, id.as_slice());
        if found.is_boundary && end != b'\n' {
            buffer.extend_from_slice(b"\0boundary=yes");
        }
        if self.options.parents {
            for parent in walk.parents(found.commit) {
                buffer.push(b' ');
                push_hex(buffer, parent.as_slice());
            }
        }
        buffer.push(end);
        self.stream.step()
    }

    fn object(&mut self, id: &ObjectId, kind: ObjectKind, name: &[u8]) -> ControlFlow<()> {
        if self.options.disk_usage.is_some() {
            return self.weigh(id);
        }
        if self.options.is_quiet {
            return ControlFlow::Continue(());
        }
        if self.options.count {
            self.right += 1;
            return ControlFlow::Continue(());
        }
        if self.options.json {
            let path = if self.options.hides_names { b"" } else { name };
            push_object(self.stream.buffer(), id, kind, path);
            return self.stream.step();
        }
        let end = self.end();
        let buffer = self.stream.buffer();
        push_hex(buffer, id.as_slice());
        if !self.options.hides_names {
            if end == b'\n' {
                buffer.push(b' ');
                let end = name.find_byte(b'\n').unwrap_or(name.len());
                buffer.extend_from_slice(name.get(..end).unwrap_or_default());
            } else if !name.is_empty() {
                buffer.extend_from_slice(b"\0path=");
                buffer.extend_from_slice(name);
            }
        }
        buffer.push(end);
        self.stream.step()
    }
}

/// The line that `--disk-usage` prints.
pub fn disk_usage(bytes: u64, for_people: bool) -> String {
    if for_people {
        humanised(bytes) + "\n"
    } else {
        format!("{bytes}\n")
    }
}
