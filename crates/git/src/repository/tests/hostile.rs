use super::fixture::Scratch;
use crate::refs::Head;

#[test]
fn symbolic_references_that_go_round() {
    let scratch = Scratch::with_history();
    scratch.write("r/.git/refs/heads/a", "ref: refs/heads/b\n");
    scratch.write("r/.git/refs/heads/b", "ref: refs/heads/a\n");
    let found = scratch.open("r");
    let error = found
        .reference("refs/heads/a".into())
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "cannot use reference 'refs/heads/a': too many levels of symbolic references"
    );
    assert!(found.resolve("a".into()).is_err());
    scratch.write("r/.git/HEAD", "ref: refs/heads/a\n");
    let error = scratch.open("r").head().unwrap_err().to_string();
    assert!(error.contains("too many levels"), "{error}");
    for depth in [4, 5] {
        for number in 0..depth {
            let target = match number {
                0 => "refs/heads/main".to_owned(),
                _ => format!("refs/heads/chain{}", number - 1),
            };
            scratch.write(
                &format!("r/.git/refs/heads/chain{number}"),
                format!("ref: {target}"),
            );
        }
        let spec = format!("chain{}", depth - 1);
        let git = scratch.run("r", &["rev-parse", "-q", "--verify", &spec], &[]);
        let own = found.resolve(spec.as_str().into());
        assert_eq!(own.is_ok(), git.status.success(), "{depth}: {git:?}");
    }
}

#[test]
fn heads_that_are_none() {
    let scratch = Scratch::with_history();
    for content in [
        "",
        "ref: ",
        "ref: heads/main",
        "main\n",
        "\0\0\0",
        "0123",
        "ref: ../../x\n",
    ] {
        scratch.write("r/.git/HEAD", content);
        let git = scratch.run("r", &["rev-parse", "--git-dir"], &[]);
        assert!(!git.status.success(), "{content}");
        assert_eq!(
            scratch.refusal("r", &[]),
            "not a git repository (or any of the parent directories): .git",
            "{content}"
        );
    }
    for content in [
        "ref: refs/../x",
        "ref: refs/heads/a..b",
        "ref: refs/heads/.x",
    ] {
        scratch.write("r/.git/HEAD", content);
        let error = scratch.open("r").head().unwrap_err().to_string();
        assert!(
            error.starts_with("cannot use reference 'HEAD': it points to"),
            "{error}"
        );
    }
    let id = "1".repeat(40);
    scratch.write("r/.git/HEAD", format!("{id}x"));
    assert!(scratch.open("r").head().is_err());
    // It can be left, but is no commit.
    scratch.write("r/.git/HEAD", "0".repeat(40));
    let found = scratch.open("r");
    assert_eq!(found.head().unwrap().commit(), None);
    assert!(found.commit(&found.head().unwrap().id().unwrap()).is_err());
    scratch.write("r/.git/HEAD", &id);
    let found = scratch.open("r");
    assert!(matches!(found.head().unwrap(), Head::Detached { .. }));
    assert!(found.commit(&found.head().unwrap().id().unwrap()).is_err());
}

