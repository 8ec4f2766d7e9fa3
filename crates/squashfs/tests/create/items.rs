//! Contents that come before their names, contents with ids, treatments, and entries that are left
//! out.

use crate::options;
use hedgerow_codec::block::Compressor;
use hedgerow_squashfs::{create, Body, CreateOptions, Image, ImageSource, Item, Role, Treatment};
use hedgerow_tree::{Content, Handle, Node, NodeError, NodeKind, Xattr};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// An entry that is there, or cannot be read.
#[derive(Clone)]
struct Made(Option<Vec<u8>>);

impl Made {
    fn content(&self) -> Result<Vec<u8>, NodeError> {
        self.0
            .clone()
            .ok_or_else(|| NodeError::entry("cannot read it: no reason"))
    }
}

impl Handle for Made {
    fn target(&mut self) -> Result<Vec<u8>, NodeError> {
        self.content()
    }

    fn open(&mut self) -> Result<Box<dyn Content>, NodeError> {
        Ok(Box::new(Given(self.content()?, 0)))
    }

    fn xattrs(&mut self) -> Result<Vec<Xattr>, NodeError> {
        self.content().map(|_| Vec::new())
    }
}

struct Given(Vec<u8>, usize);

impl Content for Given {
    fn size_bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, NodeError> {
        let rest = &self.0[self.1..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.1 += count;
        Ok(count)
    }
}

fn node(path: &str, kind: NodeKind, content: Option<Vec<u8>>) -> Node {
    let size_bytes = match kind {
        NodeKind::File => content.as_ref().map_or(9, Vec::len) as u64,
        _ => 0,
    };
    Node {
        path: path.into(),
        kind,
        mode: 0o644,
        uid: 0,
        gid: 0,
        mtime_s: 0,
        mtime_ns: 0,
        size_bytes,
        device: (0, 0),
        link: None,
        content_id: None,
        handle: Box::new(Made(content)),
    }
}

fn file(path: &str, content: impl Into<Vec<u8>>) -> Item {
    node(path, NodeKind::File, Some(content.into())).into()
}

fn directory(path: &str) -> Item {
    node(path, NodeKind::Directory, Some(Vec::new())).into()
}

/// Text that compresses, different for each seed.
fn text(seed: usize, bytes: usize) -> Vec<u8> {
    let mut text = Vec::new();
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        text.extend_from_slice(format!("{seed} {number}\n").as_bytes());
    }
    text.truncate(bytes);
    text
}

/// Files by path: their content and where their blocks begin.
type Files = BTreeMap<String, (Vec<u8>, u64)>;

fn written(items: Vec<Item>, given: &CreateOptions) -> (Files, Vec<String>, Vec<u8>) {
    let own = tempfile::tempdir().unwrap();
    let path = own.path().join("image");
    let created = create(items.into_iter().map(Ok), &path, given).unwrap();
    let image = Image::open(&path, 0).unwrap();
    let mut files = Files::new();
    let omissions = ImageSource::new(&image).unwrap().entries(&mut |entry| {
        if let Body::File(own) = &entry.inode.body {
            let (mut content, mut piece) = (Vec::new(), Vec::new());
            for next in image.pieces(own).unwrap() {
                image.read_piece(&next.unwrap(), &mut piece).unwrap();
                content.extend_from_slice(&piece);
            }
            let path = String::from_utf8_lossy(entry.entry.path).into_owned();
            files.insert(path, (content, own.blocks_start));
        }
        ControlFlow::Continue(())
    });
    assert!(omissions.is_empty());
    let skipped = created.skipped.iter().map(ToString::to_string).collect();
    (files, skipped, std::fs::read(&path).unwrap())
}

#[test]
fn contents_may_come_before_their_names() {
    let contents: Vec<Vec<u8>> = (0..4).map(|seed| text(seed, 5000 + 3000 * seed)).collect();
    let names = ["a", "b", "c", "d"];
    let mut items = Vec::new();
    for (number, content) in contents.iter().enumerate().rev() {
        let mut item = file("nowhere", content.clone());
        item.role = Role::Content(number as u32);
        items.push(item);
    }
    items.push(directory(""));
    for (number, name) in names.iter().enumerate() {
        let mut item = file(name, "");
        item.role = Role::Name(number as u32);
        items.push(item);
    }
    for workers in [1, 3] {
        let mut given = options(Compressor::Gzip, 4096, workers);
        given.dedup = workers == 1;
        let items = items.iter().map(|item| Item {
            node: node(
                std::str::from_utf8(&item.node.path).unwrap(),
                item.node.kind,
                Some(match item.role {
                    Role::Content(number) => contents[number as usize].clone(),
                    _ => Vec::new(),
                }),
            ),
            ..*item
        });
        let (files, skipped, _) = written(items.collect(), &given);
        assert_eq!(skipped, [""; 0]);
        let starts: Vec<u64> = names.iter().map(|name| files[*name].1).collect();
        assert!(
            starts.windows(2).all(|pair| pair[0] > pair[1]),
            "{starts:?}"
        );
        for (name, content) in names.iter().zip(&contents) {
            assert!(files[*name].0 == *content, "{name}");
        }
    }
}

