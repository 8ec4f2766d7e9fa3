use crate::{refusal, tree};
use hedgerow_tar::{NewRoot, NodeOptions};

fn options(path: &str, retarget_symlinks: bool) -> NodeOptions {
    NodeOptions {
        new_root: Some(NewRoot::new(path.as_bytes(), retarget_symlinks).unwrap()),
        ..NodeOptions::default()
    }
}

const MEMBERS: [(char, &str, &str); 8] = [
    ('d', "", ""),
    ('d', "r/s", ""),
    ('f', "r/s/a", "1"),
    ('f', "r/sa", "2"),
    ('h', "r/s/h", "r/s/a"),
    ('l', "r/s/l", "/r/s/a"),
    ('l', "r/s/m", "r//s/./a"),
    ('l', "r/s/n", "../s/a"),
];

#[test]
fn a_directory_becomes_the_root_and_links_follow() {
    let expected = [
        "d / 1 ",
        "f /a 2 1 #0",
        "f /h 2 1 #0",
        "l /l 5 /a",
        "l /m 6 /a",
        "l /n 7 ../s/a",
    ];
    assert_eq!(tree(&MEMBERS, &options("/./r/s/", true)), expected);
    let lines = tree(&MEMBERS, &options("r/s", false));
    assert_eq!(lines[3..5], ["l /l 5 /r/s/a", "l /m 6 r//s/./a"]);
}

#[test]
fn what_is_outside_is_not_there() {
    let members = [('f', "a", ""), ('h', "r/b", "a"), ('h', "r/c", "r")];
    let lines = tree(&members, &options("r", true));
    let said = [
        "error: 'b': a hard link to '../a', which is not in the archive",
        "error: 'c': a hard link to '../r', which is not in the archive",
    ];
    assert_eq!(lines[1..], said);
}

#[test]
fn the_root_must_be_a_directory_that_is_there() {
    let said = "there is no directory 'none' in the archive";
    assert_eq!(refusal(&MEMBERS, &options("none", true)), said);
    let said = "there is no directory 'r/s/a' in the archive";
    assert_eq!(refusal(&MEMBERS, &options("r/s/a", true)), said);
}
