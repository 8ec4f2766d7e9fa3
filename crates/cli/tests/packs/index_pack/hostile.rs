//! Packs that are wrong: refused as git refuses them, and nothing is left behind.

use super::craft::{id, insertion, lying_index, seal, Craft, BLOB, COMMIT, TREE};
use super::twins::Twins;
use super::{grow, pack, FORMATS};
use gix_hash::Kind;
use hedgerow::plumbing::codec::deflate;
use hedgerow_testkit::Random;

/// Both refuse the pack as a file and as a stream; what hedgerow says has these words in it.
fn refuse(twins: &Twins, pack: &[u8], words: &str) {
    for extra in [&[][..], &["--strict"], &["--fix-thin"]] {
        let stdin = [&["index-pack", "--stdin"], extra].concat();
        twins.agree(&stdin, pack).refused(words);
    }
    twins.write("a.pack", pack);
    let refused = twins.agree(&["index-pack", "a.pack"], b"");
    assert!(refused.code == 128, "{words}: {refused:?}");
}

#[test]
fn deltas_without_a_base() {
    for (format, hash) in FORMATS {
        let twins = Twins::new(format);
        let content = b"what it makes\n";
        let own = id(hash, BLOB, content);
        let delta = insertion(5, content);

        // One that says to stand on what it makes itself.
        let mut craft = Craft::new(hash);
        craft.add_reference_delta(&own, &delta);
        refuse(&twins, &craft.seal(), "pack has 1 unresolved delta");

        // Two that stand on each other, and one on them.
        let other = id(hash, BLOB, b"other\n");
        let mut craft = Craft::new(hash);
        craft.add_reference_delta(&other, &insertion(6, content));
        let start = craft.add_reference_delta(&own, &insertion(14, b"other\n"));
        let distance = craft.bytes.len() as u64 - start;
        craft.add_offset_delta(distance, &insertion(6, b"third\n"));
        refuse(&twins, &craft.seal(), "pack has 3 unresolved deltas");

        // A base that is nowhere.
        let mut craft = Craft::new(hash);
        craft.add(BLOB, b"some\n");
        craft.add_reference_delta(&id(hash, BLOB, b"nowhere"), &delta);
        refuse(&twins, &craft.seal(), "pack has 1 unresolved delta");

        // Distances to itself, in front of the pack, and between two entries.
        for (distance, words) in [
            (0, "base offset is out of bound"),
            (5_000, "base offset is out of bound"),
            (u64::MAX / 4, "base offset"),
        ] {
            let mut craft = Craft::new(hash);
            craft.add(BLOB, b"some\n");
            craft.add_offset_delta(distance, &delta);
            refuse(&twins, &craft.seal(), words);
        }
        let mut craft = Craft::new(hash);
        craft.add(BLOB, b"some\n");
        craft.add_offset_delta(2, &delta);
        refuse(&twins, &craft.seal(), "unresolved delta");
    }
}

#[test]
fn deltas_that_cannot_be_applied() {
    let hash = Kind::Sha1;
    let twins = Twins::new("sha1");
    let deltas: [(&str, &[u8]); 9] = [
        ("other length of the base", &[6, 1, 1, b'x']),
        ("more than declared", &[5, 1, 2, b'x', b'y']),
        ("less than declared", &[5, 3, 1, b'x']),
        ("copies from behind the base", &[5, 4, 0x91, 3, 4]),
        ("reserved instruction", &[5, 1, 0]),
        ("cut in an insertion", &[5, 3, 3, b'x']),
        ("cut in a copy", &[5, 4, 0x91, 3]),
        ("nothing", &[]),
        ("length without end", &[0x80; 20]),
    ];
    for (what, delta) in deltas {
        for is_offset in [true, false] {
            let mut craft = Craft::new(hash);
            let base = craft.add(BLOB, b"some\n");
            let distance = craft.bytes.len() as u64 - 12;
            if is_offset {
                craft.add_offset_delta(distance, delta)
            } else {
                craft.add_reference_delta(&base, delta)
            };
            println!("{what}");
            refuse(&twins, &craft.seal(), "pack has bad object at offset");
        }
    }
    // Gigabytes out of a few bytes.
    let huge = [&[5][..], &[0xff; 4], &[0x7f], &[0x80; 1000]].concat();
    let mut craft = Craft::new(hash);
    let base = craft.add(BLOB, b"some\n");
    craft.add_reference_delta(&base, &huge);
    refuse(&twins, &craft.seal(), "pack has bad object at offset");
}

