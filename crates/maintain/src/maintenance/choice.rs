//! Chooses the maintenance that a repository needs from its state.

use super::state::{self, State};
use crate::repack::Request;
use crate::Result;
use hedgerow_git::repository::Repository;

/// A maintenance task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Pack everything into one pack, with bitmaps if they are wanted.
    FullRepack,
    /// Pack the smallest packs and the loose objects into one.
    GeometricRepack,
}

/// The result of the choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Nothing.
    Nothing {
        /// The reason, for the user.
        why: String,
    },
    /// Do a task.
    Do {
        /// The task.
        task: Task,
        /// The reason, for the user.
        why: String,
    },
}

impl Task {
    /// The task called `name`.
    pub fn from_name(name: &str) -> Option<Task> {
        [Task::FullRepack, Task::GeometricRepack]
            .into_iter()
            .find(|task| task.name() == name)
    }

    /// The repack that it is.
    ///
    /// # Errors
    /// For settings that make no sense.
    pub fn request(self, repository: &Repository) -> Result<Request> {
        match self {
            Task::FullRepack => state::full(repository),
            Task::GeometricRepack => state::geometric(repository),
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Task::FullRepack => "full-repack",
            Task::GeometricRepack => "geometric-repack",
        }
    }
}

/// Chooses what a repository in this state needs.
pub fn choose(state: &State) -> Choice {
    let has_many_loose = state.loose >= state.many_loose;
    let is_empty = state.packs == 0 && !has_many_loose;
    if state.wants_bitmaps && !is_empty {
        match state.with_bitmaps {
            None => return full("there are no bitmaps".into()),
            Some(known) if known * 2 < state.packed + state.loose => {
                let all = state.packed + state.loose;
                return full(format!("bitmaps know {known} of {all} objects"));
            }
            Some(_) => {}
        }
    }
    if state.joined > 1 && state.joined == state.packs {
        return full(format!("all {} packs are to be joined", state.packs));
    }
    if state.joined > 1 {
        let (joined, packs) = (state.joined, state.packs);
        return geometric(format!("{joined} of {packs} packs are to be joined"));
    }
    if has_many_loose {
        return geometric(match state.loose {
            1 => "1 object is loose".into(),
            loose => format!("{loose} objects are loose"),
        });
    }
    let packs = match state.packs {
        1 => "1 pack".to_owned(),
        packs => format!("{packs} packs of different sizes"),
    };
    let loose = match state.loose {
        1 => "1 loose object".to_owned(),
        loose => format!("{loose} loose objects"),
    };
    Choice::Nothing {
        why: format!("nothing to do: {packs}, {loose}"),
    }
}

fn full(why: String) -> Choice {
    let task = Task::FullRepack;
    Choice::Do { task, why }
}

fn geometric(why: String) -> Choice {
    let task = Task::GeometricRepack;
    Choice::Do { task, why }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(state: State) -> Option<Task> {
        match choose(&state) {
            Choice::Nothing { .. } => None,
            Choice::Do { task, .. } => Some(task),
        }
    }

    #[test]
    fn what_is_needed_is_chosen() {
        let usual = State {
            packs: 3,
            packed: 1000,
            many_loose: 100,
            ..State::default()
        };
        assert_eq!(task(usual.clone()), None);
        let joined = |joined| State {
            joined,
            ..usual.clone()
        };
        assert_eq!(task(joined(2)), Some(Task::GeometricRepack));
        assert_eq!(task(joined(3)), Some(Task::FullRepack));
        let loose = |loose| State {
            loose,
            ..usual.clone()
        };
        assert_eq!(task(loose(99)), None);
        assert_eq!(task(loose(100)), Some(Task::GeometricRepack));
        let marked = |with_bitmaps, joined| State {
            wants_bitmaps: true,
            with_bitmaps,
            joined,
            ..usual.clone()
        };
        assert_eq!(task(marked(None, 0)), Some(Task::FullRepack));
        assert_eq!(task(marked(Some(499), 0)), Some(Task::FullRepack));
        assert_eq!(task(marked(Some(500), 0)), None);
        assert_eq!(task(marked(Some(900), 2)), Some(Task::GeometricRepack));
        let empty = State {
            packs: 0,
            packed: 0,
            ..marked(None, 0)
        };
        assert_eq!(task(empty), None);
    }
}
