//! Split indexes: commands that write the index write a split one where git does, and git reads it.

use crate::HEDGEROW;
use hedgerow_testkit::{run, Outcome, Program, Random, Repository};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::{Duration, SystemTime};

const SPLIT: [(&str, &str); 1] = [("core.splitIndex", "true")];

fn scene(settings: &[(&str, &str)]) -> Repository {
    let repository = Repository::init(&["-b", "main"]);
    for number in 0..40 {
        repository.write(format!("d{}/f{number}", number % 4), "first\n");
    }
    repository.git(&["add", "-A"]);
    repository.git(&["commit", "-qm", "first"]);
    repository.git(&["checkout", "-qb", "other"]);
    repository.write("d1/f1", "other\n");
    repository.write("d2/new", "new\n");
    repository.git(&["rm", "-q", "d3/f3"]);
    repository.git(&["add", "-A"]);
    repository.git(&["commit", "-qm", "second"]);
    repository.git(&["checkout", "-q", "main"]);
    for (name, value) in settings {
        repository.git(&["config", name, value]);
    }
    repository
}

fn by(program: Program, repository: &Repository, words: &[&str]) -> Outcome {
    let mut command = program.command(&repository.root);
    command.args(words).env("GIT_OPTIONAL_LOCKS", "1");
    run(command)
}

fn ours(repository: &Repository, words: &[&str]) {
    let outcome = by(HEDGEROW, repository, words);
    assert_eq!(outcome.code, 0, "{words:?}: {}", outcome.stderr);
}

fn is_split(repository: &Repository) -> bool {
    let index = std::fs::read(repository.path(".git/index")).unwrap();
    index.windows(4).any(|name| name == b"link")
}

/// The names of the shared indexes.
fn shared(repository: &Repository) -> Vec<String> {
    let names = std::fs::read_dir(repository.path(".git")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|it| it.starts_with("sharedindex")).collect();
    names.sort();
    names
}

/// Every index is a new file.
fn index_file(repository: &Repository) -> (u64, std::time::SystemTime) {
    let metadata = std::fs::metadata(repository.path(".git/index")).unwrap();
    (metadata.ino(), metadata.modified().unwrap())
}

fn entries(repository: &Repository) -> String {
    String::from_utf8(repository.git(&["ls-files", "--stage", "-t", "-v"])).unwrap()
}

const COMMANDS: [&[&str]; 18] = [
    &["checkout", "-q", "other"],
    &["checkout", "-q", "main"],
    &["checkout", "-q", "-f", "main"],
    &["checkout", "other", "--", "d1"],
    &["reset", "-q", "--hard"],
    &["reset", "-q", "HEAD"],
    &["reset", "-q", "--hard", "other"],
    &["reset", "-q", "--mixed", "main"],
    &["restore", "--staged", "d1"],
    &["restore", "-s", "other", "-S", "-W", "d2"],
    &["read-tree", "-m", "-u", "HEAD"],
    &["read-tree", "--reset", "main"],
    &["stash", "-q"],
    &["stash", "pop", "-q"],
    &["status", "--porcelain"],
    &["status", "--porcelain"],
    &["switch", "-q", "-f", "other"],
    &["switch", "-q", "main"],
];

