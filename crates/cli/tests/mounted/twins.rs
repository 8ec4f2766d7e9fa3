//! Random sessions in twins: a mounted working tree and an ordinary one, compared after each command.

use crate::scene::{can_mount, Scene};
use hedgerow_testkit::{differences, Outcome, Random};

const COMMANDS: usize = 30;

/// `HEDGEROW_TEST_SESSIONS=N` plays N sessions, `A..B` those from A up to B.
#[test]
fn random_sessions_in_twins_are_the_same() {
    if !can_mount() {
        return;
    }
    let wish = std::env::var("HEDGEROW_TEST_SESSIONS").unwrap_or_default();
    let number = |text: &str, usual| text.parse().unwrap_or(usual);
    let (from, to) = match wish.split_once("..") {
        Some((from, to)) => (number(from, 0), number(to, 0)),
        None => (0, number(&wish, 3)),
    };
    for seed in from..to {
        Session::new(seed).play();
    }
}

struct Session {
    seed: u64,
    random: Random,
    scenes: [Scene; 2],
    steps: Vec<String>,
}

impl Session {
    fn new(seed: u64) -> Self {
        let scenes = Scene::twins(seed.is_multiple_of(4));
        for scene in &scenes {
            let repository = &scene.repository;
            if seed % 4 != 1 {
                scene.watch();
            }
            if seed % 2 == 1 {
                // So many that the index of the image is asked.
                for number in 0..1100 {
                    repository.write(format!("many/{}/{number}", number % 7), "m\n");
                }
            }
            for version in 0..3 {
                repository.write("d/e/c", format!("{version}\n").repeat(20 + version));
                repository.write(format!("v/{version}"), "v\n");
                repository.commit("version");
                repository.git(&["branch", &format!("b{version}")]);
            }
            if seed.is_multiple_of(3) {
                // A base that is not the commit.
                scene.add("--detach ../base main~2");
            }
        }
        scenes[0]
            .hedgerow("r", "worktree add -b topic ../w")
            .ok("add");
        scenes[1].add("-b topic ../w");
        Session {
            seed,
            random: Random::new(seed),
            scenes,
            steps: Vec::new(),
        }
    }

    fn play(mut self) {
        for _ in 0..COMMANDS {
            let line = self.line();
            self.steps.push(line.clone());
            if line == "lose the mounts" {
                self.scenes[1].lose_mounts();
                self.scenes[1]
                    .hedgerow("r", "worktree mount --all")
                    .ok("mount");
            } else {
                self.step(&line);
            }
            self.compare();
        }
    }

    fn line(&mut self) -> String {
        let random = &mut self.random;
        let path = *random.pick(&[
            "a", "d/b", "d/e/c", "d/e/new", "v/1", "x/y/z", "run.sh", "link",
        ]);
        let branch = *random.pick(&["main", "topic", "b0", "b1", "b2", "HEAD~1", "HEAD~2"]);
        let number = random.below(1000);
        match random.below(30) {
            0..=5 => format!("write {path} {number}"),
            6 => format!("remove {path}"),
            7 => "remove d".into(),
            8 => format!("executable {path}"),
            9 | 10 => "git add -A".into(),
            11 | 12 => format!("git commit -q -a -m c{number}"),
            13 => format!("git commit -q --amend --allow-empty -m a{number}"),
            14 => format!("hedgerow switch -q --detach {branch}"),
            15 => format!("git checkout -q -f -B topic {branch}"),
            16 => "hedgerow stash push -q -u".into(),
            17 => "git stash push -q".into(),
            18 => "git stash pop -q".into(),
            19 => format!("git reset -q --hard {branch}"),
            20 => format!("hedgerow reset -q --hard {branch}"),
            21 => format!("git rebase -q {branch}"),
            22 => "git rebase --abort".into(),
            23 => format!("git merge -q -m m{number} {branch}"),
            24 => format!("git mv -f {path} moved{}", number % 3),
            25 => "git mv d renamed".into(),
            26 => "git clean -qfdx".into(),
            27 => "git gc -q --prune=now".into(),
            28 => "lose the mounts".into(),
            _ => format!("hedgerow restore {path}"),
        }
    }

    fn step(&self, line: &str) {
        let [files, mounted] = self.scenes.each_ref().map(|scene| act(scene, line));
        let said = |outcome: &Outcome, scene: &Scene| {
            let root = scene.root.display().to_string();
            (
                outcome.code,
                outcome.text().replace(&root, ""),
                outcome.stderr.replace(&root, ""),
            )
        };
        let [files, mounted] = [(files, &self.scenes[0]), (mounted, &self.scenes[1])]
            .map(|(it, scene)| said(&it, scene));
        assert_eq!(files, mounted, "{}", self.story());
    }

    fn compare(&self) {
        let line = "status --porcelain=v2 --branch -uall --ignored";
        let ours = self.scenes[1].hedgerow("w", line);
        let git = self.scenes[1].by_git("w", line);
        assert_eq!(git.text(), ours.text(), "{}", self.story());
        let [files, mounted] = self.scenes.each_ref().map(|scene| scene.tree("w"));
        assert_eq!(
            differences(&files, &mounted),
            Vec::<String>::new(),
            "{}",
            self.story()
        );
        for line in [
            "status --porcelain=v2 --branch -uall --ignored",
            "status --porcelain",
            "ls-files -s",
            "for-each-ref",
            "diff --raw HEAD",
        ] {
            let [files, mounted] = self.scenes.each_ref().map(|scene| scene.by_git("w", line));
            assert_eq!(files, mounted, "{line}\n{}", self.story());
        }
    }

    fn story(&self) -> String {
        format!("seed {}:\n  {}", self.seed, self.steps.join("\n  "))
    }
}

/// Does one thing in a working tree.
fn act(scene: &Scene, line: &str) -> Outcome {
    let words: Vec<&str> = line.split(' ').collect();
    let path = || scene.path("w").join(words[1]);
    let failed = |result: std::io::Result<()>| Outcome {
        code: i32::from(result.is_err()),
        stdout: Vec::new(),
        stderr: result
            .err()
            .map(|error| error.kind().to_string())
            .unwrap_or_default(),
    };
    match words[0] {
        "write" => {
            let _ = path().parent().map(std::fs::create_dir_all);
            failed(std::fs::write(path(), format!("{}\n", words[2]).repeat(30)))
        }
        "remove" if path().is_dir() => failed(std::fs::remove_dir_all(path())),
        "remove" => failed(std::fs::remove_file(path())),
        "executable" => {
            use std::os::unix::fs::PermissionsExt;
            failed(std::fs::set_permissions(
                path(),
                std::fs::Permissions::from_mode(0o755),
            ))
        }
        "git" => scene.by_git("w", &line[4..]),
        _ => scene.hedgerow("w", line.trim_start_matches("hedgerow ")),
    }
}
