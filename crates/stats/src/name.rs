//! What is told of the command that was recorded.

use hedgerow_engine::{Jobs, Statistics};
use std::ffi::OsString;

/// Commands whose subcommands differ in what they do.
const WITH_SUBCOMMANDS: [&str; 2] = ["image", "worktree"];

/// Notes in `statistics` what was run: `words` are those of the command line from the command on, of
/// which its name and that of its subcommand are kept, and no option or path. `jobs`: how many workers
/// were asked for.
pub fn name(statistics: &mut Statistics, words: &[OsString], jobs: Jobs) {
    statistics.command = words.split_first().map(|(name, rest)| {
        let has_subcommands = WITH_SUBCOMMANDS.iter().any(|it| name == it);
        let is_option = |word: &&OsString| word.as_encoded_bytes().starts_with(b"-");
        let subcommand = rest.iter().find(|word| !is_option(word));
        let words = std::iter::once(name).chain(subcommand.filter(|_| has_subcommands));
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    });
    statistics.jobs = match jobs {
        Jobs::Fixed(count) => Some(count.get()),
        Jobs::Auto => None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroUsize;

    #[test]
    fn the_command_is_named_without_paths_and_options() {
        let mut statistics = Statistics::default();
        for (words, expected) in [
            ("image -f create secret.tar x", Some("image create")),
            ("checkout -f secret", Some("checkout")),
            ("image", Some("image")),
        ] {
            let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
            name(&mut statistics, &words, Jobs::Auto);
            assert_eq!(statistics.command.as_deref(), expected);
            assert_eq!(statistics.jobs, None);
        }
        name(&mut statistics, &[], Jobs::Fixed(NonZeroUsize::MIN));
        assert_eq!((statistics.command, statistics.jobs), (None, Some(1)));
    }
}
