use super::arguments::List;
use super::{open, unreadable, unwritable};
use crate::failure::{Failure, PARTIAL};
use crate::global::Global;
use crate::output::Output;
use crate::walk::closed_pipe_is_fine;
use crate::walk::line::Form;
use crate::walk::sink::write;
use bstr::ByteSlice;
use hedgerow::image::{shown_path, AnyImage, Error, NodeKind};
use hedgerow::walk::{Entry, Omission};
use hedgerow_fs::StandardOutput;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;

const SCHEMA: &str = "hedgerow.image.list.v1";
/// Output is buffered up to this many bytes.
const BUFFER_BYTES: usize = 64 << 10;

pub fn run(command: &List, global: &Global, output: &Output) -> Result<u8, Failure> {
    let image = open(&command.place, global)?;
    let path = command.path.as_deref().unwrap_or_default().as_bytes();
    let names = path
        .split_str("/")
        .filter(|name| !name.is_empty() && *name != b".");
    let path = bstr::join("/", names);
    let mut lines = Lines {
        form: Form {
            schema: SCHEMA,
            json: global.json,
            end: b'\n',
            terminal: StandardOutput::is_terminal(),
            prefix: Vec::new(),
        },
        long: command.long,
        buffer: Vec::new(),
        written: Ok(()),
    };
    let omissions = list(&image, &path, &mut lines);
    let omissions = omissions.map_err(|error| unreadable(&command.place.image, error))?;
    lines.write();
    lines
        .written
        .or_else(closed_pipe_is_fine)
        .map_err(unwritable)?;
    for omission in &omissions {
        let path = [&lines.form.prefix[..], &omission.path].concat();
        let path = shown_path(path.trim_end_with(|character| character == '/'));
        let (operation, reason) = (omission.operation, &omission.source);
        output.error(format_args!("cannot {operation} '{path}': {reason}"));
    }
    Ok(if omissions.is_empty() { 0 } else { PARTIAL })
}

fn list(image: &AnyImage, path: &[u8], lines: &mut Lines) -> Result<Vec<Omission>, Error> {
    let (kind, _) = image.find(path)?;
    if kind == NodeKind::Directory && !path.is_empty() {
        lines.form.prefix = [path, b"/"].concat();
    }
    image.list(path, &mut |entry, target| lines.add(entry, target))
}

/// The lines to print.
struct Lines {
    form: Form,
    long: bool,
    buffer: Vec<u8>,
    written: io::Result<()>,
}

impl Lines {
    fn add(&mut self, entry: Entry<'_>, target: Option<&[u8]>) -> ControlFlow<()> {
        let metadata = entry.metadata.filter(|_| self.long);
        let entry = Entry { metadata, ..entry };
        let target = target.filter(|_| self.long);
        self.form.append(&entry, target, &mut self.buffer);
        if self.buffer.len() >= BUFFER_BYTES {
            self.write();
        }
        match self.written {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }

    fn write(&mut self) {
        if self.written.is_ok() {
            self.written = write(&self.buffer);
        }
        self.buffer.clear();
    }
}
