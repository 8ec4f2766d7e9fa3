//! Generated trees: what git archives is what is listed.

use crate::fixture::Repo;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

/// Names whose order in a tree object is not the canonical one, and names that are no text.
const NAMES: [&[u8]; 12] = [
    b"a",
    b"a.c",
    b"a-b",
    b"a0",
    b"A",
    b"b",
    b"b.txt",
    b"\xff\xfe",
    b"z\n",
    b" ",
    b"c.dat",
    b"-",
];

const ATTRIBUTES: [&str; 14] = [
    "*.txt text eol=crlf",
    "*.c ident",
    "* text=auto",
    "a export-subst",
    "a0 export-ignore",
    "b/ export-ignore",
    "/A/ export-ignore",
    "*.dat working-tree-encoding=ISO-8859-1",
    "b.txt filter=rot",
    "c.dat -text -ident filter=none",
    "*.txt export-subst !eol",
    "a/b export-ignore",
    "[attr]gone export-ignore",
    "a-b gone",
];

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    fn content(&mut self) -> Vec<u8> {
        let lines: [&[u8]; 8] = [
            b"some line\n",
            b"with both ends\r\n",
            b"$Id$ and $Id: old $\n",
            b"$Format:%H %an$, $Format:%n",
            b"$Format:%s|%x$\n",
            "gr\u{fc}n\n".as_bytes(),
            b"\0binary",
            b"",
        ];
        let count = self.below(60);
        let first = self.below(lines.len());
        let mut content: Vec<u8> = Vec::new();
        for _ in 0..count {
            // Mostly one kind of line, so that some files are text and some are not.
            let line = if self.below(5) == 0 {
                self.below(lines.len())
            } else {
                first
            };
            content.extend_from_slice(lines[line]);
        }
        content
    }

    fn fill(&mut self, repo: &Repo, directory: &[u8], depth: usize) {
        for name in NAMES {
            let path = [directory, name].concat();
            let place = repo.root.join(std::ffi::OsStr::from_bytes(&path));
            match self.below(10) {
                0 | 1
                    if depth < 3 && (place.is_dir() || !place.is_symlink() && !place.exists()) =>
                {
                    self.fill(repo, &[&path[..], b"/"].concat(), depth + 1)
                }
                2..5 if !place.is_dir() => {
                    let content = self.content();
                    repo.write(&path, &content);
                    let mode = if self.below(3) == 0 { 0o755 } else { 0o644 };
                    let permissions = std::fs::Permissions::from_mode(mode);
                    std::fs::set_permissions(&place, permissions).unwrap();
                }
                5 if !place.exists() && !place.is_symlink() && place.parent().unwrap().exists() => {
                    let target = "t".repeat(1 + self.below(200));
                    std::os::unix::fs::symlink(target, place).unwrap();
                }
                _ => {}
            }
        }
        if self.below(3) == 0 {
            let count = self.below(4);
            let lines = (0..count).map(|_| ATTRIBUTES[self.below(12)]);
            let mut text = lines.collect::<Vec<_>>().join("\n");
            if depth == 0 {
                text.push_str("\n[attr]gone export-ignore\na-b gone\n");
            }
            repo.write([directory, b".gitattributes"].concat(), text.as_bytes());
        }
    }
}

#[test]
fn the_nodes_are_the_entries_of_git_archive() {
    for seed in 1..=6 {
        let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let format = ["--object-format=sha1", "--object-format=sha256"][seed as usize % 2];
        let repo = Repo::new(&[format]);
        repo.git(&["config", "filter.rot.smudge", "tr a-z n-za-m"]);
        if seed % 3 == 0 {
            repo.git(&[
                "config",
                "tar.umask",
                ["0027", "user"][seed as usize / 3 - 1],
            ]);
            repo.git(&["config", "core.autocrlf", "true"]);
        }
        random.fill(&repo, b"", 0);
        repo.commit("one");
        random.fill(&repo, b"", 0);
        let head = repo.ask(&["rev-parse", "HEAD"]);
        let link = format!("160000,{head},sub/module");
        repo.git(&["add", "-A"]);
        repo.git(&["update-index", "--add", "--cacheinfo", &link]);
        repo.git(&["commit", "-q", "-m", "two", "-m", "with a body"]);
        if seed > 2 {
            repo.git(&["-c", "pack.threads=1", "repack", "-adfq", "--depth=20"]);
        }
        random.fill(&repo, b"new/", 2);
        repo.commit("three");
        if seed % 4 == 0 {
            repo.write(".git/info/attributes", b"*.txt export-ignore\n");
        }
        for revision in ["HEAD", "HEAD~1", "main~2"] {
            repo.assert_same(revision);
        }
    }
}

