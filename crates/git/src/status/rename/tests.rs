//! What a comparison with git cannot show: that budgets, number of workers and size of the pieces
//! do not change the result.

use super::matrix::{self, Budget};
use super::search::Search;
use super::*;
use hedgerow_engine::Jobs;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// Contents by path, passed on in pieces.
struct InMemory {
    files: BTreeMap<BString, Vec<u8>>,
    piece_bytes: usize,
}

impl Contents for InMemory {
    type Worker = ();

    fn worker(&self) {}

    fn id(&self, (): &mut (), _: &Side) -> Result<Option<ObjectId>> {
        Ok(None)
    }

    fn size(&self, (): &mut (), side: &Side) -> Result<Option<u64>> {
        Ok(self.files.get(&side.path).map(|file| file.len() as u64))
    }

    fn read(&self, (): &mut (), side: &Side, sink: &mut dyn FnMut(&[u8])) -> Result<()> {
        let file = self.files.get(&side.path);
        file.into_iter()
            .flat_map(|file| file.chunks(self.piece_bytes))
            .for_each(sink);
        Ok(())
    }
}

fn side(path: &str) -> Side {
    Side {
        path: path.into(),
        mode: Mode::File,
        id: None,
    }
}

/// Many old and new files that have a few lines in common.
fn files(count: u32) -> (Vec<Filepair>, InMemory) {
    let mut state = 7u32;
    let mut below = |limit: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % limit
    };
    let (mut pairs, mut files) = (Vec::new(), BTreeMap::new());
    for number in 0..2 * count {
        let lines = 1 + below(30);
        let ends = ["\n", "\r\n", "\r", "\0\r\n"];
        let end = ends[if below(9) == 0 { below(4) as usize } else { 0 }];
        let lines = (0..lines).map(|line| format!("{line} {}{end}", below(3)));
        let content = lines.collect::<String>();
        let (name, is_new) = (below(9), number >= count);
        let path = format!("{}/{number:03}/{name}", if is_new { "new" } else { "old" });
        files.insert(path.as_str().into(), content.into_bytes());
        let side = Some(side(&path));
        let (old, new) = if is_new { (None, side) } else { (side, None) };
        pairs.push(Filepair {
            old,
            new,
            ..Filepair::default()
        });
    }
    pairs.sort_by(|a, b| a.path().cmp(&b.path()));
    let piece_bytes = usize::MAX;
    (pairs, InMemory { files, piece_bytes })
}

fn engine(jobs: usize) -> Options {
    Options {
        jobs: NonZeroUsize::new(jobs).map_or(Jobs::Auto, Jobs::Fixed),
        ..Options::default()
    }
}

#[test]
fn budgets_make_no_difference() {
    let (pairs, contents) = files(90);
    let options = RenameOptions::default();
    let found = |batch_bytes, step_bytes| {
        let mut found = pairs.clone();
        let mut search = Search::new(&pairs, Detection::Renames, &|_| true);
        let budget = Budget {
            batch_bytes,
            step_bytes,
        };
        matrix::find(&mut search, &options, &contents, &engine(2), budget).unwrap();
        search.into_found().apply(&mut found);
        found
    };
    let whole = found(u64::MAX, u64::MAX);
    assert!(whole.iter().filter(|pair| pair.origin.is_some()).count() > 20);
    for (batch_bytes, step_bytes) in [(1, 1), (1000, 1), (2000, 700), (u64::MAX, 1)] {
        assert_eq!(
            found(batch_bytes, step_bytes),
            whole,
            "{batch_bytes} {step_bytes}"
        );
    }
}

#[test]
fn workers_and_pieces_make_no_difference() {
    for detection in [Detection::Renames, Detection::Copies] {
        let options = RenameOptions {
            detection,
            ..RenameOptions::default()
        };
        let (pairs, mut contents) = files(70);
        let mut found = |jobs, piece_bytes| {
            contents.piece_bytes = piece_bytes;
            let mut pairs = pairs.clone();
            detect(&mut pairs, &options, &contents, &engine(jobs)).unwrap();
            pairs
        };
        let whole = found(1, usize::MAX);
        assert!(whole.iter().filter(|pair| pair.origin.is_some()).count() > 20);
        for (jobs, piece_bytes) in [(0, 1), (2, 3), (8, 64), (3, usize::MAX)] {
            assert_eq!(found(jobs, piece_bytes), whole, "{jobs} {piece_bytes}");
        }
    }
}

#[test]
fn too_many_are_left_alone_and_told() {
    let (pairs, contents) = files(30);
    let detected = |limit, pairs: &mut Vec<Filepair>| {
        let options = RenameOptions {
            limit,
            ..RenameOptions::default()
        };
        detect(pairs, &options, &contents, &engine(1)).unwrap()
    };
    let mut left = pairs.clone();
    assert_eq!(detected(Some(29), &mut left).needed_limit, Some(30));
    assert_eq!(left, pairs);
    assert_eq!(detected(Some(30), &mut left).needed_limit, None);
    assert_ne!(left, pairs);
    assert_eq!(detected(None, &mut pairs.clone()).needed_limit, None);
}

#[test]
fn scores_are_shown_in_percent_rounded_down() {
    assert_eq!(Score::EQUAL.to_string(), "100%");
    assert_eq!(Score::of_share(999, 1000).percent(), 99);
    assert_eq!(Score::of_share(1, 3).percent(), 33);
    assert_eq!(Score::of_share(u64::MAX, u64::MAX), Score::EQUAL);
    assert_eq!(Score::of_share(5, 0), Score::EQUAL, "no division by zero");
    assert_eq!(Score::default().percent(), 0);
    assert_eq!(Score::DEFAULT.half_way_to_equal().percent(), 75);
}
