//! Encodes the header of a member: ustar if it is sufficient, else with an extended header before
//! it (POSIX.1-2017, utility `pax`). The bytes depend on the member alone.

use crate::error::Unusable;
use crate::header::{
    checksums, types, Block, BLOCK, CHECKSUM, DEVICE_MAJOR, DEVICE_MINOR, GID, LINK_NAME, MAGIC,
    MODE, MTIME, NAME, PREFIX, SIZE, TYPE, UID, USTAR,
};
use crate::numbers::write_octal;
use crate::sparse::{map_lines, SparseMap};
use crate::{device, name, pax, xattr, Member, MemberKind};
use hedgerow_tree::NodeKind;
use std::collections::BTreeMap;

/// Records sorted by keyword, so that their order is always the same.
type Records = BTreeMap<Vec<u8>, Vec<u8>>;

/// Encodes everything before the content of a member, including the map of a sparse file. `map` is
/// given if the holes of the file are left out; `content_bytes` is the size of the content in the
/// archive.
pub(crate) fn encode(
    member: &Member,
    map: Option<&SparseMap>,
    content_bytes: u64,
    dot_names: bool,
) -> Result<Vec<u8>, Unusable> {
    name::check(&member.path)?;
    let mut records = Records::new();
    let dotted = Dotted(dot_names);
    let name = archive_name(member, dotted);
    let lines = map.map(map_lines).unwrap_or_default();
    let mut block = match map {
        None => named(&name, &mut records),
        Some(map) => sparse(&name, map, &mut records),
    };
    block[TYPE] = kind(member.kind)?;
    let stored = content_bytes.saturating_add(lines.len() as u64);
    number(&mut block, SIZE, stored, "size", &mut records);
    let metadata = &member.metadata;
    number(
        &mut block,
        MODE,
        (metadata.mode & 0o7777).into(),
        "",
        &mut records,
    );
    number(&mut block, UID, metadata.uid.into(), "uid", &mut records);
    number(&mut block, GID, metadata.gid.into(), "gid", &mut records);
    time(
        &mut block,
        metadata.mtime_s,
        metadata.mtime_ns,
        &mut records,
    )?;
    link(&mut block, member, dotted, &mut records)?;
    devices(&mut block, member)?;
    attributes(member, &mut records)?;

    let mut bytes = Vec::new();
    if !records.is_empty() {
        extended(&mut bytes, &name, records);
    }
    bytes.extend_from_slice(&summed(block));
    bytes.extend_from_slice(&lines);
    Ok(bytes)
}

/// Whether names of members start with `./`.
#[derive(Clone, Copy)]
struct Dotted(bool);

impl Dotted {
    fn name(self, path: &[u8]) -> Vec<u8> {
        match (path, self.0) {
            (b"", _) => b".".to_vec(),
            (path, true) => [b"./", path].concat(),
            (path, false) => path.to_vec(),
        }
    }
}

/// The path, with a trailing slash if it is that of a directory.
fn archive_name(member: &Member, dotted: Dotted) -> Vec<u8> {
    let mut name = dotted.name(&member.path);
    if member.kind == MemberKind::Node(NodeKind::Directory) {
        name.push(b'/');
    }
    name
}

fn kind(kind: MemberKind) -> Result<u8, Unusable> {
    let node = match kind {
        MemberKind::HardLink => return Ok(types::HARD_LINK),
        MemberKind::Node(node) => node,
    };
    match node {
        NodeKind::File => Ok(types::FILE),
        NodeKind::Directory => Ok(types::DIRECTORY),
        NodeKind::Symlink => Ok(types::SYMLINK),
        NodeKind::Fifo => Ok(types::FIFO),
        NodeKind::CharacterDevice => Ok(types::CHARACTER_DEVICE),
        NodeKind::BlockDevice => Ok(types::BLOCK_DEVICE),
        NodeKind::Socket => Err(Unusable::Socket),
    }
}

/// A header with the name of the member.
fn named(name: &[u8], records: &mut Records) -> Block {
    let mut block = [0; BLOCK];
    block[MAGIC].copy_from_slice(USTAR);
    match split(name) {
        Some((prefix, name)) => {
            put(&mut block[PREFIX], prefix);
            put(&mut block[NAME], name);
        }
        None => {
            put(&mut block[NAME], clipped(name));
            text_record(b"path", name, records);
        }
    }
    block
}

/// A header of a sparse file. The real name is in a record, so that programs that do not know
/// sparse files unpack the raw content under another name (GNU tar manual, "PAX Format, Version
/// 1.0").
fn sparse(path: &[u8], map: &SparseMap, records: &mut Records) -> Block {
    let mut block = [0; BLOCK];
    block[MAGIC].copy_from_slice(USTAR);
    let name = within(path, b"GNUSparseFile.0");
    put(&mut block[NAME], clipped(&name));
    for (keyword, value) in [
        ("major", b"1".to_vec()),
        ("minor", b"0".to_vec()),
        ("realsize", map.size_bytes().to_string().into_bytes()),
    ] {
        records.insert(format!("GNU.sparse.{keyword}").into_bytes(), value);
    }
    text_record(b"GNU.sparse.name", path, records);
    block
}

