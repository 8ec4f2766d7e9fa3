//! hedgerow in the place of git.
//!
//! A directory with a link `git` to hedgerow stands first in `PATH` ([`install`]). Called as `git`,
//! hedgerow decides from the words and the environment whether it answers the call itself
//! ([`choose`]): a command of whose every option it knows the meaning is its own, everything else is
//! the real git's, which this process becomes at once ([`Handover`]). What turns out only later to be
//! git's, by the configuration for instance, is handed over in the same way, as long as nothing was
//! written or changed. What was read of the standard input by then is set back, or given to git first.
//!
//! Programs that git itself starts are found by git in its own directory of programs. For commands
//! that fetch, [`Handover`] names our directory as that one, so that `index-pack` and the check of
//! connectivity are hedgerow's there, too.

mod assisted;
mod choice;
mod globals;
mod handover;
mod links;
mod search;
mod table;
mod variables;

pub use assisted::{AssistedGit, Helper};
pub use choice::{choose, words_of_git, Gits, Ours};
pub use globals::{take, Misuse, Taken};
pub use handover::{Handover, HandoverError};
pub use links::{install, remove, state, LinksError, State};
pub use search::{find, Found};
pub use table::commands;
pub use variables::Variables;
