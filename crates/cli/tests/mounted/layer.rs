//! The status of a mounted working tree, which is known from its layer of changes: compared with git's,
//! which looks at every file.

use crate::scene::{can_mount, Scene, HEDGEROW};
use hedgerow_fs::unmount;
use hedgerow_testkit::{run, Program, Random};
use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::PathBuf;
use std::process::Command;

const STEPS: usize = 30;
/// Git looks at every file.
const ALONE: &str = "-c core.fsmonitor=false -c core.untrackedCache=false";
const QUESTIONS: [&str; 6] = [
    "status --porcelain=v2 -uall --ignored",
    "status --porcelain=v2 -uno",
    "status --porcelain",
    "status --porcelain -uall -- d x",
    "ls-files -m -d -o -t",
    "diff-files --name-status",
];

#[test]
fn only_what_the_layer_has_is_looked_at() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("--detach ../w");
    let is_layer_asked = |place: &str| {
        let mut command = HEDGEROW.command(&scene.path(place));
        command.arg("status").env("HEDGEROW_LOG", "info");
        let outcome = run(command);
        outcome
            .stderr
            .contains("where its layer of changes has anything")
    };
    assert!(is_layer_asked("w"));
    // An ordinary one has no such layer.
    assert!(!is_layer_asked("r"));
}

#[test]
fn what_is_mounted_within_is_looked_at() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("--detach ../w");
    let place = scene.path("w/d");
    mount(&["-t", "tmpfs", "within", place.to_str().unwrap()]);
    scene.write("w/d/new", "new");
    Player::new(&scene, 0).compare("mount");
    unmount(&place, false).unwrap();
    Player::new(&scene, 0).compare("unmount");
}

/// Git, which looks at every file, and hedgerow answer the same.
fn compare(scene: &Scene, place: &str, story: &str) {
    for line in QUESTIONS {
        // As git answers, and writes to the index what it was told.
        let told = scene.by_git(place, line);
        let line_alone = format!("--no-optional-locks {ALONE} {line}");
        let git = scene.by_git(place, &line_alone);
        assert_eq!(git.text(), told.text(), "git: {line}, {story}");
        let ours = scene.hedgerow(place, line);
        assert_eq!(git.text(), ours.text(), "{line}, {story}");
    }
}

/// Calls mount(8) with these words.
fn mount(words: &[&str]) {
    let mut mount = Command::new("mount");
    mount.args(words);
    run(mount).ok("mount");
}

/// Something is mounted on the directory above: another tree is seen at the place of the mounted one.
#[test]
fn a_tree_that_is_hidden_is_not_taken_for_what_is_seen() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.write("p/x", "x");
    scene.add("--detach ../p/w");
    let place = |path: &str| scene.path(path).to_str().unwrap().to_owned();
    let mut copy = Command::new("cp");
    copy.args(["-a", &place("p"), &place("new")]);
    run(copy).ok("cp");
    mount(&["--bind", &place("new"), &place("p")]);
    scene.write("p/w/a", "edited\n");
    scene.write("p/w/untracked", "new\n");
    std::fs::remove_file(scene.path("p/w/d/b")).unwrap();
    compare(&scene, "p/w", "hidden");
    // Nobody touches the layer of changes while the tree is hidden.
    for line in [
        "unmount ../p/w",
        "remove -f -f ../p/w",
        "move -f -f ../p/w ../q",
    ] {
        let refused = scene.hedgerow("r", &format!("worktree {line}"));
        assert_ne!(refused.code, 0, "{line}");
        assert!(
            refused.stderr.contains("what hides it"),
            "{}",
            refused.stderr
        );
    }
    assert_eq!(scene.read("p/w/a"), "edited\n");
    unmount(&scene.path("p"), false).unwrap();
    scene.assert_clean("p/w");
}

/// A part of the tree that is mounted elsewhere is not the tree.
#[test]
fn a_part_of_a_tree_is_not_taken_for_it() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.repository.write("d/a", "another\n");
    scene.repository.commit("two");
    scene.add("--detach ../w");
    std::fs::create_dir(scene.path("part")).unwrap();
    let place = |path: &str| scene.path(path).to_str().unwrap().to_owned();
    mount(&["--bind", &place("w/d"), &place("part")]);
    let seen = [Program::Git, HEDGEROW].map(|program| {
        let mut command = program.command(&scene.path("part"));
        command.args(["diff-files", "--name-status"]);
        command.env("GIT_DIR", scene.path("r/.git/worktrees/w"));
        command.env("GIT_WORK_TREE", scene.path("part"));
        run(command).text()
    });
    assert_eq!(seen[0], seen[1]);
    assert!(seen[0].contains("M\ta"), "{}", seen[0]);
    unmount(&scene.path("part"), false).unwrap();
}

