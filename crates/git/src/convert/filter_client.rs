//! A long-running filter process, as gitattributes(5) describes it ("Long Running Filter
//! Process", version 2).

use std::io::{self, Read};

use bstr::{BString, ByteSlice};
use hedgerow_fs::FilterProcess;

use super::packet::{Conversation, Outgoing, Packet};

/// A process and its capabilities.
#[derive(Debug)]
pub(super) struct FilterClient {
    conversation: Conversation,
    pub(super) can_clean: bool,
    pub(super) can_smudge: bool,
    pub(super) can_delay: bool,
}

/// Answer of a process about a file.
pub(super) enum Reply<'a, 'b> {
    Content(Vec<u8>),
    /// Too large for memory: to be read from here.
    Stream(ContentReader<'a, 'b>),
    Delayed,
    /// It cannot filter this file.
    Error,
    /// It will not filter any more files in this direction.
    Abort,
}

/// A request to filter a file.
pub(super) struct Request<'a> {
    /// `clean` or `smudge`.
    pub(super) command: &'static str,
    /// `key=value` lines.
    pub(super) lines: Vec<BString>,
    pub(super) content: &'a [u8],
    /// Only this many bytes of the result are read into memory; a longer one is returned as a
    /// stream.
    pub(super) memory_bytes: usize,
}

impl FilterClient {
    /// Performs the handshake with a process that was just started.
    pub(super) fn start(process: FilterProcess) -> io::Result<FilterClient> {
        let mut conversation = Conversation::new(process);
        let mut hello = Outgoing::lines(["git-filter-client", "version=2"])?;
        let mut answer = Vec::new();
        conversation.receive_lines(&mut hello, |line| answer.push(line.to_owned()))?;
        if answer != [&b"git-filter-server"[..], b"version=2"] {
            return Err(unexpected("not the greeting of a filter"));
        }
        conversation.send_rest(&mut hello)?;
        let ours = ["capability=clean", "capability=smudge", "capability=delay"];
        let mut capabilities = Outgoing::lines(ours)?;
        let mut theirs: Vec<Vec<u8>> = Vec::new();
        conversation.receive_lines(&mut capabilities, |line| theirs.push(line.to_owned()))?;
        conversation.send_rest(&mut capabilities)?;
        let is_ours = |line: &Vec<u8>| ours.iter().any(|ours| ours.as_bytes() == line);
        if !theirs.iter().all(is_ours) {
            return Err(unexpected("a capability that was not offered"));
        }
        let has = |name: &str| theirs.iter().any(|line| line == name.as_bytes());
        Ok(FilterClient {
            can_clean: has(ours[0]),
            can_smudge: has(ours[1]),
            can_delay: has(ours[2]),
            conversation,
        })
    }

    /// Lets the process filter a file.
    ///
    /// # Errors
    /// The process is gone or violates the protocol. It cannot be used any more.
    pub(super) fn filter<'a, 'b>(&'a mut self, request: &Request<'b>) -> io::Result<Reply<'a, 'b>> {
        let command = [BString::from(format!("command={}", request.command))];
        let lines = command.iter().chain(&request.lines);
        let mut outgoing = Outgoing::lines(lines)?.with_content(request.content);
        let mut status = Vec::new();
        // The filter may answer before it has read everything; sending goes on meanwhile.
        self.read_status(&mut outgoing, &mut status)?;
        match status.as_slice() {
            b"success" => {}
            b"delayed" if self.can_delay => {
                self.conversation.send_rest(&mut outgoing)?;
                return Ok(Reply::Delayed);
            }
            other => return self.refusal(other, &mut outgoing),
        }
        let mut content = Vec::new();
        while let Packet::Data(data) = self.conversation.receive(&mut outgoing)? {
            content.extend_from_slice(data);
            if content.len() > request.memory_bytes {
                return Ok(Reply::Stream(ContentReader {
                    client: self,
                    outgoing,
                    ready: content,
                    start: 0,
                    state: ReaderState::Content,
                }));
            }
        }
        self.read_status(&mut outgoing, &mut status)?;
        match status.as_slice() {
            b"success" => {
                self.conversation.send_rest(&mut outgoing)?;
                Ok(Reply::Content(content))
            }
            other => self.refusal(other, &mut outgoing),
        }
    }

    fn refusal<'a, 'b>(
        &'a mut self,
        status: &[u8],
        outgoing: &mut Outgoing<'_>,
    ) -> io::Result<Reply<'a, 'b>> {
        self.conversation.send_rest(outgoing)?;
        match status {
            b"error" => Ok(Reply::Error),
            b"abort" => Ok(Reply::Abort),
            _ => Err(unexpected("a status that is not known")),
        }
    }

    /// Asks which delayed files are ready. An empty list means that no more will come.
    pub(super) fn available(&mut self) -> io::Result<Vec<BString>> {
        let mut outgoing = Outgoing::lines(["command=list_available_blobs"])?;
        let mut paths = Vec::new();
        self.conversation.receive_lines(&mut outgoing, |line| {
            if let Some(path) = line.strip_prefix(b"pathname=") {
                paths.push(path.into());
            }
        })?;
        let mut status = Vec::new();
        self.read_status(&mut outgoing, &mut status)?;
        self.conversation.send_rest(&mut outgoing)?;
        match status.as_slice() {
            b"success" => Ok(paths),
            _ => Err(unexpected("no list of delayed files")),
        }
    }

    /// Reads a status. An empty list leaves the last one unchanged.
    fn read_status(&mut self, outgoing: &mut Outgoing<'_>, status: &mut Vec<u8>) -> io::Result<()> {
        self.conversation.receive_lines(outgoing, |line| {
            if let Some(value) = line.strip_prefix(b"status=") {
                status.clear();
                status.extend_from_slice(value);
            }
        })
    }

    /// Closes the connection and waits for the process to exit.
    pub(super) fn close(self) -> io::Result<()> {
        self.conversation.close()
    }
}

/// Filtered content that is still arriving. After an error before its end it must not be used.
#[derive(Debug)]
pub(super) struct ContentReader<'a, 'b> {
    client: &'a mut FilterClient,
    outgoing: Outgoing<'b>,
    ready: Vec<u8>,
    start: usize,
    state: ReaderState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReaderState {
    Content,
    Done,
    Failed,
}

impl ContentReader<'_, '_> {
    /// Whether the end was read and the filter reported success.
    pub(super) fn is_done(&self) -> bool {
        self.state == ReaderState::Done
    }

    fn fill(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.start = 0;
        if let Packet::Data(data) = self.client.conversation.receive(&mut self.outgoing)? {
            self.ready.extend_from_slice(data);
            return Ok(());
        }
        let mut status = b"success".to_vec();
        self.client.read_status(&mut self.outgoing, &mut status)?;
        if status != b"success" {
            let status = status.as_bstr();
            return Err(io::Error::other(format!(
                "the filter ended with '{status}'"
            )));
        }
        self.client.conversation.send_rest(&mut self.outgoing)?;
        self.state = ReaderState::Done;
        Ok(())
    }
}

impl Read for ContentReader<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.start == self.ready.len() && self.state == ReaderState::Content {
            if let Err(error) = self.fill() {
                self.state = ReaderState::Failed;
                return Err(error);
            }
        }
        if self.state == ReaderState::Failed {
            return Err(io::Error::other("the filter failed"));
        }
        let ready = &self.ready[self.start..];
        let count = ready.len().min(buffer.len());
        buffer[..count].copy_from_slice(&ready[..count]);
        self.start += count;
        Ok(count)
    }
}

fn unexpected(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
