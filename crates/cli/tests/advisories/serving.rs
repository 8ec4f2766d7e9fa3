//! Repositories that are served, and whoever may write to them.

use crate::text;
use crate::HEDGEROW;
use hedgerow_testkit::Repository;
use hedgerow_testkit::{git, run};

/// Links in the directory of objects: what they lead to is not given away as an object.
#[test]
fn cve_2022_39253() {
    let repository = served();
    let secret = repository.path("../secret");
    std::fs::write(&secret, "secret\n").unwrap();
    let id = "aa".repeat(20);
    let directory = repository.path(".git/objects/aa");
    std::fs::create_dir_all(&directory).unwrap();
    std::os::unix::fs::symlink(&secret, directory.join(&id[2..])).unwrap();
    let outcome = crate::hedgerow(&repository.root, &["cat-file", "-p", &id]);
    assert_ne!(outcome.code, 0);
    assert!(!outcome.stdout.windows(6).any(|window| window == b"secret"));
}

/// A local clone copies and links files of the source as they are: hedgerow does neither, objects
/// are read and written anew, whatever stands beside them.
#[test]
fn cve_2024_32020() {
    let repository = served();
    let packs = repository.path(".git/objects/pack");
    std::os::unix::fs::symlink("/etc/passwd", packs.join("pack-evil.keep")).unwrap();
    std::fs::write(packs.join("pack-evil.idx"), b"not an index").unwrap();
    answer(&repository);
}

/// The same with links to what only the server's user may read.
#[test]
fn cve_2024_32021() {
    let repository = served();
    let info = repository.path(".git/objects/info");
    std::fs::create_dir_all(&info).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", info.join("alternates")).unwrap();
    answer(&repository);
}

/// Serving runs nothing that the repository names: no hooks, no filters, no fetch of promised
/// objects.
#[test]
fn cve_2024_32465() {
    let repository = served();
    let evil = repository.path("../evil");
    let script = format!("#!/bin/sh\ntouch {}\n", evil.display());
    repository.write("../run", &script);
    let run_path = repository.path("../run");
    use std::os::unix::fs::PermissionsExt;
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&run_path, executable).unwrap();
    let run_path = run_path.display().to_string();
    for (name, value) in [
        ("uploadpack.packObjectsHook", run_path.as_str()),
        ("core.sshCommand", &run_path),
        ("core.fsmonitor", &run_path),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", &format!("ext::{run_path}")),
        ("protocol.ext.allow", "always"),
        ("extensions.partialClone", "origin"),
        ("filter.x.clean", &run_path),
    ] {
        repository.git(&["config", name, value]);
    }
    // An object that is promised and not there.
    let blob = text(&repository, &["rev-parse", "HEAD:file"]);
    std::fs::remove_file(repository.path(format!(".git/objects/{}/{}", &blob[..2], &blob[2..])))
        .unwrap();
    let _ = hook(&repository);
    assert!(!evil.exists());
}

/// A server that names a bundle to be fetched: hedgerow fetches none, and gives none away.
#[test]
fn cve_2025_48385() {
    let repository = served();
    repository.git(&["config", "uploadpack.advertiseBundleURIs", "true"]);
    repository.git(&["config", "bundle.version", "1"]);
    repository.git(&["config", "bundle.mode", "all"]);
    repository.git(&["config", "bundle.x.uri", "file:///etc/passwd\nx"]);
    answer(&repository);
}

fn served() -> Repository {
    let repository = Repository::init(&[]);
    repository.write("file", "x\n");
    repository.git(&["add", "."]);
    repository.git(&["commit", "-q", "-m", "x"]);
    repository
}

fn hook(repository: &Repository) -> crate::Outcome {
    let head = text(repository, &["rev-parse", "HEAD"]);
    let request = repository.path("../request");
    std::fs::write(&request, format!("{head}\n")).unwrap();
    let mut command = HEDGEROW.command(&repository.root);
    command.args([
        "upload-pack-hook",
        "git",
        "pack-objects",
        "--revs",
        "--stdout",
    ]);
    command.stdin(std::fs::File::open(request).unwrap());
    run(command)
}

/// The hook answers with a pack of just what was asked for.
fn answer(repository: &Repository) {
    let outcome = hook(repository);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let twin = Repository::init(&[]);
    git(&twin.root, &["index-pack", "--stdin"], &outcome.stdout);
    let words = [
        "cat-file",
        "--batch-all-objects",
        "--batch-check=%(objectname)",
    ];
    assert_eq!(git(&twin.root, &words, b"").len(), 3 * 41);
}
