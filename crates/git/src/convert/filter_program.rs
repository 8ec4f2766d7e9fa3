//! How one filter driver filters one file, by a command or by a process.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;

use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_fs::FilterCancel;

use super::filter_client::{ContentReader, FilterClient, Reply, Request};
use super::filter_command;
use super::lane::{Deliver, Delivery, FilterContext, Filtered};
use super::options::Driver;
use crate::{Error, Result};

/// Results of more bytes than this are passed on while they arrive.
const MEMORY_BYTES: usize = 4 * 1024 * 1024;

/// A driver, and its process if it is running.
#[derive(Debug)]
pub(super) struct FilterProgram {
    driver: Driver,
    context: FilterContext,
    cancel: FilterCancel,
    client: Option<FilterClient>,
    /// Directions in which the process answered `abort`: it is not asked for them again.
    aborted: Vec<Direction>,
    /// A command or the process has failed at a file, with words or without.
    has_failed: bool,
}

/// The direction of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Smudge,
    Clean,
}

impl Direction {
    fn name(self) -> &'static str {
        match self {
            Direction::Smudge => "smudge",
            Direction::Clean => "clean",
        }
    }

    /// Git's words if the filter of `driver` failed.
    fn failure(self, driver: &BStr) -> String {
        match self {
            Direction::Smudge => format!("smudge filter {driver} failed"),
            Direction::Clean => format!("clean filter '{driver}' failed"),
        }
    }
}

/// Result of filtering a file.
pub(super) enum Outcome {
    Filtered(Vec<u8>),
    /// Passed on while it arrived.
    Delivered,
    Delayed,
    /// The content stays unchanged, for these reasons, a sentence each.
    Unfiltered(Vec<String>),
}

/// A file that passes through the lane.
pub(super) struct File<'a> {
    pub(super) row: usize,
    pub(super) path: &'a BStr,
    pub(super) id: Option<&'a ObjectId>,
    pub(super) content: &'a [u8],
    pub(super) can_delay: bool,
}

impl FilterProgram {
    pub(super) fn new(
        driver: Driver,
        context: FilterContext,
        cancel: FilterCancel,
    ) -> FilterProgram {
        FilterProgram {
            driver,
            context,
            cancel,
            client: None,
            aborted: Vec::new(),
            has_failed: false,
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.has_failed
    }

    pub(super) fn cancel_handle(&self) -> FilterCancel {
        self.cancel.clone()
    }

    /// Lets the driver filter a file, by a command or by a process.
    pub(super) fn apply(
        &mut self,
        direction: Direction,
        file: &File<'_>,
        deliver: &mut Deliver<'_>,
    ) -> Result<Outcome> {
        let command = match (&self.driver.process, direction) {
            (Some(process), _) => Some(process),
            (None, Direction::Smudge) => self.driver.smudge.as_ref(),
            (None, Direction::Clean) => self.driver.clean.as_ref(),
        };
        let outcome = match command.filter(|command| !command.is_empty()) {
            None => Outcome::Unfiltered(Vec::new()),
            Some(_) if self.driver.process.is_some() => {
                self.ask_process(direction, file, deliver)?
            }
            Some(command) => {
                let (path, content) = (file.path, file.content);
                let command = command.as_bstr();
                let outcome =
                    filter_command::run(command, path, content, &self.context, &self.cancel);
                match outcome.map_err(|error| self.system_error(error))? {
                    Ok(filtered) => Outcome::Filtered(filtered),
                    Err(said) => Outcome::Unfiltered(said),
                }
            }
        };
        // For smudging, git treats a driver without any command as if there were none.
        let is_nothing = direction == Direction::Smudge && !self.driver.has_command();
        self.has_failed |= matches!(&outcome, Outcome::Unfiltered(said) if !said.is_empty());
        match outcome {
            Outcome::Unfiltered(said) if self.driver.required && !is_nothing => {
                Err(Error::Filter {
                    path: file.path.to_owned(),
                    reason: direction.failure(self.driver.name.as_ref()),
                    said,
                })
            }
            outcome => Ok(outcome),
        }
    }

    /// Lets the process filter a file. A process that breaks the protocol or dies is restarted for
    /// the next file.
    fn ask_process(
        &mut self,
        direction: Direction,
        file: &File<'_>,
        deliver: &mut Deliver<'_>,
    ) -> Result<Outcome> {
        if self.aborted.contains(&direction) {
            return Ok(Outcome::Unfiltered(Vec::new()));
        }
        match self.converse(direction, file, deliver) {
            Ok(outcome) => outcome,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                Err(self.system_error(error))
            }
            Err(_) => {
                let command = self.process_command();
                let said = format!("external filter '{command}' failed");
                Ok(Outcome::Unfiltered(vec![said]))
            }
        }
    }

