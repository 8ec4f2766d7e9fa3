//! A disk that has room for a part of what is to be written.

use crate::scenario::{scenarios, Kind, Stage};
use crate::{judge, Complaints, Extent};
use hedgerow_testkit::{run, skip, Mount};
use std::path::Path;
use std::process::Command;

/// How many pages of room there are, beside what is there already.
const ROOM: [u64; 12] = [0, 1, 2, 3, 4, 6, 9, 14, 21, 32, 48, 72];

const PAGE: u64 = 4096;

/// How many cases a sample has.
const SAMPLE: usize = 40;

#[test]
fn a_disk_that_fills_up() {
    let extent = Extent::from_environment();
    let mut stages = Vec::new();
    let mut cases = Vec::new();
    for scenario in scenarios().filter(|one| one.kind != Kind::Query) {
        cases.extend(ROOM.map(|pages| (stages.len(), pages)));
        stages.push(Stage::new(*scenario));
    }
    let mut complaints = Complaints::default();
    let mut failed = 0;
    let cases = extent.select(cases, SAMPLE);
    for (stage, pages) in &cases {
        let stage = &stages[*stage];
        let Some(mount) = Mount::tmpfs("size=64M") else {
            return skip("no small file system can be mounted here to be filled");
        };
        let place = stage.place_in(tempfile::tempdir_in(mount.path()).unwrap());
        resize(mount.path(), used(mount.path()) + pages * PAGE);
        let outcome = run(stage.command(&place, &[]));
        failed += usize::from(outcome.code != 0);
        let mut verdict = stage.judge(&place, &outcome);
        resize(mount.path(), 64 << 20);
        if verdict.is_ok() && outcome.code != 0 {
            verdict = judge::cut_short(&stage.scenario, &stage.golden, &place.work())
                .map_err(|error| format!("with room again: {error}"));
        }
        let what = || format!("{}: room for {pages} pages", stage.scenario.name);
        complaints.note(what, verdict);
    }
    println!("{failed} of {} had too little room", cases.len());
    complaints.assert_none(extent.seed);
}

/// The bytes that are taken of a file system.
fn used(root: &Path) -> u64 {
    let mut command = Command::new("df");
    let output = command.args(["-B1", "--output=used"]).arg(root).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    text.lines().last().unwrap().trim().parse().unwrap()
}

fn resize(root: &Path, bytes: u64) {
    let mut command = Command::new("mount");
    command
        .args(["-o", &format!("remount,size={bytes}")])
        .arg(root);
    assert!(
        command.status().unwrap().success(),
        "a mount of another size"
    );
}
