//! Repositories made to do harm: nothing is written outside of the working tree or into `.git`,
//! nobody panics, the old index stays, and the exit code tells.

use crate::support::RunHedgerow;
use crate::support::{run, snapshot, Outcome, Program, Random, Repository, Snapshot};
use crate::HEDGEROW;
use std::path::PathBuf;

/// A repository with something beside it that must never change.
struct Trap {
    repository: Repository,
    canary: PathBuf,
    before: (Snapshot, Snapshot),
}

impl Trap {
    fn new() -> Trap {
        let repository = Repository::init(&[]);
        repository.write("harmless", "harmless\n");
        repository.write("d/below", "harmless\n");
        repository.commit("harmless");
        let canary = repository.root.parent().unwrap().join("canary");
        std::fs::create_dir(&canary).unwrap();
        std::fs::write(canary.join("file"), "sings\n").unwrap();
        std::fs::create_dir(canary.join("hooks")).unwrap();
        let before = Trap::guarded(&repository, &canary);
        Trap {
            repository,
            canary,
            before,
        }
    }

    /// What must stay: everything beside the working tree, and in `.git` all but what a checkout
    /// may write.
    fn guarded(repository: &Repository, canary: &std::path::Path) -> (Snapshot, Snapshot) {
        let allowed: [&[u8]; 6] = [
            b"index",
            b"HEAD",
            b"logs",
            b"objects",
            b"ORIG_HEAD",
            b"refs",
        ];
        let git = snapshot(&repository.root.join(".git"), &|path| {
            allowed.contains(&path)
        });
        (snapshot(canary, &|_| false), git)
    }

    fn blob(&self, content: &str) -> String {
        let id = self
            .repository
            .git_with(&["hash-object", "-w", "--stdin"], content.as_bytes());
        String::from_utf8(id).unwrap().trim().to_owned()
    }

    /// A tree object of exactly these entries, in exactly this order.
    fn tree(&self, entries: &[(&str, &[u8], &str)]) -> String {
        let mut content = Vec::new();
        for (mode, name, id) in entries {
            content.extend_from_slice(mode.as_bytes());
            content.push(b' ');
            content.extend_from_slice(name);
            content.push(0);
            let digits = id.as_bytes().chunks(2);
            content.extend(
                digits
                    .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap()),
            );
        }
        let words = ["hash-object", "-t", "tree", "-w", "--literally", "--stdin"];
        String::from_utf8(self.repository.git_with(&words, &content))
            .unwrap()
            .trim()
            .to_owned()
    }

    fn commit(&self, tree: &str) -> String {
        self.repository
            .ask(&["commit-tree", "-p", "HEAD", "-m", "evil", tree])
    }

    /// Checks the tree out, in several ways, and looks at what must not have changed.
    fn spring(&self, tree: &str, what: &str) -> Outcome {
        let commit = self.commit(tree);
        let mut last = None;
        for words in [
            &["--detach", commit.as_str()][..],
            &["-f", "--detach", commit.as_str()],
            &[commit.as_str(), "--", "."],
        ] {
            self.repository.git(&["checkout", "-q", "-f", "main"]);
            for jobs in ["-j1", "-j8"] {
                let mut all = vec!["checkout", jobs, "--threshold=0"];
                all.extend(words);
                let outcome = self.repository.hedgerow(&all);
                self.assert_unharmed(&format!("{what}: {all:?}: {outcome:?}"));
                last = Some(outcome);
            }
        }
        last.unwrap()
    }

    fn assert_unharmed(&self, what: &str) {
        let now = Trap::guarded(&self.repository, &self.canary);
        assert_eq!(self.before.0, now.0, "{what}: written outside");
        assert_eq!(self.before.1, now.1, "{what}: written into .git");
        self.repository.assert_no_lock(what);
    }

    /// It must be refused as a whole: fatal, with the old index and the old files.
    fn assert_refused(&self, tree: &str, what: &str) {
        self.repository.git(&["checkout", "-q", "-f", "main"]);
        let (index, files) = (self.repository.index(), self.repository.tree());
        let outcome = self.spring(tree, what);
        assert_eq!(outcome.code, 128, "{what}: {outcome:?}");
        assert!(outcome.stderr.starts_with("fatal: "), "{what}: {outcome:?}");
        assert!(
            files == self.repository.tree(),
            "{what}: files were touched"
        );
        let same = self.repository.index().len() == index.len();
        assert!(same, "{what}: the index was touched");
    }
}

