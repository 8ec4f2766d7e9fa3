//! A part of a listing from any bytes, also behind a sound frame and with a sound digest of its notes, and a
//! list of directories: refused, or read in bounded memory. No path that comes out leaves the tree, and no
//! file stays after a failure.
#![no_main]

use hedgerow_engine::Execution;
use hedgerow_listing::{merge, read_rest, Format, Output};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|input: &[u8]| {
    let place = tempfile::tempdir().expect("there is room");
    let (file, merged) = (place.path().join("input"), place.path().join("merged"));
    for input in [input.to_vec(), sealed(input.to_vec()), sealed(framed(input))] {
        std::fs::write(&file, input).expect("there is room");
        if let Ok(left) = read_rest(&file) {
            for path in left {
                let mut names = path.split(|byte| *byte == b'/');
                assert!(path.is_empty() || names.all(|name| !matches!(name, b"" | b"." | b"..")));
            }
        }
        if let Ok(output) = Output::to(&merged, true) {
            let done = join(&file, output, place.path());
            assert_eq!(done, merged.exists());
        }
    }
});

fn join(part: &Path, output: Output, temporary: &Path) -> bool {
    let execution = Execution::default();
    merge(&[part.to_owned()], output, Format::Parquet, temporary, &execution).is_ok()
}

/// The input as the pages and the footer of a file: its first byte tells where the footer starts.
fn framed(input: &[u8]) -> Vec<u8> {
    let Some((at, rest)) = input.split_first() else {
        return Vec::new();
    };
    let at = usize::from(*at) * rest.len() / 256;
    let footer = (rest.len() - at) as u32;
    [&b"PAR1"[..], rest, &footer.to_le_bytes(), b"PAR1"].concat()
}

/// The same with the right digest behind the notes of the part, if there are any: without it, damage to them
/// would be all that is ever found.
fn sealed(mut input: Vec<u8>) -> Vec<u8> {
    let find = |what: &[u8], from: usize| {
        let found = input.get(from..)?.windows(what.len()).position(|own| own == what);
        found.map(|at| from + at)
    };
    let start = find(b"hedgerow.part.v2\n", 0);
    let end = start.and_then(|start| find(b"\nend\t", start));
    if let (Some(start), Some(end)) = (start, end) {
        let digest = blake3::hash(&input[start..=end]).to_hex();
        let place = input.iter_mut().skip(end + b"\nend\t".len());
        place.zip(digest.bytes()).for_each(|(own, digit)| *own = digit);
    }
    input
}