/// Splits a name into prefix and name, if it fits into these fields.
fn split(name: &[u8]) -> Option<(&[u8], &[u8])> {
    if name.len() <= NAME.len() {
        return Some((b"", name));
    }
    // A slash at the end of the name cannot separate the fields.
    let dividing = &name[..(PREFIX.len() + 1).min(name.len() - 1)];
    let slash = dividing.iter().rposition(|byte| *byte == b'/')?;
    let rest = &name[slash + 1..];
    (slash > 0 && rest.len() <= NAME.len()).then_some((&name[..slash], rest))
}

/// The start of a name that fits into the field, without trailing slashes that would make it look
/// like a directory.
fn clipped(name: &[u8]) -> &[u8] {
    let mut clipped = &name[..name.len().min(NAME.len())];
    while clipped.len() < name.len() && clipped.ends_with(b"/") {
        clipped = &clipped[..clipped.len() - 1];
    }
    clipped
}

/// Moves a name into the subdirectory `directory` of its parent.
fn within(name: &[u8], directory: &[u8]) -> Vec<u8> {
    let name = name.strip_suffix(b"/").unwrap_or(name);
    let slash = name.iter().rposition(|byte| *byte == b'/');
    let (parent, base) = name.split_at(slash.map_or(0, |slash| slash + 1));
    [parent, directory, b"/", base].concat()
}

fn put(field: &mut [u8], value: &[u8]) {
    field[..value.len()].copy_from_slice(value);
}

/// Adds a record with a name. Names are UTF-8 unless another record declares them to be binary.
fn text_record(keyword: &[u8], value: &[u8], records: &mut Records) {
    if std::str::from_utf8(value).is_err() {
        records.insert(b"hdrcharset".to_vec(), b"BINARY".to_vec());
    }
    records.insert(keyword.to_vec(), value.to_vec());
}

/// Writes a number into its field, or into a record if it has too many digits.
fn number(
    block: &mut Block,
    field: std::ops::Range<usize>,
    number: u64,
    keyword: &str,
    records: &mut Records,
) {
    let field = &mut block[field];
    if !write_octal(field, number) {
        let _ = write_octal(field, 0);
        records.insert(keyword.into(), number.to_string().into());
    }
}

fn time(block: &mut Block, s: i64, ns: u32, records: &mut Records) -> Result<(), Unusable> {
    if ns >= 1_000_000_000 {
        return Err(Unusable::Number("time"));
    }
    let field = &mut block[MTIME];
    let fits = u64::try_from(s).is_ok_and(|s| write_octal(field, s));
    if !fits {
        let _ = write_octal(field, 0);
    }
    if !fits || ns != 0 {
        records.insert(b"mtime".to_vec(), pax::format_time(s, ns).into());
    }
    Ok(())
}

fn link(
    block: &mut Block,
    member: &Member,
    dotted: Dotted,
    records: &mut Records,
) -> Result<(), Unusable> {
    let mut target = member.link_target.clone();
    match member.kind {
        MemberKind::HardLink => {
            name::check(&target).map_err(|_| Unusable::HardLinkTarget)?;
            if target.is_empty() {
                return Err(Unusable::HardLinkTarget);
            }
            target = dotted.name(&target);
        }
        MemberKind::Node(NodeKind::Symlink) => name::check_symlink_target(&target)?,
        MemberKind::Node(_) => return Ok(()),
    }
    if target.len() > LINK_NAME.len() {
        text_record(b"linkpath", &target, records);
    }
    put(
        &mut block[LINK_NAME],
        &target[..target.len().min(LINK_NAME.len())],
    );
    Ok(())
}

fn devices(block: &mut Block, member: &Member) -> Result<(), Unusable> {
    let is_device = matches!(
        member.kind,
        MemberKind::Node(NodeKind::CharacterDevice | NodeKind::BlockDevice)
    );
    let (major, minor) = if is_device {
        device::device_parts(member.metadata.rdev)
    } else {
        (0, 0)
    };
    let fit = write_octal(&mut block[DEVICE_MAJOR], major.into())
        && write_octal(&mut block[DEVICE_MINOR], minor.into());
    // POSIX defines no record for device numbers.
    fit.then_some(()).ok_or(Unusable::Number("device number"))
}

fn attributes(member: &Member, records: &mut Records) -> Result<(), Unusable> {
    for (name, value) in &member.xattrs {
        if name.is_empty() || name.contains(&0) {
            return Err(Unusable::Xattr);
        }
        let keyword = [b"SCHILY.xattr.", &xattr::encode_schily(name)[..]].concat();
        records.insert(keyword, value.clone());
    }
    for (keyword, list) in [
        ("SCHILY.acl.access", &member.acl_access),
        ("SCHILY.acl.default", &member.acl_default),
    ] {
        if let Some(list) = list {
            records.insert(keyword.into(), list.clone());
        }
    }
    Ok(())
}