#[test]
fn all_spellings_of_dot_git() {
    let trap = Trap::new();
    let hook = trap.blob("#!/bin/sh\necho harm\n");
    for name in [
        &b".git"[..],
        b".GIT",
        b".Git",
        b".git ",
        b".git.",
        b".git. .",
        b".git...",
        b"git~1",
        b"GIT~1",
        b".git::$INDEX_ALLOCATION",
        b".git:stream",
        b".git\\hooks",
    ] {
        let shown = String::from_utf8_lossy(name).into_owned();
        let below = trap.tree(&[("100755", b"config", &hook)]);
        let entries = [
            trap.tree(&[("40000", name, &below)]),
            trap.tree(&[("100644", name, &hook)]),
            trap.tree(&[("120000", name, &hook)]),
            trap.tree(&[("160000", name, &hook)]),
        ];
        for tree in entries {
            trap.assert_refused(&tree, &shown);
            let deeper = trap.tree(&[("40000", b"sub", &tree)]);
            trap.assert_refused(&deeper, &format!("sub/{shown}"));
        }
    }
    trap.repository.git(&["config", "core.protectHFS", "true"]);
    let trap = Trap {
        before: Trap::guarded(&trap.repository, &trap.canary),
        ..trap
    };
    for name in [".g\u{200c}it", "\u{feff}.git", ".gi\u{206a}T"] {
        let tree = trap.tree(&[("100644", name.as_bytes(), &hook)]);
        trap.assert_refused(&tree, &format!("{name:?} on HFS+"));
    }
}

#[test]
fn names_that_lead_elsewhere() {
    let trap = Trap::new();
    let blob = trap.blob("harm\n");
    let below = trap.tree(&[("100644", b"file", &blob)]);
    for name in [
        &b".."[..],
        b".",
        b"",
        b"/",
        b"/etc",
        b"../canary",
        b"a/b",
        b"a/../../canary/file",
        b"d/below",
        b"a//b",
    ] {
        let shown = format!("the name {:?}", String::from_utf8_lossy(name));
        trap.assert_refused(&trap.tree(&[("100644", name, &blob)]), &shown);
        trap.assert_refused(&trap.tree(&[("120000", name, &blob)]), &shown);
        trap.assert_refused(&trap.tree(&[("40000", name, &below)]), &shown);
    }
}

#[test]
fn names_that_are_there_twice() {
    let trap = Trap::new();
    let outside = trap.blob("../canary");
    let into_git = trap.blob(".git/hooks");
    let blob = trap.blob("harm\n");
    let below = trap.tree(&[("100755", b"file", &blob)]);
    for link in [&outside, &into_git] {
        for (what, entries) in [
            (
                "a link, then a directory",
                vec![("120000", "a", link), ("40000", "a", &below)],
            ),
            (
                "a directory, then a link",
                vec![("40000", "a", &below), ("120000", "a", link)],
            ),
            (
                "names between",
                vec![
                    ("120000", "a", link),
                    ("100644", "a-b", &blob),
                    ("100644", "a.c", &blob),
                    ("40000", "a", &below),
                ],
            ),
            (
                "two files",
                vec![("100644", "a", &blob), ("100644", "a", &below)],
            ),
            (
                "two directories",
                vec![("40000", "a", &below), ("40000", "a", &below)],
            ),
            (
                "a file, then a directory",
                vec![("100644", "a", &blob), ("40000", "a", &below)],
            ),
            (
                "out of order",
                vec![("100644", "b", &blob), ("100644", "a", &blob)],
            ),
            (
                "out of order, far apart",
                vec![
                    ("120000", "a", link),
                    ("100644", "b", &blob),
                    ("40000", "a", &below),
                ],
            ),
        ] {
            let entries: Vec<(&str, &[u8], &str)> = entries
                .iter()
                .map(|(mode, name, id)| (*mode, name.as_bytes(), id.as_str()))
                .collect();
            trap.assert_refused(&trap.tree(&entries), what);
        }
    }
}

