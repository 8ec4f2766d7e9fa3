//! Where attributes come from, and what filters do.

use crate::fixture::{content, Repo};
use hedgerow_tree::NodeKind;

#[test]
fn attributes_of_the_working_tree_count_when_that_is_asked_for() {
    let repo = Repo::new(&[]);
    repo.write(".gitattributes", b"a export-ignore\n");
    repo.write("a", b"a\n");
    repo.write("b", b"b\n");
    repo.commit("one");
    repo.write(".gitattributes", b"b export-ignore\n");
    repo.assert_same("HEAD");
    let (ours, _) = repo.by_us_with("HEAD", true);
    let archive = repo.git(&["archive", "--worktree-attributes", "HEAD"]);
    assert_eq!(ours, crate::archive::read(&archive));
    assert!(ours.iter().any(|listed| listed.path == b"a"));
}

#[test]
fn an_attributes_file_that_is_a_link_does_not_count() {
    let repo = Repo::new(&[]);
    repo.write("rules", b"b export-ignore\n");
    repo.write("b", b"b\n");
    std::os::unix::fs::symlink("rules", repo.root.join(".gitattributes")).unwrap();
    repo.commit("one");
    assert!(repo
        .by_us("HEAD")
        .0
        .iter()
        .any(|listed| listed.path == b"b"));
    repo.assert_same("HEAD");
}

#[test]
fn a_filter_that_must_work_and_does_not_is_an_error_of_its_file() {
    let repo = Repo::new(&[]);
    repo.git(&["config", "filter.broken.smudge", "exit 1"]);
    repo.git(&["config", "filter.broken.clean", "cat"]);
    repo.write("a", b"a\n");
    repo.write("b", b"b\n");
    repo.write(".gitattributes", b"a filter=broken\n");
    repo.commit("one");
    let (ours, warnings) = repo.by_us("HEAD");
    assert_eq!(ours[1].content, b"a\n");
    assert!(
        warnings.iter().any(|warning| warning.contains("exit 1")),
        "{warnings:?}"
    );
    repo.git(&["config", "filter.broken.required", "true"]);
    let mut outcomes = Vec::new();
    repo.each("HEAD", false, |node| {
        let mut node = node.unwrap();
        if node.kind == NodeKind::File {
            outcomes.push(content(&mut node).map_err(|error| error.to_string()));
        }
    });
    let [Ok(_), Err(reason), Ok(_)] = &outcomes[..] else {
        panic!("{outcomes:?}");
    };
    assert!(
        reason.starts_with("a: smudge filter broken failed"),
        "{reason}"
    );
}

#[test]
fn contents_are_filtered_on_any_thread() {
    let repo = Repo::new(&[]);
    repo.git(&["config", "filter.rot.smudge", "tr a-z n-za-m"]);
    repo.write(".gitattributes", b"f* filter=rot\n");
    for number in 0..40 {
        repo.write(
            format!("f{number:02}"),
            format!("file {number}\n").as_bytes(),
        );
    }
    repo.commit("one");
    let mut nodes = Vec::new();
    repo.each("HEAD", false, |node| nodes.push(node.unwrap()));
    let nodes: Vec<_> = nodes
        .into_iter()
        .filter(|node| node.path.starts_with(b"f"))
        .collect();
    std::thread::scope(|threads| {
        for (number, mut node) in nodes.into_iter().enumerate() {
            threads.spawn(move || {
                let content = content(&mut node).unwrap();
                assert_eq!(content, format!("svyr {number}\n").into_bytes());
            });
        }
    });
}

#[test]
fn one_process_filters_all_files_and_one_that_dies_is_started_again() {
    let repo = Repo::new(&[]);
    let log = repo.root.join(".git/filter-log");
    repo.write(".gitattributes", b"f* filter=served\n");
    let names = [
        "f1", "f2-die", "f3", "f4-error", "f5-large", "f6-delay", "f7-late",
    ];
    for name in names {
        repo.write(name, format!("content of {name}\n").as_bytes());
    }
    repo.commit("one");
    let command = hedgerow_testkit::filter_server::command(log.to_str().unwrap());
    repo.git(&["config", "filter.served.process", &command]);
    let (ours, _) = repo.by_us("HEAD");
    let told = std::fs::read_to_string(&log).unwrap();
    assert_eq!(ours, repo.by_git("HEAD"));
    let filtered = &ours[1];
    assert_eq!(filtered.content, b"smudge f1:content of f1\n");
    let starts = told
        .lines()
        .filter(|line| line.starts_with("start"))
        .count();
    assert_eq!(starts, 2, "{told}");
}
