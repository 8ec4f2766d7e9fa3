//! Checks an image against its tree.

use super::find::find;
use super::format::{
    Block, Hasher, Shape, Superblock, BLOCK_BYTES, DATA_BLOCKS_AT, DIGEST_BYTES, FANOUT,
    SUPERBLOCK_BYTES,
};
use super::{Digest, Verity};
use crate::report::{ended, Coverage, VerifyError};
use crate::{hex, stages, Damage, Part, ReadAt, Result};
use hedgerow_engine::{run_ordered, Execution, Jobs};

/// Maximum number of findings kept; further ones are only counted.
const KEPT: usize = 1000;

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Defects, ordered by part and by position in it.
    pub findings: Vec<Damage>,
    /// Number of further findings, which are only counted.
    pub omitted: u64,
    /// What the tree covers.
    pub coverage: Vec<Coverage>,
    /// The tree; `None` if there is none that could be used.
    pub verity: Option<Verity>,
}

/// Checks the image at byte `offset` against the tree behind it. If `root_hash` is given, there must
/// be a tree with that root; `None` is returned if it is not given, and there is no tree.
///
/// `image_bytes` is the size that the image has by its own superblock, if that can be read. The
/// report is the same for any number of workers.
///
/// # Errors
/// The source cannot be read, the check was cancelled, or a worker panicked.
pub fn check(
    source: &dyn ReadAt,
    offset: u64,
    image_bytes: Option<u64>,
    root_hash: Option<&Digest>,
    execution: &Execution,
) -> std::result::Result<Option<Checked>, VerifyError> {
    let tree = match Stored::open(source, offset, image_bytes)? {
        Some(Ok(tree)) => tree,
        Some(Err(damage)) => return Ok(Some(Checked::only(damage))),
        None => {
            return Ok(root_hash.map(|_| {
                let expected = image_bytes.unwrap_or(0);
                let expected = expected.checked_next_multiple_of(BLOCK_BYTES);
                let expected = expected.unwrap_or(u64::MAX);
                let what = "no hash tree stands behind the image";
                Checked::only(Damage::new(Part::VeritySuperblock, expected, what))
            }))
        }
    };
    let root = tree.root()?;
    let mut checked = Checked {
        coverage: tree.coverage(root_hash.is_some()),
        verity: Some(tree.verity(root)),
        ..Checked::default()
    };
    if let Some(expected) = root_hash.filter(|expected| **expected != root) {
        checked.add(tree.another_root(&root, expected));
    }
    let workers = execution.with_jobs(Jobs::Fixed(execution.threads()));
    let workers = workers.options("hash");
    let groups = (0..tree.shape.groups()).map(|number| {
        let blocks = tree.shape.group(number);
        Ok((number, (blocks.end - blocks.start) * BLOCK_BYTES))
    });
    let ran = run_ordered(
        &workers,
        stages::window(&workers),
        groups,
        |_| Vec::new(),
        |data, number| Ok(tree.check_group(number, root_hash, data)?),
        |_, findings| {
            findings.into_iter().for_each(|damage| checked.add(damage));
            Ok(())
        },
    );
    ran.map_err(ended)?;
    checked.findings.sort();
    Ok(Some(checked))
}

/// The tree behind the image at byte `offset`, without checking more than its superblock: the root
/// hash is what the tree itself has. The inner result is the damage of a tree that cannot be used.
///
/// # Errors
/// The source cannot be read.
pub fn inspect(
    source: &dyn ReadAt,
    offset: u64,
    image_bytes: Option<u64>,
) -> Result<Option<std::result::Result<Verity, Damage>>> {
    Ok(match Stored::open(source, offset, image_bytes)? {
        Some(Ok(tree)) => Some(Ok(tree.verity(tree.root()?))),
        Some(Err(damage)) => Some(Err(damage)),
        None => None,
    })
}

impl Checked {
    fn only(damage: Damage) -> Self {
        Checked {
            findings: vec![damage],
            ..Checked::default()
        }
    }

    fn add(&mut self, damage: Damage) {
        if self.findings.len() < KEPT {
            self.findings.push(damage);
        } else {
            self.omitted += 1;
        }
    }
}

/// A tree whose size has been checked: all its blocks are in the source.
struct Stored<'s> {
    source: &'s dyn ReadAt,
    /// Where the image is in the source.
    offset: u64,
    /// Where the superblock of the tree is, from the start of the image.
    hash_offset: u64,
    superblock: Superblock,
    shape: Shape,
    hasher: Hasher,
}

