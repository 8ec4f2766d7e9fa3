//! `--json` of `ls-files`, `rev-list` and `cat-file`: the same as their lines, which are git's.

use crate::HEDGEROW;
use hedgerow_testkit::{run, run_with, Repository};
use serde_json::{json, Value};

/// The documents that a command prints, one a line.
fn documents(repository: &Repository, words: &[&str], input: &[u8]) -> Vec<Value> {
    let mut command = HEDGEROW.command(&repository.root);
    command.args(words).arg("--json");
    let output = run_with(command, input).ok("hedgerow --json");
    let lines = std::str::from_utf8(&output).unwrap().lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn lines_of_git(repository: &Repository, words: &[&str], input: &[u8]) -> Vec<String> {
    let text = repository.ask_with(words, input);
    text.lines().map(str::to_owned).collect()
}

fn scene() -> Repository {
    let repository = Repository::init(&[]);
    repository.commit_files(&[("a", "one\n"), ("d/\"q\"\t\u{e4}", "two\n")], "one");
    repository.git(&["branch", "side"]);
    repository.symlink("link", "/outside");
    repository.commit_files(&[("a", "three\r\n")], "two");
    repository.git(&["add", "link"]);
    repository.commit("three");
    repository
}

fn text<'v>(document: &'v Value, field: &str) -> &'v str {
    document[field].as_str().unwrap()
}

#[test]
fn ls_files_names_what_git_lists() {
    let repository = scene();
    repository.write(b"b\xe4d", "new\n");
    repository.write("a", "changed\n");
    let shown = documents(&repository, &["ls-files"], b"");
    let shown: Vec<String> = shown
        .iter()
        .map(|it| {
            assert_eq!(it["reason"], "cached");
            let mode = it["mode"].as_u64().unwrap();
            let (id, stage, path) = (text(it, "object"), &it["stage"], text(it, "path"));
            format!("{mode:06o} {id} {stage}\t{path}")
        })
        .collect();
    let mut expected = repository.ask(&["ls-files", "-s", "-z"]);
    assert_eq!(expected.pop(), Some('\0'));
    assert_eq!(shown, expected.split('\0').collect::<Vec<_>>());
    let shown = documents(&repository, &["ls-files", "-o", "-m", "--eol"], b"");
    assert_eq!(shown.len(), 2);
    assert_eq!(shown[0]["path"], json!({"bytes": b"b\xe4d"}));
    assert_eq!(shown[0]["reason"], "untracked");
    assert_eq!(
        (&shown[1]["path"], &shown[1]["reason"]),
        (&json!("a"), &json!("modified"))
    );
    assert_eq!(shown[1]["line_ends_index"], "crlf");
    assert_eq!(shown[1]["line_ends_worktree"], "lf");
}

#[test]
fn rev_list_names_what_git_lists() {
    let repository = scene();
    for words in [
        &["rev-list", "--all", "--objects"][..],
        &["rev-list", "--objects", "main", "^side"],
        &["rev-list", "--reverse", "-2", "main"],
        &["rev-list", "--use-bitmap-index", "--objects", "main"],
    ] {
        let shown = documents(&repository, words, b"");
        let shown: Vec<String> = shown
            .iter()
            .map(|it| {
                let (id, kind) = (text(it, "object"), text(it, "type"));
                assert_eq!(repository.ask(&["cat-file", "-t", id]).trim(), kind);
                match it["path"].as_str() {
                    Some(path) => format!("{id} {path}"),
                    None if kind == "commit" => id.to_owned(),
                    None => format!("{id} "),
                }
            })
            .collect();
        assert_eq!(shown, lines_of_git(&repository, words, b""), "{words:?}");
    }
    let words = [
        "rev-list",
        "--left-right",
        "--boundary",
        "--parents",
        "--timestamp",
    ];
    let words = [&words[..], &["side...main"]].concat();
    let shown = documents(&repository, &words, b"");
    let shown: Vec<String> = shown
        .iter()
        .map(|it| {
            let mark = match (it["boundary"] == true, it["side"].as_str()) {
                (true, None) => '-',
                (false, Some("left")) => '<',
                (false, Some("right")) => '>',
                other => panic!("{other:?}"),
            };
            let mut line = format!("{} {mark}{}", it["commit_time_s"], text(it, "object"));
            for parent in it["parents"].as_array().unwrap() {
                line += &format!(" {}", parent.as_str().unwrap());
            }
            line
        })
        .collect();
    assert_eq!(shown, lines_of_git(&repository, &words, b""));
}