#[test]
fn contents_with_one_id_are_read_once() {
    let given = options(Compressor::Zstd, 4096, 2);
    let tree = |with_ids: bool| {
        let mut items = vec![directory("")];
        for number in 0..60 {
            let mut item = file(
                &format!("f{number:02}"),
                text(number % 7, 900 * (number % 7)),
            );
            if with_ids {
                item.node.content_id = Some([number as u8 % 7; 32]);
                if number >= 7 {
                    // Whoever reads this has not looked at the id.
                    item.node.handle = Box::new(Unread);
                }
            }
            items.push(item);
        }
        items
    };
    let (files, _, with) = written(tree(true), &given);
    let (_, _, without) = written(tree(false), &given);
    assert_eq!(files["f41"].0, text(6, 5400));
    assert!(with == without);
}

struct Unread;

impl Handle for Unread {
    fn target(&mut self) -> Result<Vec<u8>, NodeError> {
        Err(NodeError::entry("this was not to be read"))
    }

    fn open(&mut self) -> Result<Box<dyn Content>, NodeError> {
        Err(NodeError::entry("this was not to be read"))
    }
}

#[test]
fn treatments_are_kept() {
    let given = options(Compressor::Gzip, 4096, 2);
    let stored = |treatment: Treatment, content: Vec<u8>| {
        let mut item = file("b", content.clone());
        item.treatment = treatment;
        // What comes between gives the plan time to know the first before the last is read.
        let between =
            (0..200).map(|number| file(&format!("a{number:03}"), text(number + 1000, 9000)));
        let mut items = vec![directory(""), file("a", content.clone())];
        items.extend(between);
        items.push(item);
        let (files, _, image) = written(items, &given);
        assert!(files["a"].0 == content && files["b"].0 == content);
        (files["a"].1, files["b"].1, image)
    };
    let one = Treatment::default();
    let (a, b, shared) = stored(one, text(1, 9000));
    assert_eq!(a, b);
    let not_shared = Treatment {
        not_shared: true,
        ..one
    };
    let (a, b, twice) = stored(not_shared, text(1, 9000));
    assert!(a != b && twice.len() >= shared.len());
    let uncompressed = Treatment {
        uncompressed: true,
        not_shared: true,
        ..one
    };
    let content = text(1, 9000);
    let (_, b, image) = stored(uncompressed, content.clone());
    assert!(image[b as usize..].starts_with(&content));
    let not_sparse = Treatment {
        not_sparse: true,
        not_shared: true,
        ..one
    };
    let (_, _, holes) = stored(one, vec![0; 3 << 20]);
    let (_, _, zeros) = stored(not_sparse, vec![0; 3 << 20]);
    assert!(zeros.len() > holes.len());
    let unfragmented = Treatment {
        unfragmented: true,
        not_shared: true,
        ..one
    };
    let (a, b, _) = stored(unfragmented, text(1, 100));
    assert!(a == 0 && b != 0);
}

#[test]
fn what_cannot_be_read_is_left_out_if_that_is_wanted() {
    let bad = |path: &str, kind| Item::from(node(path, kind, None));
    let tree = || {
        let mut second = node("y", NodeKind::File, Some(b"linked".to_vec()));
        second.link = Some((1, 1));
        let mut first = node("d/x", NodeKind::File, None);
        first.link = Some((1, 1));
        vec![
            directory(""),
            bad("d", NodeKind::Directory),
            file("d/a", "content"),
            bad("d/b", NodeKind::File),
            bad("d/l", NodeKind::Symlink),
            first.into(),
            file("e", text(1, 20_000)),
            broken("large", 5 << 20),
            file("m", text(2, 20_000)),
            second.into(),
        ]
    };
    for workers in [1, 4] {
        let mut given = options(Compressor::Lz4, 4096, workers);
        given.skip_unreadable = true;
        let (files, skipped, _) = written(tree(), &given);
        let names: Vec<&str> = files.keys().map(String::as_str).collect();
        assert_eq!(names, ["d/a", "e", "m"]);
        assert_eq!(files["m"].0, text(2, 20_000));
        assert_eq!(skipped.len(), 6, "{skipped:?}");
        assert!(
            skipped[5].contains("cannot store 'y': another name"),
            "{skipped:?}"
        );
        given.skip_unreadable = false;
        let own = tempfile::tempdir().unwrap();
        let image = own.path().join("image");
        let failed = create(tree().into_iter().map(Ok), &image, &given).unwrap_err();
        assert_eq!(failed.to_string(), "cannot read it: no reason");
        assert!(!image.exists());
    }
}

