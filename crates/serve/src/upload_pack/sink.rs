//! Where a pack goes that is made: to the receiver, and to the cache.

use super::receiver::Receiver;
use super::{NewResponse, StoredResponse};
use hedgerow_fs::threads::start_scoped;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};

/// Takes a pack. What others can follow is written to the cache only, as fast as it is made, and
/// sent from there, so that nobody waits for the receiver of another.
pub(super) struct Sink<'s, 'o> {
    receiver: &'s Mutex<Receiver<'o>>,
    response: Option<Box<dyn NewResponse>>,
    /// Sends to the receiver what was written to the response, as long as it is kept.
    sender: Option<ScopedJoinHandle<'s, io::Result<bool>>>,
}

impl<'s, 'o: 's> Sink<'s, 'o> {
    /// For `receiver` only.
    pub fn plain(receiver: &'s Mutex<Receiver<'o>>) -> Self {
        Sink {
            receiver,
            response: None,
            sender: None,
        }
    }

    /// For `receiver` and the cache.
    pub fn kept<'env: 's>(
        receiver: &'s Mutex<Receiver<'o>>,
        response: Box<dyn NewResponse>,
        scope: &'s Scope<'s, 'env>,
    ) -> Self {
        let send = |stored: Box<dyn StoredResponse>| {
            let send = move || lock(receiver).follow(&*stored);
            // Without a thread, it is sent as it is made.
            start_scoped(scope, "send", send).ok()
        };
        Sink {
            receiver,
            sender: response.follow().and_then(send),
            response: Some(response),
        }
    }

    /// Ends it: the response is kept if it `is_whole`. Whether everything could be sent.
    pub fn end(mut self, is_whole: bool) -> io::Result<()> {
        let kept = self
            .response
            .as_ref()
            .map_or(0, |response| response.bytes());
        match self.response.take() {
            // If it cannot be kept, the request is answered all the same.
            Some(response) if is_whole => drop(response.keep()),
            response => drop(response),
        }
        self.wait_for_sender()?;
        let receiver = lock(self.receiver);
        match is_whole {
            true if receiver.position() < kept => Err(io::ErrorKind::UnexpectedEof.into()),
            true => receiver.end(),
            false => Ok(()),
        }
    }

    /// Has the sender send what there is, once no more is to come.
    fn wait_for_sender(&mut self) -> io::Result<()> {
        let ended = || Err(io::Error::other("the thread that sends the pack ended"));
        match self.sender.take() {
            None => Ok(()),
            Some(sender) => sender.join().unwrap_or_else(|_| ended()).map(|_| ()),
        }
    }

    /// From now on nothing is kept. Of the last `bytes` some may have been written, and sent from
    /// there, before there was no room for more: the rest is sent now.
    fn give_up(&mut self, bytes: &[u8]) -> io::Result<()> {
        let kept = self.response.take().map_or(0, |response| response.bytes());
        self.wait_for_sender()?;
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

/// What was sent is known even if a thread panicked while it sent it.
pub(super) fn lock<'r, 'o>(receiver: &'r Mutex<Receiver<'o>>) -> MutexGuard<'r, Receiver<'o>> {
    receiver.lock().unwrap_or_else(PoisonError::into_inner)
}
