//! Images that nobody would make by accident, written byte by byte.

use super::damage::options;
use hedgerow_squashfs::format::{Reference, Superblock, MAGIC, NO_TABLE};
use hedgerow_squashfs::{verify, Body, Error, Image, ImageSource, Report};
use std::ops::ControlFlow;

/// An image whose tables are given, in metadata blocks that are not compressed.
#[derive(Clone)]
struct Forged {
    inodes: Vec<u8>,
    directories: Vec<u8>,
    xattrs: Option<(Vec<u8>, Vec<u8>)>,
    inode_count: u32,
    root: u16,
}

fn bytes(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

fn short(number: u16) -> [u8; 2] {
    number.to_le_bytes()
}

fn word(number: u32) -> [u8; 4] {
    number.to_le_bytes()
}

fn long(number: u64) -> [u8; 8] {
    number.to_le_bytes()
}

fn header(kind: u16, number: u32) -> Vec<u8> {
    bytes(&[
        &short(kind),
        &short(0o755),
        &short(0),
        &short(0),
        &word(1),
        &word(number),
    ])
}

/// A directory of the basic form: 32 bytes.
fn directory(number: u32, parent: u32, offset: u16, listing: usize, links: u32) -> Vec<u8> {
    let size = short(listing as u16 + 3);
    bytes(&[
        &header(1, number),
        &word(0),
        &word(links),
        &size,
        &short(offset),
        &word(parent),
    ])
}

/// A run of entries: (offset of the inode, its number, its type, its name).
fn run(entries: &[(u16, i16, u16, &[u8])]) -> Vec<u8> {
    let mut run = bytes(&[&word(entries.len() as u32 - 1), &word(0), &word(0)]);
    for (offset, number, kind, name) in entries {
        let parts = [short(*offset), number.to_le_bytes(), short(*kind)];
        run.extend(parts.concat());
        run.extend(short(name.len() as u16 - 1));
        run.extend_from_slice(name);
    }
    run
}

impl Forged {
    /// The root, which lists what is given, and behind it other inodes.
    fn new(listing: Vec<u8>, others: &[Vec<u8>]) -> Self {
        let mut inodes = directory(1, 0, 0, listing.len(), 2);
        others
            .iter()
            .for_each(|other| inodes.extend_from_slice(other));
        Forged {
            inodes,
            directories: listing,
            xattrs: None,
            inode_count: 1 + others.len() as u32,
            root: 0,
        }
    }

    fn build(&self) -> Vec<u8> {
        let mut image = vec![0; 96];
        let block = |image: &mut Vec<u8>, content: &[u8]| {
            let start = image.len() as u64;
            for content in content.chunks(8192) {
                image.extend(short(content.len() as u16 | 0x8000));
                image.extend_from_slice(content);
            }
            start
        };
        let inodes = block(&mut image, &self.inodes);
        let directories = block(&mut image, &self.directories);
        let ids = block(&mut image, &word(0));
        let id_table = image.len() as u64;
        image.extend(long(ids));
        let mut xattr_table = NO_TABLE;
        if let Some((values, sets)) = &self.xattrs {
            let values = block(&mut image, values);
            let table = block(&mut image, sets);
            xattr_table = image.len() as u64;
            image.extend(long(values));
            image.extend(word(sets.len() as u32 / 16));
            image.extend(word(0));
            image.extend(long(table));
        }
        let superblock = Superblock {
            magic: MAGIC,
            inode_count: self.inode_count,
            mod_time: 0,
            block_size: 4096,
            fragment_count: 0,
            compressor: 1,
            block_log: 12,
            flags: 0,
            id_count: 1,
            version_major: 4,
            version_minor: 0,
            root_inode: Reference::new(0, self.root),
            bytes_used: image.len() as u64,
            id_table_start: id_table,
            xattr_id_table_start: xattr_table,
            inode_table_start: inodes,
            directory_table_start: directories,
            fragment_table_start: NO_TABLE,
            export_table_start: NO_TABLE,
        };
        image[..96].copy_from_slice(&superblock.to_bytes());
        image
    }

    fn report(&self) -> Report {
        verify(Box::new(self.build()), 0, &options()).unwrap()
    }

    fn image(&self) -> Image {
        Image::new(Box::new(self.build()), 0).unwrap()
    }

    /// The paths that can be listed, and what was passed over.
    fn listed(&self) -> (Vec<String>, Vec<String>) {
        let image = self.image();
        let mut paths = Vec::new();
        let omissions = ImageSource::new(&image).unwrap().entries(&mut |found| {
            paths.push(String::from_utf8_lossy(found.entry.path).into_owned());
            ControlFlow::Continue(())
        });
        let omissions = omissions.iter().map(|omission| omission.to_string());
        (paths, omissions.collect())
    }

    /// `verify` says this, among other things.
    fn assert_found(&self, what: &str) {
        let findings = self.report().findings;
        let found = findings
            .iter()
            .any(|finding| finding.to_string().contains(what));
        assert!(found, "{what}: {findings:?}");
    }
}

fn fifo(number: u32) -> Vec<u8> {
    bytes(&[&header(6, number), &word(1)])
}

/// A file of the extended form.
fn file(number: u32, size: u64, fragment: u32, xattrs: u32, words: &[u32]) -> Vec<u8> {
    let mut file = bytes(&[
        &header(9, number),
        &long(96),
        &long(size),
        &long(0),
        &word(1),
    ]);
    file.extend([word(fragment), word(0), word(xattrs)].concat());
    file.extend(words.iter().flat_map(|size| word(*size)));
    file
}

#[test]
fn a_forged_image_without_a_flaw_is_sound() {
    let listing = run(&[(32, 2, 6, b"a"), (52, 3, 6, b"b")]);
    let forged = Forged::new(listing, &[fifo(2), fifo(3)]);
    assert_eq!(forged.report().findings, []);
    assert_eq!(
        forged.listed(),
        (vec!["a".to_owned(), "b".to_owned()], vec![])
    );
}

#[test]
fn names_that_lead_elsewhere_are_left_out() {
    for name in [&b".."[..], b".", b"a/b", b"/", b"a\0", &[b'n'; 256]] {
        let forged = Forged::new(run(&[(32, 2, 6, b"!"), (32, 2, 6, name)]), &[fifo(2)]);
        let (paths, omitted) = forged.listed();
        assert_eq!(
            (paths.as_slice(), omitted.len()),
            (&["!".to_owned()][..], 1),
            "{name:?}"
        );
        assert!(!forged.report().findings.is_empty());
    }
}

#[test]
fn of_entries_with_one_name_only_the_first_is_there() {
    let target = bytes(&[&header(3, 2), &word(1), &word(1), b"/"]);
    let listing = run(&[(32, 2, 3, b"x"), (57, 3, 6, b"x"), (57, 3, 6, b"y")]);
    let forged = Forged::new(listing, &[target, fifo(3)]);
    let (paths, omitted) = forged.listed();
    assert_eq!(
        (paths, omitted.len()),
        (vec!["x".to_owned(), "y".to_owned()], 1)
    );
    forged.assert_found("a second entry 'x'");
    assert!(matches!(
        forged.image().find(b"x").unwrap().body,
        Body::Symlink(_)
    ));
}

#[test]
fn entries_out_of_order_are_told_and_listed_in_order() {
    let listing = run(&[(52, 3, 6, b"b"), (32, 2, 6, b"a")]);
    let forged = Forged::new(listing, &[fifo(2), fifo(3)]);
    assert_eq!(
        forged.listed(),
        (vec!["a".to_owned(), "b".to_owned()], vec![])
    );
    forged.assert_found("not in order");
    assert_eq!(forged.image().find(b"b").unwrap().number, 3);
}

#[test]
fn directories_that_contain_themselves_end() {
    let listing = run(&[(0, 1, 1, b"again")]);
    let forged = Forged::new(listing, &[]);
    let (paths, omitted) = forged.listed();
    // What is below the root's own number is listed once.
    assert_eq!((paths, omitted.len()), (vec!["again".to_owned()], 1));
    forged.assert_found("in two places");

    let listing = run(&[(32, 2, 1, b"a")]);
    let below = run(&[(32, 2, 1, b"b")]);
    let inner = directory(2, 1, listing.len() as u16, below.len(), 3);
    let mut forged = Forged::new(listing, &[inner]);
    forged.directories.extend(below);
    assert_eq!(forged.listed().0, ["a", "a/b"]);
    forged.assert_found("in two places");
}

#[test]
fn counts_that_lie_are_found() {
    let listing = run(&[(32, 2, 6, b"a")]);
    let honest = Forged::new(listing.clone(), &[fifo(2)]);
    for count in [1, 3, u32::MAX] {
        let forged = Forged {
            inode_count: count,
            ..honest.clone()
        };
        forged.assert_found("inodes in place of");
    }
    // Runs of too many entries, and of more than the listing holds.
    for (count, what) in [
        (256, "a run of 257"),
        (u32::MAX, "a run of"),
        (9, "longer than"),
    ] {
        let mut forged = honest.clone();
        forged.directories[..4].copy_from_slice(&word(count));
        forged.assert_found(what);
        assert_eq!(forged.listed().1.len(), 1);
    }
    // An inode that is in no directory.
    Forged::new(listing, &[fifo(2), fifo(3)]).assert_found("in no directory");
    // An index that is not there.
    let large = bytes(&[
        &header(8, 1),
        &word(2),
        &word(3),
        &word(0),
        &word(0),
        &short(u16::MAX),
    ]);
    let large = bytes(&[&large, &short(0), &word(u32::MAX)]);
    let forged = Forged {
        inodes: large,
        ..Forged::new(Vec::new(), &[])
    };
    assert!(!forged.report().findings.is_empty());
}

#[test]
fn files_larger_than_their_image_are_refused() {
    let listing = run(&[(32, 2, 2, b"f")]);
    let none = u32::MAX;
    for (size, fragment, words, what) in [
        (u64::MAX, none, &[][..], "have no room"),
        (u64::MAX - 1, 0, &[], "have no room"),
        (1 << 42, none, &[], "have no room"),
        (8192, 0, &[0, 0], "a tail of a file"),
        (5000, 7, &[0], "fragment block 7"),
        (4096, none, &[4096], "size word"),
        (4096, none, &[0xffff_ffff], "size word"),
        (4096, none, &[1 << 24], "size word"),
    ] {
        let forged = Forged::new(listing.clone(), &[file(2, size, fragment, none, words)]);
        forged.assert_found(what);
        let image = forged.image();
        let Ok(found) = image.find(b"f") else {
            continue;
        };
        let Body::File(file) = found.body else {
            panic!("not a file");
        };
        let mut content = Vec::new();
        let mut pieces = image.pieces(&file).unwrap();
        assert!(pieces.any(|piece| image.read_piece(&piece.unwrap(), &mut content).is_err()));
    }
    let link = bytes(&[&header(3, 2), &word(1), &word(u32::MAX)]);
    Forged::new(run(&[(32, 2, 3, b"l")]), &[link]).assert_found("a target of 4294967295 bytes");
}

#[test]
fn a_listing_of_nothing_but_damage_is_not_held() {
    for (name, kept) in [(&b".."[..], 0), (b"a", 1)] {
        let listing = |runs: usize| run(&[(32, 2, 6, name)].repeat(256)).repeat(runs);
        for (runs, is_held) in [(16, true), (17, false)] {
            let forged = Forged::new(listing(runs), &[fifo(2)]);
            let (paths, omitted) = forged.listed();
            let told = if is_held { runs * 256 - kept } else { 1 };
            assert_eq!(omitted.len(), told);
            assert_eq!(paths.len(), if is_held { kept } else { 0 });
            assert!(!forged.report().findings.is_empty());
        }
    }
}

#[test]
fn attributes_that_refer_to_themselves_end() {
    let listing = run(&[(32, 2, 2, b"f")]);
    // A value that stands where its own reference does.
    let pair = bytes(&[&short(0x100), &short(1), b"x", &word(8), &long(5)]);
    let set = |count: u32, size: u32| bytes(&[&long(0), &word(count), &word(size)]);
    let none = u32::MAX;
    let honest = Forged::new(listing, &[file(2, 0, none, 0, &[])]);
    let forged = Forged {
        xattrs: Some((pair.clone(), set(1, 17))),
        ..honest.clone()
    };
    let image = forged.image();
    let xattr = image.xattrs(0).unwrap().next().unwrap().unwrap();
    assert_eq!(
        (xattr.name.as_slice(), xattr.value),
        (&b"user.x"[..], long(5).to_vec())
    );
    for (pair, set, what) in [
        (pair.clone(), set(u32::MAX, 17), "outside its table"),
        (pair.clone(), set(1, 18), "have 17 bytes, not 18"),
        (bytes(&[&pair, &pair]), set(2, 34), "a second 'user.x'"),
        (bytes(&[&short(9), &pair[2..]]), set(1, 17), "of type 0x9"),
        (
            bytes(&[&pair[..5], &word(u32::MAX), &long(0)]),
            set(1, 17),
            "a value of",
        ),
    ] {
        let forged = Forged {
            xattrs: Some((pair, set)),
            ..honest.clone()
        };
        forged.assert_found(what);
    }
    // Attributes that no table has.
    honest.assert_found("attributes 0 of 0");
}

#[test]
fn attributes_that_are_too_much_to_hold_are_refused() {
    let value = bytes(&[&word(1 << 16), &vec![b'v'; 1 << 16]]);
    let long_name = bytes(&[&short(0), &short(250), &[b'n'; 250], &word(0)]);
    let elsewhere = bytes(&[&short(0x100), &short(1), b"x", &word(8), &long(0)]);
    for (pair, count, what) in [
        (long_name, 300, "names are too long"),
        (elsewhere, 300, "values are too long"),
    ] {
        let (block, offset) = (value.len() / 8192 * 8194, value.len() % 8192);
        let reference = Reference::new(block as u64, offset as u16);
        let forged = Forged {
            xattrs: Some((
                bytes(&[&value, &pair.repeat(count)]),
                bytes(&[&long(reference.0), &word(count as u32), &word(0)]),
            )),
            ..Forged::new(run(&[(32, 2, 2, b"f")]), &[file(2, 0, u32::MAX, 0, &[])])
        };
        let mut values = 0;
        let image = forged.image();
        let failed = image
            .xattrs(0)
            .unwrap()
            .find_map(|xattr| xattr.map(|xattr| values += xattr.value.len()).err());
        let failed = failed.expect("there is an end to it").to_string();
        assert!(failed.contains(what), "{failed}");
        assert!(values <= 16 << 20);
    }
}

#[test]
fn broken_metadata_blocks_are_refused() {
    let forged = Forged::new(run(&[(32, 2, 6, b"a")]), &[fifo(2)]);
    let sound = forged.build();
    for header in [0u16, 0x8000, 0x9fff, 0xffff, 1, 0x2001] {
        let mut image = sound.clone();
        image[96..98].copy_from_slice(&short(header));
        let report = verify(Box::new(image.clone()), 0, &options()).unwrap();
        assert!(!report.findings.is_empty(), "{header:#x}");
        let image = Image::new(Box::new(image), 0).unwrap();
        assert!(image.root().is_err(), "{header:#x}");
    }
    let mut cut = sound.clone();
    cut.truncate(sound.len() - 1);
    assert!(matches!(
        Image::new(Box::new(cut), 0),
        Err(Error::Damaged(_))
    ));
    assert!(matches!(
        Image::new(Box::new(vec![]), 0),
        Err(Error::NotAnImage(_))
    ));
    assert!(matches!(
        Image::new(Box::new(sound), u64::MAX),
        Err(Error::NotAnImage(_))
    ));
}

#[test]
fn listings_and_attributes_that_share_bytes_are_not_read_without_end() {
    // Two hundred directories that all have the listing of the first one.
    let entries: Vec<(u16, i16, u16, Vec<u8>)> = (0..200)
        .map(|row: u16| {
            (
                32 + row * 32,
                row as i16 + 2,
                1,
                format!("{row:03}").into_bytes(),
            )
        })
        .collect();
    let entries: Vec<(u16, i16, u16, &[u8])> = entries
        .iter()
        .map(|(at, number, kind, name)| (*at, *number, *kind, &name[..]))
        .collect();
    let listing = run(&entries);
    let shared = (0..200).map(|row| directory(row + 2, 1, 0, listing.len(), 202));
    let forged = Forged::new(listing.clone(), &shared.collect::<Vec<_>>());
    forged.assert_found("listings share their bytes");
    let (paths, omitted) = forged.listed();
    assert!(paths.len() <= 200 * 201 && !omitted.is_empty());

    let pair = bytes(&[&short(0), &short(1), b"x", &word(900), &[7; 900]]);
    let sets: Vec<u8> = (0..400)
        .flat_map(|_| [long(0), long(909 << 32 | 1)].concat())
        .collect();
    let listing = run(&[(32, 2, 6, b"a")]);
    let forged = Forged {
        xattrs: Some((pair, sets)),
        ..Forged::new(listing, &[fifo(2)])
    };
    forged.assert_found("sets of attributes share their bytes");
}
