//! Commits and objects of a walk as lines of JSON, schema `hedgerow.rev-list.v1`.

use crate::display::Document;
use crate::object_query::push_hex;
use gix_hash::ObjectId;
use hedgerow_pack::ObjectKind;
use hedgerow_reach::{MissingObject, Walk, WalkedCommit};

/// The name of the schema.
const SCHEMA: &str = "hedgerow.rev-list.v1";

/// Appends a commit, with its parents as far as they were read; with the side of `A...B` it was
/// reached from, if `shows_sides`.
pub fn push_commit(buffer: &mut Vec<u8>, walk: &Walk<'_>, found: WalkedCommit, shows_sides: bool) {
    let side = if found.is_left { "left" } else { "right" };
    let parents = walk.parents(found.commit).map(|id| id.to_string());
    let mut document = begin(
        buffer,
        &walk.commits().id(found.commit),
        Some(ObjectKind::Commit),
    );
    document
        .number("commit_time_s", walk.seconds(found.commit))
        .texts("parents", parents)
        .flag("boundary", found.is_boundary);
    if shows_sides && !found.is_boundary {
        document.text("side", side);
    }
    document.end_line();
}

/// Appends an object, with a path that leads to it unless that is empty.
pub fn push_object(buffer: &mut Vec<u8>, id: &ObjectId, kind: ObjectKind, path: &[u8]) {
    let mut document = begin(buffer, id, Some(kind));
    push_path(&mut document, path);
    document.end_line();
}

/// Appends an object that is missing.
pub fn push_missing(buffer: &mut Vec<u8>, object: &MissingObject) {
    let mut document = begin(buffer, &object.id, object.kind);
    push_path(&mut document, &object.path);
    document.flag("missing", true);
    document.end_line();
}

/// Appends an object that is only named: an edge, or one that a filter omits, as `what` says.
pub fn push_marked(buffer: &mut Vec<u8>, id: &ObjectId, what: &str) {
    let mut document = begin(buffer, id, None);
    document.flag(what, true);
    document.end_line();
}

fn begin<'b>(buffer: &'b mut Vec<u8>, id: &ObjectId, kind: Option<ObjectKind>) -> Document<'b> {
    let mut digits = Vec::with_capacity(2 * id.as_slice().len());
    push_hex(&mut digits, id.as_slice());
    let mut document = Document::begin(buffer, SCHEMA);
    document.bytes("object", &digits);
    if let Some(kind) = kind {
        document.text("type", kind.name());
    }
    document
}

fn push_path(document: &mut Document<'_>, path: &[u8]) {
    if !path.is_empty() {
        document.bytes("path", path);
    }
}
