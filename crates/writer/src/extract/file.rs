//! Writes a regular file: first its content, then its attributes, and its name last if it was
//! taken.

use super::entry::{set_attributes, xattrs_of, Worker};
use super::place::{make, Made};
use super::Run;
use crate::Problem;
use hedgerow_fs::{Dir, NewFile};
use hedgerow_tree::{Content, Node, Xattr};
use std::io;

/// Size of the read buffer in bytes; a smaller file is written by a single call.
const BUFFER_BYTES: u64 = 1 << 20;

/// Extracts the regular file `name` into `directory`. Returns a problem if not all attributes could
/// be set. If the content cannot be read or written, the file is removed.
pub(super) fn write(
    run: &Run<'_>,
    worker: &mut Worker,
    directory: &Dir,
    name: &[u8],
    node: &mut Node,
) -> Result<Option<Problem>, Problem> {
    let mut content = node.handle.open().map_err(Problem::of_node)?;
    let xattrs = xattrs_of(&run.settings, node)?;
    node.size_bytes = content.size_bytes();
    let mut source = Source {
        content: &mut *content,
        buffer: &mut worker.buffer,
        filled: 0,
        bytes: node.size_bytes,
        position: 0,
        hole: 0,
    };
    // If the content cannot be read, nothing is created.
    let first = source.next()?;
    let (mode, change_mode) = run.settings.first_mode(node, &xattrs);
    let create = |name: &[u8]| directory.create_with_mode(name, mode);
    let (file, made) = make(directory, name, run.settings.replace, create)?;
    let failed = |(operation, source)| {
        hedgerow_fs::Error::new(operation, directory.path_of(name), source).into()
    };
    let written = fill(run, &file, source, first, &failed);
    finish(
        run,
        directory,
        written,
        file,
        made,
        (node, &xattrs, change_mode),
        &failed,
    )
}

type Reason = (&'static str, io::Error);

fn fill(
    run: &Run<'_>,
    file: &NewFile,
    mut source: Source<'_>,
    first: Step,
    failed: &dyn Fn(Reason) -> Problem,
) -> Result<(), Problem> {
    let mut step = first;
    let mut ends_in_hole = false;
    loop {
        let outcome = match step {
            Step::Data => file.write_all(source.data()),
            Step::Hole(bytes) => file.skip(bytes),
            Step::End => break,
        };
        outcome.map_err(|source| failed(("write", source)))?;
        ends_in_hole = matches!(step, Step::Hole(_));
        if run.is_cancelled() {
            return Err(Problem::Cancelled);
        }
        step = source.next()?;
    }
    if ends_in_hole {
        let outcome = file.set_len(source.bytes);
        outcome.map_err(|source| failed(("write", source)))?;
    }
    Ok(())
}

fn finish(
    run: &Run<'_>,
    directory: &Dir,
    written: Result<(), Problem>,
    file: NewFile,
    made: Made<'_>,
    (node, xattrs, change_mode): (&Node, &[Xattr], bool),
    failed: &dyn Fn(Reason) -> Problem,
) -> Result<Option<Problem>, Problem> {
    let lacking = written.and_then(|()| {
        let attributes = file.attributes();
        let set = set_attributes(&run.settings, attributes, node, xattrs, change_mode);
        let closed = file.close();
        closed.map_err(|source| failed(("close", source)))?;
        Ok(set.err().map(failed))
    });
    match lacking {
        Ok(lacking) => {
            made.keep(directory)?;
            Ok(lacking)
        }
        Err(problem) => {
            made.remove(directory);
            Err(problem)
        }
    }
}

/// The next part of a content.
enum Step {
    /// The bytes in the buffer.
    Data,
    /// A hole of this many bytes.
    Hole(u64),
    End,
}

/// A content, read through a buffer.
struct Source<'s> {
    content: &'s mut dyn Content,
    buffer: &'s mut Vec<u8>,
    filled: usize,
    /// Size of the content in bytes.
    bytes: u64,
    /// Number of bytes read so far.
    position: u64,
    /// Length of a hole at the current position in bytes.
    hole: u64,
}

impl Source<'_> {
    fn data(&self) -> &[u8] {
        let data = self.buffer.get(..self.filled);
        data.expect("a read fills no more than its buffer")
    }

    /// Reads the next part: up to a full buffer or the start of a hole.
    fn next(&mut self) -> Result<Step, Problem> {
        if self.begins_hole()? {
            let hole = std::mem::take(&mut self.hole);
            self.position = self.position.saturating_add(hole);
            return if self.position <= self.bytes {
                Ok(Step::Hole(hole))
            } else {
                Err(self.wrong_length())
            };
        }
        self.filled = 0;
        let left = self.bytes.saturating_sub(self.position);
        let wanted = left.min(BUFFER_BYTES) as usize;
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        }
        while self.filled < wanted {
            if self.filled > 0 && self.begins_hole()? {
                break;
            }
            let room = &mut self.buffer[self.filled..wanted];
            let read = self.content.read(room);
            match read.map_err(Problem::of_node)? {
                0 => return Err(self.wrong_length()),
                count => self.filled += count,
            }
        }
        self.position += self.filled as u64;
        if self.filled > 0 {
            return Ok(Step::Data);
        }
        match self.content.read(&mut [0]).map_err(Problem::of_node)? {
            0 => Ok(Step::End),
            _ => Err(self.wrong_length()),
        }
    }

    /// Whether there is a hole at the current position. The source moves past it, and `hole` is
    /// set.
    fn begins_hole(&mut self) -> Result<bool, Problem> {
        if self.hole == 0 {
            self.hole = self.content.skip_hole().map_err(Problem::of_node)?;
        }
        Ok(self.hole > 0)
    }

    fn wrong_length(&self) -> Problem {
        let expected = self.bytes;
        Problem::Content(format!("its content has not the {expected} bytes it should").into())
    }
}
