use super::fixture::{text, Scratch};
use crate::repository::Repository;
use crate::revision::{IndexLookup, Wanted};
use crate::Error;
use bstr::{BStr, ByteSlice};
use gix_hash::ObjectId;
use std::collections::HashMap;

/// A history with merges, tags, remotes, logs and names that mean several things.
fn rich() -> Scratch {
    let scratch = Scratch::with_history();
    let git = |arguments: &[&str]| scratch.ask("r", arguments);
    git(&["tag", "light"]);
    git(&["tag", "-a", "-m", "first", "v1.0", "HEAD~1"]);
    git(&["tag", "-a", "-m", "of a tag", "nested", "v1.0"]);
    git(&["tag", "of-tree", "HEAD^{tree}"]);
    git(&["tag", "of-blob", "HEAD:dir/file"]);
    git(&["checkout", "-q", "-b", "topic", "HEAD~2"]);
    scratch.write("r/other", "x");
    scratch.write("r/Upper/deep/er", "y");
    git(&["add", "-A"]);
    git(&["commit", "-qm", "on topic\n\nwith a body that says fox"]);
    git(&["checkout", "-q", "main"]);
    git(&[
        "-c",
        "user.name=M",
        "merge",
        "-q",
        "-m",
        "join topic",
        "topic",
    ]);
    git(&["branch", "light", "HEAD~1"]);
    git(&["branch", "a/b.c@d", "HEAD~1"]);
    git(&["branch", "v1.0-3-gnothex", "HEAD"]);
    let id = git(&["rev-parse", "HEAD~3"]);
    git(&["branch", &id[..8], "HEAD~1"]);
    scratch.ask(".", &["clone", "-q", "r", "origin.git"]);
    git(&["remote", "add", "origin", "../origin.git"]);
    git(&["fetch", "-q", "origin"]);
    git(&["remote", "set-head", "origin", "main"]);
    git(&["branch", "-q", "--set-upstream-to=origin/main", "main"]);
    git(&["checkout", "-q", "topic"]);
    git(&["branch", "-q", "--set-upstream-to=main", "topic"]);
    git(&["checkout", "-q", "--detach", "v1.0"]);
    git(&["checkout", "-q", "main"]);
    scratch.commit("r", 9);
    git(&["pack-refs", "--all"]);
    git(&["branch", "loose", "HEAD~1"]);
    scratch
}

/// What git makes of each spec: an id, or nothing.
fn asked(scratch: &Scratch, directory: &str, specs: &[String]) -> Vec<Option<String>> {
    let verified = |spec: &String| {
        let arguments = ["rev-parse", "-q", "--verify", "--end-of-options", spec];
        let output = scratch.run(directory, &arguments, &[]);
        output.status.success().then(|| text(&output.stdout))
    };
    specs.iter().map(verified).collect()
}

