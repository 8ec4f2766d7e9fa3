//! Operations in progress, as recorded in files with untrusted content.

use super::*;

#[test]
fn the_first_command_of_a_sequence() {
    let pick = Some(Sequence::CherryPick);
    let revert = Some(Sequence::Revert);
    for (todo, expected) in [
        (&b"pick 12 x\n"[..], pick),
        (b"\n \r\tp\t12", pick),
        (b"revert 12", revert),
        (b"pick", None),
        (b"pick\n12", None),
        (b"picked 12", None),
        (b"# pick 12", None),
        (b"", None),
        (b" \n", None),
    ] {
        assert_eq!(first_command(todo), expected, "{:?}", todo.as_bstr());
    }
}
