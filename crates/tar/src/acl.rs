//! Access control lists: the text in the records `SCHILY.acl.access` and `SCHILY.acl.default`, and the
//! values of the attributes `system.posix_acl_access` and `system.posix_acl_default`.
//!
//! The text is that of acl(5): entries with commas or line ends between them. star adds a fourth
//! field, the number of the user or group. The values are those of Linux, in
//! `include/uapi/linux/posix_acl_xattr.h`: the version in four bytes, then eight bytes for each entry
//! (tag, permissions, number), all little-endian.

use std::collections::HashMap;

/// The attribute that holds the access control list of a file.
pub(crate) const ACCESS: &[u8] = b"system.posix_acl_access";
/// The attribute of a directory that holds the list which new files in it get.
pub(crate) const DEFAULT: &[u8] = b"system.posix_acl_default";

const VERSION: u32 = 2;
const HEADER_BYTES: usize = 4;
const ENTRY_BYTES: usize = 8;
/// The number in entries that are about nobody by name.
const NO_ID: u32 = u32::MAX;

const OWNER: u16 = 0x01;
const USER: u16 = 0x02;
const OWNING_GROUP: u16 = 0x04;
const GROUP: u16 = 0x08;
const MASK: u16 = 0x10;
const OTHER: u16 = 0x20;

/// An entry. Their order is that in which Linux wants them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    tag: u16,
    id: u32,
    permissions: u16,
}

/// The text of a list; `None` if it is none that Linux would have made.
pub(crate) fn to_text(value: &[u8]) -> Option<Vec<u8>> {
    let (version, rest) = value.split_first_chunk::<HEADER_BYTES>()?;
    let (entries, rest) = rest.as_chunks::<ENTRY_BYTES>();
    if u32::from_le_bytes(*version) != VERSION || !rest.is_empty() {
        return None;
    }
    let mut text = Vec::new();
    for &[a, b, c, d, rest @ ..] in entries {
        let (tag, permissions) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        let who = match tag {
            OWNER | USER => "user",
            OWNING_GROUP | GROUP => "group",
            MASK => "mask",
            OTHER => "other",
            _ => return None,
        };
        if !text.is_empty() {
            text.push(b',');
        }
        text.extend_from_slice(who.as_bytes());
        text.push(b':');
        if matches!(tag, USER | GROUP) {
            text.extend_from_slice(u32::from_le_bytes(rest).to_string().as_bytes());
        }
        text.push(b':');
        for (bit, letter) in [(4, b'r'), (2, b'w'), (1, b'x')] {
            text.push(if permissions & bit != 0 { letter } else { b'-' });
        }
    }
    // What does not come back as it was cannot be a text.
    let back = from_text(&text, &mut Names::default(), true);
    (back == Some(Some(value.to_vec()))).then_some(text)
}

/// The value of a list. `Some(None)` if the permission bits say the same, unless it `is_default`;
/// `None` if the text is wrong, or names somebody whom this system does not know.
pub(crate) fn from_text(
    text: &[u8],
    names: &mut Names,
    is_default: bool,
) -> Option<Option<Vec<u8>>> {
    let mut entries = Vec::new();
    for line in text.split(|byte| matches!(byte, b',' | b'\n')) {
        let line = line.split(|byte| *byte == b'#').next()?.trim_ascii();
        if !line.is_empty() {
            entries.push(entry(line, names)?);
        }
    }
    entries.sort_unstable();
    let count = |tag| entries.iter().filter(|entry| entry.tag == tag).count();
    let is_whole = [OWNER, OWNING_GROUP, OTHER].map(count) == [1, 1, 1] && count(MASK) <= 1;
    let names_somebody = count(USER) + count(GROUP) > 0;
    let mut pairs = entries.windows(2);
    let is_double = pairs.any(|pair| (pair[0].tag, pair[0].id) == (pair[1].tag, pair[1].id));
    if !is_whole || is_double || names_somebody && count(MASK) == 0 {
        return None;
    }
    if entries.len() == 3 && !is_default {
        return Some(None);
    }
    let mut value = VERSION.to_le_bytes().to_vec();
    for entry in entries {
        value.extend_from_slice(&entry.tag.to_le_bytes());
        value.extend_from_slice(&entry.permissions.to_le_bytes());
        value.extend_from_slice(&entry.id.to_le_bytes());
    }
    Some(Some(value))
}

