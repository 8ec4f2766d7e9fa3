//! Reads and checks everything in an image, and continues after errors.

use crate::format::{compat, incompat};
use crate::reader::{Image, ImageSource, Inode, Piece, Stored};
use hedgerow_engine::{run_ordered, Execution, Window};
use hedgerow_image::report::{ended, Coverage, Report, VerifyError};
use hedgerow_image::{Damage, Error, Part, ReadAt};
use hedgerow_numbers::counted;
use hedgerow_tree::{NodeKind, Omission};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

/// Maximum number of findings kept; further ones are only counted.
const KEPT: usize = 1000;
/// Limit of the contents in progress, in bytes.
const WINDOW: Window = Window { bytes: 16 << 20 };

/// Checks the image that starts at byte `offset`, with the workers of `execution`. The report is
/// the same for any number of workers.
///
/// # Errors
/// The source cannot be read or is not a supported image, the check was cancelled, or a worker
/// panicked. A damaged superblock is not an error but the only finding of the report.
pub fn verify(
    source: Box<dyn ReadAt>,
    offset: u64,
    execution: &Execution,
) -> Result<Report, VerifyError> {
    let (image, damage) = match Image::new_damaged(source, offset) {
        Err(Error::Damaged(damage)) => return Ok(Report::only(damage)),
        other => other?,
    };
    let mut findings = Findings {
        kept: damage,
        omitted: 0,
    };
    let inodes = inodes(&image, &mut findings);
    let found = inodes.len() as u64;
    // The inode that holds parts of files counts, but has no name.
    let superblock = image.superblock();
    if found + u64::from(has_packed(&image)) != superblock.inodes {
        let counted = counted(image.superblock().inodes, "inode");
        let what = format!("{counted}, but {found} are in the tree");
        let position = crate::format::SUPERBLOCK_OFFSET;
        findings.add(Damage::new(Part::Superblock, position, what).following());
    }
    let content_bytes = contents(&image, &inodes, execution, &mut findings)?;
    findings.kept.sort();
    findings.kept.dedup();
    // What stands after the image, such as a hash tree, is no part of it.
    let stated = u64::from(superblock.blocks) << superblock.block_bits;
    let image_bytes = image.bytes.length().min(stated);
    let checksummed_bytes = match superblock.compat & compat::CHECKSUM {
        0 => 0,
        _ => superblock.checksummed_bytes(),
    };
    let superblock_bytes = crate::format::SUPERBLOCK_BYTES as u64;
    let data_bytes = image_bytes.saturating_sub(superblock_bytes.max(checksummed_bytes));
    Ok(Report {
        findings: findings.kept,
        omitted: findings.omitted,
        coverage: vec![
            Coverage {
                part: Part::Superblock,
                checksummed_bytes,
                unchecked_bytes: superblock_bytes.saturating_sub(checksummed_bytes),
            },
            Coverage {
                part: Part::Data,
                checksummed_bytes: 0,
                unchecked_bytes: data_bytes,
            },
        ],
        inodes: found,
        content_bytes,
        verity: None,
    })
}

/// Whether parts of files are in an inode of their own.
fn has_packed(image: &Image) -> bool {
    let superblock = image.superblock();
    superblock.has(incompat::FRAGMENTS) && superblock.packed != 0
}

struct Findings {
    kept: Vec<Damage>,
    omitted: u64,
}

impl Findings {
    fn add(&mut self, damage: Damage) {
        if self.kept.len() < KEPT {
            self.kept.push(damage);
        } else {
            self.omitted += 1;
        }
    }

    fn add_error(&mut self, part: Part, path: &[u8], error: Error) {
        let damage = match error {
            Error::Damaged(damage) => damage,
            error => Damage::new(part, 0, error.to_string()),
        };
        self.add(damage.at(path));
    }
}

/// An inode with one of its paths, and the number of these.
struct Named {
    inode: Inode,
    path: Vec<u8>,
    names: u32,
}

