//! Builds a member from its header and the headers before it.

use crate::content::Content;
use crate::error::{Malformed, Result, Unusable};
use crate::header::{
    padding, types, Header, DEVICE_MAJOR, DEVICE_MINOR, GID, MODE, MTIME, SIZE, UID,
};
use crate::reader::{malformed, Archive, Prelude, Refusal};
use crate::sparse::{self, MapBuilder, MapLines, SparseMap};
use crate::{device, name, numbers, Member, MemberKind};
use bstr::BString;
use hedgerow_tree::{Metadata, NodeKind};
use std::io::Read;

/// Permission bits, setuid, setgid and sticky.
const MODE_MASK: u32 = 0o7777;

impl<R: Read> Archive<R> {
    /// Builds the member of a header. Afterwards its content is ready to be read, or to be skipped
    /// if the member is refused.
    pub(crate) fn member(
        &mut self,
        header: &Header,
        prelude: Prelude,
    ) -> Result<std::result::Result<Member, Refusal>> {
        let fail = |reason| malformed(header.position, reason);
        let name = stored_name(header, &prelude);
        let kind = kind(header, &name);
        let mut left = self.begin_content(header, &prelude, &name, kind.is_none())?;
        let is_file = matches!(kind, Some(MemberKind::Node(NodeKind::File)));
        let sparse = if is_file {
            self.sparse_map(header, &prelude, &mut left)?
        } else {
            None
        };
        let map = sparse.clone().unwrap_or_else(|| {
            let has_content = is_file && left.stored > 0;
            SparseMap::solid(if has_content { left.stored } else { 0 })
        });
        if map.stored_bytes() > left.stored {
            return Err(fail(Malformed::SparseMap));
        }
        let size_bytes = map.size_bytes();
        let part = format!("the content of '{}'", bstr::BStr::new(&name));
        self.content = Content::new(map, left.stored.saturating_add(left.padding), part);

        let Some(kind) = kind else {
            return Ok(Err((name.into(), Unusable::Type(header.kind()))));
        };
        let strip = self.options.strip_leading_slashes;
        let mut member = match describe(header, prelude, &name, kind, strip) {
            Ok(member) => member,
            Err(reason) => return Ok(Err((BString::from(name), reason))),
        };
        if is_file {
            member.metadata.size_bytes = size_bytes;
        }
        member.sparse = sparse;
        Ok(Ok(member))
    }

    /// The number of bytes in the archive that belong to the member after its header.
    fn begin_content(
        &mut self,
        header: &Header,
        prelude: &Prelude,
        name: &[u8],
        is_unknown: bool,
    ) -> Result<Stored> {
        let size = numbers::parse_unsigned(header.field(SIZE));
        let size = prelude
            .extended
            .size
            .or(size)
            .filter(|size| *size <= i64::MAX as u64);
        let size = size.ok_or(malformed(header.position, Malformed::Number("size")))?;
        // Among the types other than files, only GNU tar's directory lists and types that POSIX has
        // not defined have content. Links and directories may have a size field that is not 0
        // nevertheless.
        let has_content = match header.kind() {
            types::FILE | types::OLD_FILE | types::CONTIGUOUS => !name.ends_with(b"/") || size > 0,
            types::GNU_SPARSE | types::GNU_DUMP_DIRECTORY => true,
            _ => is_unknown,
        };
        let stored = if has_content { size } else { 0 };
        Ok(Stored {
            stored,
            padding: padding(stored),
        })
    }

    /// Reads the map of a sparse file in any of its encodings; `None` if the file is not sparse.
    fn sparse_map(
        &mut self,
        header: &Header,
        prelude: &Prelude,
        left: &mut Stored,
    ) -> Result<Option<SparseMap>> {
        let fail = |reason| malformed(header.position, reason);
        let mut map = MapBuilder::new(self.options.limits.sparse_segments);
        let records = &prelude.extended.sparse;
        let part = "the map of a sparse file";
        let size = if header.kind() == types::GNU_SPARSE {
            let (size, mut goes_on) = sparse::old_header(header, &mut map).map_err(fail)?;
            while goes_on {
                let block = self.input.block_of(part)?;
                goes_on = sparse::old_extension(&block, &mut map).map_err(fail)?;
            }
            size
        } else if records.has_map_in_content().map_err(fail)? {
            let mut lines = MapLines::new();
            loop {
                left.take_block().ok_or(fail(Malformed::SparseMap))?;
                let block = self.input.block_of(part)?;
                if lines.feed(&block, &mut map).map_err(fail)? {
                    break;
                }
            }
            let size = records.real_size.or(records.size);
            size.ok_or(fail(Malformed::SparseMap))?
        } else if records.has_map_in_records() {
            records.segments(&mut map).map_err(fail)?;
            let size = records.size.or(records.real_size);
            size.ok_or(fail(Malformed::SparseMap))?
        } else {
            return Ok(None);
        };
        map.finish(size).map(Some).map_err(fail)
    }
}