#[test]
fn large_files_are_stored_once() {
    let large = |seed: usize| text(seed, 5 << 20);
    let mut holes = vec![0; 5 << 20];
    holes[3 << 20] = 1;
    let items = || {
        vec![
            directory(""),
            file("a", large(1)),
            file("b", large(2)),
            file("c", holes.clone()),
            file("d", large(1)),
            file("e", large(2)),
            file("f", holes.clone()),
            file("g", large(3)),
        ]
    };
    let mut first = None;
    for workers in [1, 2, 8] {
        let (files, _, image) = written(items(), &options(Compressor::Lz4, 4096, workers));
        for (path, content) in [("d", &large(1)), ("e", &large(2)), ("f", &holes)] {
            assert!(files[path].0 == *content);
        }
        for (one, other) in [("a", "d"), ("b", "e"), ("c", "f")] {
            assert_eq!(files[one].1, files[other].1);
        }
        assert_ne!(files["g"].1, files["a"].1);
        assert!(*first.get_or_insert(image.clone()) == image);
    }
}

/// That a file has other names somewhere else makes no difference.
#[test]
fn a_file_with_one_name_is_the_same_with_and_without_a_link() {
    let given = options(Compressor::Zstd, 4096, 2);
    let tree = |links: bool| {
        let mut items = vec![directory("")];
        for number in 0..9000_u64 {
            if number % 900 == 0 {
                items.push(directory(&format!("d{}", number / 900)));
            }
            let path = format!("d{}/f{number:04}", number / 900);
            let mut item = file(&path, text(number as usize, (number % 50) as usize));
            item.node.mtime_s = number as i64;
            item.node.link = match number % 7 {
                0 => Some((1, number % 70)),
                1 | 2 if links || number == 8 => Some((2, number)),
                _ => None,
            };
            items.push(item);
        }
        items
    };
    let (files, _, with) = written(tree(true), &given);
    assert_eq!(files["d0/f0008"].0, text(8, 8));
    assert_eq!(files["d0/f0077"].0, text(7, 7));
    let (_, _, without) = written(tree(false), &given);
    assert!(with == without);
}

/// A large file that breaks off.
fn broken(path: &str, size_bytes: u64) -> Item {
    struct Broken(u64);
    impl Handle for Broken {
        fn target(&mut self) -> Result<Vec<u8>, NodeError> {
            Ok(Vec::new())
        }

        fn open(&mut self) -> Result<Box<dyn Content>, NodeError> {
            Ok(Box::new(Broken(self.0)))
        }
    }
    impl Content for Broken {
        fn size_bytes(&self) -> u64 {
            self.0
        }

        fn read(&mut self, buffer: &mut [u8]) -> Result<usize, NodeError> {
            self.0 = self.0.saturating_sub(1);
            if self.0.is_multiple_of(4) {
                Err(NodeError::entry("cannot read it: it breaks off"))
            } else {
                buffer.fill(self.0 as u8);
                Ok(buffer.len())
            }
        }
    }
    let mut node = node(path, NodeKind::File, Some(Vec::new()));
    node.size_bytes = size_bytes;
    node.handle = Box::new(Broken(size_bytes));
    node.into()
}

#[test]
fn devices_that_no_inode_can_hold_are_refused() {
    let own = tempfile::tempdir().unwrap();
    let given = options(Compressor::Gzip, 4096, 1);
    for (device, fits) in [
        ((0xfff, 0xf_ffff), true),
        ((0x1000, 0), false),
        ((0, 0x10_0000), false),
    ] {
        let mut entry = node("d", NodeKind::CharacterDevice, Some(Vec::new()));
        entry.device = device;
        let items = [directory(""), entry.into()];
        let created = create(items.into_iter().map(Ok), &own.path().join("image"), &given);
        assert_eq!(created.is_ok(), fits, "{device:?}");
    }
}

#[test]
fn attributes_that_are_too_many_for_one_inode_are_told_of() {
    struct Named;
    impl Handle for Named {
        fn target(&mut self) -> Result<Vec<u8>, NodeError> {
            Ok(Vec::new())
        }

        fn open(&mut self) -> Result<Box<dyn Content>, NodeError> {
            Ok(Box::new(Given(Vec::new(), 0)))
        }

        fn xattrs(&mut self) -> Result<Vec<Xattr>, NodeError> {
            let one = |row| Xattr {
                name: format!("user.{row:0>200}").into(),
                value: Vec::new(),
            };
            Ok((0..400).map(one).collect())
        }
    }
    let own = tempfile::tempdir().unwrap();
    let (path, given) = (own.path().join("image"), options(Compressor::Gzip, 4096, 1));
    let mut entry = node("f", NodeKind::File, Some(Vec::new()));
    entry.handle = Box::new(Named);
    let items = [directory(""), entry.into()];
    let created = create(items.into_iter().map(Ok), &path, &given).unwrap();
    assert_eq!(created.unstored_xattrs.count, 400 - (1 << 16) / 206);
    let image = Box::new(std::fs::read(&path).unwrap());
    let report = hedgerow_squashfs::verify(image, 0, &given.execution).unwrap();
    assert_eq!(report.findings, []);
}