/// git in one repository, hedgerow in the other.
fn play(seed: u64) {
    let mut random = Random::new(seed);
    let percent = *random.pick(&["0", "5", "20", "100"]);
    let version = *random.pick(&["2", "4"]);
    let settings = [
        ("core.splitIndex", "true"),
        ("splitIndex.maxPercentChange", percent),
    ];
    let twins = [0, 1].map(|_| {
        let repository = scene(&settings);
        repository.git(&["update-index", "--index-version", version]);
        repository
    });
    let mut story = vec![format!("seed {seed}: {percent} %, version {version}")];
    for _ in 0..25 {
        let words: Vec<String> = match random.below(3) {
            0 => {
                let path = format!("d{}/f{}", random.below(4), random.below(12));
                let content = format!("{}\n", random.below(3));
                twins.iter().for_each(|twin| twin.write(&path, &content));
                story.push(format!("write {path}: {content:?}"));
                vec!["add".into(), path]
            }
            _ => random
                .pick(&COMMANDS)
                .iter()
                .map(|it| (*it).into())
                .collect(),
        };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        story.push(words.join(" "));
        let program = if words[0] == "add" {
            Program::Git
        } else {
            HEDGEROW
        };
        let indexes = || [0, 1].map(|at: usize| index_file(&twins[at]));
        let before = indexes();
        let expected = by(Program::Git, &twins[0], &words);
        let found = by(program, &twins[1], &words);
        let after = indexes();
        let story = story.join("\n");
        assert_eq!(expected.code, found.code, "{story}\n{}", found.stderr);
        let [expected, found] = [0, 1].map(|at| entries(&twins[at]));
        assert!(expected == found, "{story}\n{found}");
        let status = ["status", "--porcelain"];
        assert_eq!(twins[0].ask(&status), twins[1].ask(&status), "{story}");
        let same = by(HEDGEROW, &twins[1], &["ls-files", "--stage", "-t", "-v"]).text();
        assert!(same == found, "{story}\n{same}");
        // `status` writes the index where a file was written within the same tick of the clock, which is
        // chance.
        if before[0] != after[0] && before[1] != after[1] {
            assert_eq!(is_split(&twins[0]), is_split(&twins[1]), "{story}");
        }
    }
    twins[1].git(&["fsck"]);
}

#[test]
fn histories_with_split_indexes() {
    std::thread::scope(|scope| {
        for seed in 0..24 {
            scope.spawn(move || play(seed));
        }
    });
}

/// What git splits stays split, and the settings decide.
#[test]
fn the_settings_split_and_join() {
    let repository = scene(&[]);
    ours(&repository, &["checkout", "-q", "other"]);
    assert!(!is_split(&repository));
    repository.git(&["update-index", "--split-index"]);
    let first = shared(&repository);
    ours(&repository, &["checkout", "-q", "main"]);
    assert!(is_split(&repository));
    assert_eq!(shared(&repository), first, "little changed");
    repository.git(&["config", "core.splitIndex", "false"]);
    ours(&repository, &["status", "-uno"]);
    assert!(!is_split(&repository));
    repository.git(&["config", "core.splitIndex", "true"]);
    ours(&repository, &["status", "-uno"]);
    assert!(is_split(&repository));
    let whole = repository.path("whole");
    ours(
        &repository,
        &["read-tree", "--index-output=whole", "-m", "other"],
    );
    assert!(!std::fs::read(whole)
        .unwrap()
        .windows(4)
        .any(|it| it == b"link"));
}

#[test]
fn shared_indexes_expire() {
    let repository = scene(&SPLIT);
    repository.git(&["config", "splitIndex.maxPercentChange", "0"]);
    let now = SystemTime::now();
    let age = |name: &str, days: u64| {
        let path = repository.path(format!(".git/{name}"));
        let file = std::fs::File::options().write(true).open(path).unwrap();
        let day = Duration::from_secs(24 * 3600);
        file.set_modified(now - day * days as u32).unwrap();
    };
    let switch = |branch| ours(&repository, &["checkout", "-q", branch]);
    switch("other");
    let first = shared(&repository);
    assert_eq!(first.len(), 1);
    switch("main");
    assert_eq!(shared(&repository).len(), 2);
    age(&first[0], 15);
    // It was not used for long, and a new one is made.
    switch("other");
    let left = shared(&repository);
    assert!(!left.contains(&first[0]) || left.len() == 2, "{left:?}");
    repository.git(&["config", "splitIndex.sharedIndexExpire", "never"]);
    shared(&repository).iter().for_each(|name| age(name, 4000));
    let before = shared(&repository).len();
    switch("main");
    assert!(shared(&repository).len() >= before);
    repository.git(&["config", "splitIndex.sharedIndexExpire", "now"]);
    switch("other");
    assert_eq!(shared(&repository).len(), 1);
    // One that is used stays young.
    repository.git(&["config", "splitIndex.maxPercentChange", "100"]);
    let only = shared(&repository).remove(0);
    age(&only, 20);
    switch("main");
    let time = repository
        .path(format!(".git/{only}"))
        .metadata()
        .unwrap()
        .modified();
    assert!(time.unwrap() > now - Duration::from_secs(3600));
}