/// Walks the tree and checks all but contents. Returns the inodes in the order of the tree.
fn inodes(image: &Image, findings: &mut Findings) -> Vec<Named> {
    let mut inodes: Vec<Named> = Vec::new();
    let mut known: HashMap<u64, usize> = HashMap::new();
    let mut see = |inode: &Inode, path: &[u8]| {
        let number = *known.entry(inode.number).or_insert_with(|| {
            inodes.push(Named {
                inode: *inode,
                path: path.to_vec(),
                names: 0,
            });
            inodes.len() - 1
        });
        if let Some(named) = inodes.get_mut(number) {
            named.names += 1;
        }
    };
    match image.root() {
        Ok(root) => see(&root, b""),
        Err(error) => findings.add_error(Part::InodeTable, b"", error),
    }
    let source = match ImageSource::new(image) {
        Ok(source) => source,
        // That of the root has been told.
        Err(_) => return inodes,
    };
    let (omissions, damage) = source.checked_entries(&mut |found| {
        see(found.inode, found.entry.path);
        ControlFlow::Continue(())
    });
    damage.into_iter().for_each(|damage| findings.add(damage));
    for Omission { path, source, .. } in omissions {
        let told = source.to_string();
        let error = source
            .into_inner()
            .and_then(|it| it.downcast::<Error>().ok());
        match error {
            Some(error) => findings.add_error(Part::DirectoryTable, &path, *error),
            None => findings.add(Damage::new(Part::DirectoryTable, 0, told).at(&path)),
        }
    }
    if let Err(error) = image.long_prefixes() {
        findings.add_error(Part::XattrTable, b"", error);
    }
    let mut subdirectories: HashMap<&[u8], u32> = HashMap::new();
    for named in inodes
        .iter()
        .filter(|named| named.inode.kind == NodeKind::Directory)
    {
        if !named.path.is_empty() {
            let parent = hedgerow_tree::split_path(&named.path).0;
            *subdirectories.entry(parent).or_default() += 1;
        }
    }
    for named in &inodes {
        let links = match named.inode.kind {
            NodeKind::Directory => 2 + subdirectories.get(named.path.as_slice()).unwrap_or(&0),
            _ => named.names,
        };
        if named.inode.nlink != links {
            let counted = counted(named.inode.nlink, "link");
            let what = format!("{counted}, but {links} were found");
            findings.add(named.inode.damage(what).at(&named.path).following());
        }
        if let Err(error) = image.xattrs(&named.inode) {
            findings.add_error(Part::XattrTable, &named.path, error);
        }
        if named.inode.kind == NodeKind::Symlink {
            if let Err(error) = image.target(&named.inode) {
                findings.add_error(Part::InodeTable, &named.path, error);
            }
        }
    }
    inodes
}

/// Reads the contents of all regular files. Returns the number of their bytes, without holes.
fn contents(
    image: &Image,
    inodes: &[Named],
    execution: &Execution,
    findings: &mut Findings,
) -> Result<u64, VerifyError> {
    let files = inodes
        .iter()
        .filter(|named| named.inode.kind == NodeKind::File);
    // Indexes that overlap could make a small image endless.
    let mut left = image.bytes.length();
    let mut sound = Vec::new();
    for named in files {
        match image.index_bytes(&named.inode) {
            Ok(bytes) if bytes <= left => {
                left -= bytes;
                sound.push(named);
            }
            Ok(_) => {
                let damage = named.inode.damage("an index that overlaps others");
                findings.add(damage.at(&named.path));
            }
            Err(error) => findings.add_error(Part::Data, &named.path, error),
        }
    }
    // Parts in the packed inode are read with that.
    let packed = match image.packed_inode() {
        Ok((inode, _)) if has_packed(image) => Some(Named {
            inode,
            path: Vec::new(),
            names: 0,
        }),
        Err(error) if has_packed(image) => {
            findings.add_error(Part::Data, b"", error);
            None
        }
        _ => None,
    };
    sound.extend(&packed);
    for named in &sound {
        if let Err(error) = image.check_map(&named.inode) {
            findings.add_error(Part::InodeTable, &named.path, error);
        }
    }
    let mut seen = HashSet::new();
    let pieces = sound.into_iter().flat_map(|named| {
        let pieces = image.pieces(&named.inode);
        let pieces = pieces.filter(|piece| {
            !matches!(
                piece,
                Ok(Piece {
                    stored: Stored::Hole | Stored::Packed(_),
                    ..
                })
            )
        });
        pieces.map(move |piece| {
            let bytes = piece.as_ref().map_or(0, |piece| piece.length);
            Ok(((named, piece), bytes))
        })
    });
    // What several files share is read once.
    let pieces = pieces.filter(|piece| match piece {
        Ok(((_, Ok(piece)), _)) => seen.insert((piece.stored, piece.length)),
        _ => true,
    });
    let mut bytes = 0;
    let ran = run_ordered(
        &execution.options("verify"),
        WINDOW,
        pieces,
        |_| Vec::new(),
        |content, (named, piece)| {
            let read = piece.and_then(|piece| {
                image.read_piece(&piece, content)?;
                Ok(piece.length)
            });
            Ok((named, read))
        },
        |_, (named, read)| {
            match read {
                Ok(length) => bytes += length,
                Err(error) => findings.add_error(Part::Data, &named.path, error),
            }
            Ok(())
        },
    );
    ran.map(|_| bytes).map_err(ended)
}
