//! What others may have put where the server reads and writes.

use super::site::{Site, WORDS};
use crate::HEDGEROW;
use hedgerow_testkit::{git, isolate, isolated, run_with, use_global_config, Outcome};
use std::fs::{self, Permissions};
use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Puts something in the place of the entry with that path.
type Plant<'p> = &'p dyn Fn(&Path);

/// The keys of the section `hedgerow` that the sources name.
fn keys() -> Vec<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../git/src/config/serving.rs");
    let source = fs::read_to_string(source).unwrap();
    let words = source.split('"').filter(|word| {
        let name = word.strip_prefix("hedgerow.").unwrap_or_default();
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic())
    });
    let mut keys: Vec<String> = words.map(str::to_owned).collect();
    keys.sort_unstable();
    keys.dedup();
    assert!(keys.len() >= 5, "{keys:?}");
    keys
}

/// The places that whoever owns the repository writes to: words of git that set a key there.
fn own_places(site: &Site) -> Vec<Vec<String>> {
    let included = site.root().join(".git/included").display().to_string();
    git(
        &site.root(),
        &["config", "extensions.worktreeConfig", "true"],
        b"",
    );
    git(&site.root(), &["config", "include.path", &included], b"");
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    vec![
        words(&["config", "--local"]),
        words(&["config", "--worktree"]),
        words(&["config", "--file", &included]),
    ]
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn entry(site: &Site) -> PathBuf {
    let mut entries = fs::read_dir(site.responses()).unwrap();
    entries.next().unwrap().unwrap().path()
}

fn answers(outcome: &Outcome, expected: &[u8]) {
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stdout == expected);
}

#[test]
fn a_repository_sets_nothing_of_the_server() {
    let site = Site::new(20);
    let expected = site.plain();
    for name in ["responseCache", "serveLog"] {
        site.unset(name);
    }
    let trap = tempfile::tempdir().unwrap();
    let target = trap.path().join("target").display().to_string();
    for place in own_places(&site) {
        for key in keys() {
            for value in [target.as_str(), "target", "0"] {
                let mut words = place.clone();
                words.extend([key.clone(), value.to_owned()]);
                git(&site.root(), &words, b"");
                let outcome = site.ask(&[]).end();
                answers(&outcome, &expected);
                assert_eq!(outcome.stderr, "", "{place:?} {key}");
                assert_eq!(
                    fs::read_dir(trap.path()).unwrap().count(),
                    0,
                    "{place:?} {key}"
                );
                assert!(!site.root().join("target").exists(), "{place:?} {key}");
            }
        }
    }
    // Nor does what is there change what the server's own configuration says.
    let log = site.root().join(".git/log");
    site.configure("responseCache", site.responses().to_str().unwrap());
    site.configure("serveLog", log.to_str().unwrap());
    for server in ["hedgerow", "cache"] {
        answers(&site.ask(&[]).end(), &expected);
        assert_eq!(site.served_by().pop().unwrap(), server);
    }
    assert_eq!(fs::read_dir(trap.path()).unwrap().count(), 0);
}

#[test]
fn the_command_line_sets_what_a_repository_may_not() {
    let site = Site::new(20);
    site.unset("serveLog");
    let log = site.root().join(".git/log").display().to_string();
    let variables = [
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "hedgerow.serveLog"),
        ("GIT_CONFIG_VALUE_0", log.as_str()),
    ];
    site.ask_with(&[], &variables).end();
    assert_eq!(site.served_by(), ["hedgerow"]);
    for (key, value) in [
        ("hedgerow.serveLog", "log"),
        ("hedgerow.responseCacheWait", "-5"),
        ("hedgerow.responseCacheSize", "junk"),
    ] {
        let wrong = [
            variables[0],
            ("GIT_CONFIG_KEY_0", key),
            ("GIT_CONFIG_VALUE_0", value),
        ];
        let outcome = site.ask_with(&[], &wrong).end();
        assert_eq!(outcome.code, 0);
        // Not why: clients are told what the hook says.
        let is_told = outcome.stderr.contains("nothing is cached or logged");
        assert!(is_told, "{}", outcome.stderr);
    }
    assert!(!site.root().join("log").exists());
}