#[test]
fn links_that_lead_outside() {
    let trap = Trap::new();
    let outside = trap.blob("../canary");
    let blob = trap.blob("harm\n");
    let below = trap.tree(&[("100644", b"file", &blob)]);
    // Names that only differ in case are two names here, and clash elsewhere.
    let tree = trap.tree(&[("120000", b"A", &outside), ("40000", b"a", &below)]);
    let outcome = trap.spring(&tree, "a link and a directory that differ in case");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    // One commit makes the link, the next a directory in its place.
    let link = trap.commit(&trap.tree(&[("120000", b"a", &outside)]));
    let directory = trap.commit(&trap.tree(&[("40000", b"a", &below)]));
    for words in [[link.as_str(), &directory], [&directory, &link]] {
        for commit in words.into_iter().cycle().take(4) {
            let outcome = trap
                .repository
                .hedgerow(&["checkout", "-q", "--detach", commit]);
            assert_eq!(outcome.code, 0, "{outcome:?}");
            trap.assert_unharmed("a link, then a directory");
        }
    }
    // A link of the user's, where the tree has a directory.
    trap.repository.git(&["checkout", "-q", "-f", "main"]);
    trap.repository.remove("a");
    trap.repository.symlink("a", "../canary");
    for force in [&[][..], &["-f"]] {
        let mut words = vec!["checkout", "--detach", &directory];
        words.extend(force);
        trap.repository.hedgerow(&words);
        trap.assert_unharmed("a link of the user's");
    }
}

#[test]
fn a_leading_directory_that_is_a_link_now() {
    let trap = Trap::new();
    let r = &trap.repository;
    r.write("d/below", "changed\n");
    r.write("d/more", "more\n");
    let other = r.commit("changed below");
    r.git(&["checkout", "-q", "-B", "main", "HEAD~1"]);
    std::fs::write(trap.canary.join("below"), "harmless\n").unwrap();
    let trap = Trap {
        before: Trap::guarded(&trap.repository, &trap.canary),
        ..trap
    };
    let r = &trap.repository;
    for words in [
        &["--detach", other.as_str()][..],
        &["-f", "--detach", other.as_str()],
        &[other.as_str(), "--", "d"],
        &["--", "d/below"],
    ] {
        r.git(&["checkout", "-q", "-f", "main"]);
        r.remove("d");
        r.symlink("d", "../canary");
        let mut all = vec!["checkout"];
        all.extend(words);
        let outcome = r.hedgerow(&all);
        trap.assert_unharmed(&format!("{all:?}: {outcome:?}"));
    }
    // What the link leads to is not removed with the files of the branch either.
    r.git(&["checkout", "-q", "-f", "--detach", &other]);
    r.remove("d");
    r.symlink("d", "../canary");
    r.hedgerow(&["checkout", "-f", "main"]);
    trap.assert_unharmed("removal through a link");
}

#[test]
fn special_files_that_are_links() {
    let trap = Trap::new();
    let link = trap.blob("../canary/file");
    for name in [
        &b".gitmodules"[..],
        b".GITMODULES",
        b"gitmod~1",
        b".gitmodules ",
    ] {
        let shown = String::from_utf8_lossy(name).into_owned();
        trap.assert_refused(&trap.tree(&[("120000", name, &link)]), &shown);
    }
    // Git follows neither of these.
    for name in [&b".gitattributes"[..], b".gitignore"] {
        let blob = trap.blob("content\n");
        let tree = trap.tree(&[("120000", name, &link), ("100644", b"file", &blob)]);
        let outcome = trap.spring(&tree, "a link to attributes");
        assert_eq!(outcome.code, 0, "{outcome:?}");
    }
}

#[test]
fn strange_modes_and_missing_objects() {
    let trap = Trap::new();
    let blob = trap.blob("content\n");
    let missing = "1234567890123456789012345678901234567890";
    let null = "0000000000000000000000000000000000000000";
    for mode in ["xyz", "", "100648", "-1"] {
        let what = format!("mode {mode:?}");
        trap.assert_refused(&trap.tree(&[(mode, b"a", &blob)]), &what);
    }
    trap.assert_refused(&trap.tree(&[("40000", b"a", missing)]), "a missing tree");
    trap.assert_refused(&trap.tree(&[("40000", b"a", &blob)]), "a blob as a tree");
    trap.assert_refused(&trap.tree(&[("100644", b"a", null)]), "a null id");
    let tree = trap.tree(&[("100644", b"a", missing), ("100644", b"b", &blob)]);
    trap.assert_refused(&tree, "a missing blob");
    let written = trap.repository.path("b").exists();
    assert!(!written, "nothing is begun that cannot be finished");
    let tree = trap.tree(&[("100644", b"a", &trap.tree(&[])), ("100644", b"b", &blob)]);
    trap.spring(&tree, "a tree as a file");
}

