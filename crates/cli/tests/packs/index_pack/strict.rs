//! `--strict` and `--fsck-objects`: the same rules are found broken, and with the same words.

use super::craft::{id, Craft, BLOB, COMMIT, TAG, TREE};
use super::twins::{Agreed, Twins};
use super::FORMATS;
use gix_hash::{Kind, ObjectId};

/// Objects that break rules, or do not: a name, a kind, a content.
#[derive(Clone)]
struct Bad {
    name: String,
    kind: u8,
    content: Vec<u8>,
}

const WHO: &str = "a <a@b> 1 +0000";

/// Mode, name and object of an entry of a tree.
type Entry<'e> = (&'e str, &'e str, &'e ObjectId);

fn tree(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut content = Vec::new();
    for (mode, name, id) in entries {
        content.extend_from_slice(format!("{mode} {name}\0").as_bytes());
        content.extend_from_slice(id.as_slice());
    }
    content
}

fn bad_trees(hash: Kind) -> Vec<Bad> {
    let blob = id(hash, BLOB, b"x");
    let below = id(hash, TREE, &tree(&[("100644", "f", &blob)]));
    let null = hash.null();
    let lists: [(&str, &[Entry<'_>]); 24] = [
        ("sound", &[("100644", "a", &blob), ("40000", "b", &below)]),
        (
            "unsorted",
            &[("100644", "b", &blob), ("100644", "a", &blob)],
        ),
        (
            "directory sorts",
            &[("40000", "a", &below), ("100644", "a.b", &blob)],
        ),
        ("twice", &[("100644", "a", &blob), ("100644", "a", &blob)]),
        (
            "twice apart",
            &[
                ("100644", "a", &blob),
                ("100644", "a.b", &blob),
                ("40000", "a", &below),
            ],
        ),
        ("null", &[("100644", "a", &null)]),
        ("slash", &[("100644", "a/b", &blob)]),
        ("dot", &[("40000", ".", &below)]),
        ("dotdot", &[("40000", "..", &below)]),
        ("dotgit", &[("40000", ".git", &below)]),
        ("dotGIT", &[("40000", ".GiT", &below)]),
        ("git~1", &[("40000", "GIT~1", &below)]),
        ("hfs", &[("40000", ".g\u{200c}it", &below)]),
        ("backslash", &[("100644", "a\\.git\\b", &blob)]),
        ("padded mode", &[("0100644", "a", &blob)]),
        ("padded directory", &[("040000", "a", &below)]),
        ("odd mode", &[("100664", "a", &blob)]),
        ("odder mode", &[("100600", "a", &blob)]),
        ("no mode", &[("", "a", &blob)]),
        ("bad mode", &[("10064x", "a", &blob)]),
        ("no name", &[("100644", "", &blob)]),
        ("link modules", &[("120000", ".gitmodules", &blob)]),
        ("link ignore", &[("120000", ".gitignore", &blob)]),
        ("link gitm~1", &[("120000", "GITMOD~1", &blob)]),
    ];
    let make = |(name, entries): &(&str, &[Entry<'_>])| Bad {
        name: (*name).to_owned(),
        kind: TREE,
        content: tree(entries),
    };
    let mut found: Vec<Bad> = lists.iter().map(make).collect();
    let mut cut = tree(&[("100644", "a", &blob)]);
    cut.pop();
    found.push(Bad {
        name: "cut".into(),
        kind: TREE,
        content: cut,
    });
    found
}

fn bad_commits(hash: Kind) -> Vec<Bad> {
    let empty = id(hash, TREE, b"");
    let other = id(hash, COMMIT, b"nothing");
    let sound = format!("tree {empty}\nauthor {WHO}\ncommitter {WHO}\n\nx\n");
    let with = |from: &str, to: &str| sound.replacen(from, to, 1);
    let author = format!("author {WHO}\n");
    let texts = [
        ("sound", sound.clone()),
        ("no tree", with("tree ", "treé ")),
        ("bad tree", with(&empty.to_string(), "123")),
        ("bad parent", with("author", "parent 123\nauthor")),
        ("no author", with(&author, "")),
        ("two authors", with(&author, &author.repeat(2))),
        ("no committer", with("committer", "commiter")),
        ("no email", with("author a <a@b>", "author a a@b")),
        ("open email", with("author a <a@b>", "author a <a@b")),
        ("bad email", with("author a <a@b>", "author a <a<@b>")),
        ("no name", with("author a <a@b>", "author <a@b>")),
        ("no space", with("author a <a@b>", "author a<a@b>")),
        ("bad name", with("author a <a@b>", "author a> <a@b>")),
        ("no date", with("author a <a@b> 1", "author a <a@b>")),
        (
            "no space before date",
            with("author a <a@b> 1", "author a <a@b>1"),
        ),
        ("padded date", with("<a@b> 1 +0000\nc", "<a@b> 01 +0000\nc")),
        (
            "huge date",
            with("<a@b> 1 +", "<a@b> 99999999999999999999 +"),
        ),
        ("bad zone", with("1 +0000\nc", "1 0000\nc")),
        ("long zone", with("1 +0000\nc", "1 +00000\nc")),
        ("nul", with("x\n", "x\0y\n")),
        ("nul in header", with("committer", "com\0mitter")),
        ("no end", "tree".to_owned()),
        ("nothing", String::new()),
        ("extra", with("committer", "encoding x\ncommitter")),
    ];
    let make = |(name, text): (&str, String)| Bad {
        name: name.to_owned(),
        kind: COMMIT,
        content: text.replace(&other.to_string(), "").into_bytes(),
    };
    texts.map(make).into()
}

fn bad_tags(hash: Kind) -> Vec<Bad> {
    let empty = id(hash, TREE, b"");
    let sound = format!("object {empty}\ntype tree\ntag x\ntagger {WHO}\n\nx\n");
    let with = |from: &str, to: &str| sound.replacen(from, to, 1);
    let texts = [
        ("sound", sound.clone()),
        ("no object", with("object", "subject")),
        ("bad object", with(&empty.to_string(), "xyz")),
        ("no type", with("type tree\n", "")),
        ("bad type", with("type tree", "type shrub")),
        ("no name", with("tag x\n", "")),
        ("bad name", with("tag x", "tag a..b")),
        ("no tagger", with(&format!("tagger {WHO}\n"), "")),
        ("bad tagger", with("<a@b>", "a@b")),
        ("no end", with("\n\nx\n", "")),
    ];
    let make = |(name, text): (&str, String)| Bad {
        name: name.to_owned(),
        kind: TAG,
        content: text.into_bytes(),
    };
    texts.map(make).into()
}

/// The lines about broken rules, sorted.
fn findings(text: &str) -> Vec<String> {
    let is_one = |line: &&str| line.starts_with("error: object") || line.starts_with("warning: o");
    let mut lines: Vec<String> = text.lines().filter(is_one).map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

/// Both found the same rules broken. Git's parsers go first, and what they cannot read, or what is
/// of another kind than was said, they tell in their own words.
fn alike(name: &str, agreed: &Agreed) {
    let last = |text: &str| {
        let mut fatal = text.lines().filter(|line| line.starts_with("fatal:"));
        fatal.next_back().unwrap_or_default().to_owned()
    };
    let (here, git) = (last(&agreed.here), last(&agreed.git));
    let is_parser = git.starts_with("fatal: invalid") || git.starts_with("fatal: Not all child");
    if !is_parser {
        assert_eq!(
            findings(&agreed.here),
            findings(&agreed.git),
            "{name}: {agreed:?}"
        );
        assert_eq!(here, git, "{name}: {agreed:?}");
    }
}

#[test]
fn broken_objects() {
    for (format, hash) in FORMATS {
        let twins = Twins::new(format);
        let mut refused = 0;
        for bad in [bad_trees(hash), bad_commits(hash), bad_tags(hash)].concat() {
            let mut craft = Craft::new(hash);
            let blob = craft.add(BLOB, b"x");
            craft.add(TREE, b"");
            craft.add(TREE, &tree(&[("100644", "f", &blob)]));
            craft.add(bad.kind, &bad.content);
            let pack = craft.seal();
            twins.write("a.pack", &pack);
            for check in [
                "--fsck-objects",
                "--strict",
                "--strict=treeNotSorted=ignore,missingAuthor=warn",
                "--strict=hasDotgit=error,zeroPaddedFilemode=error,badFilemode=error",
                "--strict=badTagName=error,missingTaggerEntry=error,nulInCommit=error",
                "--strict=missingEmail=warn,extraHeaderEntry=warn",
            ] {
                let words = ["index-pack", "-o", "a.idx", check, "a.pack"];
                let agreed = twins.agree(&words, b"");
                alike(&format!("{} {check}", bad.name), &agreed);
                refused += usize::from(agreed.code != 0);
            }
            // Without a check only what no reader could take is refused.
            twins.agree(&["index-pack", "-o", "a.idx", "a.pack"], b"");
        }
        assert!(refused > 150, "{refused}");
    }
}

#[test]
fn severities_that_make_no_sense() {
    let twins = Twins::new("sha1");
    let mut craft = Craft::new(Kind::Sha1);
    craft.add(BLOB, b"x");
    twins.write("a.pack", &craft.seal());
    twins.write(
        "skip",
        b"# nothing\n0123456789012345678901234567890123456789\n",
    );
    twins.write("bad-skip", b"nothing\n");
    for words in [
        "badDate",
        "badDate=loud",
        "noSuchRule=error",
        "nulInHeader=warn",
        "BADDATE=ignore",
        "skiplist=skip",
        "skiplist=bad-skip",
        "skiplist=nowhere",
        "badDate=warn,badEmail=ignore|badName=error",
    ] {
        let words = format!("--strict={words}");
        let agreed = twins.agree(&["index-pack", "-o", "a.idx", &words, "a.pack"], b"");
        alike(&words, &agreed);
    }
}

#[test]
fn objects_of_a_list_may_be_broken() {
    let twins = Twins::new("sha1");
    let mut craft = Craft::new(Kind::Sha1);
    let bad = craft.add(TREE, b"");
    let commit = craft.add(COMMIT, format!("tree {bad}\n\n").as_bytes());
    twins.write("a.pack", &craft.seal());
    twins.write("skip", format!("# why\n{commit}  # so\n\n").as_bytes());
    let refused = twins.agree(&["index-pack", "--strict", "a.pack"], b"");
    refused.refused_alike("missingAuthor");
    let words = ["index-pack", "--strict=skipList=skip", "a.pack"];
    assert_eq!(twins.agree(&words, b"").code, 0);
}

#[test]
fn files_that_git_obeys() {
    for (format, hash) in FORMATS {
        let twins = Twins::new(format);
        let contents: [(&str, &[u8]); 13] = [
            (
                ".gitmodules",
                b"[submodule \"a\"]\n\tpath = a\n\turl = https://x/y\n",
            ),
            (
                ".gitmodules",
                b"[submodule \"../a\"]\n\tpath = a\n\turl = x\n",
            ),
            (".gitmodules", b"[submodule \"a\"]\n\tpath = -a\n"),
            (".gitmodules", b"[submodule \"a\"]\n\turl = -u./payload\n"),
            (
                ".gitmodules",
                b"[submodule \"a\"]\n\turl = \"https://x%0ay\"\n",
            ),
            (".gitmodules", b"[submodule \"a\"]\n\turl = ./../../../:x\n"),
            (".gitmodules", b"[submodule \"a\"]\n\tupdate = !sh\n"),
            (".gitmodules", b"[submodule \"a\"]\n\tupdate = rebase\n"),
            (".gitmodules", b"[submodule \"a\n"),
            (".GITMODULES", b"[submodule \"..\"]\n\turl = x\n"),
            ("gitmod~1", b"[submodule \"..\"]\n\turl = x\n"),
            (".gitattributes", b"* text\n"),
            (".gitattributes", &[b'x'; 3000]),
        ];
        for (name, content) in contents {
            let mut craft = Craft::new(hash);
            let blob = craft.add(BLOB, content);
            craft.add(TREE, &tree(&[("100644", name, &blob)]));
            let pack = craft.seal();
            twins.write("a.pack", &pack);
            for check in [
                "--fsck-objects",
                "--strict",
                "--strict=gitmodulesParse=error",
            ] {
                let words = ["index-pack", "-o", "a.idx", check, "a.pack"];
                let agreed = twins.agree(&words, b"");
                alike(&format!("{name} {check}"), &agreed);
            }
        }
        // A file that is no blob, one that is nowhere, and one that the repository has.
        let nowhere = id(hash, BLOB, b"nowhere");
        let evil = b"[submodule \"..\"]\n\turl = x\n";
        let known = twins.in_both(&["hash-object", "-w", "--stdin"], evil);
        let known = ObjectId::from_hex(known.trim_ascii()).unwrap();
        let empty = id(hash, TREE, b"");
        for file in [nowhere, known, empty] {
            let mut craft = Craft::new(hash);
            craft.add(TREE, b"");
            craft.add(TREE, &tree(&[("100644", ".gitmodules", &file)]));
            let pack = craft.seal();
            for check in ["--fsck-objects", "--strict"] {
                let words = ["index-pack", "--stdin", check];
                let agreed = twins.agree(&words, &pack);
                alike(&format!("{file} {check}"), &agreed);
            }
        }
    }
}

/// Attributes that are nowhere are refused, unless a remote has promised them.
#[test]
fn attributes_that_are_nowhere() {
    for (format, hash) in FORMATS {
        let nowhere = id(hash, BLOB, b"nowhere");
        for is_partial in [false, true] {
            let twins = Twins::new(format);
            let known = twins.in_both(&["hash-object", "-w", "--stdin"], b"* text\n");
            let known = ObjectId::from_hex(known.trim_ascii()).unwrap();
            if is_partial {
                twins.in_both(&["config", "remote.origin.promisor", "true"], b"");
            }
            let mut refused = Vec::new();
            for (mode, name, file) in [
                ("100644", ".gitattributes", &nowhere),
                ("100644", ".gitattributes", &known),
                ("100755", ".GITATTRIBUTES", &nowhere),
                ("160000", ".gitattributes", &nowhere),
                ("160000", ".GITATTRIBUTES", &nowhere),
                ("160000", "gitatt~1", &nowhere),
                ("160000", "attributes", &nowhere),
                ("120000", ".gitattributes", &known),
            ] {
                let mut craft = Craft::new(hash);
                craft.add(TREE, &tree(&[(mode, name, file)]));
                let pack = craft.seal();
                for check in [
                    "--fsck-objects",
                    "--strict",
                    "--fsck-objects=gitattributesMissing=warn",
                    "--fsck-objects=gitattributesMissing=ignore",
                ] {
                    for more in [None, Some("--promisor")] {
                        let words = ["index-pack", "--stdin", check];
                        let words: Vec<&str> = words.into_iter().chain(more).collect();
                        let agreed = twins.agree(&words, &pack);
                        alike(&format!("{mode} {name} {is_partial} {words:?}"), &agreed);
                        refused.push(agreed.here.contains("gitattributesMissing"));
                    }
                }
            }
            assert!(refused.contains(&true), "{format} {is_partial}");
        }
    }
}

#[test]
fn what_objects_refer_to() {
    for (format, hash) in FORMATS {
        let twins = Twins::new(format);
        let local = twins.in_both(&["hash-object", "-w", "--stdin"], b"local\n");
        let local = ObjectId::from_hex(local.trim_ascii()).unwrap();
        let nowhere = id(hash, BLOB, b"nowhere");
        let blob = id(hash, BLOB, b"x");
        let empty = id(hash, TREE, b"");
        let commit = |tree: &ObjectId| format!("tree {tree}\nauthor {WHO}\ncommitter {WHO}\n\nx\n");
        let tag = |object: &ObjectId, kind: &str| {
            format!("object {object}\ntype {kind}\ntag x\ntagger {WHO}\n\nx\n")
        };
        let padded = format!("{}100644", "0".repeat(30));
        let cases: Vec<(u8, Vec<u8>)> = vec![
            (TREE, tree(&[("100644", "a", &blob)])),
            (TREE, tree(&[("100644", "a", &local)])),
            (TREE, tree(&[("100644", "a", &nowhere)])),
            (TREE, tree(&[("40000", "a", &blob)])),
            (TREE, tree(&[("40000", "a", &local)])),
            (TREE, tree(&[("100644", "a", &empty)])),
            (TREE, tree(&[("160000", "a", &nowhere)])),
            // What git cannot read, and modes that it takes for a file's or a submodule's.
            (TREE, tree(&[("100644", "", &blob), ("100644", "a", &blob)])),
            (TREE, tree(&[("", "a", &blob)])),
            (TREE, tree(&[("100648", "a", &blob)])),
            (TREE, tree(&[("100644", "a", &blob)])[..20].to_vec()),
            (TREE, b"100644 a".to_vec()),
            (TREE, tree(&[("100664", "a", &nowhere)])),
            (TREE, tree(&[(&padded, "a", &blob)])),
            (TREE, tree(&[(&padded, "a", &nowhere)])),
            (TREE, tree(&[("777", "a", &nowhere)])),
            (TREE, tree(&[("0", "a", &blob)])),
            (TREE, tree(&[("10000", "a", &local)])),
            (TREE, tree(&[("17777777777", "a", &nowhere)])),
            (COMMIT, commit(&empty).into_bytes()),
            (COMMIT, commit(&blob).into_bytes()),
            (COMMIT, commit(&local).into_bytes()),
            (COMMIT, commit(&nowhere).into_bytes()),
            (TAG, tag(&blob, "blob").into_bytes()),
            (TAG, tag(&blob, "tree").into_bytes()),
            (TAG, tag(&local, "blob").into_bytes()),
            (TAG, tag(&local, "commit").into_bytes()),
            (TAG, tag(&nowhere, "tag").into_bytes()),
        ];
        let mut codes = Vec::new();
        for (kind, content) in cases {
            let mut craft = Craft::new(hash);
            craft.add(BLOB, b"x");
            craft.add(TREE, b"");
            craft.add(kind, &content);
            let pack = craft.seal();
            twins.write("a.pack", &pack);
            for check in [
                "--strict",
                "--check-self-contained-and-connected",
                // What commits and tags name must be what they say, whatever trees do.
                "--fsck-objects",
            ] {
                let words = ["index-pack", "-o", "a.idx", check, "a.pack"];
                let agreed = twins.agree(&words, b"");
                // Which of several wrong links is told depends on the order of looking.
                codes.push(agreed.code);
            }
        }
        assert!(
            [0, 1, 128].iter().all(|code| codes.contains(code)),
            "{codes:?}"
        );
    }
}