#[test]
fn missing_and_omitted_objects_are_named() {
    let repository = scene();
    let blob = repository.ask(&["rev-parse", "HEAD:a"]).trim().to_owned();
    let words = ["rev-list", "--objects", "--filter=blob:none", "HEAD"];
    let words = [&words[..], &["--filter-print-omitted"]].concat();
    let shown = documents(&repository, &words, b"");
    let marked = |shown: &[Value], word: &str| -> Vec<Value> {
        let marked = shown.iter().filter(|it| it[word] == true);
        marked.cloned().collect()
    };
    let omitted = marked(&shown, "omitted");
    assert!(omitted.iter().any(|it| it["object"] == blob.as_str()));
    let file = format!("objects/{}/{}", &blob[..2], &blob[2..]);
    std::fs::remove_file(repository.git_dir().join(file)).unwrap();
    let words = ["rev-list", "--objects", "--missing=print", "HEAD"];
    let shown = documents(&repository, &words, b"");
    let missing = marked(&shown, "missing");
    assert_eq!(missing.len(), 1);
    assert_eq!(text(&missing[0], "object"), blob);
}

#[test]
fn cat_file_says_what_git_says() {
    let repository = scene();
    let words = ["cat-file", "--batch-check", "--follow-symlinks"];
    let names = b"HEAD\nHEAD:d\nHEAD:a\nHEAD:link\nnone\nHEAD:nothing\n";
    let shown = documents(&repository, &words, names);
    let expected = lines_of_git(&repository, &words, names);
    // Git needs two lines to say where a link leads.
    assert_eq!((shown.len(), expected.len()), (6, 7));
    for (document, expected) in shown[..3].iter().zip(&expected) {
        let (id, kind) = (text(document, "object"), text(document, "type"));
        assert_eq!(&format!("{id} {kind} {}", document["size_bytes"]), expected);
    }
    assert_eq!(shown[1]["mode"], 0o40_000);
    let schema = "hedgerow.cat-file.v1";
    let link = json!({"schema": schema, "name": "HEAD:link", "problem": "symlink",
        "path": "/outside"});
    assert_eq!(shown[3], link);
    for (document, name) in shown[4..].iter().zip(["none", "HEAD:nothing"]) {
        assert_eq!(
            *document,
            json!({"schema": schema, "name": name, "problem": "missing"})
        );
    }
    let words = ["cat-file", "--batch-check", "--batch-all-objects"];
    let all = documents(&repository, &words, b"");
    assert_eq!(all.len(), lines_of_git(&repository, &words, b"").len());
}

#[test]
fn json_is_refused_where_lines_have_a_form() {
    let repository = scene();
    for words in [
        "ls-files -z",
        "ls-files -t",
        "ls-files --format=%(path)",
        "rev-list --count HEAD",
        "rev-list -z HEAD",
        "cat-file -t HEAD",
        "cat-file --batch",
        "cat-file --batch-check=%(objectname)",
        "cat-file --batch-check -Z",
    ] {
        let mut command = HEDGEROW.command(&repository.root);
        command.args(words.split(' ')).arg("--json");
        let refused = run(command);
        assert_eq!(refused.code, 129, "{words}");
        assert!(refused.stdout.is_empty(), "{words}");
        assert!(refused.stderr.contains("--json"), "{words}");
    }
}