fn entry(line: &[u8], names: &mut Names) -> Option<Entry> {
    let fields: Vec<&[u8]> = line
        .split(|byte| *byte == b':')
        .map(<[u8]>::trim_ascii)
        .collect();
    let (who, name, permissions, number) = match fields[..] {
        [who, permissions] => (who, &b""[..], permissions, None),
        [who, name, permissions] => (who, name, permissions, None),
        [who, name, permissions, number] => (who, name, permissions, Some(number)),
        _ => return None,
    };
    let (tag, id) = match (who, name) {
        (b"user" | b"u", b"") => (OWNER, NO_ID),
        (b"user" | b"u", name) => (USER, names.id(Kind::User, name, number)?),
        (b"group" | b"g", b"") => (OWNING_GROUP, NO_ID),
        (b"group" | b"g", name) => (GROUP, names.id(Kind::Group, name, number)?),
        (b"mask" | b"m", b"") => (MASK, NO_ID),
        (b"other" | b"o", b"") => (OTHER, NO_ID),
        _ => return None,
    };
    let bits = permissions.iter().map(|letter| match letter {
        b'r' => Some(4),
        b'w' => Some(2),
        b'x' => Some(1),
        b'-' => Some(0),
        _ => None,
    });
    Some(Entry {
        tag,
        id,
        permissions: bits
            .collect::<Option<Vec<u16>>>()?
            .iter()
            .fold(0, |all, bit| all | bit),
    })
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    User,
    Group,
}

/// The users and groups that were looked up, by name.
#[derive(Default)]
pub(crate) struct Names(HashMap<(Kind, Vec<u8>), Option<u32>>);

impl Names {
    /// The number of a user or group: the one that the entry adds, or its name if that is a number, or
    /// else what this system knows.
    fn id(&mut self, kind: Kind, name: &[u8], number: Option<&[u8]>) -> Option<u32> {
        let number_of = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<u32>().ok();
        if let Some(number) = number.or(Some(name)).and_then(number_of) {
            return Some(number);
        }
        *self
            .0
            .entry((kind, name.to_vec()))
            .or_insert_with(|| match kind {
                Kind::User => hedgerow_fs::account_by_name(name).map(|it| it.uid),
                Kind::Group => hedgerow_fs::group_by_name(name).map(|it| it.gid),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(entries: &[(u16, u16, u32)]) -> Vec<u8> {
        let mut value = VERSION.to_le_bytes().to_vec();
        for (tag, permissions, id) in entries {
            value.extend_from_slice(&tag.to_le_bytes());
            value.extend_from_slice(&permissions.to_le_bytes());
            value.extend_from_slice(&id.to_le_bytes());
        }
        value
    }

    fn read(text: &str, is_default: bool) -> Option<Option<Vec<u8>>> {
        from_text(text.as_bytes(), &mut Names::default(), is_default)
    }

    #[test]
    fn a_list_is_a_text_and_back() {
        let list = value(&[
            (OWNER, 6, NO_ID),
            (USER, 7, 1234),
            (OWNING_GROUP, 4, NO_ID),
            (GROUP, 0, 50),
            (MASK, 7, NO_ID),
            (OTHER, 4, NO_ID),
        ]);
        let text = "user::rw-,user:1234:rwx,group::r--,group:50:---,mask::rwx,other::r--";
        assert_eq!(to_text(&list).unwrap(), text.as_bytes());
        assert_eq!(read(text, false), Some(Some(list.clone())));
        // As GNU tar and as star write it, and in any order.
        let lines = "other::r--\nuser::rw-\nuser:root:rwx\t#effective:rwx\nmask::rwx\ngroup::r--\n";
        let stars = "user::rw-,user:nobody-here:rwx:0,group::r--,mask:rwx,other:r--";
        assert_eq!(read(lines, false), read(stars, false));
        assert!(read(stars, false).unwrap().is_some());
    }

    #[test]
    fn the_permission_bits_say_what_the_shortest_list_says() {
        let text = "user::rwx,group::r-x,other::---";
        assert_eq!(read(text, false), Some(None));
        let list = value(&[
            (OWNER, 7, NO_ID),
            (OWNING_GROUP, 5, NO_ID),
            (OTHER, 0, NO_ID),
        ]);
        assert_eq!(read(text, true), Some(Some(list)));
    }

    #[test]
    fn what_is_no_list_is_none() {
        for text in [
            "",
            "user::rwx",
            "user::rwx,group::r-x,other::---,other::r--",
            "user::rwx,user:5:r--,group::r-x,other::---",
            "user::rwx,user:5:r--,user:5:r--,group::r-x,mask::rwx,other::---",
            "user::rwx,user:no-such-user:r--,group::r-x,mask::rwx,other::---",
            "user::rwq,group::r-x,other::---",
            "users::rwx,group::r-x,other::---",
            "user:::::rwx,group::r-x,other::---",
        ] {
            assert_eq!(read(text, true), None, "{text}");
        }
        for list in [
            &b""[..],
            b"\x01\0\0\0",
            b"\x02\0\0\0\x01\0",
            &value(&[
                (OTHER, 0, NO_ID),
                (OWNER, 7, NO_ID),
                (OWNING_GROUP, 5, NO_ID),
            ]),
            &value(&[
                (OWNER, 15, NO_ID),
                (OWNING_GROUP, 5, NO_ID),
                (OTHER, 0, NO_ID),
            ]),
            &value(&[(OWNER, 7, 3), (OWNING_GROUP, 5, NO_ID), (OTHER, 0, NO_ID)]),
        ] {
            assert_eq!(to_text(list), None, "{list:?}");
        }
    }
}
