//! What a repository says of itself, and of its submodules.

use crate::HEDGEROW;
use crate::{hedgerow, put, text, Trap};
use hedgerow_testkit::Repository;
use hedgerow_testkit::{git, run, Program};
use std::os::unix::fs::PermissionsExt;

/// A pack whose `.gitmodules` names a submodule `../evil`.
#[test]
fn cve_2018_11235() {
    refused_modules("[submodule \"../../evil\"]\n\tpath = sub\n\turl = https://example.com/x\n");
}

/// Submodules of which one is a directory of the other's repository.
#[test]
fn cve_2019_1349() {
    let trap = Trap::new();
    let modules = "[submodule \"x\"]\n\tpath = a\n[submodule \"x/modules/y\"]\n\tpath = b\n";
    let modules = trap.blob(modules.as_bytes());
    let tree = trap.tree(&[
        ("100644", b".gitmodules", &modules),
        ("160000", b"a", &trap.main),
        ("160000", b"b", &trap.main),
    ]);
    trap.spring(&tree);
    assert!(!trap.repository.path(".git/modules").exists());
}

/// A URL that a shell would take apart; no submodule is ever fetched here.
#[test]
fn cve_2019_1350() {
    refused_modules("[submodule \"s\"]\n\tpath = sub\n\turl = -u./evil\n");
}

/// `.gitmodules` that names a command: `update = !evil`.
#[test]
fn cve_2019_19604() {
    refused_modules(
        "[submodule \"s\"]\n\tpath = sub\n\turl = https://example.com/x\n\tupdate = !touch evil\n",
    );
    let trap = Trap::new();
    let modules = trap.blob(b"[submodule \"s\"]\n\tpath = sub\n\tupdate = !touch ../canary/evil\n");
    let tree = trap.tree(&[
        ("100644", b".gitmodules", &modules),
        ("160000", b"sub", &trap.main),
    ]);
    trap.spring(&tree);
    hedgerow(&trap.repository.root, &["status"]);
    trap.assert_unharmed("status");
}

/// A carriage return at the end of a submodule's path: what is read is what was written.
#[test]
fn cve_2025_48384() {
    refused_modules(
        "[submodule \"s\"]\n\tpath = \"sub\r\"\n\turl = https://example.com/x\n\tupdate = !x\n",
    );
    let trap = Trap::new();
    let hooks = trap.blob(b".git/hooks");
    let modules = trap.blob(b"[submodule \"s\"]\n\tpath = \"sub\r\"\n");
    let tree = trap.tree(&[
        ("100644", b".gitmodules", &modules),
        ("120000", b"sub", &hooks),
        ("160000", b"sub\r", &trap.main),
    ]);
    let outcome = trap.spring(&tree);
    let link = std::fs::read_link(trap.repository.path("sub"));
    assert!(link.is_ok() || outcome.code != 0, "{outcome:?}");
}

/// A repository that belongs to somebody else: its configuration names programs.
#[test]
fn cve_2022_24765() {
    let Some(repository) = somebody_elses() else {
        return;
    };
    let touch = repository.path("../evil");
    let monitor = format!("touch {}", touch.display());
    repository.git(&["config", "core.fsmonitor", &monitor]);
    for words in [
        &["status"][..],
        &["checkout", "-f"],
        &["rev-list", "HEAD"],
        &["repack", "-a", "-d"],
        &["image", "create", "git:HEAD", "out"],
    ] {
        let outcome = as_nobody(&repository, words);
        assert_ne!(outcome.code, 0, "{words:?}: {outcome:?}");
        assert!(
            outcome.stderr.contains("ownership"),
            "{words:?}: {outcome:?}"
        );
    }
    assert!(!touch.exists());
}

/// git-upload-pack in a repository of somebody else runs what that names.
#[test]
fn cve_2024_32004() {
    let Some(repository) = somebody_elses() else {
        return;
    };
    let words = [
        "upload-pack-hook",
        "git",
        "pack-objects",
        "--revs",
        "--stdout",
    ];
    let outcome = as_nobody(&repository, &words);
    assert_ne!(outcome.code, 0, "{outcome:?}");
}

