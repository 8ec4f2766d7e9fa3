//! Checks the inode table from start to end.

use super::extents::Extents;
use super::Check;
use crate::format::{Reference, SizeWord};
use crate::reader::{Body, Directory, File, Inode, MetadataReader};
use crate::{Damage, Part, Result};
use hedgerow_tree::NodeKind;
use std::collections::BTreeMap;

/// Maximum number of inodes that are checked; more would take too much memory.
const MOST_INODES: usize = 1 << 25;
/// Maximum length of a symbolic link's target in bytes, as in the kernel.
const TARGET_BYTES: usize = 4096;

/// What later checks need of an inode.
#[derive(Clone, Debug)]
pub struct Record {
    pub kind: NodeKind,
    pub number: u32,
    pub nlink: u32,
    pub xattrs: Option<u32>,
    pub directory: Option<Directory>,
    /// Number of directory entries that refer to it.
    pub names: u32,
}

/// The inodes by their place in the table.
#[derive(Default)]
pub struct Inodes {
    /// In the order of the table.
    walked: Vec<(Reference, Record)>,
    /// Inodes after a damaged place, added when a directory entry refers to them.
    others: BTreeMap<Reference, Record>,
    /// Whether the walk reached the end of the table.
    pub complete: bool,
    pub extents: Extents,
}

