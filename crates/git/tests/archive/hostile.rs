//! Trees that nobody should follow, and objects that are not there.

use crate::fixture::{content, Repo};
use hedgerow_tree::{NodeError, NodeKind};

/// A tree object as it is written, whatever it says.
fn tree(repo: &Repo, entries: &[(&str, &[u8], &str)]) -> String {
    let mut bytes = Vec::new();
    for (mode, name, id) in entries {
        bytes.extend_from_slice(mode.as_bytes());
        bytes.push(b' ');
        bytes.extend_from_slice(name);
        bytes.push(0);
        let digits = (0..id.len()).step_by(2);
        bytes.extend(digits.map(|at| u8::from_str_radix(&id[at..at + 2], 16).unwrap()));
    }
    let words = ["hash-object", "-w", "--literally", "-t", "tree", "--stdin"];
    repo.ask_with(&words, &bytes)
}

/// The paths that were listed, and what ended it.
fn listed(repo: &Repo, revision: &str) -> (Vec<String>, String) {
    let mut paths = Vec::new();
    let mut end = String::new();
    repo.each(revision, false, |node| match node {
        Ok(node) => paths.push(String::from_utf8_lossy(&node.path).into_owned()),
        Err(NodeError::Source(error)) => end = error.to_string(),
        Err(error) => panic!("{error:?}"),
    });
    (paths, end)
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let repo = Repo::new(&[]);
    let blob = repo.ask_with(&["hash-object", "-w", "--stdin"], b"content");
    for name in ["..", ".", "", ".git", ".GIT", "git~1", "a/b", "a/../../b"] {
        let inner = tree(&repo, &[("100644", name.as_bytes(), &blob)]);
        let outer = tree(&repo, &[("100644", b"a", &blob), ("40000", b"d", &inner)]);
        let (paths, end) = listed(&repo, &outer);
        assert!(
            paths.iter().all(|path| path.is_empty() || path == "a"),
            "{paths:?}"
        );
        assert!(
            end.starts_with("cannot list '/d' of the tree: "),
            "{name}: {end}"
        );
        assert!(end.contains(&inner), "{name}: {end}");
    }
    for entries in [
        [
            ("100644", &b"b"[..], blob.as_str()),
            ("100644", b"a", &blob),
        ],
        [("100644", b"a", &blob), ("100644", b"a", &blob)],
        [("100644", b"a", &blob), ("40000", b"a", &blob)],
        [("100644", b"a", &blob), ("60008", b"b", &blob)],
    ] {
        let bad = tree(&repo, &entries);
        let error = repo.refusal(&bad);
        assert!(error.contains(&bad), "{error}");
    }
}

#[test]
fn missing_and_damaged_objects_are_named_with_their_path() {
    let repo = Repo::new(&[]);
    repo.write("d/gone", b"this one will be gone\n");
    repo.write("d/hurt", b"this one will be hurt\n");
    repo.write("d/sound", b"this one will stay\n");
    std::os::unix::fs::symlink("nowhere", repo.root.join("link")).unwrap();
    repo.commit("one");
    let object = |path: &str| {
        let id = repo.ask(&["rev-parse", &format!("HEAD:{path}")]);
        let place = repo
            .root
            .join(format!(".git/objects/{}/{}", &id[..2], &id[2..]));
        (id, place)
    };
    let mut bad = Vec::new();
    for path in ["d/gone", "d/hurt", "link"] {
        let (id, place) = object(path);
        std::fs::remove_file(&place).unwrap();
        if path == "d/hurt" {
            std::fs::write(&place, b"no object").unwrap();
        }
        bad.push((path, id));
    }
    let mut sound = 0;
    repo.each("HEAD", false, |node| {
        let mut node = node.unwrap();
        let path = String::from_utf8(node.path.clone()).unwrap();
        let outcome = match node.kind {
            NodeKind::Directory => return,
            NodeKind::Symlink => node.handle.target(),
            _ => content(&mut node),
        };
        match bad.iter().find(|(bad, _)| *bad == path) {
            None => sound += usize::from(outcome.is_ok()),
            Some((path, id)) => {
                let Err(NodeError::Entry(error)) = outcome else {
                    panic!("{outcome:?}");
                };
                let error = error.to_string();
                assert!(
                    error.starts_with(&format!("cannot read '{path}': ")),
                    "{error}"
                );
                assert!(error.contains(id.as_str()), "{error}");
            }
        }
    });
    assert_eq!(sound, 1);
    let (id, place) = object("d");
    std::fs::remove_file(place).unwrap();
    let (_, end) = listed(&repo, "HEAD");
    assert!(
        end.starts_with("cannot list '/d' of the tree: ") && end.contains(&id),
        "{end}"
    );
}

#[test]
fn trees_nested_too_deep_are_refused() {
    let repo = Repo::new(&[]);
    let blob = repo.ask_with(&["hash-object", "-w", "--stdin"], b"content");
    let mut input = String::from("blob\nmark :1\ndata 1\nx\ncommit refs/heads/deep\n");
    let path = vec!["d"; 2100].join("/");
    input.push_str("committer C <c@d> 1700000000 +0000\ndata 1\nm\n");
    input.push_str(&format!("M 100644 {blob} {path}/f\n"));
    repo.git_with(&["fast-import", "--quiet"], input.as_bytes());
    let (paths, end) = listed(&repo, "deep");
    assert!(end.contains("exceeded maximum allowed tree depth"), "{end}");
    assert!(paths.len() <= 1);
}

#[test]
fn revisions_that_name_no_tree_are_refused() {
    let repo = Repo::new(&[]);
    repo.write("a", b"a");
    repo.commit("one");
    for (revision, reason) in [
        ("nothing", "unknown revision"),
        ("HEAD:a", "not a tree"),
        ("HEAD:b", "path 'b' does not exist"),
    ] {
        let error = repo.refusal(revision);
        assert!(error.contains(reason), "{error}");
    }
}
