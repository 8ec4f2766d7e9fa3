//! Repositories drawn from a seed: every kind of entry, awkward names, several commits.

use super::{Random, Repository};
use std::collections::BTreeMap;

/// A generated repository, nothing checked out.
pub struct Generated {
    pub repository: Repository,
    /// `main` and others.
    pub branches: Vec<String>,
    /// All paths of all commits.
    pub paths: Vec<Vec<u8>>,
    /// The directories of all commits.
    pub directories: Vec<Vec<u8>>,
}

type Tree = BTreeMap<Vec<u8>, (&'static str, Vec<u8>)>;

const NAMES: &[&[u8]] = &[
    b"a",
    b"b",
    b"c",
    b"a-b",
    b"a.c",
    b"a0",
    b"A.h",
    b"src",
    b"lib",
    b"x.txt",
    b"y.txt",
    b"doc.md",
    b"z.crlf",
    b"w.lf",
    b"k.id",
    b"u.utf16",
    b"p.bin",
    b"-dash",
    b"~tilde",
    b"sp ace",
    b" lead",
    b"trail ",
    b"new\nline",
    b"quo\"te",
    b"back\\slash",
    b"tab\t",
    b"cr\r",
    b"\xff\xfe",
    b"\xe4",
    "n\u{e4}me".as_bytes(),
    b"star*",
    b"[x]",
    b"#hash",
    b"!bang",
    b":colon",
    b".hidden",
    b"%",
    b"COPYING",
    b"Makefile",
    b"deep",
    b"mod",
    b"link",
    b"d1",
    b"d2",
    b"d3",
    b"e",
    b"f",
    b"g",
    b"h",
];
const ATTRIBUTES: &[u8] = b"* text=auto\n*.txt text\n*.crlf text eol=crlf\n*.lf text eol=lf\n\
    *.id ident\n*.utf16 text working-tree-encoding=UTF-16\n*.bin -text\n";

/// Draws a repository.
pub fn generate(seed: u64) -> Generated {
    let random = &mut Random::new(seed);
    let sha256 = random.chance(20);
    let format = if sha256 {
        "--object-format=sha256"
    } else {
        "--object-format=sha1"
    };
    let repository = Repository::init(&[format]);
    if let Some(version) = [None, Some("2"), Some("3"), Some("4")][random.below(4)] {
        repository.git(&["config", "index.version", version]);
    }
    let mut tree = Tree::new();
    let size = [5, 20, 60, 120][random.below(4)];
    let attributes = random.chance(50);
    if attributes {
        tree.insert(b".gitattributes".to_vec(), ("100644", ATTRIBUTES.to_vec()));
    }
    if random.chance(30) {
        tree.insert(
            b".gitignore".to_vec(),
            ("100644", b"*.o\n/build/\n".to_vec()),
        );
    }
    while tree.len() < size {
        add(&mut tree, random, sha256);
    }
    let mut commits = vec![tree.clone()];
    for _ in 0..2 + random.below(3) {
        for _ in 0..1 + random.below(size / 2 + 2) {
            change(&mut tree, random, sha256);
        }
        commits.push(tree.clone());
    }
    import(&repository, random, &commits);
    arrange(&repository, random);
    let mut paths: Vec<Vec<u8>> = commits
        .iter()
        .flat_map(|tree| tree.keys().cloned())
        .collect();
    paths.sort();
    paths.dedup();
    let mut directories: Vec<Vec<u8>> = paths.iter().flat_map(|path| parents(path)).collect();
    directories.sort();
    directories.dedup();
    let branches = (1..commits.len()).map(|at| format!("topic{at}"));
    let branches = std::iter::once("main".to_owned()).chain(branches).collect();
    Generated {
        repository,
        branches,
        paths,
        directories,
    }
}

fn parents(path: &[u8]) -> Vec<Vec<u8>> {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    slashes.map(|(at, _)| path[..at].to_vec()).collect()
}

/// Whether the tree can have `path` beside what it has.
fn fits(tree: &Tree, path: &[u8]) -> bool {
    let below = [path, b"/"].concat();
    !tree.contains_key(path)
        && !parents(path).iter().any(|parent| tree.contains_key(parent))
        && !tree.keys().any(|other| other.starts_with(&below))
}

fn new_path(random: &mut Random) -> Vec<u8> {
    let depth = match random.below(40) {
        0 => 30,
        1..=15 => 1,
        16..=28 => 2,
        _ => 3 + random.below(3),
    };
    let parts: Vec<&[u8]> = (0..depth).map(|_| *random.pick(NAMES)).collect();
    let mut path = parts.join(&b'/');
    if random.chance(4) {
        path.extend_from_slice(&[b'l'; 180]);
    }
    path
}

fn add(tree: &mut Tree, random: &mut Random, sha256: bool) {
    let path = new_path(random);
    if fits(tree, &path) {
        let entry = entry(tree, &path, random, sha256);
        tree.insert(path, entry);
    }
}

fn entry(tree: &Tree, path: &[u8], random: &mut Random, sha256: bool) -> (&'static str, Vec<u8>) {
    match random.below(20) {
        0 | 1 => ("120000", link_target(tree, random)),
        2 if random.chance(50) => {
            let digits = if sha256 { 64 } else { 40 };
            let id: String = (0..digits)
                .map(|_| *random.pick(&['1', 'a', 'f']))
                .collect();
            ("160000", id.into_bytes())
        }
        3 | 4 => ("100755", content(tree, path, random)),
        _ => ("100644", content(tree, path, random)),
    }
}

fn link_target(tree: &Tree, random: &mut Random) -> Vec<u8> {
    match random.below(6) {
        0 => b"nowhere/at all".to_vec(),
        1 => b"/dev/null".to_vec(),
        2 => b"..".to_vec(),
        3 => b".".to_vec(),
        _ => {
            let paths: Vec<&Vec<u8>> = tree.keys().collect();
            if paths.is_empty() {
                return b"x".to_vec();
            }
            let path = paths[random.below(paths.len())];
            parents(path).pop().unwrap_or_else(|| path.clone())
        }
    }
}

/// Content that comes back the same when git would add it again, whatever its attributes.
fn content(tree: &Tree, path: &[u8], random: &mut Random) -> Vec<u8> {
    let lines = |random: &mut Random| -> Vec<u8> {
        let mut text = Vec::new();
        for _ in 0..random.below(40) {
            text.extend_from_slice(format!("line {} \u{e9}\n", random.below(1000)).as_bytes());
        }
        text
    };
    if path.ends_with(b".id") {
        return [b"first\n$Id$\n".to_vec(), lines(random)].concat();
    }
    let converted = [&b".txt"[..], b".crlf", b".lf", b".utf16"];
    if converted.iter().any(|end| path.ends_with(end)) {
        return lines(random);
    }
    match random.below(12) {
        0 => Vec::new(),
        1 | 2 => {
            let same = tree.values().find(|(mode, _)| mode.starts_with("100"));
            match same {
                Some((_, content)) if !content.starts_with(b"*") => content.clone(),
                _ => lines(random),
            }
        }
        3 => (0..random.below(90_000))
            .map(|_| random.number() as u8)
            .collect(),
        4 => b"mixed\r\nline\nends\r\n".repeat(random.below(9)),
        5 => vec![0; random.below(70_000)],
        _ => lines(random),
    }
}

/// One of the things that happen between commits.
fn change(tree: &mut Tree, random: &mut Random, sha256: bool) {
    let paths: Vec<Vec<u8>> = tree
        .keys()
        .filter(|path| !path.starts_with(b".git"))
        .cloned()
        .collect();
    if paths.is_empty() {
        return add(tree, random, sha256);
    }
    let path = random.pick(&paths).clone();
    match random.below(10) {
        0 | 1 => add(tree, random, sha256),
        2 => drop(tree.remove(&path)),
        3 => {
            let to = new_path(random);
            let old = tree.remove(&path).unwrap();
            // Some names have attributes that not all content survives.
            let same_end = path.rsplit(|b| *b == b'.').next() == to.rsplit(|b| *b == b'.').next();
            if same_end && fits(tree, &to) {
                tree.insert(to, old);
            }
        }
        4 => {
            let flipped = match tree[&path].0 {
                "100644" => "100755",
                "100755" => "100644",
                other => other,
            };
            tree.get_mut(&path).unwrap().0 = flipped;
        }
        5 => {
            // What was an entry becomes a directory.
            tree.remove(&path);
            for _ in 0..1 + random.below(3) {
                let below = [&path[..], b"/", *random.pick(NAMES)].concat();
                if fits(tree, &below) {
                    let entry = entry(tree, &below, random, sha256);
                    tree.insert(below, entry);
                }
            }
        }
        6 => {
            // A directory becomes an entry.
            let Some(directory) = parents(&path).pop() else {
                return;
            };
            let below = [&directory[..], b"/"].concat();
            tree.retain(|path, _| !path.starts_with(&below));
            let entry = entry(tree, &directory, random, sha256);
            tree.insert(directory, entry);
        }
        _ => {
            tree.remove(&path);
            let entry = entry(tree, &path, random, sha256);
            tree.insert(path, entry);
        }
    }
}

/// Feeds the commits to `git fast-import`, in one or two streams so that there are several packs.
fn import(repository: &Repository, random: &mut Random, commits: &[Tree]) {
    let cut = if random.chance(50) { commits.len() } else { 1 };
    let (first, second) = commits.split_at(cut);
    for (number, part) in [first, second].into_iter().enumerate() {
        if part.is_empty() {
            continue;
        }
        let loose = random.chance(35);
        let mut stream = Vec::new();
        for (at, tree) in part.iter().enumerate() {
            let commit = number * cut + at;
            let branch = match commit {
                0 => "refs/heads/main".to_owned(),
                number => format!("refs/heads/topic{number}"),
            };
            let parent = (commit > 0).then(|| match commit {
                1 => "refs/heads/main".to_owned(),
                number => format!("refs/heads/topic{}", number - 1),
            });
            write_commit(&mut stream, &branch, parent.as_deref(), commit, tree);
        }
        let limit = if loose {
            "fastimport.unpackLimit=100000"
        } else {
            "fastimport.unpackLimit=0"
        };
        repository.git_with(&["-c", limit, "fast-import", "--quiet", "--force"], &stream);
    }
}

fn write_commit(out: &mut Vec<u8>, branch: &str, parent: Option<&str>, number: usize, tree: &Tree) {
    let time = 1_600_000_000 + number * 1000;
    out.extend_from_slice(format!("commit {branch}\n").as_bytes());
    out.extend_from_slice(format!("committer C <c@example.com> {time} +0000\n").as_bytes());
    let message = format!("Commit {number}\n\nBody.\n");
    out.extend_from_slice(format!("data {}\n{message}\n", message.len()).as_bytes());
    if let Some(parent) = parent {
        out.extend_from_slice(format!("from {parent}\n").as_bytes());
    }
    out.extend_from_slice(b"deleteall\n");
    for (path, (mode, content)) in tree {
        let quoted = quote(path);
        if *mode == "160000" {
            let id = String::from_utf8_lossy(content);
            out.extend_from_slice(format!("M {mode} {id} {quoted}\n").as_bytes());
            continue;
        }
        out.extend_from_slice(format!("M {mode} inline {quoted}\n").as_bytes());
        out.extend_from_slice(format!("data {}\n", content.len()).as_bytes());
        out.extend_from_slice(content);
        out.push(b'\n');
    }
    out.push(b'\n');
}

fn quote(path: &[u8]) -> String {
    let mut quoted = String::from("\"");
    for byte in path {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' => {
                quoted.push(*byte as char);
            }
            _ => quoted.push_str(&format!("\\{byte:03o}")),
        }
    }
    quoted + "\""
}

/// Where the objects are: as they were written, repacked, with a multi-pack-index, elsewhere.
fn arrange(repository: &Repository, random: &mut Random) {
    match random.below(6) {
        0 => drop(repository.git(&["repack", "-q", "-a", "-d"])),
        1 => drop(repository.git(&["repack", "-q", "-d"])),
        2 => {
            repository.git(&["repack", "-q", "-d"]);
            repository.git(&["multi-pack-index", "write", "--no-progress"]);
        }
        3 => {
            let objects = repository.root.join(".git/objects");
            let elsewhere = repository.root.parent().unwrap().join("elsewhere");
            std::fs::rename(&objects, &elsewhere).unwrap();
            std::fs::create_dir_all(objects.join("info")).unwrap();
            std::fs::create_dir_all(objects.join("pack")).unwrap();
            let line = format!("{}\n", elsewhere.display());
            std::fs::write(objects.join("info/alternates"), line).unwrap();
        }
        _ => {}
    }
}
