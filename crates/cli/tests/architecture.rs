//! The invariants of ARCHITECTURE.md that the compiler and clippy do not hold.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test reads the sources it is about"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// Every crate and how high it stands: it may depend only on lower ones.
const LAYERS: [(&str, i32); 29] = [
    ("testkit", -1),
    ("tree", 0),
    ("fs", 0),
    ("numbers", 0),
    ("codec", 1),
    ("engine", 1),
    ("latencyfs", 1),
    ("mounts", 1),
    ("object", 1),
    ("image", 2),
    ("pack", 2),
    ("probe", 2),
    ("reftable", 2),
    ("shim", 1),
    ("stats", 2),
    ("walk", 2),
    ("writer", 2),
    ("git", 4),
    ("erofs", 3),
    ("hg", 3),
    ("listing", 3),
    ("reach", 3),
    ("squashfs", 3),
    ("tar", 3),
    ("serve", 5),
    ("maintain", 6),
    ("hedgerow", 7),
    ("cli", 8),
    ("python", 8),
];

/// Crates for tests and benchmarks: what is shipped does not contain them.
const DEVELOPMENT: [&str; 2] = ["latencyfs", "testkit"];

/// What calls the operating system, and who may: the server of a file system besides the crate
/// for all clients.
const SYSTEM_CALLS: [&str; 3] = ["libc", "nix", "rustix"];
const CALLERS: [&str; 2] = ["fs", "latencyfs"];

/// Where `unsafe` may stand.
const UNSAFE: [&str; 3] = [
    "crates/fs/src/",
    "crates/codec/src/",
    "crates/pack/src/format/map.rs",
];

/// The rooms of `pack`, the lowest first: each names only what stands before it.
const PACK_ROOMS: [&str; 16] = [
    "steps",
    "object",
    "fault",
    "refusal",
    "error",
    "format",
    "pack_file",
    "delta",
    "loose",
    "midx",
    "database",
    "read",
    "commit_graph",
    "bitmap",
    "indexer",
    "lib",
];

const FILE_LINES: usize = 1000;

/// The size of the command line, without tests. The family of `checkout`, a score of commands,
/// is a third of it; manual pages and completions are a twentieth; cloning and being called as git
/// are another; tables, parts and shares are a fiftieth.
const CLI_LINES: usize = 25_200;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut pending = vec![root().join("crates")];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path
                    .strip_prefix(root())
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(found.len() > 50);
    found
}

/// What the crate in the directory `name` is called.
fn package(name: &str) -> String {
    if name == "hedgerow" {
        name.to_owned()
    } else {
        format!("hedgerow-{name}")
    }
}

#[test]
fn dependencies_go_down_only() {
    for (name, layer) in LAYERS {
        let manifest = root().join("crates").join(name).join("Cargo.toml");
        let manifest = fs::read_to_string(manifest).unwrap();
        for (other, other_layer) in LAYERS {
            if manifest.contains(&format!("\n{}.", package(other))) {
                assert!(other_layer < layer, "{name} depends on {other}");
            }
        }
    }
    let crates = fs::read_dir(root().join("crates")).unwrap().count();
    assert_eq!(
        crates,
        LAYERS.len(),
        "a crate is missing from the list of layers"
    );
}

#[test]
fn rooms_of_pack_name_lower_ones_only() {
    let height = |room: &str| PACK_ROOMS.iter().position(|other| *other == room);
    for (name, text) in sources() {
        let Some(path) = name.strip_prefix("crates/pack/src/") else {
            continue;
        };
        let room = path.split(['/', '.']).next().unwrap();
        let own = height(room).unwrap_or_else(|| panic!("{name} is in no room of the list"));
        let code = text.split("#[cfg(test)]").next().unwrap();
        let code = code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let used = code.flat_map(|line| line.split("crate::").skip(1));
        for used in used {
            let end = used.find(|c: char| !c.is_alphanumeric() && c != '_');
            let other = &used[..end.unwrap_or(used.len())];
            if let Some(other_height) = height(other) {
                assert!(other_height <= own, "{name} names {other}");
            }
        }
    }
}

#[test]
fn nothing_that_is_shipped_depends_on_a_crate_for_tests() {
    for (name, _) in LAYERS {
        let manifest = root().join("crates").join(name).join("Cargo.toml");
        let manifest = fs::read_to_string(manifest).unwrap();
        let shipped = manifest.split("[dev-dependencies]").next().unwrap();
        for development in DEVELOPMENT {
            let dependency = format!("\n{}.", package(development));
            assert!(!shipped.contains(&dependency), "{name} ships {development}");
            if name == development {
                assert!(manifest.contains("\npublish = false\n"), "{name}");
            }
        }
    }
}

#[test]
fn system_calls_are_made_in_one_place() {
    for (name, _) in LAYERS {
        let manifest = root().join("crates").join(name).join("Cargo.toml");
        let manifest = fs::read_to_string(manifest).unwrap();
        for library in SYSTEM_CALLS {
            let depends = manifest.lines().any(|line| {
                line.starts_with(library) && line[library.len()..].starts_with([' ', '.'])
            });
            assert!(!depends || CALLERS.contains(&name), "{name} uses {library}");
        }
    }
}