/// Two contents of one SHA-1: the marks of the published collision (SHAttered, the start of its
/// first file) are found by the hasher that names all objects.
#[test]
fn cve_2025_31130() {
    const SHATTERED: &str =
        "255044462d312e330a25e2e3cfd30a0a0a312030206f626a0a3c3c2f57696474682032203020522f\
        4865696768742033203020522f547970652034203020522f537562747970652035203020522f4669\
        6c7465722036203020522f436f6c6f7253706163652037203020522f4c656e677468203820302052\
        2f42697473506572436f6d706f6e656e7420383e3e0a73747265616d0affd8fffe00245348412d31\
        20697320646561642121212121852fec092339759c39b1a1c63c4c97e1fffe017346dc9166b67e11\
        8f029ab621b2560ff9ca67cca8c7f85ba84c79030c2b3de218f86db3a90901d5df45c14f26fedfb3\
        dc38e96ac22fe7bd728f0e45bce046d23c570feb141398bb552ef5a0a82be331fea48037b8b5d71f\
        0e332edf93ac3500eb4ddc0decc1a864790c782c76215660dd309791d06bd0af3f98cda4bc4629b1";
    let digits: Vec<u8> = SHATTERED
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    let bytes = digits
        .chunks(2)
        .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap());
    let mut hasher = gix_hash::hasher(gix_hash::Kind::Sha1);
    hasher.update(&bytes.collect::<Vec<u8>>());
    assert!(hasher.try_finalize().is_err());
    // And it is that hasher by which received objects get their names.
    let source = include_str!("../../../pack/src/indexer/examine.rs");
    assert!(source.contains("gix_hash"));
}

/// gix-date: a time that is not UTF-8.
#[test]
fn rustsec_2025_0140() {
    let trap = Trap::new();
    let tree = text(&trap.repository, &["rev-parse", "HEAD^{tree}"]);
    let head = format!("tree {tree}\nauthor A <a@b> ");
    for time in [
        &b"\xff\xfe +0000"[..],
        b"99999999999999999999 +0000",
        b"-1 \xc3(",
        b"1 +9999999",
    ] {
        let content = [
            head.as_bytes(),
            time,
            b"\ncommitter A <a@b> ",
            time,
            b"\n\nx\n",
        ]
        .concat();
        let words = [
            "hash-object",
            "-t",
            "commit",
            "-w",
            "--literally",
            "--stdin",
        ];
        let id = put(&trap.repository, &words, &content);
        for words in [
            &["rev-list", &id][..],
            &["checkout", "--detach", &id],
            &["image", "create", "-f", &format!("git:{id}"), "out.sqfs"],
        ] {
            hedgerow(&trap.repository.root, words);
        }
    }
}

/// A pack with such a `.gitmodules` is refused by `index-pack --strict`, as git refuses it.
fn refused_modules(content: &str) {
    let trap = Trap::new();
    let modules = trap.blob(content.as_bytes());
    let tree = trap.tree(&[
        ("100644", b".gitmodules", &modules),
        ("160000", b"sub", &trap.main),
    ]);
    let commit = trap.commit(&tree);
    let root = &trap.repository.root;
    let words = ["pack-objects", "--revs", "--stdout", "-q"];
    let pack = git(root, &words, format!("{commit}\n").as_bytes());
    let path = root.join("evil.pack");
    std::fs::write(&path, pack).unwrap();
    let twin = Repository::init(&[]);
    let mut ends = Vec::new();
    for program in [Program::Git, HEDGEROW] {
        let mut command = program.command(&twin.root);
        command.args(["index-pack", "--strict", "--stdin"]);
        command.stdin(std::fs::File::open(&path).unwrap());
        ends.push(run(command));
    }
    assert_eq!(ends[0].code, ends[1].code, "{content}: {ends:?}");
    assert_ne!(ends[1].code, 0, "{content}: {ends:?}");
}

/// A repository of root's that everybody may read. Needs root, to be somebody else.
fn somebody_elses() -> Option<Repository> {
    let is_root = std::process::Command::new("id")
        .arg("-u")
        .output()
        .unwrap()
        .stdout
        == b"0\n";
    if !is_root {
        hedgerow_testkit::skip("repositories of somebody else: not root");
        return None;
    }
    let repository = Repository::init(&[]);
    repository.write("file", "x\n");
    repository.git(&["add", "."]);
    repository.git(&["commit", "-q", "-m", "x"]);
    for path in [repository.root.parent().unwrap(), &repository.root] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    Some(repository)
}

fn as_nobody(repository: &Repository, words: &[&str]) -> crate::Outcome {
    // Where the binary lies may not be readable for others: it goes beside the repository.
    let binary = repository.path("../hedgerow");
    if !binary.exists() {
        // By a program of its own: what this process has open for writing is inherited by the
        // children of other tests, and such a file cannot be started.
        let mut copy = std::process::Command::new("cp");
        copy.arg(env!("CARGO_BIN_EXE_hedgerow")).arg(&binary);
        assert!(copy.status().unwrap().success());
    }
    let isolated = HEDGEROW.command(&repository.root);
    let mut command = std::process::Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    command
        .arg(&binary)
        .args(words)
        .current_dir(&repository.root);
    command.env_clear().stdin(std::process::Stdio::null());
    for (name, value) in isolated.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    run(command)
}
