use bstr::BString;
use hedgerow_engine::Execution;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The state of a path, in Mercurial's display order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Content or flags differ from the first parent's, or a merge changed it.
    Modified,
    /// It is newly tracked.
    Added,
    /// It was removed from tracking, whether the file exists or not.
    Removed,
    /// It is tracked, but the file does not exist.
    Deleted,
    /// It is not tracked and not ignored.
    Unknown,
    /// It is not tracked and ignored.
    Ignored,
    /// It equals the first parent's version.
    Clean,
}

/// All states in order.
pub const STATES: [State; 7] = [
    State::Modified,
    State::Added,
    State::Removed,
    State::Deleted,
    State::Unknown,
    State::Ignored,
    State::Clean,
];

impl State {
    /// The character that Mercurial shows.
    pub fn code(self) -> char {
        match self {
            State::Modified => 'M',
            State::Added => 'A',
            State::Removed => 'R',
            State::Deleted => '!',
            State::Unknown => '?',
            State::Ignored => 'I',
            State::Clean => 'C',
        }
    }
}

/// A set of states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct States(u8);

impl States {
    /// All states for which `wanted` returns true.
    pub fn of(wanted: impl Fn(State) -> bool) -> Self {
        let bits = STATES.iter().filter(|state| wanted(**state));
        States(bits.fold(0, |bits, state| bits | 1 << *state as u8))
    }

    /// Whether a state is in the set.
    pub fn has(self, state: State) -> bool {
        self.0 & 1 << state as u8 != 0
    }
}

/// The options of a status.
#[derive(Clone, Debug)]
pub struct Options {
    /// The requested states. Others are not determined where that saves work.
    pub states: States,
    /// Files and directories, relative to the root; everything if empty.
    pub paths: Vec<BString>,
    /// Mercurial's program, for files whose content must be compared: a path, or a name looked up
    /// in `PATH`. Without it, these files stay undecided.
    pub program: Option<PathBuf>,
    /// How to run.
    pub execution: Execution,
}

impl Default for Options {
    /// What `hg status` shows: everything that changed or is unknown, compared by `hg` where contents
    /// have to be.
    fn default() -> Self {
        Options {
            states: States::of(|state| !matches!(state, State::Ignored | State::Clean)),
            paths: Vec::new(),
            program: Some("hg".into()),
            execution: Execution::default(),
        }
    }
}

/// The differences between a working copy and its first parent. All lists are ascending by path
/// bytes.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// The paths by state, in the order of [`STATES`], for the requested states.
    pub paths: [Vec<BString>; STATES.len()],
    /// The sources of copied or renamed tracked files, by the files' paths.
    pub copies: BTreeMap<BString, BString>,
    /// Files that may be modified or clean: their content must be compared, but Mercurial could not
    /// be run.
    pub undecided: Vec<BString>,
    /// Why Mercurial could not be run, if there are undecided files.
    pub undecided_reason: String,
    /// Number of files whose content was compared.
    pub compared: usize,
    /// Warnings for the user: ignored patterns, directories that could not be read.
    pub warnings: Vec<String>,
}

impl Status {
    /// The paths in a state.
    pub fn of(&self, state: State) -> &[BString] {
        self.paths.get(state as usize).map_or(&[], Vec::as_slice)
    }
}