/// The command line holds words: it calls the facade, and the system where it has to. Only commands
/// about packs and the tools of squashfs-tools-ng reach through the facade to the crates behind it.
#[test]
fn the_command_line_calls_the_facade_only() {
    const PLUMBERS: [&str; 2] = ["crates/cli/src/packs/", "crates/cli/src/applets/"];
    let manifest = fs::read_to_string(root().join("crates/cli/Cargo.toml")).unwrap();
    let shipped = manifest.split("[dev-dependencies]").next().unwrap();
    let own = shipped.lines().filter(|line| line.starts_with("hedgerow"));
    let own: Vec<&str> = own.collect();
    assert_eq!(
        own,
        ["hedgerow.workspace = true", "hedgerow-fs.workspace = true"]
    );
    let mut lines = 0;
    for (name, text) in sources() {
        if !name.starts_with("crates/cli/src/") {
            continue;
        }
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        lines += code.lines().count();
        let may_reach_through = PLUMBERS.iter().any(|place| name.starts_with(place));
        assert!(may_reach_through || !code.contains("plumbing::"), "{name}");
    }
    assert!(lines <= CLI_LINES, "the command line has {lines} lines");
}

#[test]
fn unsafe_stays_where_it_belongs() {
    for (name, text) in sources() {
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let unsafe_lines = code.filter(|line| line.contains("unsafe {")).count();
        let allowed = UNSAFE.iter().any(|place| name.starts_with(place));
        assert!(
            allowed || unsafe_lines == 0 || name.ends_with("architecture.rs"),
            "{name}"
        );
    }
}

#[test]
fn files_have_one_subject() {
    let mut over_450 = 0;
    let sources = sources();
    for (name, text) in &sources {
        let lines = text.lines().count();
        assert!(lines <= FILE_LINES, "{name} has {lines} lines");
        over_450 += usize::from(lines > 450);
    }
    assert!(
        over_450 * 10 <= sources.len(),
        "{over_450} of {} files",
        sources.len()
    );
}

#[test]
fn what_is_not_done_is_an_issue_and_not_a_remark() {
    let marks = [
        ["TO", "DO"].concat(),
        ["FIX", "ME"].concat(),
        ["to", "do!("].concat(),
    ];
    for (name, text) in sources() {
        for mark in &marks {
            assert!(!text.contains(mark.as_str()), "{name} says {mark}");
        }
    }
}

#[test]
fn output_and_threads_go_through_the_crate_that_counts_them() {
    const ELSEWHERE: [&str; 6] = [
        " io::stdout()",
        "std::io::stdout()",
        "thread::spawn(",
        "thread::Builder",
        ".spawn(move ||",
        ".spawn(||",
    ];
    for (name, text) in sources() {
        let mut parts = name.split('/').skip(1);
        let (crate_name, directory) = (parts.next().unwrap(), parts.next().unwrap());
        let is_test = directory != "src" || name.contains("/tests") || name.contains("_test");
        if is_test || DEVELOPMENT.contains(&crate_name) || name == "crates/fs/src/threads.rs" {
            continue;
        }
        let code = text.split("\nmod tests").next().unwrap();
        for (number, line) in code.lines().enumerate() {
            let found = ELSEWHERE.iter().find(|words| line.contains(*words));
            assert!(found.is_none(), "{name}:{}: {found:?}", number + 1);
        }
    }
}

/// Tests share through a crate, and hide the user's configuration in one way. Tests about the
/// configuration itself set the variables that name its files.
#[test]
fn tests_share_and_isolate_through_one_crate() {
    const OF_CONFIGURATION: [&str; 2] =
        ["crates/git/src/config/", "crates/git/src/repository/tests/"];
    let marks = [
        ["#[", "path ="].concat(),
        ["fn git", "("].concat(),
        ["\"GIT_CONFIG", "_GLOBAL\""].concat(),
        ["\"GIT_CONFIG", "_NOSYSTEM\""].concat(),
        ["\"skipped", ": "].concat(),
    ];
    for (name, text) in sources() {
        if name.starts_with("crates/testkit/") {
            continue;
        }
        let reads_configuration = OF_CONFIGURATION.iter().any(|room| name.starts_with(room));
        for mark in &marks {
            let is_allowed = reads_configuration && mark.starts_with("\"GIT_CONFIG");
            assert!(
                is_allowed || !text.contains(mark.as_str()),
                "{name} has {mark}"
            );
        }
    }
}

