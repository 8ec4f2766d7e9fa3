//! A repository made by a shell script, and both programs run in it.

use hedgerow_testkit::isolate;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A place for repositories that goes away. Scripts start in `work`, an empty repository.
pub struct Scene {
    home: tempfile::TempDir,
}

impl Scene {
    /// Runs `script` with `sh -e` in an empty repository. `try` before a command lets it fail.
    pub fn new(script: &str) -> Scene {
        let home = tempfile::tempdir().unwrap();
        let scene = Scene { home };
        std::fs::create_dir(scene.top()).unwrap();
        scene.run("git init -q -b main . && git config gc.auto 0 && git config core.fsync none");
        scene.run(script);
        scene
    }

    pub fn top(&self) -> PathBuf {
        self.home.path().join("work")
    }

    /// Runs more of a script.
    pub fn run(&self, script: &str) {
        let prelude = "try() { \"$@\" >/dev/null 2>&1 || true; }\n\
                       commit() { git add -A && git commit -q --allow-empty -m \"$1\"; }\n";
        let mut command = clean(Command::new("sh"));
        command.args(["-e", "-c", &format!("{prelude}{script}")]);
        let output = command.current_dir(self.top()).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}\n{error}");
    }

    /// What git answers to `status` and `words` in the directory `place`, with more environment.
    pub fn by_git(&self, place: &str, words: &[&str], more: &[(&str, &str)]) -> Answer {
        self.ask("git", place, words, more)
    }

    /// What hedgerow does.
    pub fn hedgerow(&self, place: &str, words: &[&str], more: &[(&str, &str)]) -> Answer {
        let answer = self.ask(env!("CARGO_BIN_EXE_hedgerow"), place, words, more);
        let error = String::from_utf8_lossy(&answer.error);
        assert!(!error.contains("internal error"), "{words:?}: {error}");
        answer
    }

    /// How the two differ in what they print or how they end, if they do.
    pub fn difference(&self, place: &str, words: &[&str], more: &[(&str, &str)]) -> Option<String> {
        let expected = self.by_git(place, words, more);
        let found = self.hedgerow(place, words, more);
        let differ = expected.text != found.text || expected.code != found.code;
        let told = |answer: &Answer| {
            let (text, error) = (shown(&answer.text), shown(&answer.error));
            format!("{:?}\n{text}  and to standard error\n{error}", answer.code)
        };
        differ.then(|| {
            format!(
                "status {words:?} in {place:?} with {more:?}\n--- git: {}--- hedgerow: {}",
                told(&expected),
                told(&found)
            )
        })
    }

    fn ask(&self, program: &str, place: &str, words: &[&str], more: &[(&str, &str)]) -> Answer {
        let mut command = clean(Command::new(program));
        command
            .arg("status")
            .args(words)
            .envs(more.iter().copied())
            .current_dir(self.top().join(place));
        Answer::from(command.output().unwrap())
    }
}

/// What a program said.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    pub code: Option<i32>,
    pub text: Vec<u8>,
    pub error: Vec<u8>,
}

impl From<Output> for Answer {
    fn from(output: Output) -> Self {
        Answer {
            code: output.status.code(),
            text: output.stdout,
            error: output.stderr,
        }
    }
}

/// Lines as they are, NUL and escapes made visible.
pub fn shown(text: &[u8]) -> String {
    let lines = text.split_inclusive(|byte| *byte == b'\n' || *byte == 0);
    lines
        .map(|line| format!("  {}\n", line.escape_ascii()))
        .collect()
}

fn clean(mut command: Command) -> Command {
    isolate(&mut command);
    // Rebases are scripted, submodules are cloned from beside.
    command.envs([("GIT_EDITOR", "true"), ("GIT_ALLOW_PROTOCOL", "file")]);
    command
}
