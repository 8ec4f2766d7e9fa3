use super::super::Grafted;
use super::Findings;
use gix_hash::{oid, Kind};
use hedgerow_object::{CommitRef, ObjectKind, TagRef, TreeEntries};

/// Notes what the object `id` refers to; `None` if it cannot be parsed as one of its kind.
pub(super) fn collect(
    id: &oid,
    kind: ObjectKind,
    content: &[u8],
    grafts: &Grafted,
    findings: &mut Findings,
) -> Option<()> {
    match kind {
        ObjectKind::Blob => Some(()),
        ObjectKind::Tree => of_tree(content, id.kind(), findings),
        ObjectKind::Commit => of_commit(id, content, grafts, findings),
        ObjectKind::Tag => of_tag(id, content, findings),
    }
}

fn of_tree(content: &[u8], hash: Kind, findings: &mut Findings) -> Option<()> {
    let mut entries = TreeEntries::new(content, hash);
    while let Some(entry) = entries.next_entry().ok()? {
        if let Some(kind) = entry.object_kind() {
            findings.link(entry.id.to_owned(), Some(kind));
        }
    }
    Some(())
}

fn of_commit(id: &oid, content: &[u8], grafts: &Grafted, findings: &mut Findings) -> Option<()> {
    let commit = CommitRef::parse(id, content).ok()?;
    findings.link(commit.tree(), Some(ObjectKind::Tree));
    let mut link = |parent| findings.link(parent, Some(ObjectKind::Commit));
    match grafts.get(id) {
        Some(parents) => parents.iter().copied().for_each(&mut link),
        None => commit.parents().for_each(&mut link),
    }
    Some(())
}

fn of_tag(id: &oid, content: &[u8], findings: &mut Findings) -> Option<()> {
    let (target, kind) = TagRef::leading(id, content)?;
    findings.link(target, Some(kind));
    Some(())
}