impl<'s> Stored<'s> {
    fn open(
        source: &'s dyn ReadAt,
        offset: u64,
        image_bytes: Option<u64>,
    ) -> Result<Option<std::result::Result<Self, Damage>>> {
        let Some((hash_offset, bytes)) = find(source, offset, image_bytes)? else {
            return Ok(None);
        };
        let damage = |at: usize, what: String| {
            Damage::new(Part::VeritySuperblock, hash_offset + at as u64, what)
        };
        let superblock = match Superblock::from_bytes(&bytes) {
            Ok(superblock) => superblock,
            Err(field) => return Ok(Some(Err(damage(field.at, field.what)))),
        };
        let length = source.length()?.saturating_sub(offset);
        let blocks = superblock.data_blocks;
        let wrong = |what| Ok(Some(Err(damage(DATA_BLOCKS_AT, what))));
        let data_bytes = blocks.checked_mul(BLOCK_BYTES);
        let data_bytes = data_bytes.filter(|bytes| (1..=hash_offset).contains(bytes));
        let Some(data_bytes) = data_bytes else {
            return wrong(format!("{blocks} data blocks before byte {hash_offset}"));
        };
        // An image that says it is longer than that is damaged; its first block tells.
        let covered = image_bytes.map(|image_bytes| image_bytes.min(hash_offset));
        if let Some(image_bytes) = covered.filter(|image_bytes| data_bytes < *image_bytes) {
            let what = format!("only {data_bytes} bytes are covered, of an image of {image_bytes}");
            return wrong(what);
        }
        // No number overflows: there are not more blocks than the source has.
        let shape = Shape::of(blocks);
        let end = (1 + shape.blocks())
            .saturating_mul(BLOCK_BYTES)
            .saturating_add(hash_offset);
        if end > length {
            let what = format!("a tree that ends at byte {end}, of {length} that are there");
            return wrong(what);
        }
        Ok(Some(Ok(Stored {
            source,
            offset,
            hash_offset,
            hasher: Hasher::new(&superblock.salt),
            superblock,
            shape,
        })))
    }

    fn verity(&self, root_hash: Digest) -> Verity {
        Verity {
            root_hash,
            hash_offset: self.hash_offset,
            data_blocks: self.shape.data_blocks,
            salt: self.superblock.salt.clone(),
            uuid: self.superblock.uuid,
        }
    }

    /// What is checked. Without a root hash from outside, nothing vouches for the highest block.
    fn coverage(&self, has_root: bool) -> Vec<Coverage> {
        let tree_bytes = self.shape.blocks() * BLOCK_BYTES;
        let unchecked_bytes = if has_root {
            0
        } else {
            BLOCK_BYTES.min(tree_bytes)
        };
        let covered = |part, checksummed_bytes, unchecked_bytes| Coverage {
            part,
            checksummed_bytes,
            unchecked_bytes,
        };
        let data_bytes = self.shape.data_blocks * BLOCK_BYTES;
        // The digest of a single block is the root hash.
        let is_checked = has_root || tree_bytes > 0;
        let data = if is_checked {
            covered(Part::VerityData, data_bytes, 0)
        } else {
            covered(Part::VerityData, 0, data_bytes)
        };
        let mut coverage = vec![
            data,
            covered(Part::VeritySuperblock, 0, SUPERBLOCK_BYTES as u64),
        ];
        if tree_bytes > 0 {
            let checked = tree_bytes - unchecked_bytes;
            coverage.push(covered(Part::HashTree, checked, unchecked_bytes));
        }
        coverage
    }

    /// The level whose only block has the root hash for its digest; `None` for a single data block.
    fn top(&self) -> Option<usize> {
        self.shape.levels().checked_sub(1)
    }

    /// The digest of the highest block.
    fn root(&self) -> Result<Digest> {
        let block = match self.top() {
            Some(level) => self.hash_block(level, 0)?,
            None => self.read(Part::VerityData, 0)?,
        };
        Ok(self.hasher.digest(&block))
    }

    fn another_root(&self, found: &Digest, expected: &Digest) -> Damage {
        let (part, position) = match self.top() {
            Some(level) => (Part::HashTree, self.position(level, 0)),
            None => (Part::VerityData, 0),
        };
        let (found, expected) = (hex::text(found), hex::text(expected));
        Damage::new(
            part,
            position,
            format!("the root hash is {found}, not {expected}"),
        )
    }

