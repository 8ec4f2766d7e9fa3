//! Images of nodes that are made of any bytes: they are refused and nothing is left, or they verify
//! and give the nodes back, and are the same for any number of workers.
#![no_main]

use hedgerow_codec::block::{Compressor, Settings};
use hedgerow_engine::{Execution, Jobs};
use hedgerow_squashfs::{
    create, nodes_of_image, verify, CreateOptions, Created, FragmentPolicy, Image, Item, Role,
    Treatment, Uncompressed, WriteError, HOLE_LIMIT_BLOCKS,
};
use hedgerow_tree::{Node, NodeError, NodeKind};
use libfuzzer_sys::fuzz_target;
use made::{Choices, Entry};
use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

#[path = "made/mod.rs"]
mod made;

/// What an item is made of.
struct Plan {
    entry: Entry,
    treatment: Treatment,
    role: Role,
}

fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices(bytes);
    let mut given = options(&mut choices);
    let style = choices.byte();
    let wild = style.is_multiple_of(4);
    let entries = made::entries(&mut choices, wild);
    let plans = plans(&mut choices, entries, style & 16 != 0);
    let sound = !wild && plans.iter().all(|plan| plan.entry.is_sound());
    let directory = tempfile::tempdir().expect("there is room for files");
    let path = directory.path().join("image");
    let created = create_from(&plans, &path, &given);
    let image = std::fs::read(&path).ok();
    assert_eq!(image.is_some(), created.is_ok());
    let left = std::fs::read_dir(&directory).expect("it is there").count();
    assert_eq!(left, usize::from(image.is_some()), "nothing else is left");
    assert!(!matches!(created, Err(WriteError::Panicked(_))));
    if let Ok(created) = &created {
        check(&path, &plans, created, &given, sound);
    }
    let refusable = |plan: &Plan| {
        plan.entry.kind == NodeKind::Symlink
            && plan
                .entry
                .target
                .as_ref()
                .is_some_and(|target| !(1..4096).contains(&target.len()))
    };
    if sound && !plans.iter().any(refusable) {
        assert!(created.is_ok(), "{created:?}");
    }
    if style & 32 != 0 && created.is_ok() {
        given.execution.jobs = Jobs::Fixed(NonZeroUsize::new(3).expect("it is not 0"));
        create_from(&plans, &path, &given).expect("it was written before");
        assert!(std::fs::read(&path).ok() == image, "the workers show");
    }
});

fn options(choices: &mut Choices) -> CreateOptions {
    let execution = Execution::with_threads(NonZeroUsize::MIN);
    let compressor = Compressor::ALL[usize::from(choices.one_of(6))];
    let block_bytes = 4096 << choices.one_of(2);
    let features = choices.byte();
    let stored = choices.byte();
    CreateOptions {
        hard_links: true,
        settings: Settings::default_for(compressor, block_bytes),
        block_bytes,
        fragments: match features % 4 {
            0 => FragmentPolicy::Never,
            1 => FragmentPolicy::SmallFiles,
            _ => FragmentPolicy::Always,
        },
        dedup: features & 4 == 0,
        hole_limit_bytes: HOLE_LIMIT_BLOCKS * u64::from(block_bytes),
        holes: stored & 1 == 0,
        uncompressed: Uncompressed {
            data: stored & 2 != 0,
            fragments: stored & 4 != 0,
            inodes: stored & 8 != 0,
            ids: stored & 16 != 0,
            xattrs: stored & 32 != 0,
        },
        xattrs: features & 8 == 0,
        skip_unreadable: features & 16 != 0,
        verity: None,
        exportable: features & 32 != 0,
        mtime_s: Some(1),
        offset_bytes: 0,
        padding_bytes: 1 << (features / 64),
        replace: true,
        reuse: None,
        execution,
    }
}

/// Some of the files come as a content first.
fn plans(choices: &mut Choices, entries: Vec<Entry>, with_roles: bool) -> Vec<Plan> {
    let (mut contents, mut plans) = (Vec::new(), Vec::new());
    for (number, entry) in (0..).zip(entries) {
        let features = choices.byte();
        let treatment = Treatment {
            uncompressed: features & 1 != 0,
            unfragmented: features & 2 != 0,
            not_sparse: features & 4 != 0,
            not_shared: features & 8 != 0,
        };
        let is_apart = with_roles && features & 16 != 0 && entry.kind == NodeKind::File;
        let mut role = Role::Whole;
        if is_apart && entry.link.is_none() {
            role = Role::Name(number);
            let entry = entry.clone();
            contents.push(Plan {
                entry,
                treatment,
                role: Role::Content(number),
            });
        }
        plans.push(Plan {
            entry,
            treatment,
            role,
        });
    }
    contents.extend(plans);
    contents
}