/// What is no file, link or directory by its mode is a submodule to git, whatever its object is; of a
/// number of many digits, the last ones count.
#[test]
fn odd_modes_are_those_of_submodules_as_in_git() {
    let trap = Trap::new();
    let (blob, padded) = (trap.blob("content\n"), format!("{}100644", "0".repeat(30)));
    for mode in [
        "0",
        "777",
        "10000",
        "60000",
        "20000",
        "140000",
        "10064",
        "777777777",
        "17777777777",
        &padded,
        "77777777100755",
        "1120000",
    ] {
        let tree = trap.tree(&[(mode, b"a", &blob), ("100644", b"b", &blob)]);
        let outcome = trap.spring(&tree, mode);
        assert_eq!(outcome.code, 0, "{mode}: {outcome:?}");
        let commit = trap.commit(&tree);
        let states = [Program::Git, HEDGEROW].map(|program| {
            trap.repository.git(&["checkout", "-q", "-f", "main"]);
            let mut command = program.command(&trap.repository.root);
            command.args(["checkout", "-q", "--detach", &commit]);
            let outcome = run(command);
            assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{mode}");
            let index = trap.repository.ask(&["ls-files", "-s"]);
            let status = trap.repository.ask(&["status", "--porcelain"]);
            (trap.repository.tree(), index, status)
        });
        assert_eq!(states[0], states[1], "{mode}");
    }
}

#[test]
fn permissions_are_those_of_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    let trap = Trap::new();
    let blob = trap.blob("content\n");
    let below = trap.tree(&[("100777", b"odd", &blob), ("104755", b"set-user-id", &blob)]);
    let tree = trap.tree(&[
        ("100644", b"file", &blob),
        ("100755", b"program", &blob),
        ("40000", b"sub", &below),
    ]);
    let commit = trap.commit(&tree);
    let hedgerow = env!("CARGO_BIN_EXE_hedgerow");
    let mut shell = Program::Git.command(&trap.repository.root);
    let mut command = std::process::Command::new("sh");
    command.arg("-c").arg(format!(
        "umask 027; exec {hedgerow} checkout -q --detach {commit}"
    ));
    command.current_dir(&trap.repository.root).env_clear();
    command.envs(
        shell
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    shell.arg("--version");
    let outcome = run(command);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    for (path, expected) in [
        ("file", 0o640),
        ("program", 0o750),
        ("sub", 0o750),
        ("sub/odd", 0o750),
        ("sub/set-user-id", 0o750),
    ] {
        let stat = std::fs::metadata(trap.repository.path(path)).unwrap();
        assert_eq!(stat.permissions().mode() & 0o7777, expected, "{path}");
    }
}

#[test]
fn nesting_without_end() {
    let trap = Trap::new();
    let blob = trap.blob("bottom\n");
    let path = "d/".repeat(3000);
    let stream = format!(
        "commit refs/heads/deep\ncommitter C <c@example.com> 1600000000 +0000\ndata 0\nM 100644 \
         {blob} {path}f\n\n"
    );
    trap.repository
        .git_with(&["fast-import", "--quiet"], stream.as_bytes());
    let tree = trap.repository.ask(&["rev-parse", "deep^{tree}"]);
    trap.repository.git(&["branch", "-q", "-D", "deep"]);
    trap.assert_refused(&tree, "3000 directories in one another");
    // Each tree has the one below twice: 2^40 files.
    let mut tree = trap.tree(&[("100644", b"f", &blob)]);
    for _ in 0..40 {
        tree = trap.tree(&[("40000", b"a", &tree), ("40000", b"b", &tree)]);
    }
    let started = std::time::Instant::now();
    let commit = trap.commit(&tree);
    let outcome = limited(&trap.repository, &["checkout", "-j2", "--detach", &commit]);
    trap.assert_unharmed("a bomb of trees");
    assert_eq!(outcome.code, 128, "{outcome:?}");
    assert!(outcome.stderr.starts_with("fatal: "), "{outcome:?}");
    assert!(started.elapsed().as_secs() < 120, "{:?}", started.elapsed());
}