    /// Checks a group of data blocks, and every block of the tree that is above it. A block of the
    /// tree above several groups is told about with the first of them. The highest block has been
    /// compared with the root hash.
    ///
    /// A block is wrong if a digest above it, which is right itself, tells so. Below a block that is
    /// wrong, whatever fits is right; of what does not fit, either side may be wrong.
    fn check_group(
        &self,
        number: u64,
        root_hash: Option<&Digest>,
        data: &mut Vec<u8>,
    ) -> Result<Vec<Damage>> {
        let mut findings = Vec::new();
        let mut above: Option<Above> = None;
        // What the lowest block of the tree should be, if that is known.
        let mut lowest = None;
        for level in (0..self.shape.levels()).rev() {
            let width = FANOUT.saturating_pow(level as u32);
            let index = number / width;
            let block = self.hash_block(level, index)?;
            let (expected, is_known) = match &above {
                None => (root_hash.copied(), true),
                Some(above) => (Some(above.digest(index)), above.is_right),
            };
            let is_right = expected.is_none_or(|expected| expected == self.hasher.digest(&block));
            let mut tell = |what: &str| {
                if number.is_multiple_of(width) {
                    let position = self.position(level, index);
                    findings.push(Damage::new(Part::HashTree, position, what));
                }
            };
            if !is_right && is_known && above.is_some() {
                tell("a hash block that does not match the digest above it");
            } else if is_right && !self.ends_in_zeros(level, index, &block) {
                tell("a hash block with something behind its digests");
            }
            lowest = expected.filter(|_| is_known);
            above = Some(Above { block, is_right });
        }
        self.read_group(number, data)?;
        let Some(above) = above else {
            return Ok(findings);
        };
        // Data that give the right digests are right, whatever stands in the tree.
        let are_right = || lowest == Some(self.hasher.digest(&self.hasher.hash_block(data)));
        if above.is_right || !are_right() {
            self.check_data(number, data, &above, &mut findings);
        }
        Ok(findings)
    }

    /// Compares data blocks with the digests above them.
    fn check_data(&self, number: u64, data: &[u8], above: &Above, findings: &mut Vec<Damage>) {
        let blocks = self
            .shape
            .group(number)
            .zip(data.chunks(BLOCK_BYTES as usize));
        let differs =
            |(index, block): &(u64, &[u8])| above.digest(*index) != self.hasher.digest(block);
        let mut different = blocks.filter(differs).map(|(index, _)| index);
        let damage =
            |index: u64, what: String| Damage::new(Part::VerityData, index * BLOCK_BYTES, what);
        if above.is_right {
            let what = |index| format!("block {index} does not match its digest");
            findings.extend(different.map(|index| damage(index, what(index))));
        } else if let Some(first) = different.next() {
            let count = 1 + different.count();
            let what = format!(
                "block {first}, the first of {count} that do not match a hash block \
                 which cannot be trusted itself"
            );
            findings.push(damage(first, what));
        }
    }

    /// Whether nothing stands behind the digests of a block.
    fn ends_in_zeros(&self, level: usize, index: u64, block: &Block) -> bool {
        let used = self.shape.digests(level, index) as usize * DIGEST_BYTES;
        let rest = block.get(used..).unwrap_or_default();
        rest.iter().all(|byte| *byte == 0)
    }

    /// The position of a block of the tree, from the start of the image.
    fn position(&self, level: usize, index: u64) -> u64 {
        self.hash_offset + BLOCK_BYTES + self.shape.position(level, index)
    }

    fn hash_block(&self, level: usize, index: u64) -> Result<Block> {
        self.read(Part::HashTree, self.position(level, index))
    }

    fn read(&self, part: Part, position: u64) -> Result<Block> {
        let mut block = [0; BLOCK_BYTES as usize];
        self.fill(part, position, &mut block)?;
        Ok(block)
    }

    fn read_group(&self, number: u64, data: &mut Vec<u8>) -> Result<()> {
        let blocks = self.shape.group(number);
        data.resize(((blocks.end - blocks.start) * BLOCK_BYTES) as usize, 0);
        self.fill(Part::VerityData, blocks.start * BLOCK_BYTES, data)
    }

    fn fill(&self, part: Part, position: u64, buffer: &mut [u8]) -> Result<()> {
        let from = self.offset.saturating_add(position);
        if self.source.read_at(buffer, from)? == buffer.len() {
            return Ok(());
        }
        Err(Damage::new(part, position, "the file became shorter").into())
    }
}

/// A block of the tree, for the blocks below it.
struct Above {
    block: Block,
    /// Whether it matches the digest above it.
    is_right: bool,
}

impl Above {
    /// The digest of the block with this number in the level below.
    fn digest(&self, index: u64) -> Digest {
        let at = (index % FANOUT) as usize * DIGEST_BYTES;
        let digest = self.block.get(at..).and_then(|rest| rest.first_chunk());
        *digest.expect("a block has so many digests")
    }
}