impl Inodes {
    pub fn get_mut(&mut self, reference: Reference) -> Option<&mut Record> {
        let found = self
            .walked
            .binary_search_by_key(&reference, |(place, _)| *place);
        match found {
            Ok(index) => self.walked.get_mut(index).map(|(_, record)| record),
            Err(_) => self.others.get_mut(&reference),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (Reference, &Record)> {
        let walked = self.walked.iter().map(|(place, record)| (*place, record));
        walked.chain(self.others.iter().map(|(place, record)| (*place, record)))
    }

    pub fn len(&self) -> usize {
        self.walked.len() + self.others.len()
    }
}

impl Check<'_> {
    /// Walks through the inode table, and checks the number of inodes and that inode numbers are
    /// unique.
    pub fn inodes(&mut self) -> Inodes {
        let mut inodes = Inodes::default();
        match self.walk(&mut inodes) {
            Ok(()) => inodes.complete = true,
            Err(error) => self.findings.add_error(Part::InodeTable, error),
        }
        let count = self.image.superblock.inode_count as usize;
        if inodes.complete && inodes.len() != count {
            let what = format!("{} inodes in place of {count}", inodes.len());
            self.findings.add(Damage::new(Part::InodeTable, 4, what));
        }
        let mut numbers: Vec<u32> = inodes.iter().map(|(_, record)| record.number).collect();
        numbers.sort_unstable();
        for pair in numbers.windows(2) {
            if let [first, second] = pair {
                if first == second {
                    let what = format!("a second inode {first}");
                    let start = self.image.layout.inodes.start;
                    self.findings
                        .add(Damage::new(Part::InodeTable, start, what));
                }
            }
        }
        inodes
    }

    fn walk(&mut self, inodes: &mut Inodes) -> Result<()> {
        let region = self.image.layout.inodes;
        let mut reader = MetadataReader::new(self.image, region, Reference(0))?;
        while !reader.is_at_end() {
            if inodes.walked.len() >= MOST_INODES {
                return Err(reader.damage("more inodes than can be checked").into());
            }
            let place = reader.settled_place()?;
            let record = self.record(&mut reader, &mut inodes.extents)?;
            inodes.walked.push((place, record));
        }
        Ok(())
    }

    /// Reads an inode that the walk did not reach.
    pub fn find_record(&mut self, reference: Reference, inodes: &mut Inodes) -> Result<()> {
        let region = self.image.layout.inodes;
        let mut reader = MetadataReader::new(self.image, region, reference)?;
        let record = self.record(&mut reader, &mut inodes.extents)?;
        inodes.others.insert(reference, record);
        Ok(())
    }

    /// Reads an inode with its size words or index.
    fn record(&mut self, reader: &mut MetadataReader<'_>, extents: &mut Extents) -> Result<Record> {
        let at = reader.clone();
        let inode = self.image.read_inode(reader)?;
        for what in self.oddities(&inode) {
            self.findings.add_of(inode.number, at.damage(what));
        }
        let mut directory = None;
        match &inode.body {
            Body::Directory(found) => {
                directory = Some(*found);
                for _ in 0..found.index_count {
                    reader.skip(8)?;
                    let name_bytes = u64::from(reader.u32()?) + 1;
                    if name_bytes > 256 {
                        let what = format!("an index with a name of {name_bytes} bytes");
                        return Err(reader.damage(what).into());
                    }
                    reader.skip(name_bytes)?;
                }
            }
            Body::File(file) => self.file(&inode, file, reader, extents)?,
            Body::Symlink(_) | Body::Device(_) | Body::Ipc => {}
        }
        Ok(Record {
            kind: inode.kind,
            number: inode.number,
            nlink: inode.nlink,
            xattrs: inode.xattrs,
            directory,
            names: 0,
        })
    }

    /// Fields that contradict the rest of the image.
    fn oddities(&self, inode: &Inode) -> Vec<String> {
        let mut found = Vec::new();
        if inode.number == 0 || inode.number > self.image.superblock.inode_count {
            found.push(format!("an inode with number {}", inode.number));
        }
        if inode.mode > 0o7777 {
            found.push(format!("inode {} has mode {:o}", inode.number, inode.mode));
        }
        let ids = self.image.ids().len();
        for index in [inode.uid_index, inode.gid_index] {
            if usize::from(index) >= ids {
                found.push(format!("inode {}: owner {index} of {ids}", inode.number));
            }
        }
        let sets = self.image.layout.xattr_ids.map_or(0, |table| table.count);
        if let Some(index) = inode.xattrs.filter(|index| u64::from(*index) >= sets) {
            let number = inode.number;
            found.push(format!("inode {number}: attributes {index} of {sets}"));
        }
        match &inode.body {
            Body::Symlink(target) => {
                let length = target.len();
                if length == 0 || length > TARGET_BYTES || target.contains(&0) {
                    let number = inode.number;
                    found.push(format!("inode {number}: a target of {length} bytes"));
                }
            }
            Body::File(file) if file.sparse > file.size => {
                let number = inode.number;
                found.push(format!("inode {number}: more holes than bytes"));
            }
            _ => {}
        }
        found
    }

    /// Reads the size words of a file, and records its blocks and its tail.
    fn file(
        &mut self,
        inode: &Inode,
        file: &File,
        reader: &mut MetadataReader<'_>,
        extents: &mut Extents,
    ) -> Result<()> {
        let block_size = self.image.superblock.block_size;
        let (mut position, mut left) = (file.blocks_start, file.size);
        let mut broken = false;
        for _ in 0..file.block_count {
            let word = SizeWord(reader.u32()?);
            let length = left.min(block_size.into()) as u32;
            left -= u64::from(length);
            // After an invalid word, the positions of the following blocks are unknown.
            if broken || word.0 == 0 {
                continue;
            }
            let added = self.image.check_extent(Part::Data, position, word);
            let added = added.and_then(|()| extents.add(position, word, length, inode.number));
            if let Err(error) = added {
                let damage = super::findings::damage(Part::Data, error);
                self.findings.add_of(inode.number, damage);
                broken = true;
            }
            position = position.saturating_add(word.stored_bytes().into());
        }
        if let Some(tail) = file.tail {
            if tail.index >= self.image.superblock.fragment_count {
                let what = format!("inode {}: fragment block {}", inode.number, tail.index);
                self.findings.add_of(inode.number, reader.damage(what));
            } else {
                extents.add_tail(tail, left as u32, inode.number);
            }
        }
        Ok(())
    }
}