#[test]
fn a_shared_index_is_as_open_as_the_repository() {
    for (mode, expected) in [
        ("umask", None),
        ("0666", Some(0o666)),
        ("0642", Some(0o642)),
    ] {
        let repository = scene(&SPLIT);
        repository.git(&["config", "core.sharedRepository", mode]);
        for name in shared(&repository) {
            repository.remove(format!(".git/{name}"));
        }
        repository.git(&["-c", "core.splitIndex=false", "read-tree", "HEAD"]);
        ours(&repository, &["reset", "-q", "--hard", "other"]);
        let mode_of = |name: &str| {
            let path = repository.path(format!(".git/{name}"));
            path.metadata().unwrap().permissions().mode() & 0o777
        };
        let names = shared(&repository);
        assert_eq!(names.len(), 1);
        assert_eq!(mode_of(&names[0]), mode_of("index"));
        if let Some(expected) = expected {
            assert_eq!(mode_of("index"), expected);
        }
    }
}

/// Whatever fails, the index is the old one or the new one, and can be read.
#[test]
fn a_failing_call_leaves_an_index_that_can_be_read() {
    let repository = scene(&SPLIT);
    repository.git(&["config", "splitIndex.maxPercentChange", "0"]);
    repository.git(&["config", "splitIndex.sharedIndexExpire", "now"]);
    ours(&repository, &["checkout", "-q", "other"]);
    let new = entries(&repository);
    ours(&repository, &["checkout", "-q", "main"]);
    let old = entries(&repository);
    let fail = |fault: &str| {
        let mut command = HEDGEROW.command(&repository.root);
        command.args(["checkout", "-q", "-j1", "other"]);
        command.env("HEDGEROW_TEST_FAULT", fault);
        let outcome = run(command);
        let found = entries(&repository);
        assert!(
            found == old || found == new,
            "{fault}: {outcome:?}\n{found}"
        );
        assert!(is_split(&repository) || found == new, "{fault}");
        ours(&repository, &["checkout", "-q", "-f", "main"]);
        // What was written before the failure is in the way of the next switch.
        repository.git(&["clean", "-qfd"]);
        assert_eq!(entries(&repository), old, "{fault}");
        let (_, count) = outcome.stderr.split_once("saw ").unwrap();
        count.split(' ').next().unwrap().parse::<usize>().unwrap()
    };
    for (kinds, errno) in [("create+write+close", 28), ("rename+remove+attribute", 5)] {
        let count = fail(&format!("{kinds}:1000000:{errno}"));
        assert!(count > 5, "{kinds}");
        for number in 1..=count {
            fail(&format!("{kinds}:{number}:{errno}"));
            fail(&format!("{kinds}:{number}-1000000:{errno}"));
        }
    }
}

/// The index and its shared one may be in different places.
#[test]
fn an_index_elsewhere_is_based_on_a_shared_one() {
    let repository = scene(&SPLIT);
    ours(&repository, &["reset", "-q", "--hard", "other"]);
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("index");
    std::fs::copy(repository.path(".git/index"), &copy).unwrap();
    for program in [Program::Git, HEDGEROW] {
        let mut command = program.command(&repository.root);
        command.args(["ls-files", "--stage", "-t", "-v"]);
        command.env("GIT_INDEX_FILE", &copy);
        assert_eq!(run(command).ok("ls-files"), entries(&repository).as_bytes());
    }
}

/// `index.version` is for new indexes; one that is there keeps its version.
#[test]
fn an_index_keeps_its_version() {
    for (number, others) in [("2", "4"), ("4", "2")] {
        let repository = scene(&[("index.version", others)]);
        repository.git(&["update-index", "--index-version", number]);
        let version = || std::fs::read(repository.path(".git/index")).unwrap()[7].to_string();
        for words in [
            &["checkout", "-q", "other"][..],
            &["reset", "-q", "--hard", "main"],
            &["reset", "-q", "HEAD"],
            &["checkout", "other", "--", "d1"],
            &["stash", "-q"],
        ] {
            ours(&repository, words);
            assert_eq!(version(), number, "{words:?}");
        }
        repository.remove(".git/index");
        ours(&repository, &["reset", "-q", "--hard"]);
        assert_eq!(version(), others);
    }
}
