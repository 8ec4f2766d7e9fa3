//! `hedgerow index-pack` beside git's: each in a repository of its own, with the same words and the
//! same input. They must end alike, print the same, and leave the same files.

mod craft;
mod faults;
mod hostile;
mod options;
mod strict;
mod thin;
mod twins;

use gix_hash::Kind;
use std::fmt::Write;
use twins::Twins;

/// Both hash functions, as git calls them.
const FORMATS: [(&str, Kind); 2] = [("sha1", Kind::Sha1), ("sha256", Kind::Sha256)];

/// Commits on the branch `main` that change a file of many lines, for chains of deltas.
fn grow(twins: &Twins, commits: u32, seed: u32) {
    let mut stream = String::new();
    let mut lines: Vec<u32> = (0..400).map(|n: u32| n.wrapping_mul(2_654_435)).collect();
    for number in 0..commits {
        lines[(number * 37 % 400) as usize] = number + seed * 1000;
        let text: String = lines.iter().map(|line| format!("line {line}\n")).collect();
        let from = if number == 0 && seed > 1 {
            "from refs/heads/main^0\n"
        } else {
            ""
        };
        write!(
            stream,
            "commit refs/heads/main\ncommitter a <a@b> {} +0000\ndata 1\nx\n{from}\
             M 100644 inline a/text\ndata {}\n{text}\nM 100644 inline b/{number}\ndata 3\n{:03}\n",
            1_000_000 + seed * 1000 + number,
            text.len(),
            number % 100,
        )
        .unwrap();
    }
    twins.in_both(&["fast-import", "--quiet", "--force"], stream.as_bytes());
}

/// What the revisions in `input` reach, packed.
fn pack(twins: &Twins, words: &[&str], input: &str) -> Vec<u8> {
    let fixed = ["pack-objects", "-q", "--stdout", "--revs", "--threads=1"];
    twins.in_both(&[&fixed, words].concat(), input.as_bytes())
}
