//! Archives through a decoder, and through a pipe that gives little at a time.

use crate::raw::{read_all, Members};
use crate::writer::{archive, everything};
use hedgerow_tar::{decompress, Archive, Error, ReadOptions, Result, WriteOptions};
use std::io::{self, Read, Write};

/// Hands out a few bytes at a time, and is interrupted between.
struct Slow<'a> {
    rest: &'a [u8],
    turn: usize,
}

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.turn += 1;
        if self.turn.is_multiple_of(5) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let len = buffer.len().min(self.turn % 7 + 1);
        self.rest.read(&mut buffer[..len])
    }
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn read_compressed(input: &[u8]) -> Result<Members> {
    let input = decompress(input).unwrap();
    let mut archive = Archive::new(input, ReadOptions::default());
    let members = read_all(&mut archive)?;
    archive.finish()?;
    Ok(members)
}

#[test]
fn the_pace_of_the_input_changes_nothing() {
    let bytes = archive(&everything(), WriteOptions::default());
    let expected = read_all(&mut Archive::new(&bytes[..], ReadOptions::default())).unwrap();
    for input in [bytes.clone(), gzip(&bytes)] {
        let slow = Slow {
            rest: &input,
            turn: 0,
        };
        let mut archive = Archive::new(decompress(slow).unwrap(), ReadOptions::default());
        assert!(read_all(&mut archive).unwrap() == expected);
        archive.finish().unwrap();
    }
}

/// An archive is often read on a thread of its own.
#[test]
fn readers_may_change_threads() {
    fn assert_send<T: Send>(_: &T) {}
    assert_send(&Archive::new(
        decompress(&[][..]).unwrap(),
        ReadOptions::default(),
    ));
}

#[test]
fn a_compressed_archive_that_is_cut_is_told_as_such() {
    let input = gzip(&archive(&everything(), WriteOptions::default()));
    read_compressed(&input).unwrap();
    for len in (20..input.len()).step_by(7) {
        let error = read_compressed(&input[..len]).unwrap_err();
        assert!(matches!(error, Error::Truncated { .. }), "{len}: {error}");
    }
}

/// The checksum of a compressed archive stands behind the mark of its end.
#[test]
fn reading_to_the_end_notices_a_wrong_checksum() {
    let mut input = gzip(&archive(&everything(), WriteOptions::default()));
    let checksum = input.len() - 8;
    input[checksum] ^= 1;
    let error = read_compressed(&input).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("reading failed at byte 20480: "),
        "{error}"
    );
}
