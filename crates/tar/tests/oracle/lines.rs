//! What the reader gives, in the lines that `trees.py` prints.

use hedgerow_tar::{device_parts, Archive, Member, MemberKind};
use hedgerow_tree::NodeKind;
use std::collections::BTreeMap;
use std::io::Read;

/// A member with the checksum of its content.
#[derive(Clone, Debug)]
pub struct Summed {
    pub member: Member,
    pub crc: u32,
}

/// Reads a whole archive.
pub fn read<R: Read>(archive: &mut Archive<R>) -> Vec<Summed> {
    let mut read = Vec::new();
    while let Some(member) = archive.next_member().unwrap() {
        let (mut crc, mut len) = (flate2::Crc::new(), 0);
        let mut buffer = vec![0; 30_011];
        loop {
            match archive.read_content(&mut buffer).unwrap() {
                0 => break,
                some => {
                    crc.update(&buffer[..some]);
                    len += some as u64;
                }
            }
        }
        if member.is_file() {
            assert_eq!(len, member.metadata.size_bytes);
        }
        let crc = crc.sum();
        read.push(Summed { member, crc });
    }
    read
}

/// The lines of an archive, in its order.
pub fn archive_lines(read: &[Summed]) -> Vec<String> {
    read.iter()
        .map(|summed| {
            let member = &summed.member;
            let target = match member.kind {
                MemberKind::HardLink => member.link_target.clone(),
                _ => target(member),
            };
            line(&member.path, member, &target, summed.crc)
        })
        .collect()
}

/// The lines of the tree that an archive is of, sorted by path, without its root. Files with more
/// than one name have the first of their names as a target.
pub fn tree_lines(read: &[Summed]) -> Vec<String> {
    let mut files: BTreeMap<&[u8], (&Summed, &[u8])> = BTreeMap::new();
    for summed in read {
        let member = &summed.member;
        let file = match member.kind {
            MemberKind::HardLink => files[&member.link_target[..]],
            _ => (summed, &member.path[..]),
        };
        files.insert(&member.path, file);
    }
    files.remove(&b""[..]);
    let mut first: BTreeMap<&[u8], &[u8]> = BTreeMap::new();
    for (path, (_, original)) in &files {
        first.entry(original).or_insert(path);
    }
    let lines = files.iter().map(|(path, (summed, original))| {
        let target = match summed.member.kind {
            MemberKind::Node(NodeKind::File) => first[original].to_vec(),
            _ => target(&summed.member),
        };
        line(path, &summed.member, &target, summed.crc)
    });
    lines.collect()
}

/// Lines without fractions of seconds, for formats that have none.
pub fn whole_seconds(lines: Vec<String>) -> Vec<String> {
    let whole = |line: String| {
        let mut fields: Vec<&str> = line.split('\t').collect();
        let time_ns: i64 = fields[4].parse().unwrap();
        let time = (time_ns.div_euclid(1_000_000_000) * 1_000_000_000).to_string();
        fields[4] = &time;
        fields.join("\t")
    };
    lines.into_iter().map(whole).collect()
}

fn target(member: &Member) -> Vec<u8> {
    match member.kind {
        MemberKind::Node(NodeKind::CharacterDevice | NodeKind::BlockDevice) => {
            let (major, minor) = device_parts(member.metadata.rdev);
            format!("{major},{minor}").into_bytes()
        }
        _ => member.link_target.clone(),
    }
}

fn line(path: &[u8], member: &Member, target: &[u8], crc: u32) -> String {
    let metadata = &member.metadata;
    let kind = match member.kind {
        MemberKind::HardLink => 'h',
        MemberKind::Node(kind) => kind.letter(),
    };
    let time_ns = i128::from(metadata.mtime_s) * 1_000_000_000 + i128::from(metadata.mtime_ns);
    let xattrs = member.xattrs.iter();
    let xattrs = xattrs.map(|(name, value)| format!("{}={}", hex(name), hex(value)));
    format!(
        "{}\t{kind}\t{:o}\t{}:{}\t{time_ns}\t{}\t{}\t{crc:08x}\t{}",
        hex(path),
        metadata.mode,
        metadata.uid,
        metadata.gid,
        metadata.size_bytes,
        hex(target),
        xattrs.collect::<Vec<_>>().join(",")
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compares line by line, and shows the first that differs.
pub fn assert_same(ours: &[String], theirs: &[String], what: &str) {
    for (number, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        assert_eq!(ours, theirs, "{what}, line {number}");
    }
    let more = ours.len().min(theirs.len());
    let (ours, theirs) = (&ours[more..], &theirs[more..]);
    assert_eq!(
        ours.first(),
        theirs.first(),
        "{what}: {} and {}",
        ours.len(),
        theirs.len()
    );
}
