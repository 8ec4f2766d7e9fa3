//! Real output of every command with `--json` against the schemas of the documentation.

use super::{hedgerow, root, said, scene, schema};
use hedgerow_testkit::{require, run, run_with, Repository};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

/// The schemas that were checked, by the names of their files.
struct Checked {
    seen: BTreeSet<String>,
}

impl Checked {
    /// Every document in `text`: one that fills it, or one in each line.
    fn check(&mut self, name: &str, text: &str) {
        assert!(!text.trim().is_empty(), "{name}");
        let documents = match serde_json::from_str::<Value>(text) {
            Ok(document) => vec![document],
            Err(_) => {
                let lines = text.lines().filter(|line| line.starts_with('{'));
                lines
                    .map(|line| serde_json::from_str(line).unwrap())
                    .collect()
            }
        };
        assert!(!documents.is_empty(), "{name}: {text}");
        let file = format!("hedgerow.{name}.v1.json");
        let schema = fs::read_to_string(root().join("docs/schemas").join(&file)).unwrap();
        let schema: Value = serde_json::from_str(&schema).unwrap();
        for document in documents {
            let mut wrong = Vec::new();
            schema::check(&schema, &document, name, &mut wrong);
            assert!(wrong.is_empty(), "{wrong:#?}");
        }
        self.seen.insert(file);
    }

    fn command(&mut self, name: &str, repository: &Repository, words: &[&str]) {
        self.check(name, &said(repository, words));
    }
}

#[test]
fn real_output_has_the_documented_shape() {
    let repository = scene();
    let mut checked = Checked {
        seen: BTreeSet::new(),
    };
    of_working_trees(&mut checked, &repository);
    of_images(&mut checked, &repository);
    of_packs_and_machine(&mut checked, &repository);
    of_mercurial(&mut checked);
    let all = fs::read_dir(root().join("docs/schemas")).unwrap();
    let all = all.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let missing: Vec<String> = all.filter(|name| !checked.seen.contains(name)).collect();
    let is_excused = missing == ["hedgerow.hg-status.v1.json"];
    assert!(missing.is_empty() || is_excused, "not checked: {missing:?}");
}

#[test]
fn schemas_are_named_like_their_files() {
    for entry in fs::read_dir(root().join("docs/schemas")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let schema: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        assert_eq!(schema["title"], *name);
        assert_eq!(schema["properties"]["schema"]["const"], *name);
        let words: Vec<&str> = name.split('.').collect();
        assert_eq!((words[0], words[words.len() - 1]), ("hedgerow", "v1"));
    }
}

/// Runs that end with another code than 0, and that code.
const FAILING: [(&str, i32); 18] = [
    ("walk none", 2),
    ("walk --none", 2),
    ("--color=sometimes walk", 2),
    ("image list none", 2),
    ("image list .", 2),
    ("image verify damaged.sqfs", 1),
    ("image diff a.sqfs b.sqfs", 1),
    ("image create git:none c.sqfs", 2),
    ("stats a.sqfs", 2),
    ("tune none", 2),
    ("checkout none", 1),
    ("checkout --none", 129),
    ("checkout release", 1),
    ("restore none", 1),
    ("switch none", 128),
    ("status --none", 129),
    ("clean", 128),
    ("chekcout", 129),
];

#[test]
fn the_last_document_of_a_failed_run_is_an_error() {
    let repository = scene();
    repository.write("docs/guide.md", "mine\n");
    repository.symlink("link", "docs");
    said(&repository, &["image", "create", "git:v1.0", "a.sqfs"]);
    said(&repository, &["image", "create", ".", "b.sqfs"]);
    let mut damaged = repository.read("a.sqfs");
    // The number of inodes in the superblock.
    damaged[4] ^= 0x55;
    repository.write("damaged.sqfs", &damaged);
    let mut checked = Checked {
        seen: BTreeSet::new(),
    };
    for (words, code) in FAILING {
        let all: Vec<&str> = words.split(' ').chain(["--json"]).collect();
        let failed = run(hedgerow(&repository, &all));
        assert_eq!(failed.code, code, "{words}: {failed:?}");
        checked.check("message", &failed.stderr);
        let documents = failed.stderr.lines().map(serde_json::from_str::<Value>);
        let documents: Vec<Value> = documents.map(Result::unwrap).collect();
        let (last, before) = documents.split_last().unwrap();
        assert_eq!(last["exit_code"], code, "{words}: {failed:?}");
        let is_end = |it: &Value| !it["exit_code"].is_null();
        assert!(!before.iter().any(is_end), "{words}: {failed:?}");
        assert!(["error", "fatal"]
            .map(Value::from)
            .contains(&last["severity"]));
        // What went wrong stands in the last document, too.
        let mut errors = before.iter().filter(|it| it["severity"] == "error");
        if let Some(error) = errors.next_back() {
            assert_eq!(last["message"], error["message"], "{words}");
        }
    }
}