    /// Talks to the process about one file. The process is put back only after a complete answer.
    fn converse(
        &mut self,
        direction: Direction,
        file: &File<'_>,
        deliver: &mut Deliver<'_>,
    ) -> io::Result<Result<Outcome>> {
        let mut client = match self.connect()? {
            Ok(client) => client,
            Err(said) => return Ok(Ok(Outcome::Unfiltered(said))),
        };
        let can = match direction {
            Direction::Smudge => client.can_smudge,
            Direction::Clean => client.can_clean,
        };
        let outcome = if can {
            let request = self.request(direction, file, client.can_delay);
            match client.filter(&request)? {
                Reply::Stream(reader) => {
                    if let Err(error) = hand_on(reader, file, deliver)? {
                        return Ok(Err(error));
                    }
                    Outcome::Delivered
                }
                Reply::Content(content) => Outcome::Filtered(content),
                Reply::Delayed => Outcome::Delayed,
                Reply::Error => {
                    self.has_failed = true;
                    Outcome::Unfiltered(Vec::new())
                }
                Reply::Abort => {
                    self.has_failed = true;
                    self.aborted.push(direction);
                    Outcome::Unfiltered(Vec::new())
                }
            }
        } else {
            Outcome::Unfiltered(Vec::new())
        };
        self.client = Some(client);
        Ok(Ok(outcome))
    }

    /// Takes the process out, or starts it. The caller puts it back after success. The inner error is why
    /// it does not start, in git's words.
    fn connect(&mut self) -> io::Result<std::result::Result<FilterClient, Vec<String>>> {
        if let Some(client) = self.client.take() {
            return Ok(Ok(client));
        }
        let command = self.process_command();
        let process = match filter_command::start(command, &self.context, &self.cancel) {
            Err(error) => {
                let forked = format!("cannot fork to run subprocess '{command}'");
                return Ok(Err(vec![
                    filter_command::unstarted(command, &error),
                    forked,
                ]));
            }
            Ok(process) => process,
        };
        match FilterClient::start(process) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let ended = [io::ErrorKind::UnexpectedEof, io::ErrorKind::BrokenPipe];
                let greeting = format!("could not read greeting from subprocess '{command}'");
                let failed = format!("initialization for subprocess '{command}' failed");
                let is_greeting = ended.contains(&error.kind());
                let said = is_greeting.then_some(greeting).into_iter().chain([failed]);
                Ok(Err(said.collect()))
            }
            Ok(client) => Ok(Ok(client)),
        }
    }

    /// The delayed files that are ready; empty if no more will come or the process is gone.
    pub(super) fn available(&mut self) -> Result<Vec<BString>> {
        let Some(client) = &mut self.client else {
            return Ok(Vec::new());
        };
        match client.available() {
            Ok(paths) => Ok(paths),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                Err(self.system_error(error))
            }
            Err(_) => {
                self.client = None;
                Ok(Vec::new())
            }
        }
    }

    /// Ends the process, if it is running.
    pub(super) fn close(&mut self) -> Result<()> {
        match self.client.take() {
            Some(client) => client.close().map_err(|error| self.system_error(error)),
            None => Ok(()),
        }
    }

    pub(super) fn process_command(&self) -> &BStr {
        self.driver
            .process
            .as_ref()
            .map_or(BStr::new(b""), |command| command.as_bstr())
    }

    fn request<'a>(&self, direction: Direction, file: &File<'a>, can_delay: bool) -> Request<'a> {
        let line = |key: &str, value: &[u8]| {
            let mut line = BString::from(key);
            line.push(b'=');
            line.extend_from_slice(value);
            line
        };
        let mut lines = vec![line("pathname", file.path)];
        if direction == Direction::Smudge {
            lines.extend(
                self.context
                    .reference
                    .as_ref()
                    .map(|name| line("ref", name)),
            );
            let treeish = self.context.treeish.map(|id| id.to_string());
            lines.extend(treeish.map(|id| line("treeish", id.as_bytes())));
            let blob = file.id.filter(|_| !self.context.hides_blob);
            let blob = blob.map(|id| id.to_string());
            lines.extend(blob.map(|id| line("blob", id.as_bytes())));
            if can_delay && file.can_delay && self.context.can_delay {
                lines.push(line("can-delay", b"1"));
            }
        }
        // Without the whole content, an optional filter that fails would leave a half-written file.
        let streams = direction == Direction::Smudge && self.driver.required;
        Request {
            command: direction.name(),
            lines,
            content: file.content,
            memory_bytes: if streams { MEMORY_BYTES } else { usize::MAX },
        }
    }

    fn system_error(&self, error: io::Error) -> Error {
        let command = self.driver.process.as_ref().or(self.driver.smudge.as_ref());
        let command = command
            .map(|command| command.as_slice())
            .unwrap_or_default();
        let command = OsStr::from_bytes(command);
        hedgerow_fs::Error::new("run filter", command, error).into()
    }
}

/// Passes content on while it arrives. The inner error is the receiver's.
fn hand_on(
    mut reader: ContentReader<'_, '_>,
    file: &File<'_>,
    deliver: &mut Deliver<'_>,
) -> io::Result<Result<()>> {
    let delivered = deliver(Delivery {
        row: file.row,
        path: file.path,
        content: Filtered::Stream(&mut reader),
        messages: Vec::new(),
    });
    match delivered {
        Ok(()) if !reader.is_done() => Err(io::Error::other("the content was not read")),
        delivered => Ok(delivered),
    }
}
