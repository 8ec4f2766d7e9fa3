//! One object that is named by an argument.

use super::CatFile;
use crate::failure::Failure;
use crate::output::Output;
use bstr::{BStr, ByteSlice};
use hedgerow::plumbing::git::object_query::{find_object, has_object, push_hex, OutputStream};
use hedgerow::plumbing::git::repository::Repository;
use hedgerow::plumbing::git::Error;
use hedgerow::plumbing::object::TreeEntries;
use hedgerow::plumbing::pack::{ObjectId, ObjectKind};
use hedgerow_fs::StandardOutput;
use std::os::unix::ffi::OsStrExt;

pub fn run(command: &CatFile, repository: &Repository, output: &Output) -> Result<u8, Failure> {
    let modes = [command.kind, command.size, command.exists, command.pretty];
    let words: Vec<&BStr> = command
        .words
        .iter()
        .map(|w| w.as_bytes().as_bstr())
        .collect();
    let mode_count = modes.iter().filter(|mode| **mode).count();
    let (kind, name) = match (mode_count, words.as_slice()) {
        (1, [name]) => (None, *name),
        (0, [kind, name]) => (Some(*kind), *name),
        _ => {
            let words = "cat-file needs one of -t, -s, -e, -p or a kind, and an object";
            return Err(Failure::usage(words));
        }
    };
    let kind = match kind {
        Some(kind) => Some(
            ObjectKind::from_name(kind)
                .ok_or_else(|| Failure::fatal(format_args!("invalid object type \"{kind}\"")))?,
        ),
        None => None,
    };
    let (id, warnings) = find_object(repository, name).map_err(|error| match error {
        Error::Revision { .. } => Failure::fatal(format_args!("Not a valid object name {name}")),
        error => error.into(),
    })?;
    warnings.iter().for_each(|it| output.warn(it));
    if command.exists {
        return Ok(u8::from(!has_object(repository, &id)?));
    }
    let mut stream = OutputStream::new(StandardOutput);
    if command.kind || command.size {
        if !has_object(repository, &repository.replacement(&id)?)? {
            let message = "git cat-file: could not get object info";
            return Err(Failure::fatal(message));
        }
        let line = if command.kind {
            format!("{}\n", repository.object_kind(&id)?)
        } else {
            format!("{}\n", repository.object_size(&id)?)
        };
        stream.buffer().extend_from_slice(line.as_bytes());
    } else {
        content(repository, &id, kind, name, &mut stream)?;
    }
    let _ = stream.flush();
    Ok(0)
}

fn content(
    repository: &Repository,
    id: &ObjectId,
    kind: Option<ObjectKind>,
    name: &BStr,
    stream: &mut OutputStream<'_>,
) -> Result<(), Failure> {
    let bad = || Failure::fatal(format_args!("git cat-file {name}: bad file"));
    let invalid = || Failure::fatal(format_args!("Not a valid object name {name}"));
    if !has_object(repository, &repository.replacement(id)?)? {
        return Err(if kind.is_some() { bad() } else { invalid() });
    }
    let id = match kind {
        Some(kind) => repository.peel(id, Some(kind))?.ok_or_else(bad)?,
        None => *id,
    };
    // What it was peeled to may have to be fetched, too.
    if !has_object(repository, &repository.replacement(&id)?)? {
        return Err(bad());
    }
    let (found, content) = repository.read_object(&id)?;
    match (kind, found) {
        (None, ObjectKind::Tree) => tree(repository, &id, &content, stream.buffer()),
        _ => {
            stream.buffer().extend_from_slice(&content);
            Ok(())
        }
    }
}

/// The entries of a tree, one a line.
fn tree(
    repository: &Repository,
    id: &ObjectId,
    content: &[u8],
    buffer: &mut Vec<u8>,
) -> Result<(), Failure> {
    let mut entries = TreeEntries::new(content, id.kind());
    while let Some(entry) = entries.next_of(id).map_err(Failure::fatal)? {
        let kind = entry.object_kind().map_or("commit", ObjectKind::name);
        buffer.extend_from_slice(format!("{:06o} {kind} ", entry.mode).as_bytes());
        push_hex(buffer, entry.id.as_bytes());
        buffer.push(b'\t');
        let high = repository.settings().quote_path;
        buffer.extend_from_slice(&hedgerow::display::quoted(entry.name, high));
        buffer.push(b'\n');
    }
    Ok(())
}