/// An image whose file was deleted stays mounted; what is made in its place has the same times.
#[test]
fn an_image_made_again_has_the_index_of_the_one_that_is_mounted() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("--detach ../w");
    let store = scene.path("r/.git/hedgerow/images");
    for entry in std::fs::read_dir(&store).unwrap().map(Result::unwrap) {
        if entry.path().is_file() {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
    std::thread::sleep(std::time::Duration::from_millis(1100));
    scene.add("--detach ../second");
    let stale = scene.by_git("second", "diff-files --name-only");
    assert_eq!(stale.text(), "");
}

/// `HEDGEROW_TEST_SEED=N` plays one, `HEDGEROW_TEST_SEEDS=all` many.
#[test]
fn whatever_was_done_the_status_is_gits() {
    play(false);
}

/// The same where git asks what changed.
#[test]
fn whatever_was_done_git_is_told_of_it() {
    play(true);
}

fn play(is_watched: bool) {
    if !can_mount() {
        return;
    }
    let wish = std::env::var("HEDGEROW_TEST_SEED").ok();
    let seeds = match wish.and_then(|seed| seed.parse().ok()) {
        Some(seed) => seed..seed + 1,
        None if std::env::var("HEDGEROW_TEST_SEEDS").is_ok() => 0..60_u64,
        None => 0..3,
    };
    for seed in seeds {
        let scene = Scene::new();
        if is_watched {
            scene.watch();
        }
        let base = if seed.is_multiple_of(3) {
            "main~1"
        } else {
            "main"
        };
        scene.repository.write("d/e/f/g", "g\n");
        scene.repository.write("x/y", "y\n");
        scene.repository.write("x/.gitignore", "*.tmp\n");
        if seed.is_multiple_of(2) {
            // So many that every command asks the layer.
            for number in 0..1100 {
                let path = format!("many/{}/{number}", number % 7);
                scene.repository.write(path, "m\n");
            }
        }
        scene.repository.commit("two");
        scene.add(&format!("--detach ../base {base}"));
        scene.add("--detach ../w main");
        let mut player = Player::new(&scene, seed);
        for _ in 0..STEPS {
            player.step();
        }
    }
}

struct Player<'s> {
    scene: &'s Scene,
    random: Random,
    seed: u64,
    steps: Vec<String>,
}

impl<'s> Player<'s> {
    fn new(scene: &'s Scene, seed: u64) -> Self {
        Player {
            scene,
            random: Random::new(seed),
            seed,
            steps: Vec::new(),
        }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.scene.path("w").join(path)
    }

    fn step(&mut self) {
        const PATHS: [&str; 16] = [
            "a",
            "d",
            "d/b",
            "d/e",
            "d/e/c",
            "d/e/f",
            "d/e/f/g",
            "d/new",
            "x",
            "x/y",
            "x/n.tmp",
            "x/z/n",
            "run.sh",
            "link",
            "new",
            "d/e/empty",
        ];
        let path = *self.random.pick(&PATHS);
        let other = *self.random.pick(&PATHS);
        let (at, to) = (self.path(path), self.path(other));
        let number = self.random.below(30);
        // Whatever fails, fails.
        let line = match number {
            0..=3 => {
                let _ = at.parent().map(std::fs::create_dir_all);
                let _ = std::fs::write(&at, format!("{number}\n"));
                format!("write {path}")
            }
            4 | 5 => {
                let _ = std::fs::remove_file(&at).or_else(|_| std::fs::remove_dir_all(&at));
                format!("remove {path}")
            }
            6..=8 => {
                let _ = std::fs::rename(&at, &to);
                format!("rename {path} {other}")
            }
            9 => {
                let _ = std::fs::hard_link(&at, &to);
                format!("link {path} {other}")
            }
            10 => {
                let _ = std::fs::create_dir_all(&at);
                format!("directory {path}")
            }
            11 => {
                let _ = symlink(other, &at);
                format!("symlink {path}")
            }
            12 => {
                let mode = if path.len().is_multiple_of(2) {
                    0o755
                } else {
                    0o700
                };
                let _ = std::fs::set_permissions(&at, std::fs::Permissions::from_mode(mode));
                format!("mode {path}")
            }
            13 => {
                let file = std::fs::OpenOptions::new().append(true).open(&at);
                let _ = file.map(|file| file.set_modified(std::time::SystemTime::UNIX_EPOCH));
                format!("touch {path}")
            }
            14 => {
                // Written again as it was.
                let content = std::fs::read(&at);
                let _ = content.map(|content| std::fs::write(&at, content));
                format!("same {path}")
            }
            15 => self.theirs(&format!("rm -q -r --cached {path}")),
            16 => self.theirs(&format!("add -A {path}")),
            17 => self.theirs("reset -q main~1"),
            24 => self.ours("reset -q --hard main~1"),
            25 => self.ours("checkout -q -f main"),
            26 => self.ours("stash push -q -u"),
            27 => self.ours("switch -q --detach main~1"),
            28 => self.ours("reset -q main"),
            29 => self.ours(&format!("restore -q {path}")),
            18 => self.theirs("reset -q --hard main"),
            19 => self.theirs(&format!("mv -f {path} {other}")),
            20 => self.theirs(&format!("update-index --assume-unchanged {path}")),
            21 => self.theirs("checkout -q -f main"),
            22 => self.theirs(&format!("update-index --skip-worktree {path}")),
            _ => self.theirs(&format!("update-index --no-skip-worktree {path}")),
        };
        self.steps.push(line);
        self.compare(&self.steps.join("\n  "));
    }

    fn theirs(&self, line: &str) -> String {
        self.scene.by_git("w", line);
        format!("git {line}")
    }

    fn ours(&self, line: &str) -> String {
        self.scene.hedgerow("w", line);
        format!("hedgerow {line}")
    }

    fn compare(&self, story: &str) {
        compare(self.scene, "w", &format!("seed {}:\n  {story}", self.seed));
    }
}
