use super::{Image, Inode};
use crate::format::{array, compat, incompat, NAME_BYTES, XATTR_HEADER_BYTES, XATTR_PREFIXES};
use hedgerow_image::{Damage, Part, Result};
use hedgerow_numbers::counted;
use hedgerow_tree::Xattr;

/// Size of the head of an attribute in bytes.
const HEAD_BYTES: usize = 4;
/// Marks the number of a long prefix.
const LONG_PREFIX: u8 = 0x80;

impl Image {
    /// The extended attributes of an inode, in the order of the image.
    ///
    /// # Errors
    /// They cannot be read, or make no sense.
    pub fn xattrs(&self, inode: &Inode) -> Result<Vec<Xattr>> {
        let Ok(length) = usize::try_from(inode.xattr_bytes) else {
            return Err(inode.damage("extended attributes without end").into());
        };
        if length == 0 {
            return Ok(Vec::new());
        }
        let start = inode.end() - inode.xattr_bytes;
        let mut bytes = vec![0; length];
        self.read_metadata(Part::XattrTable, start, &mut bytes)?;
        let shared = usize::from(array::<1>(&bytes, 4)[0]);
        let own = XATTR_HEADER_BYTES + 4 * shared;
        if own > length {
            let what = format!(
                "{} in {}",
                counted(shared as u64, "shared attribute"),
                counted(length as u64, "byte")
            );
            return Err(Damage::new(Part::XattrTable, start, what).into());
        }
        let mut xattrs = Vec::new();
        for number in 0..shared {
            let at = array(&bytes, XATTR_HEADER_BYTES + 4 * number);
            xattrs.push(self.shared_xattr(u32::from_le_bytes(at))?);
        }
        let mut at = own;
        // Less than a head is padding, and so are heads of zeros, with which mkfs.erofs fills the room
        // that was asked for.
        while at + HEAD_BYTES <= length {
            let rest = bytes.get(at..).unwrap_or_default();
            if rest.starts_with(&[0; HEAD_BYTES]) {
                at += HEAD_BYTES;
                continue;
            }
            let (xattr, taken) = self.parse_xattr(rest, start + at as u64)?;
            xattrs.push(xattr);
            at += taken;
        }
        Ok(xattrs)
    }

    fn shared_xattr(&self, number: u32) -> Result<Xattr> {
        let start = u64::from(self.superblock.xattrs) << self.superblock.block_bits;
        let position = start + u64::from(number) * 4;
        let head = self.metadata_array::<HEAD_BYTES>(Part::XattrTable, position)?;
        let mut bytes = vec![0; taken(&head)];
        // The padding behind the last one may be missing.
        let there = self.bytes.length().saturating_sub(position);
        bytes.truncate(usize::try_from(there).unwrap_or(usize::MAX));
        self.read_metadata(Part::XattrTable, position, &mut bytes)?;
        Ok(self.parse_xattr(&bytes, position)?.0)
    }

    /// The long prefixes of names, whole. They are in the packed inode, if there is one, unless the
    /// superblock says otherwise: each with its length in two bytes, the number of the short prefix
    /// with which it begins, and the rest; all begin at multiples of four bytes.
    ///
    /// # Errors
    /// They cannot be read, or make no sense.
    pub(crate) fn long_prefixes(&self) -> Result<&[Vec<u8>]> {
        if let Some(known) = self.prefixes.get() {
            return Ok(known);
        }
        let superblock = &self.superblock;
        let has_packed = superblock.has(incompat::FRAGMENTS) && superblock.packed != 0;
        let is_packed = has_packed && superblock.compat & compat::PLAIN_XATTR_PREFIXES == 0;
        let read = |place: u64, bytes: &mut [u8]| {
            if is_packed {
                self.read_packed(place, bytes)
            } else {
                self.read_metadata(Part::XattrTable, place, bytes)
            }
        };
        let mut place = u64::from(superblock.xattr_prefix_start) * 4;
        let mut prefixes = Vec::new();
        for _ in 0..superblock.xattr_prefixes {
            place = place.next_multiple_of(4);
            let start = place;
            let damage = |what: &str| Damage::new(Part::XattrTable, start, what);
            let mut length = [0; 2];
            read(place, &mut length)?;
            let mut prefix = vec![0; u16::from_le_bytes(length).into()];
            if prefix.is_empty() || prefix.len() > 1 + NAME_BYTES {
                return Err(damage("a long prefix of an impossible length").into());
            }
            read(place + 2, &mut prefix)?;
            place += 2 + prefix.len() as u64;
            let number = prefix.remove(0);
            let short = XATTR_PREFIXES.iter().find(|(it, _)| *it == number);
            let (_, short) = short.ok_or_else(|| damage("a long prefix of an unknown kind"))?;
            prefixes.push([short, prefix.as_slice()].concat());
        }
        Ok(self.prefixes.get_or_init(|| prefixes))
    }

    /// The prefix with this number.
    fn prefix(&self, number: u8, position: u64) -> Result<&[u8]> {
        let found = if number & LONG_PREFIX != 0 {
            let long = self.long_prefixes()?.get(usize::from(number ^ LONG_PREFIX));
            long.map(Vec::as_slice)
        } else {
            let mut short = XATTR_PREFIXES.iter();
            short
                .find(|(it, _)| *it == number)
                .map(|(_, prefix)| *prefix)
        };
        let what = "an attribute with an unknown prefix";
        Ok(found.ok_or_else(|| Damage::new(Part::XattrTable, position, what))?)
    }

    /// Parses the attribute at the start of `bytes`. Also returns the number of its bytes.
    fn parse_xattr(&self, bytes: &[u8], position: u64) -> Result<(Xattr, usize)> {
        let head: [u8; HEAD_BYTES] = array(bytes, 0);
        let [name_bytes, prefix, low, high] = head;
        let damage = |what: &str| Damage::new(Part::XattrTable, position, what);
        let name_end = HEAD_BYTES + usize::from(name_bytes);
        let value_end = name_end + usize::from(u16::from_le_bytes([low, high]));
        let parts = (
            bytes.get(HEAD_BYTES..name_end),
            bytes.get(name_end..value_end),
        );
        let (Some(rest), Some(value)) = parts else {
            return Err(damage("an attribute that ends beyond its inode").into());
        };
        let prefix = self.prefix(prefix, position)?;
        let name = [prefix, rest].concat();
        // A prefix that ends with a dot needs the rest of a name; the others are whole names.
        let is_whole = XATTR_PREFIXES
            .iter()
            .all(|(_, it)| !name.starts_with(it) || it.ends_with(b".") == (name.len() > it.len()));
        if !is_whole || name.contains(&0) {
            return Err(damage("an attribute with an impossible name").into());
        }
        let xattr = Xattr {
            name: name.into(),
            value: value.to_vec(),
        };
        Ok((xattr, taken(&head)))
    }
}

/// Number of bytes of an attribute with this head.
fn taken(head: &[u8; HEAD_BYTES]) -> usize {
    let [name, _, low, high] = *head;
    let value = usize::from(u16::from_le_bytes([low, high]));
    (HEAD_BYTES + usize::from(name) + value).next_multiple_of(4)
}
