//! Headers by hand.

use hedgerow_tar::{Archive, Member, ReadOptions, Result, Warning};
use std::io::Read;

/// Members with their content.
pub type Members = Vec<(Member, Vec<u8>)>;

pub const BLOCK: usize = 512;

pub struct Raw(pub Vec<u8>);

impl Raw {
    pub fn new() -> Raw {
        Raw(Vec::new())
    }

    /// A member of a ustar archive with its content.
    pub fn member(self, name: &str, kind: u8, content: &[u8]) -> Raw {
        self.with(name, kind, content, |_| {})
    }

    /// The same with a change before the checksum is made.
    pub fn with(
        mut self,
        name: &str,
        kind: u8,
        content: &[u8],
        change: impl FnOnce(&mut [u8]),
    ) -> Raw {
        let mut block = [0; BLOCK];
        block[..name.len()].copy_from_slice(name.as_bytes());
        block[100..108].copy_from_slice(b"0000644\0");
        block[108..116].copy_from_slice(b"0000001\0");
        block[116..124].copy_from_slice(b"0000002\0");
        let size = format!("{:011o}\0", content.len());
        block[124..136].copy_from_slice(size.as_bytes());
        block[136..148].copy_from_slice(b"00000000003\0");
        block[156] = kind;
        block[257..265].copy_from_slice(b"ustar\x0000");
        change(&mut block);
        self.0.extend_from_slice(&summed(block));
        self.0.extend_from_slice(content);
        self.0.resize(self.0.len().next_multiple_of(BLOCK), 0);
        self
    }

    /// An extended header of some kind.
    pub fn records(self, kind: u8, records: &[(&str, &str)]) -> Raw {
        let content: String = records
            .iter()
            .map(|(key, value)| record(key, value))
            .collect();
        self.member("records", kind, content.as_bytes())
    }

    pub fn zeros(mut self, blocks: usize) -> Raw {
        self.0.resize(self.0.len() + blocks * BLOCK, 0);
        self
    }

    pub fn read(&self, options: ReadOptions) -> Result<Members> {
        self.read_with_warnings(options).0
    }

    pub fn read_with_warnings(&self, options: ReadOptions) -> (Result<Members>, Vec<Warning>) {
        let mut archive = Archive::new(&self.0[..], options);
        let read = read_all(&mut archive);
        if read.is_err() {
            assert_eq!(
                archive.next_member().unwrap(),
                None,
                "an error ends the archive"
            );
        }
        (read, archive.take_warnings().0)
    }

    /// The one member of an archive.
    pub fn only(&self) -> (Member, Vec<u8>) {
        let mut members = self.read(ReadOptions::default()).unwrap();
        assert_eq!(members.len(), 1);
        members.remove(0)
    }

    /// The error of reading, in words.
    pub fn refusal(&self) -> String {
        self.read(ReadOptions::default()).unwrap_err().to_string()
    }
}

fn record(key: &str, value: &str) -> String {
    let rest = key.len() + value.len() + 3;
    let mut len = rest + 1;
    while format!("{len}").len() + rest != len {
        len += 1;
    }
    format!("{len} {key}={value}\n")
}

pub fn summed(mut block: [u8; BLOCK]) -> [u8; BLOCK] {
    block[148..156].fill(b' ');
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

pub fn read_all<R: Read>(archive: &mut Archive<R>) -> Result<Members> {
    let mut members = Vec::new();
    while let Some(member) = archive.next_member()? {
        let mut content = Vec::new();
        let mut buffer = [0; 700];
        loop {
            match archive.read_content(&mut buffer)? {
                0 => break,
                len => content.extend_from_slice(&buffer[..len]),
            }
        }
        members.push((member, content));
    }
    Ok(members)
}