#[test]
fn nobody_else_reads_what_is_kept() {
    let site = Site::new(20);
    let program = env!("CARGO_BIN_EXE_hedgerow");
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!(
        "umask 0; exec {program} upload-pack-hook git pack-objects --revs --stdout"
    ));
    use_global_config(isolate(&mut shell), site.global()).current_dir(site.root());
    let output = shell.stdin(site.request()).output().unwrap();
    assert!(output.status.success());
    assert_eq!(mode(site.responses()), 0o700);
    assert_eq!(mode(&entry(&site)), 0o600);
    assert_eq!(mode(&site.root().join(".git/log")), 0o600);
}

#[test]
fn a_directory_that_others_can_change_is_not_used() {
    let mut site = Site::new(20);
    let expected = site.plain();
    let refused = |site: &Site, reason: &str| {
        let outcome = site.ask(&[]).end();
        answers(&outcome, &expected);
        assert!(
            outcome.stderr.contains("no response is cached"),
            "{}",
            outcome.stderr
        );
        // The client reads this.
        assert!(!outcome.stderr.contains(reason), "{}", outcome.stderr);
        let line = site.log().pop().unwrap();
        assert!(
            line["cache_refused"].as_str().unwrap().contains(reason),
            "{line}"
        );
    };
    fs::create_dir(site.responses()).unwrap();
    for bits in [0o777, 0o1777, 0o770, 0o702] {
        set_mode(site.responses(), bits);
        refused(&site, "others may write to it");
        assert_eq!(site.kept(), (0, 0));
    }
    set_mode(site.responses(), 0o700);
    let link = site.root().join(".git/link");
    symlink(site.responses(), &link).unwrap();
    let real = site.responses().to_owned();
    site.keep_at(&link);
    refused(&site, "cannot open");
    assert_eq!(fs::read_dir(&real).unwrap().count(), 0);
    let file = site.root().join(".git/file");
    fs::write(&file, "kept").unwrap();
    site.keep_at(&file);
    refused(&site, "cannot open");
    assert_eq!(fs::read(&file).unwrap(), b"kept");
}

