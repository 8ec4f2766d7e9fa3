//! What was decided, for somebody who wants to know.

use std::fmt;
use std::sync::Arc;

/// How important a line is, the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something could not be done.
    Error,
    /// Something was done in another way than usual.
    Warn,
    /// A decision that holds for a command.
    Info,
    /// A decision within a run.
    Debug,
}

impl Level {
    /// All levels, the most important first.
    pub const ALL: [Level; 4] = [Level::Error, Level::Warn, Level::Info, Level::Debug];

    /// The level's name.
    pub fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warn => "warn",
            Level::Info => "info",
            Level::Debug => "debug",
        }
    }
}

/// Receives what was decided, up to a level. Without a receiver, nothing is even put into words.
#[derive(Clone, Default)]
pub struct Log(Option<Arc<Receiver>>);

/// Takes a line and its level.
type Receive = dyn Fn(Level, &str) + Send + Sync;

struct Receiver {
    level: Level,
    receive: Box<Receive>,
}

impl Log {
    /// A log that passes lines of this level and of more important ones to `receive`, from any
    /// thread.
    pub fn new(level: Level, receive: impl Fn(Level, &str) + Send + Sync + 'static) -> Self {
        let receive = Box::new(receive);
        Log(Some(Arc::new(Receiver { level, receive })))
    }

    /// Whether lines of this level are received.
    pub fn takes(&self, level: Level) -> bool {
        self.0.as_ref().is_some_and(|it| level <= it.level)
    }

    /// Passes on what `line` returns, if lines of this level are received.
    pub fn tell(&self, level: Level, line: impl FnOnce() -> String) {
        if let Some(receiver) = self.0.as_ref().filter(|it| level <= it.level) {
            (receiver.receive)(level, &line());
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = self.0.as_ref().map(|receiver| receiver.level);
        f.debug_tuple("Log").field(&level).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn only_lines_of_the_level_are_put_into_words() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let log = Log::new(Level::Warn, move |level, line| {
            kept.lock()
                .unwrap()
                .push(format!("{}: {line}", level.name()));
        });
        log.tell(Level::Error, || "a".into());
        log.tell(Level::Warn, || "b".into());
        log.tell(Level::Info, || panic!("nobody asked"));
        Log::default().tell(Level::Error, || panic!("nobody asked"));
        assert_eq!(*lines.lock().unwrap(), ["error: a", "warn: b"]);
        assert!(log.takes(Level::Warn) && !log.takes(Level::Debug));
    }
}
