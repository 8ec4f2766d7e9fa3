use std::any::Any;

/// How a run went that came to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The most workers that were at work at a time.
    pub workers_peak: usize,
    /// The number of workers the run was allowed when it ended, worth giving to the next run of
    /// the same kind as [`Options::hint`](crate::Options::hint).
    pub workers_last: usize,
}

/// Why a run came to no end.
#[derive(Debug, thiserror::Error)]
pub enum Failure<E> {
    /// The [`CancelToken`](crate::CancelToken) was cancelled. Work may have been left undone.
    #[error("cancelled")]
    Cancelled,
    /// A task failed, with this error; the others were given up.
    #[error(transparent)]
    Failed(E),
    /// A worker panicked, with this message.
    #[error("a worker panicked: {0}")]
    Panicked(String),
}

/// What a panic said.
pub(crate) fn panic_message(payload: Box<dyn Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => match payload.downcast::<&'static str>() {
            Ok(text) => (*text).to_owned(),
            Err(_) => "panic without a message".to_owned(),
        },
    }
}