/// Keys of the section `hedgerow` steer a server: they are read from protected configuration, which
/// one file does. Those of mounted working trees, which another file reads, are their owner's.
#[test]
fn settings_of_a_server_are_read_in_one_place() {
    let reader = "crates/git/src/config/serving.rs";
    let of_trees = "crates/git/src/config/mounting.rs";
    let reads = |source: &str| {
        let is_key = |word: &str| {
            let name = word.strip_prefix("hedgerow.").unwrap_or_default();
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic())
        };
        let in_parts = [
            "string_in(\"hedgerow\"",
            "strings_in(\"hedgerow\"",
            "subsections(\"hedgerow\"",
        ];
        source.split('"').any(is_key) || in_parts.iter().any(|call| source.contains(call))
    };
    for (name, mut source) in sources() {
        if name.starts_with("crates/python/") {
            // This module of the Python package is called like a key.
            source = source.replace("\"hedgerow.os\"", "");
        }
        let is_shipped = name.contains("/src/") && name != reader && name != of_trees;
        assert!(!is_shipped || !reads(&source), "{name}");
    }
    assert!(reads(&fs::read_to_string(root().join(of_trees)).unwrap()));
    let source = fs::read_to_string(root().join(reader)).unwrap();
    assert!(reads(&source));
    // All through one configuration, that of no repository.
    assert_eq!(source.matches("Config::load(environment, None)").count(), 1);
    assert!(!source.contains("Repository"));
}

/// What references, their logs and `packed-refs` are stored in is known to one folder. Two questions of
/// discovery are about the directory itself: whether `HEAD` and `refs` make it that of a repository.
#[test]
fn references_are_read_through_their_store() {
    const STORES: [&str; 2] = [
        "crates/git/src/refs/files/",
        "crates/git/src/refs/reftable/",
    ];
    const DISCOVERY: &str = "crates/git/src/discover/git_dir.rs";
    let paths = [
        "\"packed-refs\"",
        "join(\"HEAD\")",
        "join(\"ORIG_HEAD\")",
        "join(\"refs",
        "join(\"logs",
        "gix_ref::file",
        "gix_ref::packed",
        "gix_ref::store",
    ];
    // A name in a variable becomes a path.
    let names = [
        "join(reference",
        "join(&reference",
        "join(OsStr::from_bytes(reference",
    ];
    let mut of_discovery = 0;
    let mut of_the_store = 0;
    for (name, text) in sources() {
        let crate_name = name.split('/').nth(1).unwrap();
        let is_shipped = name.contains("/src/") && !DEVELOPMENT.contains(&crate_name);
        if !is_shipped || name.contains("/tests/") {
            continue;
        }
        let code = text.split("\nmod tests").next().unwrap();
        let code = code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let found = code.filter(|line| paths.iter().chain(&names).any(|path| line.contains(path)));
        let found: Vec<&str> = found.collect();
        if name == DISCOVERY {
            of_discovery += found.len();
        } else if STORES.iter().any(|store| name.starts_with(store)) {
            of_the_store += found.len();
        } else {
            assert!(found.is_empty(), "{name}: {found:?}");
        }
    }
    assert_eq!(of_discovery, 2);
    assert!(of_the_store >= 3, "{of_the_store}");
}

/// Which rooms of `git` a room below a repository may name: an arrow back would make a circle.
#[test]
fn what_a_repository_consists_of_knows_no_repository() {
    const ABOVE: [(&str, &[&str]); 6] = [
        (
            "config",
            &["discover", "refs", "repository", "branches", "revision"],
        ),
        (
            "display",
            &[
                "discover",
                "refs",
                "repository",
                "branches",
                "revision",
                "status",
            ],
        ),
        ("refs", &["discover", "repository", "branches", "revision"]),
        ("discover", &["repository", "branches", "revision"]),
        ("repository", &["branches", "revision"]),
        ("branches", &["revision", "checkout", "status"]),
    ];
    for (room, above) in ABOVE {
        let folder = format!("crates/git/src/{room}/");
        let files = sources()
            .into_iter()
            .filter(|(name, _)| name.starts_with(&folder) && !name.contains("/tests/"));
        for (name, text) in files {
            let found = above
                .iter()
                .find(|other| text.contains(&format!("crate::{other}::")));
            assert!(found.is_none(), "{name} names {found:?}");
        }
    }
}

/// Commits and tags are read by the crate of object formats, and by the rules of git-fsck, which
/// tell apart what is wrong with them.
#[test]
fn commits_and_tags_are_read_in_one_place() {
    const LINES: [&str; 5] = ["parent ", "author ", "committer ", "object ", "tagger "];
    for (name, source) in sources() {
        let is_reader = name.starts_with("crates/object/") || name.contains("/indexer/check/");
        if is_reader || !name.contains("/src/") {
            continue;
        }
        for line in LINES {
            assert!(!source.contains(&format!("b\"{line}\"")), "{name}: {line}");
        }
    }
}

/// DEPENDENCIES.md has a reason for every crate that is named in the workspace, and no row too many.
#[test]
fn every_dependency_has_a_reason() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let (_, table) = manifest.split_once("[workspace.dependencies]").unwrap();
    let (table, _) = table.split_once("\n[").unwrap();
    let mut named: Vec<&str> = table
        .lines()
        .filter_map(|line| Some(line.split_once(" = ")?.0))
        .filter(|name| !name.starts_with("hedgerow"))
        .collect();
    named.sort_unstable();
    let page = fs::read_to_string(root().join("DEPENDENCIES.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| ")).skip(1);
    let mut explained: Vec<&str> = rows
        .flat_map(|row| row.split('|').nth(1).unwrap().split(", "))
        .map(str::trim)
        .collect();
    explained.sort_unstable();
    assert_eq!(named, explained);
}