fn compare(scratch: &Scratch, directory: &str, specs: &[String]) -> usize {
    let found = scratch.open(directory);
    let index = index_of(scratch);
    let lookup = |path: &BStr, stage: u8| {
        let id = index.get(&(path.to_string(), stage)).copied();
        Ok(id.map(|id| (id, 0o100_644)))
    };
    let lookup: &IndexLookup<'_> = &lookup;
    let mut resolved = 0;
    let mut wrong = Vec::new();
    for (spec, expected) in specs.iter().zip(asked(scratch, directory, specs)) {
        let own = found.resolve_with(spec.as_str().into(), Wanted::Any, Some(lookup));
        let shown = own.as_ref().ok().map(|own| own.id.to_string());
        // Where `^{...}` after `@{...}` names nothing, git takes all of it for a date and answers.
        let is_date_for_git = spec.contains("@{") && spec.contains("^{") && shown.is_none();
        if shown != expected && !is_date_for_git {
            wrong.push(format!(
                "'{spec}' at {directory}: {expected:?}, not {own:?}"
            ));
        }
        resolved += usize::from(expected.is_some());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    resolved
}

fn index_of(scratch: &Scratch) -> HashMap<(String, u8), ObjectId> {
    let listing = scratch.ask("r", &["ls-files", "--stage"]);
    let entry = |line: &str| {
        let (head, path) = line.split_once('\t').unwrap();
        let parts: Vec<&str> = head.split(' ').collect();
        let id = ObjectId::from_hex(parts[1].as_bytes()).unwrap();
        ((path.to_owned(), parts[2].parse().unwrap()), id)
    };
    listing.lines().map(entry).collect()
}

const NAMES: &str = "HEAD @ main topic light v1.0 nested of-tree of-blob origin origin/main \
    refs/heads/main heads/main tags/light remotes/origin/main a/b.c@d v1.0-3-gnothex loose \
    ORIG_HEAD FETCH_HEAD absent config index refs/heads main/x - main/ /main ma..in";

const MARKS: &str = "@{-1} @{-2} @{-3} @{-99} @{u} main@{upstream} topic@{U} @{-1}@{u} loose@{u} \
    @{push} main@{push} @{0} @{1} @{2} @{99} main@{0} main@{1} HEAD@{0} HEAD@{3} topic@{0} \
    light@{0} v1.0@{0} @@{u} @@{0} @@ HEAD@{u} absent@{u} @{-0} @{} @{x main@{-1} @{-1}@{0} \
    @{u}@{0} main@{now} main@{2020-01-01} main@{1700000000} HEAD@{yesterday}";

const SUFFIXES: &str = "\n^\n^0\n^1\n^2\n^3\n^^\n~\n~0\n~1\n~2\n~50\n~~\n^{}\n^{commit}\n^{tree}\n\
    ^{blob}\n^{tag}\n^{object}\n^{nothing}\n^{/fox}\n^{/change 2}\n^{/}\n^{/!-change}\n^{/!x}\n:\n\
    :dir\n:dir/\n:dir/file\n:dir/file/\n:absent\n:./dir\n~1^2\n^{tree}:Upper/deep\n\
    ^{commit}^{tree}\n@\n^{\n^x\n~x";

#[test]
fn hundreds_of_specs() {
    let scratch = rich();
    let id = scratch.ask("r", &["rev-parse", "HEAD"]);
    let tree = scratch.ask("r", &["rev-parse", "HEAD^{tree}"]);
    let described = format!("v1.0-5-g{}", &id[..9]);
    let absent = "f".repeat(40);
    let upper = id[..9].to_uppercase();
    let old = scratch.ask("r", &["rev-parse", "HEAD~4"]);
    let ids = [
        &id,
        &id[..7],
        &id[..4],
        &tree[..10],
        &described,
        &absent,
        &absent[..12],
        &upper,
    ];
    let anchors = NAMES
        .split(' ')
        .chain(MARKS.split(' '))
        .chain(ids)
        .chain(["", &old[..8]]);
    let suffixes: Vec<&str> = SUFFIXES.split('\n').collect();
    let mut specs = Vec::new();
    for anchor in anchors {
        specs.extend(suffixes.iter().map(|suffix| format!("{anchor}{suffix}")));
    }
    specs.retain(|spec| !spec.starts_with('^') && !spec.is_empty());
    let resolved = compare(&scratch, "r", &specs);
    assert!(
        specs.len() > 2000 && resolved > 500,
        "{resolved} of {}",
        specs.len()
    );
}

#[test]
fn paths_messages_and_the_index() {
    let scratch = rich();
    let specs: Vec<String> = [
        ":dir/file",
        ":0:dir/file",
        ":1:dir/file",
        ":3:x",
        ":absent",
        ":./file",
        ":../other",
        ":",
        ":/",
        ":/change 1$",
        ":/^on",
        ":/join",
        ":/nothing like this",
        ":/!!x",
        ":/!x",
        ":/fox|elephant",
        ":/(",
        "HEAD:./file",
        "HEAD:../other",
        "HEAD:../../x",
        "HEAD:..",
        "HEAD:.",
        "HEAD:./",
        "HEAD:./../dir/file",
        "HEAD:dir//file",
        "HEAD:/dir",
        "HEAD:Upper/deep/er",
        "HEAD:upper/deep/er",
        "HEAD:Upper/deep/",
        "absent:dir",
        "of-blob:x",
        "of-tree:dir/file",
        "HEAD:dir:file",
        "main:",
    ]
    .map(str::to_owned)
    .to_vec();
    for directory in ["r", "r/dir"] {
        assert!(compare(&scratch, directory, &specs) > 8);
    }
}

/// Git 2.46 and 2.47 answer with the oldest, which later versions call a regression.
#[test]
fn the_youngest_message_is_found() {
    let scratch = rich();
    let found = scratch.open("r");
    for (pattern, expected) in [
        (":/change", "main"),
        (":/fox|join", "main~1"),
        (":/!-change", "main~1"),
        ("main^{/change}", "main"),
        ("v1.0^{/change}", "v1.0^{}"),
    ] {
        let id = found.resolve(pattern.into()).unwrap().to_string();
        assert_eq!(id, scratch.ask("r", &["rev-parse", expected]), "{pattern}");
    }
}

#[test]
fn an_index_with_stages() {
    let scratch = Scratch::with_history();
    scratch.ask("r", &["checkout", "-q", "-b", "side", "HEAD~1"]);
    scratch.commit("r", 8);
    let output = scratch.run("r", &["merge", "main"], &[]);
    assert!(!output.status.success());
    let specs: Vec<String> = [
        ":dir/file",
        ":0:dir/file",
        ":1:dir/file",
        ":2:dir/file",
        ":3:dir/file",
    ]
    .map(str::to_owned)
    .to_vec();
    assert_eq!(compare(&scratch, "r", &specs), 3);
}

/// Writes blobs until two share their first four digits, and one of them those of a commit.
fn colliding(scratch: &Scratch) -> (String, String) {
    let mut paths = String::new();
    for number in 0..2000 {
        scratch.write(&format!("blobs/{number}"), format!("blob {number}"));
        paths += &format!("{}/{number}\n", scratch.path("blobs").display());
    }
    let words = ["hash-object", "-w", "--stdin-paths"];
    let printed = scratch.ask_with("r", &words, paths.as_bytes());
    let mut ids: Vec<String> = printed.lines().map(str::to_owned).collect();
    ids.sort();
    let blobs = ids.windows(2).find(|pair| pair[0][..4] == pair[1][..4]);
    let blobs = blobs.unwrap()[0][..4].to_owned();
    let tree = scratch.ask("r", &["rev-parse", "HEAD^{tree}"]);
    for number in 0.. {
        let date = format!("{} +0000", 1_700_000_000 + number);
        let variables = [
            ("GIT_COMMITTER_DATE", date.as_str()),
            ("GIT_AUTHOR_DATE", &date),
        ];
        let output = scratch.run("r", &["commit-tree", "-m", "x", &tree], &variables);
        let commit = text(&output.stdout);
        if ids.iter().any(|id| id[..4] == commit[..4]) {
            return (blobs, commit[..4].to_owned());
        }
    }
    unreachable!("numbers do not end");
}

#[test]
fn several_objects_with_the_same_digits() {
    let scratch = Scratch::with_history();
    let (blobs, mixed) = colliding(&scratch);
    let found = scratch.open("r");
    let error = found.resolve(blobs.as_str().into()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("cannot resolve '{blobs}': short object ID {blobs} is ambiguous")
    );
    assert!(found.resolve(mixed.as_str().into()).is_err());
    let expected = scratch.ask("r", &["rev-parse", &format!("{mixed}^{{commit}}")]);
    let commit = found.resolve_commit(mixed.as_str().into()).unwrap();
    assert_eq!(commit.to_string(), expected);
    let peeled = found
        .resolve(format!("{mixed}^{{commit}}").as_str().into())
        .unwrap();
    assert_eq!(peeled, commit);
    scratch.ask("r", &["config", "core.disambiguate", "commit"]);
    let found = scratch.open("r");
    assert_eq!(found.resolve(mixed.as_str().into()).unwrap(), commit);
    for id in [commit, found.head().unwrap().id().unwrap()] {
        for setting in ["4", "7", "12", "no", "auto"] {
            scratch.ask("r", &["config", "core.abbrev", setting]);
            let own = scratch.open("r").short_id(&id).unwrap();
            let gits = scratch.ask("r", &["rev-parse", "--short", &id.to_string()]);
            assert_eq!(own, gits, "{setting}");
        }
    }
}

fn warnings(found: &Repository, spec: &str) -> Vec<String> {
    let resolved = found.resolve_with(spec.into(), Wanted::Any, None).unwrap();
    resolved.warnings
}

#[test]
fn git_warns_of_the_same() {
    let scratch = rich();
    let found = scratch.open("r");
    let id = scratch.ask("r", &["rev-parse", "HEAD"]);
    let old = scratch.ask("r", &["rev-parse", "HEAD~4"]);
    for spec in [
        "light",
        "main",
        "tags/light",
        "light~1",
        &old[..8],
        "main@{2001-01-01}",
        "HEAD",
        &id[..8],
        "light:dir",
        "light^{tree}",
    ] {
        let output = scratch.run("r", &["rev-parse", spec], &[]);
        let said = text(&output.stderr);
        let said: Vec<&str> = said
            .lines()
            .filter_map(|line| line.strip_prefix("warning: "))
            .collect();
        assert_eq!(warnings(&found, spec), said, "{spec}");
    }
    let short = found.find_reference("light".into()).unwrap().unwrap();
    assert!(short.is_ambiguous);
    assert_eq!(short.reference.name, "refs/tags/light");
}

#[test]
fn failures_are_told_in_gits_words() {
    let scratch = rich();
    let found = scratch.open("r");
    for spec in [
        "HEAD:absent",
        "absent:x",
        "loose@{u}",
        "absent@{u}",
        "main@{99}",
        "HEAD:../x",
    ] {
        let output = scratch.run("r", &["rev-parse", spec], &[]);
        let said = super::fixture::fatal(&output);
        let reason = match found.resolve(spec.into()).unwrap_err() {
            Error::Revision { reason, .. } => reason.to_string(),
            Error::Setup { reason } => reason,
            other => panic!("{spec}: {other}"),
        };
        assert_eq!(Some(reason.as_str()), said.lines().next(), "{spec}");
    }
    let error = found.resolve("no-such".into()).unwrap_err().to_string();
    assert_eq!(
        error,
        "cannot resolve 'no-such': unknown revision or path not in the working tree."
    );
}

#[test]
fn kinds_that_are_asked_for() {
    let scratch = rich();
    let found = scratch.open("r");
    let expected = |spec: &str| scratch.ask("r", &["rev-parse", spec]);
    for spec in ["HEAD", "nested", "main~1"] {
        let commit = found.resolve_commit(spec.into()).unwrap().to_string();
        assert_eq!(commit, expected(&format!("{spec}^{{commit}}")));
        let tree = found.resolve_tree(spec.into()).unwrap().to_string();
        assert_eq!(tree, expected(&format!("{spec}^{{tree}}")));
    }
    assert_eq!(
        found.resolve_tree("of-tree".into()).unwrap().to_string(),
        expected("of-tree")
    );
    assert_eq!(
        found.resolve_tree("HEAD:dir".into()).unwrap().to_string(),
        expected("HEAD:dir")
    );
    assert!(found.resolve_tree("of-blob".into()).is_err());
    assert!(found.resolve_commit("of-tree".into()).is_err());
}

#[test]
fn any_bytes_are_taken_without_harm() {
    let scratch = rich();
    let found = scratch.open("r");
    let pieces: [&[u8]; 16] = [
        b"@", b"{", b"}", b"^", b"~", b":", b"/", b"-", b"g", b"1", b"HEAD", b"\xff", b"..", b"\0",
        b"u", b"main",
    ];
    let mut state = 1u32;
    for _ in 0..20_000 {
        let mut spec = Vec::new();
        for _ in 0..1 + state % 7 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            spec.extend_from_slice(pieces[(state >> 24) as usize % pieces.len()]);
        }
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let _ = found.resolve(spec.as_bstr());
    }
    let deep = "HEAD".to_owned() + &"^0".repeat(10_000);
    let head = found.resolve("HEAD".into()).unwrap();
    assert_eq!(found.resolve(deep.as_str().into()).unwrap(), head);
}
