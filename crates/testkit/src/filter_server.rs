//! A long-running filter process that behaves as the names of its files say, for git and for us.
//!
//! It is the test program itself: a test binary that uses it has a test `filter_server` in its
//! `main.rs` which calls [`serve_if_told`], and which does nothing unless a variable tells it where
//! to log. Its answers leave by descriptor 3, as the test harness talks on 1.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};

use crate::Repository;

const LOG: &str = "HEDGEROW_TEST_FILTER_LOG";

/// The command that runs it, for `filter.<name>.process`.
pub fn command(log: &str) -> String {
    let program = std::env::current_exe().expect("a test has a program");
    let program = program.display();
    format!("{LOG}='{log}' '{program}' --exact filter_server --nocapture 3>&1 >/dev/null")
}

/// What it was asked, and forgets the log.
pub fn take_log(repository: &Repository) -> String {
    let log = repository.read(".git/filter-log");
    repository.remove(".git/filter-log");
    String::from_utf8(log).expect("the log is text")
}

/// Is the filter process, and ends with it, if this process was started by [`command`].
pub fn serve_if_told() {
    if let Ok(log) = std::env::var(LOG) {
        let log = File::options().create(true).append(true).open(log);
        let output = File::options().write(true).open("/dev/fd/3");
        let mut server = Server {
            input: BufReader::new(io::stdin()),
            output: BufWriter::new(output.expect("the command gives it descriptor 3")),
            log: log.expect("the log can be written"),
            delayed: Vec::new(),
        };
        // The end of the conversation, in the middle or not, is the end of the program.
        let _ = server.run();
        std::process::exit(0);
    }
}

struct Server {
    input: BufReader<io::Stdin>,
    output: BufWriter<File>,
    log: File,
    delayed: Vec<(String, Vec<u8>)>,
}

impl Server {
    fn run(&mut self) -> io::Result<()> {
        self.log_line("start")?;
        self.lines()?;
        self.send(&["git-filter-server", "version=2"])?;
        self.lines()?;
        self.send(&["capability=clean", "capability=smudge", "capability=delay"])?;
        loop {
            let request = self.lines()?;
            if request.is_empty() {
                return Ok(());
            }
            self.log_line(&request.join(" "))?;
            let path = value(&request, "pathname=");
            match value(&request, "command=") {
                "list_available_blobs" => self.list()?,
                command => {
                    let content = self.content()?;
                    let can_delay = value(&request, "can-delay=") == "1";
                    self.answer(command, path, content, can_delay)?;
                }
            }
        }
    }

    /// The last that was delayed is ready first, two at a time; some under a wrong name.
    fn list(&mut self) -> io::Result<()> {
        let mut lines = Vec::new();
        let waiting = self
            .delayed
            .iter_mut()
            .rev()
            .filter(|(path, _)| !path.ends_with("ready"));
        for (path, _) in waiting.take(2) {
            let wrong = if path.contains("wrong") { "not-" } else { "" };
            lines.push(format!("pathname={wrong}{path}"));
            path.push_str("ready");
        }
        lines.sort();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        self.send(&lines)?;
        self.send(&["status=success"])
    }

    fn answer(
        &mut self,
        command: &str,
        path: &str,
        mut content: Vec<u8>,
        can_delay: bool,
    ) -> io::Result<()> {
        let ready = format!("{path}ready");
        if can_delay && path.contains("delay") {
            self.delayed.push((path.to_owned(), content));
            return self.send(&["status=delayed"]);
        }
        if let Some(at) = self.delayed.iter().position(|(path, _)| *path == ready) {
            content = self.delayed.remove(at).1;
        }
        if path.contains("die") {
            std::process::exit(1);
        }
        if path.contains("error") {
            return self.send(&["status=error"]);
        }
        if path.contains("abort") {
            return self.send(&["status=abort"]);
        }
        if path.contains("garbage") {
            return self
                .output
                .write_all(b"garbage")
                .and_then(|()| self.output.flush());
        }
        let mut result = format!("{command} {path}:").into_bytes();
        result.extend_from_slice(&content);
        if path.contains("large") {
            result = result.repeat(6_000_000 / result.len());
        }
        self.send(&["status=success"])?;
        for piece in result.chunks(65_516) {
            write!(self.output, "{:04x}", piece.len() + 4)?;
            self.output.write_all(piece)?;
        }
        self.send(&[])?;
        if path.contains("late") {
            self.send(&["status=error"])
        } else {
            self.send(&[])
        }
    }

    fn log_line(&mut self, line: &str) -> io::Result<()> {
        self.log.write_all(format!("{line}\n").as_bytes())
    }

    fn send(&mut self, lines: &[&str]) -> io::Result<()> {
        for line in lines {
            writeln!(self.output, "{:04x}{line}", line.len() + 5)?;
        }
        self.output.write_all(b"0000")?;
        self.output.flush()
    }

    fn lines(&mut self) -> io::Result<Vec<String>> {
        let mut lines = Vec::new();
        while let Some(data) = self.packet()? {
            lines.push(String::from_utf8_lossy(&data).trim_end().to_owned());
        }
        Ok(lines)
    }

    fn content(&mut self) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        while let Some(data) = self.packet()? {
            content.extend_from_slice(&data);
        }
        Ok(content)
    }

    fn packet(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut digits = [0; 4];
        self.input.read_exact(&mut digits)?;
        let digits = std::str::from_utf8(&digits).ok();
        let length = digits.and_then(|digits| usize::from_str_radix(digits, 16).ok());
        let length = length.ok_or(io::ErrorKind::InvalidData)?;
        if length == 0 {
            return Ok(None);
        }
        let mut data = vec![0; length - 4];
        self.input.read_exact(&mut data)?;
        Ok(Some(data))
    }
}

fn value<'a>(request: &'a [String], key: &str) -> &'a str {
    let find = |line: &'a String| line.strip_prefix(key);
    request.iter().find_map(find).unwrap_or_default()
}