#[test]
fn an_entry_that_is_not_what_was_kept_is_made_again() {
    let site = Site::new(20);
    let expected = site.plain();
    let elsewhere = site.root().join(".git/elsewhere");
    let plant: [(&str, Plant<'_>); 8] = [
        ("a link", &|path| {
            fs::rename(path, &elsewhere).unwrap();
            symlink(&elsewhere, path).unwrap();
        }),
        ("a second name", &|path| {
            let _ = fs::remove_file(&elsewhere);
            fs::hard_link(path, &elsewhere).unwrap();
        }),
        ("open to others", &|path| set_mode(path, 0o644)),
        ("a fifo", &|path| {
            fs::remove_file(path).unwrap();
            assert!(Command::new("mkfifo")
                .arg("-m600")
                .arg(path)
                .status()
                .unwrap()
                .success());
        }),
        ("nothing", &|path| {
            fs::File::options()
                .write(true)
                .open(path)
                .unwrap()
                .set_len(0)
                .unwrap();
        }),
        ("a hole of a terabyte", &|path| {
            fs::File::options()
                .write(true)
                .open(path)
                .unwrap()
                .set_len(1 << 40)
                .unwrap();
        }),
        ("a byte that changed", &|path| {
            let mut content = fs::read(path).unwrap();
            let middle = content.len() / 2;
            content[middle] ^= 1;
            fs::write(path, content).unwrap();
        }),
        ("a date to come", &|path| {
            let future = std::time::SystemTime::now() + std::time::Duration::from_secs(1 << 20);
            fs::File::open(path).unwrap().set_modified(future).unwrap();
        }),
    ];
    for (what, plant) in plant {
        site.forget();
        answers(&site.ask(&[]).end(), &expected);
        plant(&entry(&site));
        answers(&site.ask(&[]).end(), &expected);
        assert_eq!(site.served_by(), ["hedgerow", "hedgerow"], "{what}");
        answers(&site.ask(&[]).end(), &expected);
        assert_eq!(site.served_by().pop().unwrap(), "cache", "{what}");
        let partial = entry(&site).with_extension("partial");
        fs::remove_file(entry(&site)).unwrap();
        // The name under which it is made is no way in, either.
        assert!(Command::new("mkfifo")
            .arg("-m600")
            .arg(&partial)
            .status()
            .unwrap()
            .success());
        answers(&site.ask(&[]).end(), &expected);
        assert_eq!(site.kept(), (1, 0), "{what}");
    }
}

#[test]
fn what_a_damaged_pack_gave_is_gone_after_the_repair() {
    let site = Site::new(30);
    git(&site.root(), &["repack", "-adq"], b"");
    let expected = site.ask(&[]).end().stdout;
    site.forget();
    let packs = site.root().join(".git/objects/pack");
    let packs = fs::read_dir(packs)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let pack = packs
        .into_iter()
        .find(|path| path.extension().unwrap() == "pack")
        .unwrap();
    let good = fs::read(&pack).unwrap();
    let mut bad = good.clone();
    bad[good.len() / 2] ^= 0x55;
    set_mode(&pack, 0o600);
    fs::write(&pack, &bad).unwrap();
    for _ in 0..2 {
        site.ask(&[]).end();
    }
    fs::write(&pack, &good).unwrap();
    for server in ["hedgerow", "cache"] {
        answers(&site.ask(&[]).end(), &expected);
        assert_eq!(site.served_by().pop().unwrap(), server);
    }
    // A push only adds something.
    let more = site.root().join("more");
    fs::write(&more, "more").unwrap();
    git(&site.root(), &["add", "more"], b"");
    git(&site.root(), &["commit", "-qm", "more"], b"");
    git(&site.root(), &["repack", "-dq"], b"");
    answers(&site.ask(&[]).end(), &expected);
    assert_eq!(site.served_by().pop().unwrap(), "cache");
}

#[test]
fn the_log_is_a_plain_file_with_plain_text() {
    let site = Site::new(20);
    let log = site.root().join(".git/log");
    let filter = "--filter=sparse:oid=\u{1b}]0;x\u{7}\u{9b}\u{202e}\n{\"time\":0}";
    site.ask(&[filter]).end();
    let text = fs::read(&log).unwrap();
    let (last, line) = text.split_last().unwrap();
    assert_eq!(*last, b'\n');
    assert!(line.iter().all(|byte| matches!(byte, b' '..=b'~')));
    assert_eq!(site.log().len(), 1);
    let victim = site.root().join(".git/victim");
    fs::write(&victim, "kept").unwrap();
    let plant: [&dyn Fn(); 3] = [
        &|| symlink(&victim, &log).unwrap(),
        &|| fs::hard_link(&victim, &log).unwrap(),
        &|| assert!(Command::new("mkfifo").arg(&log).status().unwrap().success()),
    ];
    for plant in plant {
        fs::remove_file(&log).unwrap();
        plant();
        let outcome = site.ask(&[]).end();
        assert_eq!(outcome.code, 0);
        let said = outcome.stderr;
        assert!(said.contains("the request is not logged"), "{said}");
        assert!(!said.contains('/'), "the client reads this: {said}");
        assert_eq!(fs::read(&victim).unwrap(), b"kept");
    }
}

/// As with a full disk: the answer comes, and is not kept.
#[test]
fn a_limit_of_file_sizes_costs_no_answer() {
    let site = Site::new(20);
    let expected = site.plain();
    let hook = HEDGEROW.command(&site.root());
    let mut shell = isolated("sh");
    shell
        .current_dir(site.root())
        .args(["-c", "ulimit -f 60; exec \"$@\"", "sh"])
        .arg(hook.get_program())
        .arg("upload-pack-hook")
        .args(WORDS);
    use_global_config(&mut shell, site.global());
    let request = fs::read(site.root().join(".git/request")).unwrap();
    let outcome = run_with(shell, &request);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout == expected);
    assert_eq!(site.kept(), (0, 0));
}
