//! The power goes. What a command does to the file system is recorded once; then every state that a
//! disk may be in after a cut is made of it, and looked at.
//!
//! Two kinds of file system are replayed. A *journal* (ext4, XFS) keeps changes of names in their
//! order, and any sync makes all of them durable that came before. With *directories* (POSIX, and
//! to a degree btrfs) each directory has an order of its own, and only syncing it makes its names
//! durable. With both, what was written and not synced may be there, in part, as zeros, or not.

mod disk;
mod trace;

use crate::scenario::{scenarios, Kind, Stage};
use crate::{judge, strace, Complaints, Extent};
use disk::{Disk, Durability};
use hedgerow_testkit::Random;

/// States for each command: all in all 10,000 when everything runs.
const STATES: usize = 600;
const SAMPLE: usize = 6;

#[test]
fn whatever_the_power_cut_leaves_nothing_is_lost() {
    if !strace::is_there("power cuts") {
        return;
    }
    let extent = Extent::from_environment();
    let states = if extent.is_whole { STATES } else { SAMPLE };
    let mut complaints = Complaints::default();
    let mut tried = 0;
    for scenario in scenarios().filter(|one| one.kind != Kind::Query) {
        let stage = Stage::new(*scenario);
        let place = stage.place();
        let mut disk = Disk::of_tree(&place.work());
        let log = place.path().join("log");
        let outcome = hedgerow_testkit::run(stage.command(&place, &trace::recording(&log)));
        assert_eq!(outcome.code, 0, "{}: {outcome:?}", scenario.name);
        let text = std::fs::read_to_string(log).unwrap();
        trace::replay(&text, &place.work(), &mut disk);
        disk.assert_equals(&place.work(), scenario.name);
        let mut random = Random::new(extent.seed);
        for number in 0..states {
            let durability = if random.chance(50) {
                Durability::Journal
            } else {
                Durability::Directories
            };
            let state = disk.cut(durability, &mut random);
            let left = stage.place();
            state.write(&left.work());
            let verdict = judge::without_power(scenario, &stage.golden, &left.work());
            let what = || format!("{}: state {number}, {}", scenario.name, state.description);
            complaints.note(what, verdict);
            tried += 1;
        }
    }
    println!("{tried} states");
    complaints.assert_none(extent.seed);
}