#[test]
fn a_tree_has_the_time_that_is_asked_for_and_its_own_attributes() {
    let repo = Repo::new(&[]);
    repo.write(".gitattributes", b"* export-ignore\n");
    repo.write("d/e/f", b"$Format:%H$\n");
    repo.write("d/.gitattributes", b"f export-subst\n");
    repo.commit("one");
    let (ours, _) = repo.by_us("HEAD:d");
    let mut theirs = repo.by_git("HEAD:d");
    theirs.iter_mut().for_each(|listed| listed.mtime_s = 7);
    assert_eq!(ours, theirs);
    assert_eq!(ours[2].content, b"$Format:%H$\n");
    assert_eq!(repo.by_us("HEAD").0, []);
    repo.git(&["tag", "-a", "-m", "m", "v1"]);
    repo.assert_same("v1");
}

#[test]
fn directories_without_files_are_left_out() {
    let repo = Repo::new(&[]);
    let empty = repo.ask(&["mktree"]);
    let nested = repo.ask_with(&["mktree"], format!("040000 tree {empty}\te\n").as_bytes());
    let blob = repo.ask_with(&["hash-object", "-w", "--stdin"], b"content");
    let absent = "1".repeat(40);
    let tree = format!(
        "040000 tree {empty}\ta\n100644 blob {blob}\ta.c\n040000 tree {nested}\tn\n\
         160000 commit {absent}\tsub\n"
    );
    let tree = repo.ask_with(&["mktree", "--missing"], tree.as_bytes());
    let commit = repo.ask(&["commit-tree", "-m", "m", &tree]);
    repo.assert_same(&commit);
    let (ours, _) = repo.by_us(&commit);
    let paths: Vec<&[u8]> = ours.iter().map(|listed| listed.path.as_slice()).collect();
    assert_eq!(paths, [&b"a.c"[..], b"sub"]);
}

#[test]
fn large_blobs_come_in_pieces_and_unconverted() {
    let repo = Repo::new(&[]);
    repo.git(&["config", "core.bigFileThreshold", "300000"]);
    let mut large = Vec::new();
    for line in 0..60_000_u32 {
        large.extend_from_slice(format!("{}\n", line.wrapping_mul(0x9e37_79b9)).as_bytes());
    }
    repo.write("large", &large);
    repo.write("small", &large[..200_000]);
    repo.write(".gitattributes", b"* eol=crlf text\n");
    repo.git(&["config", "core.safecrlf", "false"]);
    repo.commit("one");
    for _ in ["loose", "packed"] {
        repo.assert_same("HEAD");
        let (ours, _) = repo.by_us("HEAD");
        assert!(ours[1].content == large && ours[2].content.len() > 200_000);
        repo.git(&["repack", "-adq"]);
    }
}

#[test]
fn equal_content_ids_are_given_to_blobs_that_stay_as_they_are() {
    let repo = Repo::new(&[]);
    for name in ["a", "d/b", "d/c.txt", "d/e.c"] {
        repo.write(name, b"same\n$Id$\n");
    }
    repo.write("other", b"other\n");
    repo.write(".gitattributes", b"*.txt eol=crlf\n*.c ident\n");
    repo.commit("one");
    let mut ids = Vec::new();
    repo.each("HEAD", false, |node| {
        let node = node.unwrap();
        ids.push((node.path, node.content_id, node.size_bytes));
    });
    let id = |path: &str| {
        ids.iter()
            .find(|(own, ..)| own == path.as_bytes())
            .unwrap()
            .1
    };
    assert!(id("a").is_some() && id("a") == id("d/b"));
    assert!(id("other").is_some() && id("other") != id("a"));
    assert_eq!((id("d/c.txt"), id("d/e.c"), id("d")), (None, None, None));
    assert!(ids
        .iter()
        .all(|(path, _, size)| path != b"a" || *size == 10));
}
