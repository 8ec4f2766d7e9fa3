//! The files that clients of dumb servers read: git-update-server-info(1).

use crate::Result;
use bstr::{BString, ByteSlice};
use hedgerow_fs::OutputFile;
use hedgerow_git::object_query::push_hex;
use hedgerow_git::repository::Repository;
use hedgerow_pack::ObjectId;
use std::path::Path;

const LIMIT_BYTES: u64 = 1 << 30;

/// Writes `info/refs` and `objects/info/packs` if they have changed.
pub fn update(repository: &Repository) -> Result<()> {
    let mut references = BString::default();
    let mut peeler = repository.peeler();
    for reference in repository.references_below("refs/".into())? {
        let Some(id) = reference.id else { continue };
        let target = peeler.peel(&id, None).ok().flatten();
        // What leads somewhere by itself is there; a damaged tag may be, too.
        let is_there = target.is_some() && repository.replacement(&id)? == id;
        if !is_there && !matches!(repository.has_object(&id), Ok(true)) {
            continue;
        }
        push_line(&mut references, &id, &reference.name, "");
        if let Some(target) = target.filter(|target| *target != id) {
            push_line(&mut references, &target, &reference.name, "^{}");
        }
    }
    let path = repository.common_dir().join("info/refs");
    replace(repository, &path, &references)?;
    let path = repository.objects().directory().join("info/packs");
    replace(repository, &path, &packs(repository, &path)?)
}

fn push_line(lines: &mut Vec<u8>, id: &ObjectId, name: &BString, suffix: &str) {
    push_hex(lines, id.as_bytes());
    lines.push(b'\t');
    lines.extend_from_slice(name);
    lines.extend_from_slice(suffix.as_bytes());
    lines.push(b'\n');
}

/// A line for each pack of the own directory. Packs that the existing file lists come first, in its
/// order.
fn packs(repository: &Repository, file: &Path) -> Result<Vec<u8>> {
    let store = repository.objects();
    let files = store
        .pack_files()
        .filter(|(number, path, _)| store.is_local_pack(*number) && hedgerow_fs::exists(path));
    let mut names: Vec<String> = files
        .filter_map(|(_, path, _)| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    let before = hedgerow_fs::read_file(file, LIMIT_BYTES)?;
    let before = before.unwrap_or_default();
    let lines = before.lines().filter_map(|line| line.strip_prefix(b"P "));
    let before: Vec<String> = lines.map(|name| name.to_str_lossy().into_owned()).collect();
    // If the list names packs that are gone, its order is ignored too.
    if before.iter().all(|name| names.contains(name)) {
        names.sort_by_key(|name| {
            before
                .iter()
                .position(|other| other == name)
                .unwrap_or(usize::MAX)
        });
    }
    let lines: String = names.iter().map(|name| format!("P {name}\n")).collect();
    Ok((lines + "\n").into_bytes())
}

fn replace(repository: &Repository, path: &Path, content: &[u8]) -> Result<()> {
    let before = hedgerow_fs::read_file(path, LIMIT_BYTES)?;
    if before.as_deref() == Some(content) {
        return Ok(());
    }
    if let Some(directory) = path.parent() {
        repository.create_shared_directories(directory)?;
    }
    let file = OutputFile::create(path)?;
    file.write_at(content, 0)?;
    repository.share_output(&file)?;
    Ok(file.commit(true)?)
}
