use super::fixture::{fatal, Scratch};
use bstr::ByteSlice;
use hedgerow_testkit::git_is_at_least;

/// Compares whether git and the library open `r` with `config` as its whole configuration.
fn compare(scratch: &Scratch, config: &str) -> Option<String> {
    scratch.write("r/.git/config", config);
    let output = scratch.run("r", &["rev-parse", "HEAD"], &[]);
    let found = scratch.discover("r", &[]);
    assert_eq!(
        found.is_ok(),
        output.status.success(),
        "{config}: {output:?} {found:?}"
    );
    let error = found.err()?.to_string();
    Some(format!("{error}|{}", fatal(&output)))
}

#[test]
fn versions_and_extensions_are_honoured_or_refused() {
    if !git_is_at_least(2, 47, "extensions of repositories") {
        return;
    }
    let scratch = Scratch::with_history();
    let version = |number: &str, extensions: &str| {
        format!("[core]\n\trepositoryformatversion = {number}\n[extensions]\n{extensions}")
    };
    for accepted in [
        String::new(),
        version("0", "noop = x\nunknown = y\n"),
        version(
            "1",
            "noop\nnoop-v1\npartialClone = origin\npreciousObjects = true\n",
        ),
        version(
            "1",
            "worktreeConfig = true\nobjectFormat = sha1\nrefStorage = files\n",
        ),
        version("0", "worktreeConfig = true\n"),
        "[extensions]\nobjectFormat = sha256\n".into(),
    ] {
        assert_eq!(compare(&scratch, &accepted), None, "{accepted}");
    }
    for refused in [
        version("2", ""),
        version("1", "unknown = y\n"),
        version("1", "unknown = y\nother = z\n"),
        version("0", "objectFormat = sha1\n"),
        version("0", "refStorage = files\nnoop-v1 = 1\n"),
    ] {
        let said = compare(&scratch, &refused).expect("refused");
        let (own, gits) = said.split_once('|').unwrap();
        assert_eq!(own, gits, "{refused}");
    }
    for refused in [
        version("1", "objectFormat = md5\n"),
        version("1", "refStorage = tape\n"),
        version("x", ""),
        version("1", "objectFormat\n"),
    ] {
        assert!(compare(&scratch, &refused).is_some(), "{refused}");
    }
}

#[test]
fn what_is_not_read_is_refused_clearly() {
    let scratch = Scratch::with_history();
    let config = |extension: &str| {
        format!("[core]\nrepositoryformatversion = 1\n[extensions]\n{extension}\n")
    };
    scratch.write(
        "r/.git/config",
        config("refStorage = reftable:///else/where"),
    );
    assert_eq!(
        scratch.refusal("r", &[]),
        "unsupported: references stored at '/else/where'"
    );
    scratch.write("r/.git/config", config("refStorage = files"));
    for (backend, said) in [
        ("files", "no error"),
        ("reftable:///x", "unsupported: references stored at '/x'"),
        ("tape:///x", "unknown ref storage format: 'tape'"),
    ] {
        let variables = [("GIT_REFERENCE_BACKEND", backend)];
        assert_eq!(scratch.refusal("r", &variables), said);
    }
    scratch.write("r/.git/config", config("compatObjectFormat = sha256"));
    assert_eq!(
        scratch.refusal("r", &[]),
        "unsupported: extensions.compatObjectFormat"
    );
    scratch.write("r/.git/config", config("relativeWorktrees = true"));
    assert_eq!(scratch.refusal("r", &[]), "no error");
    scratch.write("r/.git/config", config("partialClone = origin"));
    assert_eq!(scratch.open("r").partial_clone_remote().unwrap(), "origin");
}

#[test]
fn sha256() {
    let scratch = Scratch::new();
    scratch.ask(".", &["init", "-q", "--object-format=sha256", "r"]);
    scratch.commit("r", 1);
    scratch.commit("r", 2);
    let found = scratch.open("r");
    assert_eq!(found.hash_kind(), gix_hash::Kind::Sha256);
    for spec in [
        "HEAD",
        "HEAD~1",
        "HEAD^{tree}",
        "HEAD:dir/file",
        ":/change 1",
        "@{1}",
    ] {
        let id = found.resolve(spec.into()).unwrap().to_string();
        assert_eq!(id, scratch.ask("r", &["rev-parse", spec]), "{spec}");
        let short = found.resolve(id.as_bytes()[..9].as_bstr()).unwrap();
        assert_eq!(short.to_string(), id, "{spec}");
    }
    scratch.ask("r", &["pack-refs", "--all"]);
    let head = found.head().unwrap().id().unwrap().to_string();
    assert_eq!(
        scratch
            .open("r")
            .resolve("main".into())
            .unwrap()
            .to_string(),
        head
    );
}

#[test]
fn objects_and_replacements() {
    let scratch = Scratch::with_history();
    let ids: Vec<String> = (0..4)
        .map(|back| scratch.ask("r", &["rev-parse", &format!("HEAD~{back}")]))
        .collect();
    let tree_of = |variables: &[(&str, &str)]| {
        let found = scratch.discover("r", variables).unwrap();
        let output = scratch.run("r", &["rev-parse", "HEAD^{tree}"], variables);
        let tree = found.resolve_tree("HEAD".into()).unwrap().to_string();
        assert_eq!(tree, super::fixture::text(&output.stdout), "{variables:?}");
        tree
    };
    let plain = tree_of(&[]);
    scratch.ask("r", &["replace", &ids[0], &ids[2]]);
    scratch.ask("r", &["replace", &ids[2], &ids[3]]);
    let replaced = tree_of(&[]);
    assert_ne!(plain, replaced);
    assert_eq!(tree_of(&[("GIT_NO_REPLACE_OBJECTS", "1")]), plain);
    assert_eq!(tree_of(&[("GIT_REPLACE_REF_BASE", "refs/nowhere/")]), plain);
    scratch.ask("r", &["config", "core.useReplaceRefs", "false"]);
    assert_eq!(tree_of(&[]), plain);
    scratch.ask("r", &["config", "core.useReplaceRefs", "true"]);
    scratch.write(
        &format!("r/.git/refs/replace/{}", ids[3]),
        format!("{}\n", ids[0]),
    );
    let found = scratch.open("r");
    let error = found.resolve_tree("HEAD".into()).unwrap_err().to_string();
    assert_eq!(
        error,
        format!("replace depth too high for object {}", ids[0])
    );
}

#[test]
fn objects_of_other_directories() {
    let scratch = Scratch::with_history();
    scratch.ask(".", &["init", "-q", "empty"]);
    let objects = scratch.path("r/.git/objects").to_str().unwrap().to_owned();
    let id = scratch.ask("r", &["rev-parse", "HEAD"]);
    let id = gix_hash::ObjectId::from_hex(id.as_bytes()).unwrap();
    assert!(!scratch.open("empty").has_object(&id).unwrap());
    for name in ["GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"] {
        let found = scratch.discover("empty", &[(name, &objects)]).unwrap();
        assert_eq!(found.commit(&id).unwrap().subject(), "change 4", "{name}");
    }
    scratch.write("empty/.git/objects/info/alternates", format!("{objects}\n"));
    let (kind, content) = scratch.open("empty").read_object(&id).unwrap();
    assert_eq!(kind, hedgerow_pack::ObjectKind::Commit);
    let expected = scratch.ask("r", &["cat-file", "commit", "HEAD"]) + "\n";
    assert_eq!(content.as_bstr(), expected.as_bytes());
}
