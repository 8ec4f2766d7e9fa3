//! Extended attributes. An attribute stands with its inode; from the second one that is equal on,
//! inodes refer to a shared one.

use crate::format::{XATTR_HEADER_BYTES, XATTR_PREFIXES};
use hedgerow_image::digest::{shortened, Digest};
use hedgerow_image::WriteError;
use hedgerow_tree::Xattr;
use std::collections::hash_map::{Entry, HashMap};

/// Maximum length of a name with its prefix in bytes, as in Linux.
const NAME_BYTES: usize = 255;
/// Maximum number of shared attributes of an inode.
const SHARED: usize = 255;
/// Maximum number of bytes of the attributes of an inode: it counts units of four bytes in two.
const ATTACHED_BYTES: usize = XATTR_HEADER_BYTES + 4 * (u16::MAX as usize - 1);

/// The encoded attributes of an inode.
#[derive(Clone, Debug, Default)]
pub(super) struct Attached(Box<[u8]>);

impl Attached {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// How an inode counts them.
    pub(super) fn count(&self) -> u16 {
        match self.0.len().checked_sub(XATTR_HEADER_BYTES) {
            Some(bytes) => (bytes / 4 + 1) as u16,
            None => 0,
        }
    }
}

/// The shared attributes so far.
#[derive(Default)]
pub(super) struct Xattrs {
    shared: Vec<u8>,
    /// By the digest of an attribute, where it is shared; `None` if there was only one so far.
    known: HashMap<Digest, Option<u32>>,
}

impl Xattrs {
    /// The shared attributes, encoded.
    pub(super) fn shared(&self) -> &[u8] {
        &self.shared
    }

    /// Encodes the attributes of an inode. The names of those that the format cannot hold go to
    /// `unstored`.
    pub(super) fn attach(
        &mut self,
        mut xattrs: Vec<Xattr>,
        unstored: &mut Vec<Vec<u8>>,
    ) -> Result<Attached, WriteError> {
        xattrs.sort();
        let (mut shared, mut own) = (Vec::new(), Vec::new());
        let mut left = ATTACHED_BYTES - XATTR_HEADER_BYTES;
        for xattr in xattrs {
            let Some(encoded) = encode(&xattr).filter(|encoded| encoded.len() <= left) else {
                unstored.push(xattr.name.into());
                continue;
            };
            match self.share(&encoded, shared.len() < SHARED)? {
                Some(place) => {
                    shared.push(place);
                    left -= 4;
                }
                None => {
                    left -= encoded.len();
                    own.extend_from_slice(&encoded);
                }
            }
        }
        if shared.is_empty() && own.is_empty() {
            return Ok(Attached::default());
        }
        let mut bytes = vec![0; XATTR_HEADER_BYTES];
        bytes[4] = shared.len() as u8;
        for place in shared {
            bytes.extend_from_slice(&place.to_le_bytes());
        }
        bytes.extend_from_slice(&own);
        Ok(Attached(bytes.into()))
    }

    /// Where an attribute is shared, if it is.
    fn share(&mut self, encoded: &[u8], may_be: bool) -> Result<Option<u32>, WriteError> {
        let digest = shortened(blake3::hash(encoded));
        match self.known.entry(digest) {
            Entry::Vacant(first) => {
                first.insert(None);
                Ok(None)
            }
            Entry::Occupied(_) if !may_be => Ok(None),
            Entry::Occupied(mut known) => {
                if known.get().is_none() {
                    let place = u32::try_from(self.shared.len() / 4);
                    known.insert(Some(place.map_err(|_| WriteError::Limit {
                        reason: "its extended attributes take more than 16 GiB".into(),
                    })?));
                    self.shared.extend_from_slice(encoded);
                }
                Ok(*known.get())
            }
        }
    }
}

/// An attribute as it is stored; `None` if that is not possible.
fn encode(xattr: &Xattr) -> Option<Vec<u8>> {
    let (name, value) = (xattr.name.as_slice(), &xattr.value);
    let value_bytes = u16::try_from(value.len()).ok()?;
    let found = XATTR_PREFIXES.iter().find_map(|(number, prefix)| {
        let rest = name.strip_prefix(*prefix)?;
        // A prefix ends with a dot, behind which there is a name; the others are whole names.
        (prefix.ends_with(b".") != rest.is_empty()).then_some((*number, rest))
    });
    let (number, rest) = found.filter(|_| name.len() <= NAME_BYTES)?;
    let mut bytes = vec![rest.len() as u8, number];
    bytes.extend_from_slice(&value_bytes.to_le_bytes());
    bytes.extend_from_slice(rest);
    bytes.extend_from_slice(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    Some(bytes)
}
