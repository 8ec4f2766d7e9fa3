//! The list of objects on standard input of `pack-objects`: git-pack-objects(1).

use crate::{name_hash, Edges, Error, Result, Selection, Selector, Wanted};
use hedgerow_pack::{ObjectId, ObjectStore, Reader};
use std::io::BufRead;

/// Objects to pack, and possible delta bases.
#[derive(Debug, Default)]
pub struct ObjectList {
    /// The objects to pack, in the order of the list.
    pub wanted: Vec<Wanted>,
    /// What the receiver has: the objects of edges.
    pub had: Vec<Wanted>,
}

/// Reads the list. A line is an object id, optionally with a space and its path; or a dash and the
/// id of a commit that the receiver has, before the objects that may use bases from it.
///
/// # Errors
/// [`Error::List`] for any other line, or if the list cannot be read.
pub fn read_object_list(
    mut input: impl BufRead,
    store: &ObjectStore,
    selection: &Selection,
    window: usize,
) -> Result<ObjectList> {
    let mut reader = Reader::new(store);
    let selector = Selector::new(store, selection);
    let mut edges = Edges::new(store, window);
    let mut list = ObjectList::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = input.read_until(b'\n', &mut line);
        if length.map_err(|error| Error::List(format!("cannot read the list: {error}")))? == 0 {
            list.had = edges.into_found();
            return Ok(list);
        }
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        if let Some(edge) = text.strip_prefix(b"-") {
            let (id, _) = parse(edge, store).ok_or_else(|| garbage("edge object ID", text))?;
            edges.add(&id);
            continue;
        }
        let (id, rest) = parse(text, store).ok_or_else(|| garbage("object ID", text))?;
        let path = rest.get(1..).unwrap_or_default();
        edges.look_up(path);
        if let Some(location) = selector.select(&id)? {
            list.wanted.push(Wanted {
                id,
                location,
                kind: reader.kind(&id, location)?,
                name_hash: name_hash(path),
            });
        }
    }
}

/// The ids of all objects and edges that the list `text` names.
pub(crate) fn listed_ids(text: &[u8], store: &ObjectStore) -> Vec<ObjectId> {
    let lines = text.split(|byte| *byte == b'\n');
    let parsed = lines.filter_map(|line| parse(line.strip_prefix(b"-").unwrap_or(line), store));
    parsed.map(|(id, _)| id).collect()
}

/// The id at the start of `text`, and the rest.
fn parse<'t>(text: &'t [u8], store: &ObjectStore) -> Option<(ObjectId, &'t [u8])> {
    let (hex, rest) = text.split_at_checked(store.hash_kind().len_in_hex())?;
    Some((ObjectId::from_hex(hex).ok()?, rest))
}

fn garbage(expected: &str, text: &[u8]) -> Error {
    let text = String::from_utf8_lossy(text);
    Error::List(format!("expected {expected}, got garbage:\n {text}\n"))
}
