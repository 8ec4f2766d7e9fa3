use super::{Image, MetadataReader};
use crate::format::{InodeType, Reference, NO_FRAGMENT, NO_XATTRS};
use crate::{Damage, Part, Result};
use bstr::BString;
use hedgerow_tree::NodeKind;

/// Maximum length of the target of a symbolic link in bytes. The kernel reads at most 4096.
const TARGET_BYTES: u32 = 65_535;

/// An inode as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inode {
    /// The kind of the file.
    pub kind: NodeKind,
    /// Whether it is an extended inode.
    pub extended: bool,
    /// Permission bits with setuid, setgid and sticky. Bits above the lowest 12 have no meaning.
    pub mode: u16,
    /// Index of the owner in the id table.
    pub uid_index: u16,
    /// Index of the group in the id table.
    pub gid_index: u16,
    /// Modification time in seconds since the epoch.
    pub mtime: u32,
    /// Inode number. Names with the same number are hard links to the same file.
    pub number: u32,
    /// Number of hard links.
    pub nlink: u32,
    /// Index of its set of extended attributes in the xattr id table.
    pub xattrs: Option<u32>,
    /// The fields that depend on the kind.
    pub body: Body,
}

/// The fields of an inode that depend on its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A directory.
    Directory(Directory),
    /// A regular file.
    File(File),
    /// A symbolic link with its target.
    Symlink(BString),
    /// A block or character device with its number in the kernel's encoding.
    Device(u32),
    /// A fifo or socket.
    Ipc,
}

/// Where the listing of a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directory {
    /// Start of the listing in the directory table.
    pub listing: Reference,
    /// Size in bytes, 3 more than the size of the listing.
    pub size: u32,
    /// Inode number of the parent directory.
    pub parent: u32,
    /// Number of entries of the index that follows the inode.
    pub index_count: u16,
}

/// Where the content of a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// Position of the first block in the image.
    pub blocks_start: u64,
    /// Size of the content in bytes.
    pub size: u64,
    /// Bytes of the content in holes, which are not stored, as counted by the program that made the
    /// image.
    pub sparse: u64,
    /// Where the tail is, if it is in a fragment block.
    pub tail: Option<FragmentTail>,
    /// Number of blocks, without the tail.
    pub block_count: u64,
    /// Start of the size words of the blocks in the inode table.
    pub words: Reference,
}

/// Where a file's tail is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentTail {
    /// Index of the fragment block in the fragment table.
    pub index: u32,
    /// Offset in the decompressed fragment block, in bytes.
    pub offset: u32,
}

impl Image {
    /// Reads the inode at `reference` in the inode table.
    pub fn inode(&self, reference: Reference) -> Result<Inode> {
        let mut reader = MetadataReader::new(self, self.layout.inodes, reference)?;
        self.read_inode(&mut reader)
    }

    /// The inode of the root, which is a directory.
    pub fn root(&self) -> Result<Inode> {
        let root = self.inode(self.superblock.root_inode)?;
        match root.body {
            Body::Directory(_) => Ok(root),
            _ => {
                let block = self.superblock.root_inode.block();
                let position = self.layout.inodes.start.saturating_add(block);
                let what = "the root is not a directory";
                Err(Damage::new(Part::InodeTable, position, what).into())
            }
        }
    }