#[test]
fn references_of_any_content() {
    let scratch = Scratch::with_history();
    let found = scratch.open("r");
    let contents: [&[u8]; 8] = [
        b"",
        b"\n",
        b"xyz",
        b"ref:",
        b"ref: \xff\xfe",
        b"\0",
        &[b'a'; 39],
        &[b'a'; 100_000],
    ];
    for content in contents {
        scratch.write("r/.git/refs/heads/odd", content);
        assert!(found.resolve("odd".into()).is_err());
        let listed = found.references_below("refs/heads/".into()).unwrap();
        let names = listed.iter().filter(|found| found.id.is_some());
        let names: Vec<String> = names.map(|found| found.name.to_string()).collect();
        assert_eq!(names, ["refs/heads/main"]);
    }
    std::fs::remove_file(scratch.path("r/.git/refs/heads/odd")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", scratch.path("r/.git/refs/heads/odd")).unwrap();
    assert!(found.resolve("odd".into()).is_err());
    std::os::unix::fs::symlink(".", scratch.path("r/.git/refs/heads/loop")).unwrap();
    assert!(found.references_below("refs/".into()).is_ok());
}

#[test]
fn packed_references_cut_at_every_byte() {
    let scratch = Scratch::with_history();
    for number in 0..3 {
        scratch.ask("r", &["tag", "-a", "-m", "x", &format!("t{number}")]);
    }
    scratch.ask("r", &["pack-refs", "--all"]);
    let whole = scratch.read("r/.git/packed-refs");
    let expected = scratch.ask("r", &["rev-parse", "t2"]);
    for length in 0..whole.len() {
        scratch.write("r/.git/packed-refs", &whole[..length]);
        let Ok(found) = scratch.discover("r", &[]) else {
            continue;
        };
        for spec in ["t0", "t1", "t2", "main"] {
            let _ = found.resolve(spec.into());
        }
        let _ = found.references_below("refs/".into());
    }
    scratch.write("r/.git/packed-refs", &whole);
    let id = scratch.open("r").resolve("t2".into()).unwrap();
    assert_eq!(id.to_string(), expected);
}

#[test]
fn packed_references_of_garbage() {
    let scratch = Scratch::with_history();
    let whole = "# pack-refs with: peeled fully-peeled sorted \n";
    for garbage in [
        "x",
        "^",
        "\n\n",
        "0 refs/heads/x\n",
        "^0000\n",
        "\u{0}\u{0}",
    ] {
        for header in ["", whole] {
            scratch.write("r/.git/packed-refs", format!("{header}{garbage}"));
            if let Ok(found) = scratch.discover("r", &[]) {
                let _ = found.resolve("x".into());
                assert!(found.resolve("main".into()).is_ok());
            }
        }
    }
}

#[test]
fn logs_of_garbage() {
    let scratch = Scratch::with_history();
    let good = scratch.read("r/.git/logs/HEAD");
    for garbage in [
        "",
        "x\n",
        "\n\n\n",
        "\0",
        &"0".repeat(81),
        "checkout: moving from a to b",
    ] {
        scratch.write("r/.git/logs/HEAD", format!("{garbage}\n{good}{garbage}"));
        let found = scratch.open("r");
        assert_eq!(found.reflog("HEAD".into()).unwrap().len(), 4);
        assert!(found.resolve("HEAD@{0}".into()).is_ok());
        assert!(found.previous_branch(1).unwrap().is_none());
    }
}

#[test]
fn configurations_of_garbage() {
    let scratch = Scratch::with_history();
    let good = scratch.read("r/.git/config");
    let pieces = [
        "[", "]", "\"", "\\", "=", "\n", "core", ".", " ", ";", "\0", "a", "bare", "\t",
    ];
    let mut state = 3u32;
    for _ in 0..2000 {
        let mut text = good.clone();
        for _ in 0..8 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            text.push_str(pieces[(state >> 24) as usize % pieces.len()]);
        }
        scratch.write("r/.git/config", text);
        let _ = scratch.discover("r", &[]);
    }
    scratch.write(
        "r/.git/config",
        "[include]\npath = config\n".to_owned() + &good,
    );
    let said = scratch.refusal("r", &[]);
    assert!(said.starts_with("cannot follow includes: "), "{said}");
}

#[test]
fn loops_of_common_directories_and_git_files() {
    let scratch = Scratch::with_history();
    scratch.write("r/.git/commondir", ".\n");
    assert!(scratch.discover("r", &[]).is_ok());
    scratch.write("r/.git/commondir", "../nowhere\n");
    assert!(scratch.discover("r", &[]).is_err());
    scratch.write("loop/.git", "gitdir: .git\n");
    let said = scratch.refusal("loop", &[]);
    assert!(said.starts_with("not a git repository: "), "{said}");
    let name = "x/".repeat(3000);
    let found = Scratch::with_history();
    assert!(found.open("r").resolve(name.as_str().into()).is_err());
}