/// Runs hedgerow with 4 GB of address space.
fn limited(repository: &Repository, words: &[&str]) -> Outcome {
    let hedgerow = env!("CARGO_BIN_EXE_hedgerow");
    let mut command = std::process::Command::new("sh");
    command.arg("-c").arg(format!(
        "ulimit -v 4000000; exec {hedgerow} {}",
        words.join(" ")
    ));
    let template = HEDGEROW.command(&repository.root);
    command.current_dir(&repository.root).env_clear();
    command.envs(
        template
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let outcome = run(command);
    outcome.assert_civil("limited memory");
    outcome
}

/// Flips bytes of a file, checks out each time, and puts it right again.
fn flip_bytes(repository: &Repository, path: &str, seed: u64, times: usize, words: &[&str]) {
    use std::os::unix::fs::PermissionsExt;
    let path = repository.path(path);
    let good = std::fs::read(&path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let tree = repository.tree();
    let random = &mut Random::new(seed);
    for number in 0..times {
        let mut bad = good.clone();
        match number % 4 {
            0 => bad.truncate(random.below(good.len())),
            1 => {
                let at = random.below(good.len().saturating_sub(4));
                bad[at..at + 4].copy_from_slice(&[0xff; 4]);
            }
            _ => {
                let at = random.below(good.len());
                bad[at] ^= 1 << random.below(8);
            }
        }
        std::fs::write(&path, &bad).unwrap();
        let what = format!("{} damaged, seed {seed}, number {number}", path.display());
        let outcome = limited(repository, words);
        outcome.assert_civil(&what);
        repository.assert_no_lock(&what);
        assert!([0, 1, 128].contains(&outcome.code), "{what}: {outcome:?}");
        assert!(
            outcome.code == 0 || !outcome.stderr.is_empty(),
            "{what}: says nothing"
        );
        std::fs::write(&path, &good).unwrap();
        repository.git(&["checkout", "-q", "-f", "main"]);
        repository.git(&["clean", "-q", "-f", "-d"]);
        assert!(tree == repository.tree(), "{what}");
    }
}

/// A repository with deltas, in one pack, and a second commit to check out.
fn packed() -> Repository {
    let repository = Repository::init(&[]);
    let mut text = String::new();
    for number in 0..300 {
        text.push_str(&format!("line {number}\n"));
    }
    for number in 0..12 {
        text.push_str(&format!("more {number}\n"));
        repository.write(format!("d{}/f{number}", number % 3), &text);
    }
    repository.commit("main");
    repository.git(&["checkout", "-q", "-b", "other"]);
    for number in 0..12 {
        repository.write(
            format!("d{}/f{number}", number % 3),
            format!("{number}\n{text}"),
        );
    }
    repository.commit("other");
    repository.git(&["checkout", "-q", "main"]);
    repository.git(&["repack", "-q", "-a", "-d", "--depth=10", "--window=20"]);
    repository
}

#[test]
fn damaged_packs() {
    let repository = packed();
    let pack = repository.root.join(".git/objects/pack");
    for extension in ["pack", "idx"] {
        let found = std::fs::read_dir(&pack)
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        let name = found
            .into_iter()
            .find(|name| name.to_string_lossy().ends_with(extension));
        let name = name.unwrap().into_string().unwrap();
        let path = format!(".git/objects/pack/{name}");
        flip_bytes(
            &repository,
            &path,
            11,
            60,
            &["checkout", "-f", "-j2", "other"],
        );
    }
}

#[test]
fn damaged_loose_objects() {
    let repository = packed();
    let pack = std::fs::read_dir(repository.root.join(".git/objects/pack")).unwrap();
    let pack = pack.map(|entry| entry.unwrap().path());
    let pack = pack
        .into_iter()
        .find(|path| path.extension().is_some_and(|e| e == "pack"))
        .unwrap();
    let content = std::fs::read(&pack).unwrap();
    std::fs::remove_dir_all(repository.root.join(".git/objects/pack")).unwrap();
    std::fs::create_dir(repository.root.join(".git/objects/pack")).unwrap();
    repository.git_with(&["unpack-objects", "-q"], &content);
    for spec in ["other:d0/f0", "other^{tree}", "other:d1"] {
        let id = repository.ask(&["rev-parse", spec]);
        let path = format!(".git/objects/{}/{}", &id[..2], &id[2..]);
        flip_bytes(
            &repository,
            &path,
            12,
            16,
            &["checkout", "-f", "-j2", "other"],
        );
    }
}

#[test]
fn damaged_indexes() {
    for version in ["2", "4"] {
        let repository = packed();
        repository.git(&["update-index", "--index-version", version]);
        flip_bytes(&repository, ".git/index", 13, 60, &["checkout", "other"]);
    }
}

#[test]
fn a_damaged_index_stays_as_it_is() {
    let repository = packed();
    let index = repository.index();
    let half = &index[..index.len() / 2];
    let mut huge = index.clone();
    huge[8..12].copy_from_slice(&[0xff; 4]);
    for (what, bad) in [
        ("cut", half),
        ("a huge count", &huge),
        ("no index", b"not an index"),
    ] {
        std::fs::write(repository.path(".git/index"), bad).unwrap();
        let outcome = limited(&repository, &["checkout", "other"]);
        assert_eq!(outcome.code, 128, "{what}: {outcome:?}");
        assert_eq!(repository.index(), bad, "{what}");
        repository.assert_no_lock(what);
    }
}

#[test]
fn what_is_no_blob_is_no_file() {
    let trap = Trap::new();
    let (main, tag) = ("main", "tagged");
    trap.repository.git(&["tag", "-a", "-m", tag, tag]);
    for (kind, name) in [("tree", "main^{tree}"), ("commit", main), ("tag", tag)] {
        let id = trap.repository.ask(&["rev-parse", name]);
        for mode in ["100644", "120000"] {
            let what = format!("{mode} {kind}");
            let outcome = trap.spring(&trap.tree(&[(mode, b"harmless", &id)]), &what);
            assert_eq!(outcome.code, 255, "{what}: {outcome:?}");
            let reason = format!("object {id} is a {kind} where a blob is expected");
            assert!(outcome.stderr.contains(&reason), "{what}: {outcome:?}");
            let harmless = std::fs::read(trap.repository.path("harmless"));
            assert_eq!(harmless.unwrap(), b"harmless\n", "{what}");
        }
    }
}

/// A repository whose index has `path`, which git puts into none, and an untracked file. The path has
/// as many bytes as `like`, which is committed, and sorts as it does.
fn indexed(like: &str, path: &str) -> Repository {
    let repository = Repository::init(&[]);
    repository.git(&["config", "index.skipHash", "true"]);
    repository.write(like, "like\n");
    repository.write("tracked", "tracked\n");
    repository.commit("like");
    let index = repository.read(".git/index");
    let at = index.windows(like.len());
    let at = at.clone().position(|it| it == like.as_bytes()).unwrap();
    let mut index = index.clone();
    index[at..at + like.len()].copy_from_slice(path.as_bytes());
    repository.write(".git/index", &index);
    repository.write("untracked", "precious\n");
    repository
}

/// Nothing is taken from `.git`, or from elsewhere, because the index has it.
#[test]
fn indexes_with_paths_that_none_may_have_move_nothing() {
    for (like, path) in [
        ("+git/config", ".git/config"),
        ("+git/other", ".git/other"),
        ("++/canary", "../canary"),
        ("+canary/file", "/canary/file"),
    ] {
        for words in [
            &["stash", "-u"][..],
            &["stash", "push", "-a", "--", "."],
            &["clean", "-ffdx"],
            &["reset", "--hard"],
            &["checkout", "-f", "HEAD"],
            &["checkout", "."],
            &["restore", "."],
            &["read-tree", "-m", "-u", "HEAD"],
            &["checkout-index", "-f", "-a"],
            &["sparse-checkout", "set", "x"],
        ] {
            let repository = indexed(like, path);
            let before = repository.read(".git/config");
            let outcome = repository.hedgerow(words);
            assert_eq!(repository.read("untracked"), b"precious\n", "{words:?}");
            assert_eq!(repository.read(".git/config"), before, "{path} {words:?}");
            assert!(repository.path(".git/HEAD").exists(), "{path} {words:?}");
            assert_ne!(outcome.code, 0, "{path} {words:?}");
            assert!(outcome.stderr.contains(path), "{path} {outcome:?}");
        }
    }
}

#[test]
fn a_tree_is_not_read_where_no_path_may_be() {
    let repository = Repository::init(&[]);
    repository.write("post-checkout", "#!/bin/sh\n");
    repository.commit("a hook");
    for prefix in [
        ".git/hooks/",
        ".GIT/",
        "git~1/",
        "d/.git/",
        "./n/",
        "n//m/",
        ".git /",
        "../q/",
        "d/../../z/",
        "/x/",
    ] {
        for update in [&["-u"][..], &[]] {
            let prefix = format!("--prefix={prefix}");
            let words = [&["read-tree", &prefix], update, &["HEAD"]].concat();
            let before = repository.read(".git/index");
            assert_eq!(repository.hedgerow(&words).code, 128, "{words:?}");
            assert_eq!(repository.read(".git/index"), before, "{words:?}");
            assert!(!repository.path(".git/hooks/post-checkout").exists());
        }
    }
}

/// With `d` and `d/x`, no tree can be written.
#[test]
fn an_index_with_a_file_above_a_file_is_not_stashed() {
    let repository = indexed("c", "c");
    repository.write("d/x", "precious\n");
    repository.git(&["add", "d/x"]);
    let mut index = repository.read(".git/index");
    let at = index.windows(3).position(|it| it == b"\x01c\0").unwrap();
    index[at + 1] = b'd';
    repository.write(".git/index", &index);
    let outcome = repository.hedgerow(&["stash"]);
    assert_ne!(outcome.code, 0);
    assert!(outcome.stderr.contains("d/x"), "{outcome:?}");
    assert_eq!(repository.read("d/x"), b"precious\n");
}

/// The binary search of a file that says it is sorted misses the branch: HEAD is not unborn.
#[test]
fn packed_references_out_of_order_do_not_hide_the_branch() {
    let repository = Repository::init(&[]);
    repository.write("a", "a\n");
    repository.commit("one");
    repository.git(&["branch", "b1"]);
    repository.git(&["pack-refs", "--all"]);
    let mut packed = repository.read(".git/packed-refs");
    for name in ["a0", "a1", "a2", "a3"] {
        packed.extend_from_slice(format!("{} refs/heads/{name}\n", "1".repeat(40)).as_bytes());
    }
    repository.write(".git/packed-refs", &packed);
    repository.write("a", "precious\n");
    for words in [
        &["reset", "--hard"][..],
        &["checkout", "-f", "b1"],
        &["switch", "-c", "new"],
    ] {
        repository.hedgerow(words);
        assert!(repository.path("a").exists(), "{words:?}");
        assert!(repository.path(".git/logs/refs/heads/main").exists());
    }
}

/// `.git/modules` and an absolute name are one path below the first.
#[test]
fn an_absolute_name_of_a_submodule_leads_to_no_other_repository() {
    let victim = Repository::init(&[]);
    victim.write("f", "1\n");
    victim.commit("one");
    let commit = victim.ask(&["rev-parse", "HEAD"]);
    victim.write("f", "2\n");
    victim.commit("two");
    victim.write("staged", "precious\n");
    victim.git(&["add", "staged"]);
    let git_dir = victim.path(".git");
    let repository = Repository::init(&[]);
    let modules = format!(
        "[submodule \"{}\"]\n\tpath = s\n\turl = ./x\n",
        git_dir.display()
    );
    repository.write(".gitmodules", modules);
    repository.git(&["add", ".gitmodules"]);
    let link = format!("160000,{commit},s");
    repository.git(&["update-index", "--add", "--cacheinfo", &link]);
    repository.git(&["commit", "-q", "-m", "hostile"]);
    let name = format!("submodule.{}.active", git_dir.display());
    repository.git(&["config", &name, "true"]);
    let before = snapshot(&git_dir, &|_| false);
    for words in [
        &["submodule", "update", "--init"][..],
        &["checkout", "-f", "--recurse-submodules", "HEAD"],
        &["reset", "--hard", "--recurse-submodules"],
        &["read-tree", "-u", "--reset", "--recurse-submodules", "HEAD"],
        &["restore", "--recurse-submodules", "."],
    ] {
        repository.hedgerow(words);
        assert!(snapshot(&git_dir, &|_| false) == before, "{words:?}");
    }
}