fn create_from(
    plans: &[Plan],
    path: &Path,
    options: &CreateOptions,
) -> Result<Created, WriteError> {
    let item = |plan: &Plan| Item {
        node: plan.entry.node(),
        treatment: plan.treatment,
        role: plan.role,
    };
    create(
        plans.iter().map(|plan| Ok::<_, NodeError>(item(plan))),
        path,
        options,
    )
}

fn check(path: &Path, plans: &[Plan], created: &Created, options: &CreateOptions, sound: bool) {
    let image = Image::open(path, 0).expect("it was written");
    let found = verify(
        Box::new(std::fs::read(path).expect("it was written")),
        0,
        &options.execution,
    );
    let found = found.expect("it can be opened").findings;
    assert!(found.is_empty(), "{found:?}");
    let wanted = plans
        .iter()
        .filter(|plan| !matches!(plan.role, Role::Content(_)));
    let mut by_path: BTreeMap<&[u8], Vec<&Entry>> = BTreeMap::new();
    for plan in wanted {
        by_path
            .entry(&plan.entry.path)
            .or_default()
            .push(&plan.entry);
    }
    let nodes = nodes_of_image(&Arc::new(image), &[]).expect("it has a root");
    let (mut count, mut links) = (0, HashMap::new());
    for node in nodes {
        let mut node = node.expect("it verifies");
        count += 1;
        // Of several with one path, those may have been left out that came first.
        let [entry] = by_path[&node.path[..]][..] else {
            continue;
        };
        compare(&mut node, entry, options);
        if let (Some(one), Some(own)) = (entry.link, node.link) {
            assert_eq!(*links.entry(one).or_insert(own), own);
        }
    }
    let all = count == by_path.len();
    assert!(all || !sound || !created.skipped.is_empty());
    assert!(
        all || !created.skipped.is_empty(),
        "what is left out is told"
    );
}

fn compare(node: &mut Node, entry: &Entry, options: &CreateOptions) {
    assert_eq!((node.kind, node.mode), (entry.kind, entry.mode & 0o7777));
    assert_eq!((node.uid, node.gid), (entry.uid, entry.gid));
    assert_eq!(node.mtime_s, entry.mtime_s.clamp(0, u32::MAX.into()));
    assert_eq!(node.device, entry.device);
    match node.kind {
        NodeKind::Symlink => {
            assert_eq!(node.handle.target().ok(), entry.target);
        }
        NodeKind::File => {
            assert_eq!(node.size_bytes, entry.content.size_bytes);
            assert!(content_of(node) == entry.content.bytes(), "another content");
        }
        _ => {}
    }
    let storable = |(name, value): &(Vec<u8>, Vec<u8>)| {
        let prefixes = ["user.", "trusted.", "security."];
        let mut rest = prefixes
            .iter()
            .filter_map(|prefix| name.strip_prefix(prefix.as_bytes()));
        let fits = name.len() <= 255 && value.len() <= 1 << 16 && !name.contains(&0);
        fits && rest.any(|rest| !rest.is_empty())
    };
    let mut wanted = entry.xattrs.clone().unwrap_or_default();
    wanted.sort();
    wanted.dedup_by(|later, first| later.0 == first.0);
    wanted.retain(|xattr| options.xattrs && storable(xattr));
    let own = node.handle.xattrs().expect("it verifies").into_iter();
    let mut own: Vec<_> = own
        .map(|xattr| (Vec::from(xattr.name), xattr.value))
        .collect();
    own.sort();
    assert!(own == wanted, "other attributes");
}

fn content_of(node: &mut Node) -> Vec<u8> {
    let mut content = node.handle.open().expect("it verifies");
    let (mut bytes, mut buffer) = (Vec::new(), [0; 5000]);
    loop {
        let hole = content.skip_hole().expect("it verifies");
        bytes.resize(bytes.len() + hole as usize, 0);
        match content.read(&mut buffer).expect("it verifies") {
            0 => return bytes,
            count => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}
