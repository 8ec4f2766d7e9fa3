//! The order of the bits of a bitmap.

use crate::scene::{midx_path, open, options, overlapping, restore, FORMATS};
use hedgerow_pack::{write_midx, BitOrder, Bitmaps, Location, MidxOptions, ObjectStore};

/// Checks that `order` is made of its packs, one after the other, and says which object is where.
fn is_consistent(order: &BitOrder<'_>, store: &ObjectStore) {
    let mut next = 0;
    for part in order.parts() {
        assert_eq!(part.bits.start, next);
        let entries = store.pack_entries(part.pack).unwrap();
        if next == 0 {
            assert_eq!(part.bits.end, entries.count());
        }
        next = part.bits.end;
        let mut last = None;
        for bit in part.bits {
            let id = order.id(bit).unwrap();
            assert_eq!(order.bit(id), Some(bit));
            let Some(Location::Packed { pack, offset }) = order.location(bit) else {
                panic!("bit {bit} is nowhere");
            };
            assert_eq!((pack, entries.offset_of(id)), (part.pack, Some(offset)));
            assert!(last.replace(offset) < Some(offset));
        }
    }
    assert_eq!(next, order.count());
}

#[test]
fn bits_go_from_pack_to_pack() {
    for format in FORMATS {
        let repository = overlapping(format, 4);
        for preferred in repository.pack_files("pack") {
            let name = preferred.file_name().unwrap().to_str().unwrap().to_owned();
            restore(&repository, None);
            let argument = format!("--preferred-pack={name}");
            repository.git(&["multi-pack-index", "write", "--bitmap", &argument]);
            let store = open(&repository);
            let bitmaps = Bitmaps::open(&store).unwrap();
            let order = bitmaps.order();
            assert_eq!(order.path(), midx_path(&repository));
            is_consistent(order, &store);
            let first = order.parts().remove(0);
            assert_eq!(store.pack_path(first.pack), Some(preferred.as_path()));

            // The one that is written has the same, before it is in its place.
            restore(&repository, None);
            let options = MidxOptions {
                for_bitmap: true,
                preferred_pack: Some(name),
                ..options(&repository)
            };
            let objects = repository.objects();
            let written = write_midx(&objects, &options, &mut |_| {})
                .unwrap()
                .unwrap();
            let ours = written.bit_order(&store).unwrap().unwrap();
            is_consistent(&ours, &store);
            let ids = |order: &BitOrder<'_>| -> Vec<_> {
                let bits = 0..order.count();
                bits.map(|bit| order.id(bit).unwrap().to_owned()).collect()
            };
            assert_eq!(ids(&ours), ids(order));
        }
    }
}

#[test]
fn packs_of_another_store_are_refused() {
    let (repository, other) = (overlapping("sha1", 2), overlapping("sha1", 1));
    let options = MidxOptions {
        for_bitmap: true,
        ..options(&repository)
    };
    let written = write_midx(&repository.objects(), &options, &mut |_| {});
    let written = written.unwrap().unwrap();
    let store = open(&other);
    let refused = written.bit_order(&store).unwrap_err();
    assert!(
        refused.to_string().contains("is not one of the repository"),
        "{refused}"
    );
}
