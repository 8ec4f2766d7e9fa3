use super::{Image, Inode};
use crate::format::{array, XATTR_HEADER_BYTES, XATTR_PREFIXES};
use hedgerow_image::{Damage, Error, Part, Result};
use hedgerow_tree::Xattr;

/// Size of the head of an attribute in bytes.
const HEAD_BYTES: usize = 4;
/// Marks the number of a long prefix, which is not supported.
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
            let what = format!("{shared} shared attributes in {length} bytes");
            return Err(Damage::new(Part::XattrTable, start, what).into());
        }
        let mut xattrs = Vec::new();
        for number in 0..shared {
            let at = array(&bytes, XATTR_HEADER_BYTES + 4 * number);
            xattrs.push(self.shared_xattr(u32::from_le_bytes(at))?);
        }
        let mut at = own;
        // Less than a head is padding.
        while at + HEAD_BYTES <= length {
            let rest = bytes.get(at..).unwrap_or_default();
            let (xattr, taken) = parse(rest, start + at as u64)?;
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
        Ok(parse(&bytes, position)?.0)
    }
}

/// Number of bytes of an attribute with this head.
fn taken(head: &[u8; HEAD_BYTES]) -> usize {
    let [name, _, low, high] = *head;
    let value = usize::from(u16::from_le_bytes([low, high]));
    (HEAD_BYTES + usize::from(name) + value).next_multiple_of(4)
}

/// Parses the attribute at the start of `bytes`. Also returns the number of its bytes.
fn parse(bytes: &[u8], position: u64) -> Result<(Xattr, usize)> {
    let head: [u8; HEAD_BYTES] = array(bytes, 0);
    let [name_bytes, prefix, low, high] = head;
    let damage = |what: &str| Damage::new(Part::XattrTable, position, what);
    let name_end = HEAD_BYTES + usize::from(name_bytes);
    let value_end = name_end + usize::from(u16::from_le_bytes([low, high]));
    let parts = (
        bytes.get(HEAD_BYTES..name_end),
        bytes.get(name_end..value_end),
    );
    let (Some(name), Some(value)) = parts else {
        return Err(damage("an attribute that ends beyond its inode").into());
    };
    if prefix & LONG_PREFIX != 0 {
        let what = "an attribute with a long prefix";
        return Err(Error::Unsupported(what.into()));
    }
    let found = XATTR_PREFIXES.iter().find(|(number, _)| *number == prefix);
    let (_, prefix) = found.ok_or_else(|| damage("an attribute with an unknown prefix"))?;
    if prefix.ends_with(b".") == name.is_empty() || name.contains(&0) {
        return Err(damage("an attribute with an impossible name").into());
    }
    let xattr = Xattr {
        name: [prefix, name].concat().into(),
        value: value.to_vec(),
    };
    Ok((xattr, taken(&head)))
}
