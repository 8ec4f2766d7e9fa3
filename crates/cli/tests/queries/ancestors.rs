//! `HEAD~N`: what a commit-graph knows is not read from the commits, unless other parents count.

use super::HEDGEROW;
use hedgerow_testkit::{run, Outcome, Program, Repository};
use std::fmt::Write;

/// A line of commits with a commit-graph, of which all but the first and the last few may be removed.
fn line() -> (Repository, Vec<String>) {
    let repository = Repository::init(&[]);
    let mut input = String::new();
    for number in 0..60 {
        write!(
            input,
            "commit refs/heads/main\ncommitter a <a@b> {} +0000\ndata 2\nm\n",
            1_700_000_000 + number
        )
        .unwrap();
    }
    let import = [
        "-c",
        "fastimport.unpackLimit=1000",
        "fast-import",
        "--quiet",
    ];
    repository.git_with(&import, input.as_bytes());
    repository.git(&["commit-graph", "write", "--reachable"]);
    let commits = repository.ask(&["rev-list", "main"]);
    let commits = commits.lines().map(str::to_owned).collect();
    (repository, commits)
}

fn both(repository: &Repository, spec: &str, variables: &[(&str, &str)]) -> [Outcome; 2] {
    [Program::Git, HEDGEROW].map(|program| {
        let mut command = program.command(&repository.root);
        command.args(["rev-list", "-n1", spec]);
        command.envs(variables.iter().copied());
        run(command)
    })
}

fn compare(repository: &Repository, variables: &[(&str, &str)]) -> Vec<i32> {
    let specs = [
        "main~15",
        "main~16",
        "main~20",
        "main~50",
        "main~59",
        "main~60",
        "main~9999",
    ];
    let codes = specs.map(|spec| {
        let [git, ours] = both(repository, spec, variables);
        ours.assert_civil(spec);
        assert_eq!(git.text(), ours.text(), "{spec}: {}", ours.stderr);
        assert_eq!(git.code, ours.code, "{spec}: {}", ours.stderr);
        ours.code
    });
    codes.to_vec()
}

#[test]
fn commits_on_the_way_are_not_read() {
    let (repository, commits) = line();
    assert_eq!(compare(&repository, &[]), [0, 0, 0, 0, 0, 128, 128]);
    for commit in &commits[21..50] {
        let (directory, name) = commit.split_at(2);
        std::fs::remove_file(repository.objects().join(directory).join(name)).unwrap();
    }
    let [_, ours] = both(&repository, "main~55", &[]);
    assert_eq!(ours.code, 0, "{}", ours.stderr);
    compare(&repository, &[]);
    compare(&repository, &[("GIT_COMMIT_GRAPH_PARANOIA", "1")]);
}

#[test]
fn commits_after_the_graph_are_read() {
    let (repository, _) = line();
    repository.git(&["checkout", "-q", "main"]);
    for number in 0..20 {
        let date = format!("{} +0000", 1_800_000_000 + number);
        repository.git(&["commit", "-q", "--allow-empty", "-m", "x", "--date", &date]);
    }
    compare(&repository, &[]);
}

#[test]
fn grafts_and_replacements_count() {
    let (repository, commits) = line();
    repository.git(&["replace", "--graft", &commits[10], &commits[30]]);
    compare(&repository, &[]);
    repository.git(&["replace", "-d", &commits[10]]);
    repository.write(".git/shallow", format!("{}\n", commits[40]));
    compare(&repository, &[]);
}
