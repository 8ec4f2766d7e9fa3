use crate::HEDGEROW;
use hedgerow_testkit::{git, use_global_config, Outcome, Random};
use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What git-upload-pack says.
pub const WORDS: [&str; 5] = [
    "git",
    "pack-objects",
    "--revs",
    "--stdout",
    "--delta-base-offset",
];
const PATIENCE: Duration = Duration::from_secs(60);

/// A repository with a cache of responses and a log, and a request for all of it.
pub struct Site {
    home: tempfile::TempDir,
    responses: PathBuf,
}

/// One who asked.
pub struct Asked {
    child: Child,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
    /// How many bytes of the answer have come.
    came: Arc<AtomicUsize>,
}

impl Site {
    /// With so many loose files of 16 KB each that cannot be compressed.
    pub fn new(files: usize) -> Site {
        let home = hedgerow_testkit::temporary();
        let root = home.path();
        git(root, &["init", "-q", "-b", "main"], b"");
        let mut random = Random::new(files as u64);
        let mut stream = b"commit refs/heads/main\ncommitter A <a@b> 0 +0000\ndata 0\n".to_vec();
        for number in 0..files {
            stream.extend(format!("M 644 inline {number}\ndata 16384\n").bytes());
            stream.extend((0..16384 / 8).flat_map(|_| random.number().to_le_bytes()));
            stream.push(b'\n');
        }
        let words = [
            "-c",
            "fastimport.unpackLimit=100000",
            "fast-import",
            "--quiet",
        ];
        git(root, &words, &stream);
        let site = Site {
            responses: root.join(".git/responses"),
            home,
        };
        let tip = git(&site.root(), &["rev-parse", "main"], b"");
        fs::write(
            site.root().join(".git/request"),
            [&tip[..], b"--not\n\n"].concat(),
        )
        .unwrap();
        site.configure("responseCache", site.responses.to_str().unwrap());
        let log = site.root().join(".git/log");
        site.configure("serveLog", log.to_str().unwrap());
        site
    }

    pub fn root(&self) -> PathBuf {
        self.home.path().to_owned()
    }

    pub fn responses(&self) -> &Path {
        &self.responses
    }

    pub fn keep_at(&mut self, responses: &Path) {
        self.configure("responseCache", responses.to_str().unwrap());
        self.responses = responses.to_owned();
    }

    pub fn configure(&self, name: &str, value: &str) {
        let (name, global) = (format!("hedgerow.{name}"), self.global());
        let words = ["config", "--file", global.to_str().unwrap(), &name, value];
        git(&self.root(), &words, b"");
    }

    pub fn unset(&self, name: &str) {
        let (name, global) = (format!("hedgerow.{name}"), self.global());
        let words = [
            "config",
            "--file",
            global.to_str().unwrap(),
            "--unset",
            &name,
        ];
        git(&self.root(), &words, b"");
    }

    /// The user's own configuration, where these settings belong.
    pub fn global(&self) -> PathBuf {
        self.root().join(".git/global")
    }

    /// Standard input of the hook.
    pub fn request(&self) -> fs::File {
        fs::File::open(self.root().join(".git/request")).unwrap()
    }

    /// The answer without a cache.
    pub fn plain(&self) -> Vec<u8> {
        self.unset("responseCache");
        let outcome = self.ask(&[]).end();
        assert_eq!(outcome.code, 0, "{outcome:?}");
        self.configure("responseCache", self.responses.to_str().unwrap());
        self.forget();
        outcome.stdout
    }

    /// Asks. What takes little time takes more then, so that others may come in between.
    pub fn ask(&self, further: &[&str]) -> Asked {
        self.ask_with(further, &[("HEDGEROW_TEST_DELAY", "7")])
    }

    pub fn ask_with(&self, further: &[&str], variables: &[(&str, &str)]) -> Asked {
        let mut command = HEDGEROW.command(&self.root());
        command.arg("upload-pack-hook").args(WORDS).args(further);
        use_global_config(&mut command, self.global());
        command.envs(variables.iter().copied());
        command.stdin(self.request());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Asked {
            child: command.spawn().unwrap(),
            stdout: None,
            stderr: None,
            came: Arc::default(),
        }
    }

