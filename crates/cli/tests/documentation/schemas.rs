//! Real output of every command with `--json` against the schemas of the documentation.

use super::{hedgerow, root, said, scene, schema};
use hedgerow_testkit::{require, run, Repository};
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
    run(hedgerow(repository, &["--stats=.git/stats", "walk"])).ok("walk");
    let stats = repository.read(".git/stats");
    checked.check("stats", std::str::from_utf8(&stats).unwrap());
    repository.git(&["clone", "-q", ".", "copy"]);
    checked.command("status", repository, &["-C", "copy", "status", "--json"]);
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
    run(hedgerow(repository, &["repack", "-a", "-d", "-b"])).ok("repack");
    let explain = ["bitmap", "explain", "--json", "main", "--not", "release"];
    checked.command("bitmap.explain", repository, &explain);
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
