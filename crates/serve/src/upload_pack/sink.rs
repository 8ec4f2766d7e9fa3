//! The destinations of a new pack: the receiver and the cache.

use super::receiver::Receiver;
use super::{NewResponse, StoredResponse};
use hedgerow_fs::threads::start_scoped;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};

/// The sink of a pack. If others can follow the response, it is written only to the cache, as fast
/// as it is made, and sent from there, so that nobody waits for another's receiver.
pub(super) struct Sink<'s, 'o> {
    receiver: &'s Mutex<Receiver<'o>>,
    response: Option<Box<dyn NewResponse>>,
    /// Sends to the receiver what was written to the response, as long as it is kept.
    sender: Option<ScopedJoinHandle<'s, io::Result<bool>>>,
}

impl<'s, 'o: 's> Sink<'s, 'o> {
    /// Writes to `receiver` only.
    pub fn plain(receiver: &'s Mutex<Receiver<'o>>) -> Self {
        Sink {
            receiver,
            response: None,
            sender: None,
        }
    }

    /// Writes to `receiver` and the cache.
    pub fn kept<'env: 's>(
        receiver: &'s Mutex<Receiver<'o>>,
        response: Box<dyn NewResponse>,
        scope: &'s Scope<'s, 'env>,
    ) -> Self {
        let send = |stored: Box<dyn StoredResponse>| {
            let send = move || lock(receiver).follow(&*stored);
            // If no thread can be started, it is sent as it is made.
            start_scoped(scope, "send", send).ok()
        };
        Sink {
            receiver,
            sender: response.follow().and_then(send),
            response: Some(response),
        }
    }

    /// Ends the pack: the response is kept if it `is_whole`. Fails if not everything could be sent.
    pub fn end(mut self, is_whole: bool) -> io::Result<()> {
        let kept = self
            .response
            .as_ref()
            .map_or(0, |response| response.bytes());
        let mut failed = None;
        match self.response.take() {
            // If it cannot be kept, the request is answered all the same.
            Some(response) if is_whole => drop(response.keep()),
            response => failed = response,
        }
        failed.iter_mut().for_each(|response| response.give_up());
        let sent = self.wait_for_sender();
        drop(failed);
        sent?;
        let receiver = lock(self.receiver);
        match is_whole {
            true if receiver.position() < kept => Err(io::ErrorKind::UnexpectedEof.into()),
            true => receiver.end(),
            false => Ok(()),
        }
    }

    /// Waits until the sender has sent everything, after the end of writing.
    fn wait_for_sender(&mut self) -> io::Result<()> {
        let ended = || Err(io::Error::other("the thread that sends the pack ended"));
        match self.sender.take() {
            None => Ok(()),
            Some(sender) => sender.join().unwrap_or_else(|_| ended()).map(|_| ()),
        }
    }

    /// Stops keeping the response. Some of the last `bytes` may have been written, and sent from
    /// there, before there was no room for more: the rest is sent now.
    fn give_up(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut response = self.response.take();
        let kept = response.as_mut().map_or(0, |response| {
            response.give_up();
            response.bytes()
        });
        let sent = self.wait_for_sender();
        drop(response);
        sent?;
        let mut receiver = lock(self.receiver);
        let ahead = receiver.position().saturating_sub(kept);
        let ahead = usize::try_from(ahead).unwrap_or(usize::MAX);
        receiver.write_all(bytes.get(ahead..).unwrap_or_default())
    }
}

impl Write for Sink<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_kept = self.response.as_mut().map(|response| response.write(bytes));
        match (is_kept, &self.sender) {
            (Some(true), Some(_)) => {}
            (Some(false), _) => self.give_up(bytes)?,
            (Some(true) | None, _) => lock(self.receiver).write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The state of the receiver is consistent even if a thread panicked while it sent.
pub(super) fn lock<'r, 'o>(receiver: &'r Mutex<Receiver<'o>>) -> MutexGuard<'r, Receiver<'o>> {
    receiver.lock().unwrap_or_else(PoisonError::into_inner)
}
