//! Options that do not go together, in git's words.

use super::PackObjects;
use crate::failure::Failure;

pub fn check(command: &PackObjects) -> Result<(), Failure> {
    if let Some(mode) = &command.stdin_packs {
        if !matches!(mode.as_str(), "" | "follow") {
            let words = format!("invalid value for 'stdin-packs': '{mode}'");
            return Err(Failure::fatal(words));
        }
    }
    if command.stdout && command.max_pack_size.is_some_and(|limit| limit > 0) {
        let words = "--max-pack-size cannot be used to build a pack for transfer";
        return Err(Failure::fatal(words));
    }
    if !command.stdout && command.thin {
        let words = "--thin cannot be used to build an indexable pack";
        return Err(Failure::fatal(words));
    }
    if command.stdin_packs.is_some() && !command.filter.is_empty() {
        return Err(not_together("--stdin-packs", "--filter"));
    }
    let reaches = command.revs
        || command.all
        || command.reflog
        || command.indexed_objects
        || command.thin
        || command.keep_unreachable
        || command.pack_loose_unreachable;
    if command.stdin_packs.is_some() && reaches {
        let words = "cannot use internal rev list with --stdin-packs";
        return Err(Failure::fatal(words));
    }
    Ok(())
}

pub fn not_together(one: &str, other: &str) -> Failure {
    let words = format!("options '{one}' and '{other}' cannot be used together");
    Failure::fatal(words)
}