    /// Waits until somebody has written more than so many bytes of a response that is not whole.
    pub fn wait_for_partial(&self, bytes: u64) {
        let until = Instant::now() + PATIENCE;
        while self.partial_bytes().is_none_or(|found| found <= bytes) {
            assert!(Instant::now() < until, "somebody makes it");
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    pub fn partial_bytes(&self) -> Option<u64> {
        let entries = fs::read_dir(&self.responses).ok()?.flatten();
        let mut partial = entries.filter(|entry| is(entry, "partial"));
        Some(partial.next()?.metadata().ok()?.len())
    }

    /// How many responses there are, and how many other files.
    pub fn kept(&self) -> (usize, usize) {
        let Ok(entries) = fs::read_dir(&self.responses) else {
            return (0, 0);
        };
        let all: Vec<_> = entries.flatten().collect();
        let whole = all.iter().filter(|entry| is(entry, "response")).count();
        (whole, all.len() - whole)
    }

    /// Empties the cache and the log.
    pub fn forget(&self) {
        for entry in fs::read_dir(&self.responses).into_iter().flatten() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        let _ = fs::remove_file(self.root().join(".git/log"));
    }

    pub fn log(&self) -> Vec<serde_json::Value> {
        let log = fs::read_to_string(self.root().join(".git/log")).unwrap_or_default();
        let parse = |line: &str| serde_json::from_str(line).unwrap();
        log.lines().map(parse).collect()
    }

    /// Who answered, in the order in which they ended.
    pub fn served_by(&self) -> Vec<String> {
        let name = |line: &serde_json::Value| line["served_by"].as_str().unwrap().to_owned();
        self.log().iter().map(name).collect()
    }
}

fn is(entry: &fs::DirEntry, extension: &str) -> bool {
    entry
        .path()
        .extension()
        .is_some_and(|found| found == extension)
}

impl Asked {
    /// Begins to read what is answered.
    pub fn read(mut self) -> Self {
        let (stdout, stderr) = (self.child.stdout.take(), self.child.stderr.take());
        self.stdout = stdout.map(|from| read(from, self.came.clone()));
        self.stderr = stderr.map(|from| read(from, Arc::default()));
        self
    }

    /// Reads nothing of it.
    pub fn close(mut self) -> Self {
        drop(self.child.stdout.take());
        self.stdout = Some(std::thread::spawn(Vec::new));
        self.stderr = self
            .child
            .stderr
            .take()
            .map(|from| read(from, Arc::default()));
        self
    }

    /// Waits until the beginning of the answer has come.
    pub fn wait_for_beginning(&self) {
        let until = Instant::now() + PATIENCE;
        while self.came.load(Ordering::Relaxed) == 0 {
            assert!(Instant::now() < until, "it begins to answer");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Reads everything, and waits for the end.
    pub fn end(self) -> Outcome {
        let mut asked = if self.stdout.is_none() {
            self.read()
        } else {
            self
        };
        let until = Instant::now() + PATIENCE;
        let status = loop {
            match asked.child.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() > until => {
                    asked.child.kill().unwrap();
                    panic!("it hangs");
                }
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        let text = |thread: Option<JoinHandle<Vec<u8>>>| thread.unwrap().join().unwrap();
        Outcome {
            code: status
                .code()
                .unwrap_or(128 + status.signal().unwrap_or_default()),
            stdout: text(asked.stdout),
            stderr: String::from_utf8(text(asked.stderr)).unwrap(),
        }
    }

    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let mut kill = std::process::Command::new("kill");
        assert!(kill.args(["-s", name, &id]).status().unwrap().success());
    }
}

fn read(mut from: impl Read + Send + 'static, came: Arc<AtomicUsize>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let (mut content, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
        loop {
            match from.read(&mut buffer).unwrap() {
                0 => return content,
                count => content.extend(&buffer[..count]),
            }
            came.store(content.len(), Ordering::Relaxed);
        }
    })
}
