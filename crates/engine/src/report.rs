use std::any::Any;

/// Result of a run that completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Largest number of workers at work at the same time.
    pub workers_peak: usize,
    /// The number of workers allowed when the run ended; useful as
    /// [`Options::hint`](crate::Options::hint) of the next run of the same kind.
    pub workers_last: usize,
}

/// Why a run did not complete.
#[derive(Debug, thiserror::Error)]
pub enum Failure<E> {
    /// The [`CancelToken`](crate::CancelToken) was cancelled. Work may have been left undone.
    #[error("cancelled")]
    Cancelled,
    /// A task failed with this error; the others were abandoned.
    #[error(transparent)]
    Failed(E),
    /// A worker panicked, with this message.
    #[error("a worker panicked: {0}")]
    Panicked(String),
}

/// The message of a panic.
pub(crate) fn panic_message(payload: Box<dyn Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => match payload.downcast::<&'static str>() {
            Ok(text) => (*text).to_owned(),
            Err(_) => "panic without a message".to_owned(),
        },
    }
}
