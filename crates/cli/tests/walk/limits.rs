//! Few descriptors, deep and wide trees, much memory.

use crate::support::{found, parts, path_of, run, skip, walk};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A chain of directories whose path is longer than any system call takes. Gone when dropped:
/// what removes temporary directories opens one directory for each level.
struct Deep(tempfile::TempDir);

impl Deep {
    fn new(levels: usize) -> Option<Deep> {
        let root = tempfile::tempdir().unwrap();
        let chain = vec!["deep"; levels].join("/");
        let mut mkdir = Command::new("mkdir");
        mkdir.arg("-p").arg(&chain).current_dir(root.path());
        let made = mkdir.status().is_ok_and(|status| status.success());
        let deep = Deep(root);
        made.then_some(deep)
    }
}

impl Drop for Deep {
    fn drop(&mut self) {
        let mut remove = Command::new("rm");
        let _ = remove.arg("-rf").arg(self.0.path().join("deep")).status();
    }
}

#[test]
fn four_thousand_directories_deep() {
    let Some(deep) = Deep::new(4000) else {
        return skip("mkdir -p cannot make a path of 20000 bytes");
    };
    let root = deep.0.path();
    let expected: BTreeSet<Vec<u8>> = found(root).into_iter().collect();
    assert_eq!(expected.len(), 4000);
    for words in [&["-j1"][..], &["-j8"], &["-j8", "--sort"], &["--sort"]] {
        let words = [&["-0", "--stat"], words].concat();
        let outcome = walk(root, &words);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
        assert!(parts(&outcome.stdout, 0) == expected, "{words:?}");
    }
}

fn with_descriptors(limit: usize, root: &Path, words: &[&str]) -> BTreeSet<Vec<u8>> {
    let script = format!("ulimit -n {limit}; exec \"$0\" walk -0 -j64 \"$@\"");
    let mut sh = Command::new("sh");
    sh.arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_hedgerow"));
    let outcome = run(sh.args(words).current_dir(root));
    assert_eq!(
        (outcome.code, outcome.stderr.as_str()),
        (Some(0), ""),
        "{words:?}"
    );
    parts(&outcome.stdout, 0)
}

#[test]
fn few_descriptors() {
    let Some(deep) = Deep::new(1000) else {
        return skip("mkdir -p cannot make a path of 5000 bytes");
    };
    let root = deep.0.path();
    for number in 0..700 {
        let directory = root.join(format!("wide{number}"));
        fs::create_dir_all(directory.join("sub")).unwrap();
        // Some are large enough to be shared by workers.
        let files = if number % 50 == 0 { 300 } else { 2 };
        for file in 0..files {
            fs::write(directory.join(file.to_string()), "").unwrap();
        }
    }
    let expected = found(root);
    let paths: BTreeSet<Vec<u8>> = expected.iter().map(|line| path_of(line)).collect();
    for limit in [256, 128] {
        assert!(with_descriptors(limit, root, &["--stat"]) == expected);
        assert!(with_descriptors(limit, root, &["--stat", "--sort"]) == expected);
        assert!(with_descriptors(limit, root, &["--sort"]) == paths);
        assert!(with_descriptors(limit, root, &[]) == paths);
    }
}

#[test]
fn one_large_directory() {
    let root = tempfile::tempdir().unwrap();
    for number in 0..9000 {
        fs::write(root.path().join(format!("{number:x}")), "").unwrap();
    }
    for number in 0..600 {
        fs::create_dir_all(root.path().join(format!("dir{number}/x"))).unwrap();
    }
    let expected = found(root.path());
    for words in [
        &["-j1"][..],
        &["-j8"],
        &["-j8", "--sort"],
        &["-j1", "--sort"],
    ] {
        let words = [&["-0", "--stat"], words].concat();
        let outcome = walk(root.path(), &words);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
        assert!(parts(&outcome.stdout, 0) == expected, "{words:?}");
    }
}

#[test]
fn another_file_system_is_not_entered_where_so_asked() {
    let root = tempfile::tempdir().unwrap();
    let place = root.path().join("a/mounted");
    fs::create_dir_all(&place).unwrap();
    fs::write(root.path().join("a/file"), "").unwrap();
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "tmpfs"]).arg(&place);
    let mounted = mount.output().is_ok_and(|output| output.status.success());
    if !mounted {
        return skip("only root mounts a file system");
    }
    fs::create_dir(place.join("inside")).unwrap();
    let walked = |words: &[&str]| {
        let outcome = walk(root.path(), words);
        (outcome.code, parts(&outcome.stdout, b'\n'))
    };
    let one = [
        walked(&["-x"]),
        walked(&["-x", "--sort"]),
        walked(&["-x", "--stat", "--sort"]),
    ];
    let all = walked(&[]);
    let mut umount = Command::new("umount");
    assert!(umount.arg(&place).status().unwrap().success());
    let set = |paths: &[&str]| paths.iter().map(|path| path.as_bytes().to_vec()).collect();
    assert_eq!(
        all.1,
        set(&["a", "a/file", "a/mounted", "a/mounted/inside"])
    );
    let expected: BTreeSet<Vec<u8>> = set(&["a", "a/file", "a/mounted"]);
    assert_eq!(one[0], (Some(0), expected.clone()));
    assert_eq!(one[1], (Some(0), expected.clone()));
    let paths: BTreeSet<Vec<u8>> = one[2].1.iter().map(|line| path_of(line)).collect();
    assert_eq!(paths, expected);
}
