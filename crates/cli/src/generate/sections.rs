//! What manual pages say besides the options: exit codes, variables, related pages.

use super::manual::subcommands;
use clap::Command;

/// A term and its meaning.
type Term = (&'static str, &'static str);

/// Commands with git's options, whose manual says more.
const OF_GIT: &str = "\
    archive cat-file checkout checkout-index clean clone diff-files diff-index fetch index-pack ls-files \
    maintenance merge multi-pack-index pack-objects read-tree repack reset restore rev-list \
    sparse-checkout stash status submodule switch verify-pack worktree";

/// Commands that have exit codes of their own, because git does not have them.
const OWN: &str = "image image-store mount shim stats unmount walk";

const DONE: Term = ("0", "Everything was done.");
const NOT_STARTED: Term = (
    "2",
    "The command could not start or go on, or its arguments are wrong.",
);
const SOME_FAILED: Term = (
    "3",
    "The command went on to its end, but some entries failed. Each was reported.",
);
const SIGNAL: Term = (
    "128+N",
    "What a shell reports if signal N ended the command, which removes its lock files and \
     temporary files first.",
);

pub fn exit_status(names: &[&str]) -> Vec<Term> {
    match names {
        ["sqfsdiff"] => vec![
            ("0", "The images are equal."),
            ("1", "They differ."),
            (
                "2",
                "Something could not be read, or the arguments are wrong.",
            ),
        ],
        ["unsquashfs"] => vec![
            DONE,
            (
                "1",
                "The command could not go on, or the arguments are wrong.",
            ),
            ("2", "Some entries failed. Each was reported."),
            SIGNAL,
        ],
        ["hedgerow"] => vec![
            DONE,
            (
                "1",
                "Something differs, or the command was refused and nothing was touched.",
            ),
            ("2", "A command that git does not have could not start."),
            SOME_FAILED,
            ("128", "A command of git's could not go on."),
            ("129", "The arguments of a command of git's are wrong."),
            SIGNAL,
        ],
        [_] => vec![
            DONE,
            ("1", "Something failed, or the arguments are wrong."),
            SIGNAL,
        ],
        [_, "image", "diff"] => vec![
            ("0", "The images are equal."),
            ("1", "They differ."),
            (
                "2",
                "Something could not be read, or the arguments are wrong.",
            ),
        ],
        [_, "image", "verify"] => vec![
            ("0", "The image has no errors."),
            ("1", "It has errors. Each was printed."),
            ("2", "It could not be opened, or the arguments are wrong."),
        ],
        [_, "doctor"] => vec![
            ("0", "Nothing keeps commands from running as they should."),
            ("1", "Something does; the advice names it."),
            NOT_STARTED,
            SIGNAL,
        ],
        [_, "tune"] => vec![
            DONE,
            ("1", "The measurements vary too much, and nothing was set."),
            NOT_STARTED,
            SIGNAL,
        ],
        [_, name, ..] if OWN.split(' ').any(|own| own == *name) => {
            vec![DONE, NOT_STARTED, SOME_FAILED, SIGNAL]
        }
        [_, "status"] => vec![
            (
                "0",
                "The status was shown, even if some files could not be read (as in git).",
            ),
            (
                "3",
                "The system gave no answer about some files, as after an input/output error. Each \
                 was reported.",
            ),
            ("128", "The command could not go on."),
            ("129", "The arguments are wrong."),
            SIGNAL,
        ],
        _ => vec![
            DONE,
            (
                "1",
                "The command was refused, and nothing was touched; or there are differences.",
            ),
            ("128", "The command could not go on."),
            ("129", "The arguments are wrong."),
            SIGNAL,
        ],
    }
}

pub fn environment(names: &[&str]) -> Vec<Term> {
    let mut terms = Vec::new();
    let makes_images = [["image", "create"], ["image", "to-tar"]];
    match names {
        ["gensquashfs" | "mksquashfs" | "sqfstar" | "tar2sqfs"] => terms.push(EPOCH),
        [_, "image", ..] if names.len() > 2 && !makes_images.contains(&[names[1], names[2]]) => {}
        [_, "image", ..] => terms.extend([EPOCH, REPOSITORY]),
        [_, "stats" | "walk"] | ["rdsquashfs" | "sqfs2tar" | "sqfsdiff" | "unsquashfs"] => {}
        [_, "tune"] => terms.push(REPOSITORY),
        _ => terms.extend(GIT),
    }
    terms.extend([COLORS, COLUMNS]);
    terms
}

const EPOCH: Term = (
    "SOURCE_DATE_EPOCH",
    "The time of the image, in seconds since 1970. Anything but such a number is refused.",
);
const REPOSITORY: Term = (
    "GIT_DIR, GIT_WORK_TREE, GIT_CEILING_DIRECTORIES",
    "Where the Git repository is, as for git(1).",
);
const GIT: [Term; 6] = [
    REPOSITORY,
    (
        "GIT_INDEX_FILE, GIT_OBJECT_DIRECTORY, GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "Other places for parts of the repository, as for git(1).",
    ),
    (
        "GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM, GIT_CONFIG_NOSYSTEM, GIT_CONFIG_COUNT",
        "Where the configuration is read from, as for git-config(1).",
    ),
    (
        "GIT_OPTIONAL_LOCKS",
        "If 0, nothing is written that the command does not need, such as a refreshed index.",
    ),
    (
        "GIT_LITERAL_PATHSPECS, GIT_GLOB_PATHSPECS, GIT_NOGLOB_PATHSPECS, GIT_ICASE_PATHSPECS",
        "What pathspecs mean, as for git(1).",
    ),
    (
        "GIT_PROGRESS_DELAY",
        "Seconds before progress is shown, in the commands where git waits.",
    ),
];
const COLORS: Term = ("NO_COLOR", "If set, messages have no colors.");
const COLUMNS: Term = ("COLUMNS", "Width of the terminal, in characters.");

/// Related pages with their sections.
pub fn see_also(command: &Command, names: &[&str]) -> Vec<(String, u8)> {
    let mut pages = Vec::new();
    let mut add = |name: String, section| pages.push((name, section));
    for end in (1..names.len()).rev() {
        add(names[..end].join("-"), 1);
    }
    for inner in subcommands(command) {
        add(format!("{}-{}", names.join("-"), inner.get_name()), 1);
    }
    match names {
        ["hedgerow"] => add("git".into(), 1),
        ["gensquashfs" | "mksquashfs" | "sqfstar" | "tar2sqfs"] => {
            add("hedgerow-image-create".into(), 1)
        }
        ["rdsquashfs" | "unsquashfs"] => add("hedgerow-image-extract".into(), 1),
        ["sqfs2tar"] => add("hedgerow-image-to-tar".into(), 1),
        ["sqfsdiff"] => add("hedgerow-image-diff".into(), 1),
        [_, "image", "create"] => {
            add("gensquashfs".into(), 1);
            add("tar2sqfs".into(), 1);
        }
        [_, "upload-pack-hook"] => add("git-upload-pack".into(), 1),
        [_, name, ..] if OF_GIT.split(' ').any(|it| it == *name) => add(format!("git-{name}"), 1),
        _ => {}
    }
    pages
}
