//! Who hears of hooks that do not run, and of rules that are not read.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Why a hook does not run, or rules do not count, in git's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble<'a> {
    /// It may not be executed, and is passed over: git's advice.
    IgnoredHook(&'a str),
    /// It cannot be started, which counts as its failure.
    UnstartableHook(&'a str),
    /// A file of patterns or attributes may not be read, and counts as empty: git's warning.
    UnreadRules(&'a str),
}

/// Hears of hooks that do not run, and of rules that are not read, while the command goes on. Without one,
/// nobody hears of what is passed over, and a hook that cannot be started is an error.
#[derive(Clone, Default)]
pub struct TroubleListener(Option<Arc<Listening>>);

struct Listening {
    /// The hooks and files that were passed over.
    ignored: Mutex<BTreeSet<PathBuf>>,
    tell: Box<dyn Fn(Trouble<'_>) + Send + Sync>,
}

impl TroubleListener {
    /// Tells `tell`.
    pub fn new(tell: impl Fn(Trouble<'_>) + Send + Sync + 'static) -> Self {
        TroubleListener(Some(Arc::new(Listening {
            ignored: Mutex::default(),
            tell: Box::new(tell),
        })))
    }

    /// Tells that the hook at `path` is passed over; of each that is told once.
    pub(crate) fn ignored(&self, path: &Path, advice: &str) {
        self.tell_once(path, Trouble::IgnoredHook(advice));
    }

    /// Tells that the file at `path` is not read; of each that is told once.
    pub(crate) fn unread(&self, path: &Path, warning: &str) {
        self.tell_once(path, Trouble::UnreadRules(warning));
    }

    fn tell_once(&self, path: &Path, trouble: Trouble<'_>) {
        let Some(listening) = &self.0 else {
            return;
        };
        let is_new =
            |mut told: std::sync::MutexGuard<'_, BTreeSet<PathBuf>>| told.insert(path.to_owned());
        if listening.ignored.lock().is_ok_and(is_new) {
            (listening.tell)(trouble);
        }
    }

    /// Tells that a hook cannot be started; whether somebody heard it.
    pub(crate) fn unstartable(&self, words: &str) -> bool {
        let tell = self.0.as_ref().map(|listening| &listening.tell);
        tell.is_some_and(|tell| {
            tell(Trouble::UnstartableHook(words));
            true
        })
    }
}

/// Two are equal if the same one listens.
impl PartialEq for TroubleListener {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Eq for TroubleListener {}

impl fmt::Debug for TroubleListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.0.is_some() { "some" } else { "none" };
        write!(f, "TroubleListener({state})")
    }
}
