//! Archives that two readers take for different things, or that lead elsewhere.

use crate::hedgerow;
use std::path::Path;

/// astral-tokio-tar: a size in a pax header, another in the member's own.
#[test]
fn cve_2025_62518() {
    smuggled(b'0', 0);
}

/// tar-rs: the size of the pax header is not believed if the member's own is not zero.
#[test]
fn cve_2026_33055() {
    smuggled(b'0', 512);
}

/// The member is a link or a directory with a size: what follows is its content or it is not.
#[test]
fn rustsec_2026_0112() {
    // A pax header that is damaged is refused, not passed over.
    for record in [
        &b"99 size=1024\n"[..],
        b"x size=1024\n",
        b"13 size=1024",
        b"14 size=1k24\n",
    ] {
        let home = hedgerow_testkit::temporary();
        let mut archive = pax(record);
        archive.extend(member(b"outer", b'0', 1024));
        archive.extend(member(b"smuggled", b'0', 0));
        archive.extend([0; 512]);
        let outcome = pack(home.path(), &archive);
        assert_ne!(outcome.code, 0, "{record:?}: {outcome:?}");
    }
}

/// tar-rs: a directory with the name of a link to elsewhere gets its permissions.
#[test]
fn cve_2026_33056() {
    through_a_link(b"link", b'5');
}

/// astral-tokio-tar: the same, by `unpack_in`.
#[test]
fn rustsec_2026_0113() {
    through_a_link(b"link/", b'5');
    through_a_link(b"link/.", b'5');
}

/// astral-tokio-tar, GNU tar: a file behind a link that came before.
#[test]
fn cve_2025_59825() {
    through_a_link(b"link/evil", b'0');
}

/// GNU tar: the link is from an archive that was extracted before.
#[test]
fn cve_2025_45582() {
    let home = scene();
    let mut first = linked(b"link", b"../outside");
    first.extend([0; 1024]);
    let mut second = member(b"link/evil", b'0', 0);
    second.extend([0; 1024]);
    for (name, archive) in [("one", first), ("two", second)] {
        pack(home.path(), &archive);
        hedgerow(home.path(), &["image", "extract", "-f", "image", "work"]);
        let _ = std::fs::remove_file(home.path().join("image"));
        assert_outside_untouched(home.path(), name);
    }
}

/// One member of 1,024 bytes by its pax header, and `own` by its own, which contain a header: both
/// GNU tar and we go by the pax header, and find one member.
fn smuggled(kind: u8, own: usize) {
    let home = hedgerow_testkit::temporary();
    let mut archive = pax(b"13 size=1024\n");
    archive.extend(header(b"outer", kind, own));
    let inner = member(b"smuggled", b'0', 0);
    archive.extend(&inner);
    archive.extend([0; 512]);
    archive.extend(member(b"last", b'0', 0));
    archive.extend([0; 1024]);
    let outcome = pack(home.path(), &archive);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let listed = hedgerow(home.path(), &["image", "list", "image"]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(!listed.contains("smuggled"), "{listed}");
    assert!(
        listed.contains("outer") && listed.contains("last"),
        "{listed}"
    );
}

/// A link to elsewhere, then something of its name or behind it.
fn through_a_link(name: &[u8], kind: u8) {
    let home = scene();
    let mut archive = linked(b"link", b"../outside");
    archive.extend(member(name, kind, 0));
    archive.extend([0; 1024]);
    pack(home.path(), &archive);
    hedgerow(home.path(), &["image", "extract", "-f", "image", "work"]);
    assert_outside_untouched(home.path(), &String::from_utf8_lossy(name));
}

fn scene() -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt;
    let home = hedgerow_testkit::temporary();
    for name in ["outside", "work"] {
        std::fs::create_dir(home.path().join(name)).unwrap();
    }
    let private = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(home.path().join("outside"), private).unwrap();
    home
}

fn assert_outside_untouched(home: &Path, what: &str) {
    use std::os::unix::fs::PermissionsExt;
    let outside = home.join("outside");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0, "{what}");
    let mode = std::fs::metadata(&outside).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "{what}");
}

fn pack(home: &Path, archive: &[u8]) -> crate::Outcome {
    std::fs::write(home.join("in.tar"), archive).unwrap();
    hedgerow(home, &["image", "create", "-f", "in.tar", "image"])
}

fn pax(record: &[u8]) -> Vec<u8> {
    let mut header = header(b"pax", b'x', record.len());
    let mut content = record.to_vec();
    content.resize(512, 0);
    header.extend(content);
    header
}

fn linked(name: &[u8], target: &[u8]) -> Vec<u8> {
    let mut header = header(name, b'2', 0);
    header[157..157 + target.len()].copy_from_slice(target);
    sum(&mut header);
    header
}

/// A member with `bytes` zeros.
fn member(name: &[u8], kind: u8, bytes: usize) -> Vec<u8> {
    let mut header = header(name, kind, bytes);
    header.extend(vec![0; bytes]);
    header
}

/// A header of ustar.
fn header(name: &[u8], kind: u8, bytes: usize) -> Vec<u8> {
    let mut header = vec![0; 512];
    header[..name.len()].copy_from_slice(name);
    header[100..108].copy_from_slice(b"0000777\0");
    header[108..116].copy_from_slice(b"0000000\0");
    header[116..124].copy_from_slice(b"0000000\0");
    header[124..136].copy_from_slice(format!("{bytes:011o}\0").as_bytes());
    header[136..148].copy_from_slice(b"00000000000\0");
    header[156] = kind;
    header[257..265].copy_from_slice(b"ustar\x0000");
    sum(&mut header);
    header
}

fn sum(header: &mut [u8]) {
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}
