//! A stock git server with the hook.

use super::several::several_packs;
use super::{lines, printed};
use hedgerow_testkit::history::{scene, Graph, Scene, Storage};
use hedgerow_testkit::{git, isolate, run, use_global_config, Program};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A git daemon that serves the repository of a scene, and what it logs.
struct Daemon {
    child: Child,
    url: String,
    log: PathBuf,
    clones: tempfile::TempDir,
}

impl Daemon {
    fn start(scene: &Scene, cache: bool) -> Daemon {
        let clones = tempfile::tempdir().unwrap();
        let log = clones.path().join("serve.log");
        let responses = clones.path().join("responses");
        let program = env!("CARGO_BIN_EXE_hedgerow");
        let link = clones.path().join("hedgerow-upload-pack-hook");
        std::os::unix::fs::symlink(program, &link).unwrap();
        // Two words for a shell, or one that git calls by itself.
        let hook = if cache {
            link.display().to_string()
        } else {
            format!("{program} upload-pack-hook")
        };
        // git heeds a hook only from outside the repository.
        let mut config = format!(
            "[uploadpack]\n\tpackObjectsHook = \"{hook}\"\n\tallowFilter = true\n\
             [hedgerow]\n\tserveLog = {}\n[safe]\n\tdirectory = *\n",
            log.display()
        );
        if cache {
            config += &format!("[hedgerow]\n\tresponseCache = {}\n", responses.display());
        }
        let home = clones.path().join("home");
        std::fs::create_dir(&home).unwrap();
        std::fs::write(home.join("config"), config).unwrap();
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let mut command = daemon(&scene.root);
        use_global_config(&mut command, home.join("config"))
            .args([
                "--export-all",
                "--listen=127.0.0.1",
                "--reuseaddr",
                "--max-connections=0",
            ])
            .arg(format!("--port={port}"))
            .arg(format!("--base-path={}", scene.root.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < until, "the daemon listens");
            std::thread::sleep(Duration::from_millis(20));
        }
        Daemon {
            child,
            url: format!("git://127.0.0.1:{port}/.git"),
            log,
            clones,
        }
    }

    /// Clones into a new directory and has git check it.
    fn clone(&self, name: &str, words: &[&str]) -> PathBuf {
        let target = self.clones.path().join(name);
        let clone = [
            &["clone", "-q", "--bare"],
            words,
            &[&self.url, target.to_str().unwrap()],
        ]
        .concat();
        // A daemon that is asked by many at once resets connections before it reads from them.
        for attempt in 0.. {
            let mut command = Program::Git.command(self.clones.path());
            command.args(&clone);
            let outcome = run(command);
            if outcome.code == 0 {
                break;
            }
            let was_reset = outcome.stderr.contains("Connection reset");
            assert!(was_reset && attempt < 20, "{}", outcome.stderr);
            std::thread::sleep(Duration::from_millis(100));
        }
        git(&target, &["fsck", "--no-progress"], b"");
        target
    }

    /// Who served each request so far.
    fn served_by(&self) -> Vec<String> {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let parse = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
        let served = log
            .lines()
            .map(|line| parse(line)["served_by"].as_str().unwrap().to_owned());
        served.collect()
    }
}