    /// Reads an inode without the size words of a file or the index of a directory, which follow
    /// it.
    pub(crate) fn read_inode(&self, reader: &mut MetadataReader<'_>) -> Result<Inode> {
        let id = reader.u16()?;
        let Some(InodeType { kind, extended }) = InodeType::from_id(id) else {
            return Err(reader.damage(format!("an inode of type {id}")).into());
        };
        let mut inode = Inode {
            kind,
            extended,
            mode: reader.u16()?,
            uid_index: reader.u16()?,
            gid_index: reader.u16()?,
            mtime: reader.u32()?,
            number: reader.u32()?,
            nlink: 1,
            xattrs: None,
            body: Body::Ipc,
        };
        match (kind, extended) {
            (NodeKind::Directory, _) => read_directory(reader, &mut inode)?,
            (NodeKind::File, _) => self.read_file(reader, &mut inode)?,
            (NodeKind::Symlink, _) => read_symlink(reader, &mut inode)?,
            (NodeKind::BlockDevice | NodeKind::CharacterDevice, _) => {
                inode.nlink = reader.u32()?;
                inode.body = Body::Device(reader.u32()?);
                read_xattrs(reader, &mut inode)?;
            }
            (NodeKind::Fifo | NodeKind::Socket, _) => {
                inode.nlink = reader.u32()?;
                read_xattrs(reader, &mut inode)?;
            }
        }
        Ok(inode)
    }

    fn read_file(&self, reader: &mut MetadataReader<'_>, inode: &mut Inode) -> Result<()> {
        let (blocks_start, size, sparse);
        let (fragment, offset);
        if inode.extended {
            blocks_start = reader.u64()?;
            size = reader.u64()?;
            sparse = reader.u64()?;
            inode.nlink = reader.u32()?;
            fragment = reader.u32()?;
            offset = reader.u32()?;
            read_xattrs(reader, inode)?;
        } else {
            blocks_start = reader.u32()?.into();
            fragment = reader.u32()?;
            offset = reader.u32()?;
            size = reader.u32()?.into();
            sparse = 0;
        }
        let block_size = u64::from(self.superblock.block_size);
        let tail = (fragment != NO_FRAGMENT).then_some(FragmentTail {
            index: fragment,
            offset,
        });
        let block_count = match tail {
            Some(_) if size.is_multiple_of(block_size) => {
                let what = format!("a tail of a file of {size} bytes");
                return Err(reader.damage(what).into());
            }
            Some(_) => size / block_size,
            None => size.div_ceil(block_size),
        };
        // Each block has a size word after the inode, so the table limits their number.
        if block_count.saturating_mul(4) > reader.most_bytes_left() {
            let what = format!("a file of {size} bytes, whose blocks have no room here");
            return Err(reader.damage(what).into());
        }
        inode.body = Body::File(File {
            blocks_start,
            size,
            sparse,
            tail,
            block_count,
            words: reader.place(),
        });
        Ok(())
    }
}

fn read_directory(reader: &mut MetadataReader<'_>, inode: &mut Inode) -> Result<()> {
    let (start, size, offset, parent, index_count);
    if inode.extended {
        inode.nlink = reader.u32()?;
        size = reader.u32()?;
        start = reader.u32()?;
        parent = reader.u32()?;
        index_count = reader.u16()?;
        offset = reader.u16()?;
        read_xattrs(reader, inode)?;
    } else {
        start = reader.u32()?;
        inode.nlink = reader.u32()?;
        size = reader.u16()?.into();
        offset = reader.u16()?;
        parent = reader.u32()?;
        index_count = 0;
    }
    inode.body = Body::Directory(Directory {
        listing: Reference::new(start.into(), offset),
        size,
        parent,
        index_count,
    });
    Ok(())
}

fn read_symlink(reader: &mut MetadataReader<'_>, inode: &mut Inode) -> Result<()> {
    inode.nlink = reader.u32()?;
    let length = reader.u32()?;
    if length > TARGET_BYTES || u64::from(length) > reader.most_bytes_left() {
        let what = format!("a symbolic link with a target of {length} bytes");
        return Err(reader.damage(what).into());
    }
    inode.body = Body::Symlink(reader.bytes(length as usize)?.into());
    read_xattrs(reader, inode)
}

/// Reads the xattr index of an extended inode. It is the last field, before size words or index.
fn read_xattrs(reader: &mut MetadataReader<'_>, inode: &mut Inode) -> Result<()> {
    if inode.extended {
        let xattrs = reader.u32()?;
        inode.xattrs = (xattrs != NO_XATTRS).then_some(xattrs);
    }
    Ok(())
}
