//! Nodes made of any bytes, whose contents can be said again.
#![allow(dead_code, reason = "no target needs all of it")]

use hedgerow_tree::{canonical_order, Content, Handle, Node, NodeError, NodeKind, Xattr};
use std::sync::Arc;

/// Entries, at most.
const ENTRIES: usize = 48;
/// Sizes are around multiples of this.
const BLOCK: u64 = 4096;
/// What may be large is around this: contents up to here are read at once.
const PIECE: u64 = 1 << 20;
/// The end of a content that fails while it is read.
const UNREADABLE: u64 = 3000;

/// The bytes that are left; zeros behind the last one.
pub struct Choices<'b>(pub &'b [u8]);

impl Choices<'_> {
    pub fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or_default()
    }

    pub fn one_of(&mut self, count: u8) -> u8 {
        self.byte() % count
    }

    pub fn word(&mut self) -> u32 {
        u32::from_le_bytes([(); 4].map(|()| self.byte()))
    }
}

/// A content, and what happens to whoever reads it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Made {
    pub size_bytes: u64,
    seed: u8,
    /// Every so many blocks one is a hole.
    hole_every: u64,
    fails: Option<Failure>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Failure {
    Open,
    Read,
    Short,
}

/// An entry.
#[derive(Clone, Debug)]
pub struct Entry {
    pub path: Vec<u8>,
    pub kind: NodeKind,
    pub mode: u16,
    pub uid: u32,
    pub gid: u32,
    pub mtime_s: i64,
    pub device: (u32, u32),
    pub link: Option<(u64, u64)>,
    pub has_id: bool,
    pub size_told: u64,
    pub content: Made,
    pub target: Option<Vec<u8>>,
    pub xattrs: Option<Vec<(Vec<u8>, Vec<u8>)>>,
}

/// Entries, the root first. Unless `wild`, they are such as a source may yield: in order, each
/// once, in directories that are there.
pub fn entries(choices: &mut Choices, wild: bool) -> Vec<Entry> {
    let mut large = 2;
    let root = entry(choices, Vec::new(), &mut large);
    let mut entries = vec![Entry {
        kind: NodeKind::Directory,
        device: (0, 0),
        link: None,
        size_told: 0,
        target: Some(Vec::new()),
        ..root
    }];
    let mut directories = vec![Vec::new()];
    while !choices.is_over() && entries.len() < ENTRIES {
        let parent = usize::from(choices.byte()) % directories.len();
        let mut path = directories[parent].clone();
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend(name(choices, wild));
        let mut made = entry(choices, path, &mut large);
        let linked = entries
            .iter()
            .find(|known| made.link.is_some() && known.link == made.link);
        match (made.kind, linked) {
            (NodeKind::Directory, _) => {
                made.link = None;
                directories.push(made.path.clone());
            }
            (_, None) => {}
            // They are the same file.
            (_, Some(known)) => {
                made = Entry {
                    path: made.path,
                    ..known.clone()
                }
            }
        }
        if wild && made.kind != NodeKind::Directory && choices.one_of(4) == 0 {
            directories.push(made.path.clone());
        }
        entries.push(made);
    }
    if !wild {
        entries.sort_by(|one, other| canonical_order(&one.path, &other.path));
        entries.dedup_by(|later, first| later.path == first.path);
        // Of two with one name the first counts: what was in the other is in nothing.
        let mut directories: Vec<Vec<u8>> = vec![Vec::new()];
        entries.retain(|entry| {
            let (parent, _) = hedgerow_tree::split_path(&entry.path);
            let is_in_one = directories.iter().any(|path| path == parent);
            if is_in_one && entry.kind == NodeKind::Directory {
                directories.push(entry.path.clone());
            }
            is_in_one
        });
    }
    entries
}

