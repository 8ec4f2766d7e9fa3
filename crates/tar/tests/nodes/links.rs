use crate::{refusal, tree};
use hedgerow_tar::NodeOptions;

fn below_root(members: &[(char, &str, &str)]) -> Vec<String> {
    tree(members, &NodeOptions::default()).split_off(1)
}

#[test]
fn names_of_one_file_are_one_file() {
    let members = [
        ('f', "m", "content"),
        ('h', "z", "m"),
        ('h', "a", "z"),
        ('l', "s", "target"),
        ('h', "t", "s"),
        ('f', "alone", "one"),
    ];
    let expected = [
        "f /a 0 content #0",
        "f /alone 5 one",
        "f /m 0 content #0",
        "l /s 3 target #3",
        "l /t 3 target #3",
        "f /z 0 content #0",
    ];
    assert_eq!(below_root(&members), expected);
}

#[test]
fn a_link_leads_to_what_had_the_name_when_it_came() {
    let members = [
        ('f', "a", "old"),
        ('h', "b", "a"),
        ('f', "a", "new"),
        ('h', "c", "a"),
        ('h', "a", "a"),
    ];
    let expected = ["f /a 2 new #2", "f /b 0 old #0", "f /c 2 new #2"];
    assert_eq!(below_root(&members), expected);
}

#[test]
fn a_link_may_come_before_what_it_leads_to() {
    let members = [('h', "a", "d/z"), ('h', "b", "a"), ('f', "d/z", "content")];
    let linked = [
        "f /a 2 content #2",
        "f /b 2 content #2",
        "f /d/z 2 content #2",
    ];
    let lines = below_root(&members);
    assert_eq!([&lines[0], &lines[1], &lines[3]], linked);
}

#[test]
fn links_that_lead_to_no_file_are_errors_of_their_own() {
    let members = [
        ('h', "a", "nothing"),
        ('h', "b", "c"),
        ('h', "c", "b"),
        ('d', "d", ""),
        ('h', "e", "d"),
        ('h', "f", "f"),
        ('h', "g", "a"),
        ('f', "z", "still there"),
    ];
    let expected = [
        "error: 'a': a hard link to 'nothing', which is not in the archive",
        "error: 'b': a hard link to 'c', which is not in the archive",
        "error: 'c': a hard link to 'b', which is not in the archive",
        "d /d 3 ",
        "error: 'e': a hard link to the directory 'd'",
        "error: 'f': a hard link to 'f', which is not in the archive",
        "error: 'g': a hard link to 'a', which is not in the archive",
        "f /z 7 still there",
    ];
    assert_eq!(below_root(&members), expected);
}

#[test]
fn twenty_thousand_links_one_to_another() {
    let names: Vec<String> = (0..20_000).map(|number| format!("n{number:06}")).collect();
    let mut members = vec![('f', "n000000", "content")];
    for pair in names.windows(2) {
        members.push(('h', &pair[1], &pair[0]));
    }
    // Half of them the other way round, so that every link comes before its target.
    members[1..].reverse();
    let lines = below_root(&members);
    assert_eq!(lines.len(), 20_000);
    assert!(lines.iter().all(|line| line.ends_with(" 0 content #0")));
}

#[test]
fn a_link_is_no_directory() {
    let members = [('f', "a", ""), ('h', "b", "a"), ('f', "b/c", "")];
    let said = "'b' has entries below it in the archive, but is not a directory";
    assert_eq!(refusal(&members, &NodeOptions::default()), said);
}