/// The program itself: `git daemon` would start it, and leave it behind when killed. It ends with
/// the test also if that is killed, where setpriv(1) is there to arrange it.
fn daemon(directory: &Path) -> Command {
    let path = git(directory, &["--exec-path"], b"");
    let program = Path::new(String::from_utf8(path).unwrap().trim_end()).join("git-daemon");
    let bound = ["--pdeathsig", "KILL"];
    let has_setpriv = Command::new("setpriv").args(bound).arg("true").output();
    let mut command = if has_setpriv.is_ok_and(|tried| tried.status.success()) {
        let mut command = Command::new("setpriv");
        command.args(bound).arg(program);
        command
    } else {
        Command::new(program)
    };
    isolate(&mut command);
    command.current_dir(directory);
    command
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn objects(repository: &Path) -> Vec<String> {
    let all = git(
        repository,
        &["rev-list", "--objects", "--no-object-names", "--all"],
        b"",
    );
    lines(&all)
}

/// Whether there is a git daemon at all.
fn has_daemon() -> bool {
    let mut command = Program::Git.command(Path::new("/"));
    let found = command
        .args(["daemon", "--help-me"])
        .stderr(Stdio::piped())
        .output();
    let found =
        found.is_ok_and(|output| !output.stderr.is_empty() && output.status.code() != Some(1));
    if !found {
        hedgerow_testkit::skip("there is no git daemon");
    }
    found
}

#[test]
fn clones_and_fetches_are_whole() {
    if !has_daemon() {
        return;
    }
    for (seed, format, storage) in [
        (30, "sha1", Storage::Packed),
        (31, "sha1", Storage::Both),
        (32, "sha256", Storage::Both),
    ] {
        let scene = scene(seed, format, storage, Graph::None);
        printed(&scene, &["bitmap", "write"]);
        let daemon = Daemon::start(&scene, false);
        let full = daemon.clone("full", &[]);
        assert_eq!(objects(&full), objects(&scene.root));
        daemon.clone("partial", &["--filter=blob:none"]);
        daemon.clone("sparse", &["--filter=tree:0"]);
        daemon.clone("branch", &["--single-branch", "-b", "b1"]);
        let depths = git(
            &daemon.clone("shallow", &["--depth=1"]),
            &["rev-list", "--count", "HEAD"],
            b"",
        );
        assert_eq!(depths, b"1\n");
        git(
            &scene.root,
            &[
                "commit",
                "-q",
                "--allow-empty",
                "-m",
                "later",
                "--no-verify",
            ],
            b"",
        );
        let branch = daemon.clones.path().join("branch");
        git(
            &branch,
            &["fetch", "-q", &daemon.url, "refs/heads/*:refs/heads/*"],
            b"",
        );
        git(&branch, &["fsck", "--no-progress"], b"");
        let served = daemon.served_by();
        let ours = served.iter().filter(|by| *by == "hedgerow").count();
        let gits = served.iter().filter(|by| *by == "git").count();
        assert!(ours >= 5 && gits >= 1, "{served:?}");
    }
}

#[test]
fn several_packs_are_served_by_one_bitmap() {
    if !has_daemon() {
        return;
    }
    for (seed, format, reuse) in [
        (34, "sha1", "multi"),
        (35, "sha1", "single"),
        (36, "sha256", "multi"),
    ] {
        let scene = several_packs(seed, format);
        printed(&scene, &["multi-pack-index", "write", "--bitmap"]);
        scene.git(&["config", "pack.allowPackReuse", reuse]);
        let daemon = Daemon::start(&scene, false);
        let full = daemon.clone("full", &[]);
        assert_eq!(objects(&full), objects(&scene.root));
        daemon.clone("partial", &["--filter=blob:none"]);
        let branch = daemon.clone("branch", &["--single-branch", "-b", "b1"]);
        let all = "refs/heads/*:refs/heads/*";
        git(&branch, &["fetch", "-q", &daemon.url, all], b"");
        git(&branch, &["fsck", "--no-progress"], b"");
        let served = daemon.served_by();
        assert!(served.iter().all(|by| by == "hedgerow"), "{served:?}");
        let log = std::fs::read_to_string(&daemon.log).unwrap();
        let first: serde_json::Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
        let (verbatim, total) = (&first["pack"]["verbatim"], &first["pack"]["objects"]);
        assert!(
            verbatim.as_u64() > Some(0) && verbatim.as_u64() <= total.as_u64(),
            "{first}"
        );
    }
}

#[test]
fn what_is_replaced_is_sent_as_it_is() {
    if !has_daemon() {
        return;
    }
    let scene = several_packs(37, "sha1");
    scene.git(&["replace", "-f", "deltas~3", "b0"]);
    let daemon = Daemon::start(&scene, false);
    let id = lines(&scene.git(&["rev-parse", "deltas~3"])).remove(0);
    printed(&scene, &["multi-pack-index", "write", "--bitmap"]);
    let clone = daemon.clone("clone", &[]);
    let reached = [
        "--no-replace-objects",
        "rev-list",
        "--objects",
        "--no-object-names",
        "deltas",
    ];
    let sent = lines(&git(&clone, &reached, b""));
    assert!(sent.contains(&id));
    assert_eq!(sent, lines(&scene.git(&reached)));
    assert!(daemon.served_by().iter().all(|by| by == "hedgerow"));
}

#[test]
fn many_clients_share_the_cache() {
    if !has_daemon() {
        return;
    }
    let scene = scene(33, "sha1", Storage::Packed, Graph::None);
    printed(&scene, &["bitmap", "write"]);
    let daemon = Daemon::start(&scene, true);
    let expected = objects(&scene.root);
    std::thread::scope(|scope| {
        for number in 0..32 {
            let (daemon, expected) = (&daemon, &expected);
            scope.spawn(move || {
                let clone = daemon.clone(&format!("clone{number}"), &[]);
                assert_eq!(&objects(&clone), expected);
            });
        }
    });
    daemon.clone("last", &[]);
    let served = daemon.served_by();
    assert_eq!(served.len(), 33);
    assert_eq!(served.last().unwrap(), "cache");
    assert!(served.iter().all(|by| by != "git"), "{served:?}");
    let kept = std::fs::read_dir(daemon.clones.path().join("responses")).unwrap();
    assert_eq!(kept.count(), 1);
}

/// A partial clone has commits without their contents: what it asks for by id is sent although a filter
/// leaves it out, or a commit that it has reaches it.
#[test]
fn what_is_named_is_sent_to_partial_clones() {
    let program = env!("CARGO_BIN_EXE_hedgerow");
    for (seed, storage, has_bitmap) in [
        (38, Storage::Loose, false),
        (39, Storage::Packed, false),
        (40, Storage::Packed, true),
    ] {
        let scene = scene(seed, "sha1", storage, Graph::None);
        if has_bitmap {
            scene.git(&["repack", "-adbq"]);
        }
        let place = tempfile::tempdir().unwrap();
        let config = place.path().join("config");
        let hook = format!("\tpackObjectsHook = \"{program} upload-pack-hook\"\n");
        let settings =
            format!("[uploadpack]\n{hook}\tallowFilter = true\n[safe]\n\tdirectory = *\n");
        std::fs::write(&config, settings).unwrap();
        let url = format!("file://{}", scene.root.display());
        let listed = scene.git(&["ls-tree", "-r", "--name-only", "main"]);
        let file = String::from_utf8(listed).unwrap();
        let file = format!("main:{}", file.lines().next().unwrap());
        for (named, filter) in [
            (file.as_str(), "blob:none"),
            (&file, "tree:0"),
            ("main^{tree}", "tree:0"),
        ] {
            let told = format!("{storage:?} {has_bitmap} {named} {filter}");
            let id = lines(&scene.git(&["rev-parse", named])).remove(0);
            scene.git(&["update-ref", "refs/tags/x", &id]);
            let filter = format!("--filter={filter}");
            for fetches in [
                &["refs/heads/main:refs/heads/main", "+refs/*:refs/*"][..],
                &["+refs/*:refs/*"],
            ] {
                let clone = place.path().join("clone");
                let _ = std::fs::remove_dir_all(&clone);
                git(place.path(), &["init", "-q", "--bare", "clone"], b"");
                for what in fetches {
                    let mut fetch = Program::Git.command(&clone);
                    use_global_config(&mut fetch, &config);
                    fetch.args(["fetch", "-q", "--no-tags", &filter, &url, what]);
                    run(fetch).ok(&told);
                }
                let mut look = Program::Git.command(&clone);
                look.args(["cat-file", "-e", &id])
                    .env("GIT_NO_LAZY_FETCH", "1");
                run(look).ok(&told);
            }
            let sent = super::answer(
                &scene,
                &["pack-objects", "--revs", "--stdout", "-q", &filter],
                format!("{id}\nb0\n^main\n").as_bytes(),
            );
            let pack = sent.ok(&told);
            let packed = git(&scene.root, &["index-pack", "--stdin"], &pack);
            let name = String::from_utf8(packed).unwrap();
            let name = name.trim().strip_prefix("pack\t").unwrap().to_owned();
            let index = scene
                .root
                .join(format!(".git/objects/pack/pack-{name}.idx"));
            let index = std::fs::read(index).unwrap();
            let shown = lines(&git(&scene.root, &["show-index"], &index));
            assert!(shown.iter().any(|line| line.contains(&id)), "{told}");
        }
    }
}