fn name(choices: &mut Choices, wild: bool) -> Vec<u8> {
    let letter = match choices.byte() {
        byte @ (0 | b'/') if !wild => byte + 1,
        byte => byte,
    };
    match (choices.byte(), wild) {
        (0, true) => Vec::new(),
        (1, true) => b".".to_vec(),
        (2, true) => b"..".to_vec(),
        (3, true) => vec![letter; 256],
        (4, true) => b"../outside".to_vec(),
        (5, _) => vec![letter; 255],
        (length, _) if letter == b'.' => {
            [&b".."[..], &vec![b'.'; usize::from(length) % 4 + 1]].concat()
        }
        (length, _) => vec![letter; usize::from(length) % 4 + 1],
    }
}

fn entry(choices: &mut Choices, path: Vec<u8>, large: &mut u32) -> Entry {
    const KINDS: [NodeKind; 10] = [
        NodeKind::File,
        NodeKind::Directory,
        NodeKind::Symlink,
        NodeKind::BlockDevice,
        NodeKind::CharacterDevice,
        NodeKind::Fifo,
        NodeKind::Socket,
        NodeKind::File,
        NodeKind::File,
        NodeKind::Directory,
    ];
    let kind = KINDS[usize::from(choices.one_of(10))];
    let features = choices.byte();
    let mut attributes = (0o644, 0, 0, 0);
    if features & 1 != 0 {
        let mode = choices.word() as u16;
        let time = i64::from(choices.word() as i32) * i64::from(choices.one_of(3));
        attributes = (mode, choices.word(), u32::from(choices.byte()), time);
    }
    let content = content(choices, features & 2 != 0, large);
    Entry {
        path,
        kind,
        mode: attributes.0,
        uid: attributes.1,
        gid: attributes.2,
        mtime_s: attributes.3,
        device: match kind {
            NodeKind::BlockDevice | NodeKind::CharacterDevice => {
                (choices.word() & 0xfff, choices.word() & 0xf_ffff)
            }
            _ => (0, 0),
        },
        link: (features & 4 != 0).then(|| (1, choices.one_of(4).into())),
        has_id: features & 8 != 0,
        size_told: match (kind, features & 16) {
            (NodeKind::File, 0) => content.size_bytes,
            (NodeKind::File, _) => u64::from(choices.word()) * u64::from(choices.byte()),
            _ => 0,
        },
        target: match (kind, choices.0.first()) {
            (NodeKind::Symlink, Some(0)) => None,
            (NodeKind::Symlink, Some(1)) => Some(b"../outside".to_vec()),
            (NodeKind::Symlink, Some(2)) => Some(b"..".to_vec()),
            (NodeKind::Symlink, _) => Some(vec![
                b'a' + choices.one_of(26);
                choices.word() as usize % 4200
            ]),
            _ => Some(Vec::new()),
        },
        xattrs: match features & 32 {
            0 => Some(Vec::new()),
            _ => xattrs(choices),
        },
        content,
    }
}

fn content(choices: &mut Choices, fails: bool, large: &mut u32) -> Made {
    let shape = choices.byte();
    let mut size = u64::from(shape % 4) * BLOCK;
    if shape / 4 % 16 == 15 && *large > 0 {
        *large -= 1;
        size = u64::from(shape % 4) * PIECE + u64::from(choices.one_of(3)) * BLOCK;
    }
    let size_bytes = (size + u64::from(choices.one_of(5))).saturating_sub(2);
    Made {
        size_bytes,
        seed: choices.one_of(6),
        hole_every: choices.one_of(4).into(),
        fails: fails.then(|| match choices.one_of(3) {
            0 => Failure::Open,
            1 => Failure::Read,
            _ => Failure::Short,
        }),
    }
}

fn xattrs(choices: &mut Choices) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
    const PREFIXES: [&str; 5] = ["user.", "trusted.", "security.", "system.", ""];
    const SIZES: [usize; 8] = [0, 1, 8, 9, 100, 8192, 65_536, 65_537];
    let count = choices.one_of(5);
    (count < 4).then(|| {
        let one = |_| {
            let prefix = PREFIXES[usize::from(choices.one_of(5))];
            let letter = choices.byte();
            let rest = vec![letter; usize::from(choices.one_of(3)) * 125];
            let value = vec![choices.one_of(3); SIZES[usize::from(choices.one_of(8))]];
            ([prefix.as_bytes(), &rest[..], &[letter]].concat(), value)
        };
        (0..count).map(one).collect()
    })
}

