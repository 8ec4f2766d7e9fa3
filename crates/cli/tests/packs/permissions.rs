//! Who may read packs: what git lets, by the umask and `core.sharedRepository`.

use crate::HEDGEROW;
use hedgerow_testkit::{isolated, run, skip, temporary, Program};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What makes packs, in a repository that has loose objects.
const COMMANDS: [&str; 4] = [
    "PROGRAM repack -a -d -q --write-bitmap-index",
    "PROGRAM repack -a -d -q --cruft --no-write-bitmap-index",
    "echo HEAD | PROGRAM pack-objects -q --revs .git/objects/pack/pack",
    "git pack-objects -q --all --stdout </dev/null | PROGRAM index-pack --stdin --rev-index",
];

/// What makes files beside packs.
const OTHER_COMMANDS: [&str; 6] = [
    "PROGRAM repack -a -d -q --write-midx --write-bitmap-index",
    "rm -rf .git/info .git/objects/info; PROGRAM repack -a -d -q --write-midx",
    "git repack -d -q; PROGRAM multi-pack-index write",
    "git repack -d -q; PROGRAM multi-pack-index write --bitmap",
    "git repack -d -q; echo z >z; git add z; git commit -qm z; git repack -dq; git multi-pack-index write
        PROGRAM multi-pack-index repack --batch-size=1000000",
    "git repack -d -q; echo z >z; git add z; git commit -qm z; git repack -dq; git multi-pack-index write
        git multi-pack-index repack; PROGRAM multi-pack-index expire",
];

/// The permissions of the files in the directory of packs, by their extensions, and of those that
/// clients of dumb servers read.
fn permissions(repository: &Path) -> BTreeMap<String, u32> {
    let files = std::fs::read_dir(repository.join(".git/objects/pack")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let others = ["info", "info/refs", "objects/info", "objects/info/packs"];
    let others = others.map(|name| repository.join(".git").join(name));
    let files = files.chain(others).filter(|path| path.exists());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let by_extension = files.map(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("pack-") && !name.ends_with(".bitmap") {
            return (name, mode(&path));
        }
        let extension = path.extension().unwrap_or_default();
        (extension.to_string_lossy().into_owned(), mode(&path))
    });
    by_extension.collect()
}

#[test]
fn packs_are_as_open_as_git_s() {
    for command in COMMANDS.into_iter().chain(OTHER_COMMANDS) {
        for umask in ["022", "027", "077"] {
            for shared in ["umask", "group", "all", "0640", "0600"] {
                let [git, our] = [Program::Git, HEDGEROW].map(|program| {
                    let home = temporary();
                    let program = match &program {
                        Program::Hedgerow(path) => (*path).to_owned(),
                        _ => "git".to_owned(),
                    };
                    let command = command.replace("PROGRAM", &program);
                    let script = format!(
                        "set -e; umask {umask}; git init -q r; cd r; git config core.sharedRepository {shared}
                        echo x >f; git add f; git commit -qm x; echo y >f; git add f; git reset -q --hard
                        {command}"
                    );
                    let mut shell = isolated("sh");
                    shell.current_dir(home.path()).args(["-c", &script]);
                    run(shell).ok(&script);
                    permissions(&home.path().join("r"))
                });
                assert!(git.contains_key("pack"), "{git:?}");
                // Which of them there are depends on the version.
                let both: Vec<&String> = git.keys().filter(|it| our.contains_key(*it)).collect();
                for extension in both {
                    let modes = (git[extension], our[extension]);
                    let what = format!("{extension} by `{command}`, umask {umask}, {shared}");
                    assert_eq!(modes.0, modes.1, "{what}: {:o} {:o}", modes.0, modes.1);
                }
            }
        }
    }
}

/// The default access control list of a directory says who may read what is made in it, and is not widened.
#[test]
fn default_access_control_lists_are_heeded() {
    let script = "
        set -e; umask 022; mkdir r; setfacl -d -m u::rwx,g::r-x,o::--- r || exit 9
        git init -q r; cd r; echo a >a; git add a; git commit -qm a; echo secret >a
        PROGRAM stash -q; PROGRAM repack -a -d -q --write-bitmap-index
        echo more >a; PROGRAM stash -q
        find .git/objects -type f -printf '%m %f\\n' | sed 's/ .*-.*[.]/ /; s/ [0-9a-f]*$//' | sort -u";
    let modes = [Program::Git, HEDGEROW].map(|program| {
        let home = temporary();
        let program = match &program {
            Program::Hedgerow(path) => *path,
            _ => "git",
        };
        let mut shell = isolated("sh");
        let script = script.replace("PROGRAM", program);
        shell.current_dir(home.path()).args(["-c", &script]);
        run(shell)
    });
    if modes[0].code == 9 {
        return skip("no access control lists here");
    }
    assert_eq!(modes[0], modes[1]);
    assert!(modes[0].stdout.starts_with(b"440"), "{modes:?}");
}

/// A pack has no name before it is written: its directory is named.
#[test]
fn a_pack_that_cannot_be_created_is_told_by_its_directory() {
    let repository = hedgerow_testkit::Repository::init(&[]);
    let id = repository.commit_files(&[("file", "one")], "one");
    let mut command = HEDGEROW.command(&repository.root);
    command.args(["pack-objects", "none/pack"]);
    let told = hedgerow_testkit::run_with(command, format!("{id}\n").as_bytes()).stderr;
    assert!(told.contains("cannot create a pack in 'none': "), "{told}");
}