/// Bytes of the archive that belong to a member: content and padding.
struct Stored {
    stored: u64,
    padding: u64,
}

impl Stored {
    /// Removes a block from the start of the content; `None` if less is left.
    fn take_block(&mut self) -> Option<()> {
        let block = crate::header::BLOCK as u64;
        self.stored = self.stored.checked_sub(block)?;
        Some(())
    }
}

/// The name in the archive. That of a sparse file is in a record, because the name in its header is
/// a substitute for programs that do not know sparse files.
pub(crate) fn stored_name(header: &Header, prelude: &Prelude) -> Vec<u8> {
    let extended = &prelude.extended;
    let names = [&extended.sparse.name, &extended.path, &prelude.long_name];
    let name = names.into_iter().flatten().next();
    name.cloned().unwrap_or_else(|| header.name())
}

/// The kind of the member; `None` if the type is unknown.
fn kind(header: &Header, name: &[u8]) -> Option<MemberKind> {
    let node = match header.kind() {
        types::HARD_LINK => return Some(MemberKind::HardLink),
        // Before POSIX, a directory was a file with a trailing slash.
        types::FILE | types::OLD_FILE | types::CONTIGUOUS if name.ends_with(b"/") => {
            NodeKind::Directory
        }
        types::FILE | types::OLD_FILE | types::CONTIGUOUS | types::GNU_SPARSE => NodeKind::File,
        types::SYMLINK => NodeKind::Symlink,
        types::CHARACTER_DEVICE => NodeKind::CharacterDevice,
        types::BLOCK_DEVICE => NodeKind::BlockDevice,
        types::DIRECTORY | types::GNU_DUMP_DIRECTORY => NodeKind::Directory,
        types::FIFO => NodeKind::Fifo,
        _ => return None,
    };
    Some(MemberKind::Node(node))
}

/// The member without the size of its content.
fn describe(
    header: &Header,
    prelude: Prelude,
    name: &[u8],
    kind: MemberKind,
    strip: bool,
) -> std::result::Result<Member, Unusable> {
    let extended = prelude.extended;
    if extended.bad_xattr {
        return Err(Unusable::Xattr);
    }
    let mut member = Member::new(name::normalize(name, strip)?, kind);
    if member.path.is_empty() && kind != MemberKind::Node(NodeKind::Directory) {
        return Err(Unusable::Root);
    }
    let size = extended
        .size
        .or(numbers::parse_unsigned(header.field(SIZE)));
    // Before POSIX, directories were written in this form with any size, so this applies only to
    // the file type of POSIX.
    let is_file = header.kind() == types::FILE;
    if is_file && name.ends_with(b"/") && size.is_some_and(|size| size > 0) {
        return Err(Unusable::DirectoryWithContent);
    }
    let (mtime_s, mtime_ns) = match extended.mtime {
        Some(time) => time,
        None => (number(header, MTIME, "time")?, 0),
    };
    member.metadata = Metadata {
        mode: number(header, MODE, "mode")? as u32 & MODE_MASK,
        uid: id(extended.uid, header, UID, "owner")?,
        gid: id(extended.gid, header, GID, "group")?,
        mtime_s,
        mtime_ns,
        ..Metadata::default()
    };
    let target = extended.link_path.or(prelude.long_link);
    let target = target.unwrap_or_else(|| header.link_name().to_vec());
    match kind {
        MemberKind::HardLink => {
            let target = name::normalize(&target, strip).ok();
            let target = target.filter(|target| !target.is_empty());
            member.link_target = target.ok_or(Unusable::HardLinkTarget)?;
        }
        MemberKind::Node(NodeKind::Symlink) => {
            name::check_symlink_target(&target)?;
            member.metadata.size_bytes = target.len() as u64;
            member.link_target = target;
        }
        MemberKind::Node(NodeKind::CharacterDevice | NodeKind::BlockDevice) => {
            let part = |field| {
                let number = numbers::parse(header.field(field));
                let number = number.and_then(|number| u32::try_from(number).ok());
                number.ok_or(Unusable::Number("device number"))
            };
            member.metadata.rdev = device::device(part(DEVICE_MAJOR)?, part(DEVICE_MINOR)?);
        }
        MemberKind::Node(_) => {}
    }
    member.xattrs = extended.xattrs;
    member.acl_access = extended.acl_access;
    member.acl_default = extended.acl_default;
    Ok(member)
}

fn number(
    header: &Header,
    field: std::ops::Range<usize>,
    what: &'static str,
) -> std::result::Result<i64, Unusable> {
    numbers::parse(header.field(field)).ok_or(Unusable::Number(what))
}

/// An owner or group: from a record if there is one, else from the header.
fn id(
    record: Option<u64>,
    header: &Header,
    field: std::ops::Range<usize>,
    what: &'static str,
) -> std::result::Result<u32, Unusable> {
    let number = match record {
        Some(number) => Some(number),
        None => numbers::parse_unsigned(header.field(field)),
    };
    let id = number.and_then(|number| u32::try_from(number).ok());
    id.ok_or(Unusable::Number(what))
}
