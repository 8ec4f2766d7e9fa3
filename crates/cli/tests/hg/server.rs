//! Mercurial's command server: one process for hundreds of commands, each of which would take a
//! quarter of a second to start. <https://www.mercurial-scm.org/wiki/CommandServer>

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

pub struct Server {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

#[derive(Debug, Default)]
pub struct Ended {
    pub output: Vec<u8>,
    pub errors: Vec<u8>,
    pub code: i32,
    command: String,
}

impl Ended {
    /// What was printed by a command that succeeded, as it must.
    pub fn succeeded(self) -> Vec<u8> {
        let errors = String::from_utf8_lossy(&self.errors);
        assert_eq!(self.code, 0, "hg {}: {errors}", self.command);
        self.output
    }
}

impl Server {
    pub fn start(directory: &Path, configuration: &Path) -> Option<Server> {
        let mut child = hedgerow_testkit::isolated("hg")
            .args(["serve", "--cmdserver", "pipe"])
            .current_dir(directory)
            .env("HGRCPATH", configuration)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut server = Server {
            child,
            input,
            output,
        };
        assert_eq!(server.frame().0, b'o', "the server greets");
        Some(server)
    }

    /// Runs a command as if started in `cwd`.
    pub fn run(&mut self, cwd: &Path, words: &[&OsStr]) -> Ended {
        let mut all: Vec<&[u8]> = vec![b"--cwd", cwd.as_os_str().as_bytes()];
        all.extend(words.iter().map(|word| word.as_bytes()));
        let all = all.join(&0);
        let mut request = b"runcommand\n".to_vec();
        request.extend_from_slice(&(all.len() as u32).to_be_bytes());
        request.extend_from_slice(&all);
        self.input.write_all(&request).unwrap();
        self.input.flush().unwrap();
        let mut ended = Ended {
            command: String::from_utf8_lossy(&all).replace('\0', " "),
            ..Ended::default()
        };
        loop {
            match self.frame() {
                (b'o', data) => ended.output.extend(data),
                (b'e', data) => ended.errors.extend(data),
                (b'r', data) => {
                    ended.code = i32::from_be_bytes(data.try_into().unwrap());
                    return ended;
                }
                (channel, _) => panic!("hg asks on channel {}", char::from(channel)),
            }
        }
    }

    fn frame(&mut self) -> (u8, Vec<u8>) {
        let mut head = [0; 5];
        self.output.read_exact(&mut head).unwrap();
        let length = u32::from_be_bytes(head[1..].try_into().unwrap());
        let is_question = matches!(head[0], b'I' | b'L');
        let mut data = vec![0; if is_question { 0 } else { length as usize }];
        self.output.read_exact(&mut data).unwrap();
        (head[0], data)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
