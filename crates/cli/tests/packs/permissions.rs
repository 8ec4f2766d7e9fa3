//! Who may read packs: what git lets, by the umask and `core.sharedRepository`.

use crate::HEDGEROW;
use hedgerow_testkit::{isolated, run, temporary, Program};
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

/// The permissions of the files in the directory of packs, by their extensions.
fn permissions(repository: &Path) -> BTreeMap<String, u32> {
    let files = std::fs::read_dir(repository.join(".git/objects/pack")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let by_extension = files.map(|path| {
        let extension = path.extension().unwrap_or_default();
        (extension.to_string_lossy().into_owned(), mode(&path))
    });
    by_extension.collect()
}

#[test]
fn packs_are_as_open_as_git_s() {
    for command in COMMANDS {
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
