use bstr::BString;
use hedgerow_engine::Execution;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What a path is, in the order in which Mercurial shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Content or flags differ from the first parent's, or a merge changed it.
    Modified,
    /// It is new.
    Added,
    /// It is to be gone, whether it is or not.
    Removed,
    /// It is tracked and not there.
    Deleted,
    /// It is not tracked.
    Unknown,
    /// It is not tracked, and nobody wants to know.
    Ignored,
    /// It is as in the first parent.
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

/// Some of the states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct States(u8);

impl States {
    /// All states that `wanted` says yes to.
    pub fn of(wanted: impl Fn(State) -> bool) -> Self {
        let bits = STATES.iter().filter(|state| wanted(**state));
        States(bits.fold(0, |bits, state| bits | 1 << *state as u8))
    }

    /// Whether a state is one of them.
    pub fn has(self, state: State) -> bool {
        self.0 & 1 << state as u8 != 0
    }
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Options {
    /// The states that are of interest. Others are not looked for where that saves work.
    pub states: States,
    /// Files and directories, relative to the root; everything if empty.
    pub paths: Vec<BString>,
    /// Mercurial's program, for files whose content must be compared: a path, or a name looked up
    /// in `PATH`. Without one, they are undecided.
    pub program: Option<PathBuf>,
    /// The workers.
    pub execution: Execution,
}

/// How a working copy stands to its first parent. All lists are ascending by path bytes.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// Paths by state, in the order of [`STATES`], of the states that were asked for.
    pub paths: [Vec<BString>; STATES.len()],
    /// Where tracked files were copied or renamed from, by their paths.
    pub copies: BTreeMap<BString, BString>,
    /// Files that may be modified or clean: only their content tells, and nobody could be asked.
    pub undecided: Vec<BString>,
    /// Why nobody could be asked, if there are undecided files.
    pub undecided_reason: String,
    /// Files whose content was compared.
    pub compared: usize,
    /// What the user should know: patterns that were left out, directories that could not be read.
    pub warnings: Vec<String>,
}

impl Status {
    /// The paths in a state.
    pub fn of(&self, state: State) -> &[BString] {
        self.paths.get(state as usize).map_or(&[], Vec::as_slice)
    }
}