#[test]
fn entries_that_cannot_be_read() {
    let hash = Kind::Sha1;
    let twins = Twins::new("sha1");
    let stream = deflate(b"content", 1);
    let mut broken = stream.clone();
    let last = broken.len() - 1;
    broken[last] ^= 1;
    for (kind, size, stream) in [
        (0, 7, &stream[..]),
        (5, 7, &stream),
        (BLOB, 6, &stream),
        (BLOB, 8, &stream),
        (BLOB, u64::MAX >> 4, &stream),
        (BLOB, 7, &broken),
        (BLOB, 7, &stream[..4]),
        (BLOB, 7, b"no zlib stream at all"),
        (COMMIT, 7, b""),
    ] {
        let mut craft = Craft::new(hash);
        craft.entry(kind, size, &[], stream);
        println!("{kind} {size}");
        refuse(&twins, &craft.seal(), "");
    }
    // A size of more than 64 bits.
    let mut craft = Craft::new(hash);
    craft.bytes.extend([0xbf; 12]);
    refuse(&twins, &craft.seal_as(1), "");
}

#[test]
fn packs_of_another_length() {
    for (format, hash) in FORMATS {
        let twins = Twins::new(format);
        let mut craft = Craft::new(hash);
        craft.add(BLOB, b"one\n");
        craft.add(TREE, b"");
        let bytes = craft.bytes.clone();
        let whole = craft.seal();
        for end in (0..whole.len()).step_by(3) {
            refuse(&twins, &whole[..end], "");
        }
        let mut wrong = whole.clone();
        *wrong.last_mut().unwrap() ^= 1;
        refuse(&twins, &wrong, "pack is corrupted (SHA1 mismatch)");
        let junk = [&whole[..], b"junk"].concat();
        twins
            .agree(&["index-pack", "--stdin"], &junk)
            .refused_alike("pack has junk at the end");
        twins.write("a.pack", &junk);
        let refused = twins.agree(&["index-pack", "a.pack"], b"");
        assert_eq!(refused.code, 128);
        for (at, value, words) in [
            (0, b'p', "pack signature mismatch"),
            (7, 4, "pack version 4 unsupported"),
            (7, 1, "pack version 1 unsupported"),
            // One entry more, one less.
            (11, 3, ""),
            (11, 1, ""),
            (8, 255, ""),
        ] {
            let mut bytes = bytes.clone();
            bytes[11] = 2;
            bytes[at] = value;
            refuse(&twins, &seal(bytes, hash), words);
        }
    }
}

#[test]
fn an_object_that_exists_with_another_content() {
    for (format, hash) in FORMATS {
        let victim = b"what it should be\n";
        let wanted = id(hash, BLOB, victim);
        let mut craft = Craft::new(hash);
        craft.add(BLOB, victim);
        let plain = craft.seal();
        let mut craft = Craft::new(hash);
        let base = craft.add(BLOB, b"some\n");
        craft.add_reference_delta(&base, &insertion(5, victim));
        let by_delta = craft.seal();

        // A loose file that holds something else, or nothing that can be read.
        let text = wanted.to_string();
        let path = format!(".git/objects/{}/{}", &text[..2], &text[2..]);
        for (loose, words) in [
            (deflate(b"blob 5\0other", 1), "COLLISION FOUND WITH"),
            (
                deflate(b"blob 18\0what it could be \n", 1),
                "COLLISION FOUND WITH",
            ),
            (deflate(b"tree 0\0", 1), "COLLISION FOUND WITH"),
            (b"garbage".to_vec(), "cannot read existing object"),
            (Vec::new(), "cannot read existing object"),
        ] {
            for pack in [&plain, &by_delta] {
                let twins = Twins::new(format);
                twins.write(&path, &loose);
                let refused = twins.agree(&["index-pack", "--stdin"], pack);
                refused.refused(words);
                twins.write("a.pack", pack);
                twins.agree(&["index-pack", "a.pack"], b"").refused(words);
            }
        }

        // The index of a pack that says to have it at the place of another one.
        let twins = Twins::new(format);
        let mut craft = Craft::new(hash);
        let real = craft.add(BLOB, b"somebody else\n");
        twins.write(".git/objects/pack/pack-x.pack", &craft.seal());
        let here = ".git/objects/pack/pack-x.pack";
        twins.agree(&["index-pack", here], b"");
        let index = ".git/objects/pack/pack-x.idx";
        let root = twins.root(hedgerow_testkit::Program::Git);
        let forged = lying_index(&std::fs::read(root.join(index)).unwrap(), &real, &wanted);
        twins.write(index, &forged);
        for pack in [&plain, &by_delta] {
            let refused = twins.agree(&["index-pack", "--stdin"], pack);
            refused.refused_alike("COLLISION FOUND WITH");
        }
    }
}

#[test]
fn flipped_bits() {
    let origin = Twins::new("sha1");
    grow(&origin, 6, 1);
    let whole = pack(&origin, &["--delta-base-offset"], "main\n");
    let twins = Twins::new("sha1");
    let mut random = Random::new(77);
    for round in 0..60 {
        let mut bytes = whole[..whole.len() - 20].to_vec();
        for _ in 0..=random.below(2) {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
        let words = ["index-pack", "--stdin", "--strict"];
        println!("{round}");
        twins.agree(&words, &seal(bytes, Kind::Sha1));
    }
}