fn of_working_trees(checked: &mut Checked, repository: &Repository) {
    checked.command("checkout", repository, &["checkout", "--json", "release"]);
    repository.write("docs/guide.md", "mine\n");
    repository.write(b"n\xe4me", "bytes\n");
    repository.git(&["mv", "src/core/1.c", "src/core/one.c"]);
    checked.command("status", repository, &["status", "--json", "--ignored"]);
    checked.command("checkout", repository, &["checkout", "--json", "main"]);
    checked.command("checkout", repository, &["restore", "--json", "docs"]);
    checked.command("clean", repository, &["clean", "-n", "--json"]);
    checked.command("walk", repository, &["walk", "--json"]);
    checked.command("walk", repository, &["walk", "--json", "--stat"]);
    checked.command("walk", repository, &["walk", "--json", "--summary"]);
    of_listings(checked, repository);
    run(hedgerow(repository, &["--stats=.git/stats", "walk"])).ok("walk");
    let stats = repository.read(".git/stats");
    checked.check("stats", std::str::from_utf8(&stats).unwrap());
    repository.git(&["clone", "-q", ".", "copy"]);
    checked.command("status", repository, &["-C", "copy", "status", "--json"]);
}

fn of_listings(checked: &mut Checked, repository: &Repository) {
    let mut list = |words: &[&str]| checked.command("ls-files", repository, words);
    list(&["ls-files", "--json"]);
    list(&["ls-files", "--json", "--eol", "-o", "-m", "-d"]);
    let mut walk = |words: &[&str]| checked.command("rev-list", repository, words);
    walk(&["rev-list", "--json", "--objects", "--all"]);
    walk(&[
        "rev-list",
        "--left-right",
        "--boundary",
        "main...v1.0",
        "--json",
    ]);
    walk(&[
        "rev-list",
        "--json",
        "--objects-edge",
        "--filter=blob:none",
        "--filter-print-omitted",
        "v1.0..main",
    ]);
    let mut command = hedgerow(repository, &["cat-file", "--batch-check", "--json"]);
    command.arg("--follow-symlinks");
    let names = b"HEAD\nHEAD:docs\nHEAD:docs/guide.md\nnone\n\xe4\n";
    let output = run_with(command, names).ok("cat-file");
    checked.check("cat-file", std::str::from_utf8(&output).unwrap());
}

fn of_images(checked: &mut Checked, repository: &Repository) {
    repository.symlink("link", "docs");
    checked.command(
        "image.create",
        repository,
        &["image", "create", "--json", "git:v1.0", "a.sqfs"],
    );
    checked.command(
        "image.create",
        repository,
        &["image", "create", "--json", ".", "b.sqfs"],
    );
    for words in [
        &["image", "list", "--json", "b.sqfs"][..],
        &["image", "list", "-l", "--json", "b.sqfs"],
    ] {
        checked.command("image.list", repository, words);
    }
    checked.command(
        "image.info",
        repository,
        &["image", "info", "--json", "a.sqfs"],
    );
    checked.command(
        "image.verify",
        repository,
        &["image", "verify", "--json", "a.sqfs"],
    );
    checked.command(
        "image.diff",
        repository,
        &["image", "diff", "--json", "a.sqfs", "b.sqfs"],
    );
    checked.command(
        "image.extract",
        repository,
        &["image", "extract", "--json", "a.sqfs", "out"],
    );
    let verity = [
        "image", "create", "--json", "--verity", "git:v1.0", "a.erofs",
    ];
    checked.command("image.create", repository, &verity);
    for verb in ["info", "verify"] {
        let words = ["image", verb, "--json", "a.erofs"];
        checked.command(&format!("image.{verb}"), repository, &words);
    }
    let mut damaged = repository.read("a.sqfs");
    damaged[100] ^= 0x55;
    repository.write("damaged.sqfs", &damaged);
    checked.command(
        "image.verify",
        repository,
        &["image", "verify", "--json", "damaged.sqfs"],
    );
}

fn of_packs_and_machine(checked: &mut Checked, repository: &Repository) {
    let explain = ["bitmap", "explain", "--json", "main", "--not", "release"];
    checked.command("bitmap.explain", repository, &explain);
    run(hedgerow(repository, &["repack", "-a", "-d", "-b"])).ok("repack");
    checked.command("bitmap.explain", repository, &explain);
    let log = repository.root.join(".git/serve.json");
    for (filter, wants) in [
        ("--thin", "main"),
        ("--filter=blob:none", "main\n--not\nrelease"),
    ] {
        let git = ["git", "pack-objects", "--revs", "--stdout", filter];
        let mut hook = hedgerow(repository, &["upload-pack-hook"]);
        hook.args(git).env("GIT_CONFIG_COUNT", "1");
        hook.env("GIT_CONFIG_KEY_0", "hedgerow.serveLog");
        hook.env("GIT_CONFIG_VALUE_0", &log);
        run_with(hook, format!("{wants}\n").as_bytes()).ok("hook");
    }
    checked.check("serve", &fs::read_to_string(&log).unwrap());
    checked.command("doctor", repository, &["doctor", "--json"]);
    checked.command("doctor", repository, &["doctor", "--json", "/"]);
    checked.command("tune", repository, &["tune", "--dry-run", "--json"]);
    let failed = run(hedgerow(repository, &["--json", "image", "info", "absent"]));
    checked.check("message", &failed.stderr);
}

fn of_mercurial(checked: &mut Checked) {
    if !require("hg") {
        return;
    }
    let repository = Repository::init(&[]);
    fs::remove_dir_all(repository.root.join(".git")).unwrap();
    let mut hg = hedgerow_testkit::isolated("hg");
    hg.arg("init").current_dir(&repository.root);
    run(hg).ok("hg init");
    repository.write("file", "content\n");
    checked.command("hg-status", &repository, &["status", "--json"]);
}