impl Entry {
    /// Whether all of it can be had.
    pub fn is_sound(&self) -> bool {
        let has_content = self.kind != NodeKind::File || self.content.fails.is_none();
        has_content && self.target.is_some() && self.xattrs.is_some()
    }

    pub fn node(&self) -> Node {
        let mut id = [0; 32];
        id[..8].copy_from_slice(&self.content.size_bytes.to_le_bytes());
        id[8] = self.content.seed;
        id[9] = self.content.hole_every as u8;
        Node {
            path: self.path.clone(),
            kind: self.kind,
            mode: self.mode,
            uid: self.uid,
            gid: self.gid,
            mtime_s: self.mtime_s,
            mtime_ns: 0,
            size_bytes: self.size_told,
            device: self.device,
            link: self.link,
            content_id: (self.has_id && self.kind == NodeKind::File).then_some(id),
            handle: Box::new(Leads(Arc::new(self.clone()))),
        }
    }
}

struct Leads(Arc<Entry>);

impl Handle for Leads {
    fn target(&mut self) -> Result<Vec<u8>, NodeError> {
        self.0
            .target
            .clone()
            .ok_or_else(|| NodeError::entry("no target"))
    }

    fn open(&mut self) -> Result<Box<dyn Content>, NodeError> {
        let made = self.0.content.clone();
        match made.fails {
            Some(Failure::Open) => Err(NodeError::entry("no content")),
            _ => Ok(Box::new(Reading { made, at: 0 })),
        }
    }

    fn xattrs(&mut self) -> Result<Vec<Xattr>, NodeError> {
        let xattrs = self
            .0
            .xattrs
            .clone()
            .ok_or_else(|| NodeError::entry("no attributes"))?;
        let one = |(name, value): (Vec<u8>, _)| Xattr {
            name: name.into(),
            value,
        };
        Ok(xattrs.into_iter().map(one).collect())
    }
}

struct Reading {
    made: Made,
    at: u64,
}

impl Made {
    fn is_hole(&self, at: u64) -> bool {
        self.hole_every > 0 && (at / BLOCK).is_multiple_of(self.hole_every)
    }

    /// The byte at a place: text that compresses, zeros, or noise.
    fn byte(&self, at: u64) -> u8 {
        if self.is_hole(at) {
            return 0;
        }
        match self.seed {
            0 => 0,
            seed @ (1 | 2) => (at / 7) as u8 ^ seed,
            3 => (at / BLOCK) as u8,
            seed => {
                let mixed = (at + u64::from(seed)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (mixed ^ mixed >> 29)
                    .wrapping_mul(0xbf58_476d_1ce4_e5b9)
                    .to_le_bytes()[7]
            }
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        (0..self.size_bytes).map(|at| self.byte(at)).collect()
    }
}

impl Content for Reading {
    fn size_bytes(&self) -> u64 {
        self.made.size_bytes
    }

    fn skip_hole(&mut self) -> Result<u64, NodeError> {
        let start = self.at;
        while self.at < self.made.size_bytes && self.made.is_hole(self.at) {
            self.at = ((self.at / BLOCK + 1) * BLOCK).min(self.made.size_bytes);
        }
        Ok(self.at - start)
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, NodeError> {
        let mut left = self.made.size_bytes - self.at;
        if let Some(failure) = self.made.fails {
            left = left.saturating_sub(UNREADABLE);
            if left == 0 && failure == Failure::Read {
                return Err(NodeError::entry("it breaks off"));
            }
        }
        let count = left.min(buffer.len() as u64).min(30_000) as usize;
        for (place, byte) in (self.at..).zip(&mut buffer[..count]) {
            *byte = self.made.byte(place);
        }
        self.at += count as u64;
        Ok(count)
    }
}