/// Appends an extended header. Its own metadata is constant: it has no owner and no time.
fn extended(bytes: &mut Vec<u8>, name: &[u8], records: Records) {
    let mut payload = Vec::new();
    for (keyword, value) in records {
        pax::push_record(&mut payload, &keyword, &value);
    }
    let mut block = [0; BLOCK];
    block[MAGIC].copy_from_slice(USTAR);
    put(&mut block[NAME], clipped(&within(name, b"PaxHeaders")));
    block[TYPE] = types::EXTENDED;
    for (field, value) in [
        (SIZE, payload.len() as u64),
        (MODE, 0o644),
        (UID, 0),
        (GID, 0),
        (MTIME, 0),
        (DEVICE_MAJOR, 0),
        (DEVICE_MINOR, 0),
    ] {
        // The size always fits: records of 8 GiB do not fit into memory.
        let _ = write_octal(&mut block[field], value);
    }
    bytes.extend_from_slice(&summed(block));
    bytes.extend_from_slice(&payload);
    bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
}

/// Sets the checksum: six digits, a NUL and a blank, as all programs write it.
fn summed(mut block: Block) -> Block {
    let (sum, _) = checksums(&block);
    let (digits, blank) = block[CHECKSUM].split_at_mut(CHECKSUM.len() - 1);
    let _ = write_octal(digits, sum.into());
    blank.fill(b' ');
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::text;

    fn file(path: &[u8]) -> Member {
        Member::new(path, MemberKind::Node(NodeKind::File))
    }

    fn blocks(member: &Member) -> usize {
        encode(member, None, 0, false).unwrap().len() / BLOCK
    }

    #[test]
    fn what_ustar_can_say_takes_one_block() {
        let mut member = file(&[&[b'p'; 155][..], b"/", &[b'n'; 100]].concat());
        // Trees that were read have no component of this length, but it fits into the prefix.
        member.metadata.uid = 0o7777777;
        member.metadata.mtime_s = 0o77777777777;
        member.metadata.mode = 0o7777;
        assert_eq!(blocks(&member), 1);
        let bytes = encode(&member, None, 0o77777777777, false).unwrap();
        assert_eq!(bytes.len(), BLOCK);
        assert_eq!(text(&bytes[PREFIX]), [b'p'; 155]);
        assert_eq!(text(&bytes[NAME]), [b'n'; 100]);
        assert_eq!(&bytes[MODE], b"0007777\0");
        assert_eq!(&bytes[SIZE], b"77777777777\0");
    }

    #[test]
    fn what_ustar_cannot_say_has_records() {
        let changes: [fn(&mut Member); 7] = [
            |member| member.path = vec![b'n'; 101],
            |member| member.path = [&[b'p'; 156][..], b"/a"].concat(),
            |member| member.metadata.uid = 0o10000000,
            |member| member.metadata.mtime_s = -1,
            |member| member.metadata.mtime_s = 0o100000000000,
            |member| member.metadata.mtime_ns = 1,
            |member| drop(member.xattrs.insert(b"user.a".to_vec(), Vec::new())),
        ];
        for change in changes {
            let mut member = file(b"a");
            change(&mut member);
            assert_eq!(blocks(&member), 3);
        }
        assert_eq!(
            encode(&file(b"a"), None, 1 << 33, false).unwrap().len(),
            3 * BLOCK
        );
    }

    #[test]
    fn what_no_archive_can_say_is_refused() {
        let refusal = |change: fn(&mut Member)| {
            let mut member = file(b"a");
            change(&mut member);
            encode(&member, None, 0, false).unwrap_err()
        };
        assert_eq!(
            refusal(|member| member.path = b"../a".to_vec()),
            Unusable::Traversal
        );
        assert_eq!(
            refusal(|member| member.path = b"a/".to_vec()),
            Unusable::Empty
        );
        let kind = |member: &mut Member| member.kind = MemberKind::Node(NodeKind::Socket);
        assert_eq!(refusal(kind), Unusable::Socket);
        let kind = |member: &mut Member| member.kind = MemberKind::HardLink;
        assert_eq!(refusal(kind), Unusable::HardLinkTarget);
        let time = |member: &mut Member| member.metadata.mtime_ns = 1_000_000_000;
        assert_eq!(refusal(time), Unusable::Number("time"));
        let device = |member: &mut Member| {
            member.kind = MemberKind::Node(NodeKind::BlockDevice);
            member.metadata.rdev = device::device(0o10000000, 0);
        };
        assert_eq!(refusal(device), Unusable::Number("device number"));
        let xattr = |member: &mut Member| drop(member.xattrs.insert(b"".to_vec(), Vec::new()));
        assert_eq!(refusal(xattr), Unusable::Xattr);
    }

    #[test]
    fn names_are_clipped_to_something_of_the_same_kind() {
        assert_eq!(clipped(b"a/"), b"a/");
        let name = [&[b'n'; 99][..], b"/b"].concat();
        assert_eq!(clipped(&name), [b'n'; 99]);
        assert_eq!(within(b"a/b/", b"P"), b"a/P/b");
        assert_eq!(within(b"a", b"P"), b"P/a");
    }
}
