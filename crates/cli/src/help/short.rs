//! The page that `-h` prints: at most 25 lines, with examples. Options that do not fit are named.

use super::{examples, topics};
use clap::{Arg, Command};
use std::fmt::Write;

/// Lines of a page.
const LINES: usize = 25;
/// Characters of a line.
const COLUMNS: usize = 80;

/// The commands as `hedgerow -h` groups them.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Working trees",
        &[
            "clone",
            "fetch",
            "checkout",
            "switch",
            "restore",
            "reset",
            "status",
            "clean",
            "stash",
            "merge",
            "worktree",
            "sparse-checkout",
            "submodule",
            "archive",
            "ls-files",
            "diff-files",
            "diff-index",
            "read-tree",
            "checkout-index",
        ],
    ),
    (
        "Trees and images",
        &["walk", "image", "mount", "unmount", "image-store"],
    ),
    (
        "Packs and serving",
        &[
            "cat-file",
            "rev-list",
            "index-pack",
            "verify-pack",
            "pack-objects",
            "repack",
            "multi-pack-index",
            "bitmap",
            "reverse-index",
            "maintenance",
            "upload-pack-hook",
        ],
    ),
    (
        "Measuring, and git itself",
        &["doctor", "tune", "stats", "shim"],
    ),
];

const FIRST_STEPS: [&str; 3] = ["status", "checkout main", "image create src src.sqfs"];

/// The page of `command`, which is called `path`.
pub fn page(command: &Command, path: &str) -> String {
    match path.split_once(' ') {
        None => first_page(command),
        Some((_, name)) => page_of_command(command, path, name),
    }
}

fn first_page(command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string);
    let mut text = about.unwrap_or_default();
    text.push_str("\n\nUsage: hedgerow COMMAND [OPTIONS] [ARGUMENTS]\n\n");
    for (group, names) in GROUPS {
        let _ = writeln!(text, "{group}:");
        text.push_str(&filled("  ", &names.join(" ")));
    }
    text.push_str("\nExamples:\n");
    for example in FIRST_STEPS {
        let _ = writeln!(text, "  hedgerow {example}");
    }
    text.push_str("\n'hedgerow COMMAND -h' is a page for each; '--help' has everything.\n");
    text + &filled("", &topics::sentence())
}

fn page_of_command(command: &Command, path: &str, name: &str) -> String {
    let about = command.get_about().map(ToString::to_string);
    let mut head = filled("", &about.unwrap_or_default());
    let usage = command.clone().render_usage().to_string();
    let usage = usage.lines().take(4).map(str::trim_end);
    head += &format!("\n{}\n\n", usage.collect::<Vec<_>>().join("\n"));
    let mut tail = String::from("\n");
    let examples = examples::short(name);
    if !examples.is_empty() {
        tail.push_str("Examples:\n");
        examples.iter().for_each(|example| {
            let _ = writeln!(tail, "  {example}");
        });
    }
    let _ = writeln!(tail, "More: '{path} --help'");
    let global = "Every command: -C -j -q -v --[no-]progress --color --json --stats --trace\n";
    let free = LINES.saturating_sub(head.lines().count() + tail.lines().count() + 1);
    let mut rows = rows(command);
    if rows.is_empty() {
        return head + global + &tail;
    }
    let described = fitting(&rows, free);
    let rest = rows.split_off(described);
    let mut body = String::new();
    for row in &rows {
        let _ = writeln!(body, "  {}", row.line);
    }
    if !rest.is_empty() {
        let names: Vec<&str> = rest.iter().map(|row| row.name.as_str()).collect();
        body.push_str(&filled("  ", &format!("Also: {}", names.join(" "))));
    }
    head + &body + global + &tail
}

/// A subcommand or an option.
struct Row {
    name: String,
    line: String,
}

/// The subcommands, then the options of the command's own.
fn rows(command: &Command) -> Vec<Row> {
    let described = |spec: &str, help: &str| shortened(&format!("{spec:<26} {help}"));
    let subcommands = command
        .get_subcommands()
        .filter(|it| it.get_name() != "help");
    let subcommands = subcommands.filter(|it| !it.is_hide_set()).map(|it| Row {
        name: it.get_name().to_owned(),
        line: described(
            it.get_name(),
            &it.get_about().map(ToString::to_string).unwrap_or_default(),
        ),
    });
    let options = command.get_opts().chain(flags(command));
    let options = options.filter(|arg| !arg.is_positional() && !arg.is_global_set());
    let mut options: Vec<&Arg> = options.filter(|arg| !arg.is_hide_set()).collect();
    let order = |arg: &Arg| {
        command
            .get_arguments()
            .position(|it| it.get_id() == arg.get_id())
    };
    options.sort_by_key(|arg| order(arg));
    options.dedup_by_key(|arg| arg.get_id().clone());
    let options = options.into_iter().map(|arg| {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        Row {
            name: name_of(arg),
            line: described(&specification(arg), &help),
        }
    });
    subcommands.chain(options).collect()
}

/// `line`, up to a whole word if it is too long for a row.
fn shortened(line: &str) -> String {
    const ROW: usize = COLUMNS - 2;
    const MARK: &str = " ...";
    if line.chars().count() <= ROW {
        return line.to_owned();
    }
    let first: String = line.chars().take(ROW + 1 - MARK.len()).collect();
    let whole = first.rsplit_once(' ').map_or(&*first, |(whole, _)| whole);
    format!("{}{MARK}", whole.trim_end_matches([',', ';', ' ']))
}

fn flags(command: &Command) -> impl Iterator<Item = &Arg> {
    let others = ["help", "version"];
    let all = command.get_arguments();
    all.filter(move |arg| !others.contains(&arg.get_id().as_str()))
}

fn name_of(arg: &Arg) -> String {
    match (arg.get_short(), arg.get_long()) {
        (Some(letter), _) => format!("-{letter}"),
        (None, Some(long)) => format!("--{long}"),
        (None, None) => String::new(),
    }
}

/// An option as its line begins: `-b, --block-size SIZE`.
pub fn specification(arg: &Arg) -> String {
    let mut words = match (arg.get_short(), arg.get_long()) {
        (Some(letter), Some(long)) => format!("-{letter}, --{long}"),
        _ => name_of(arg),
    };
    if arg.get_action().takes_values() {
        let values = arg.get_value_names().unwrap_or_default();
        let value = values.iter().map(|it| it.as_str()).collect::<Vec<_>>();
        let is_optional = arg
            .get_num_args()
            .is_some_and(|count| count.min_values() == 0);
        let value = value.join(" ");
        words += &if is_optional {
            format!("[={value}]")
        } else {
            format!(" {value}")
        };
    }
    words
}

/// How many rows fit into `free` lines, with the names of the others below them.
fn fitting(rows: &[Row], free: usize) -> usize {
    if rows.len() <= free {
        return rows.len();
    }
    let fits = |count: &usize| {
        let names: Vec<&str> = rows[*count..].iter().map(|row| row.name.as_str()).collect();
        let also = filled("  ", &format!("Also: {}", names.join(" ")));
        count + also.lines().count() <= free
    };
    (0..rows.len()).rev().find(fits).unwrap_or(0)
}

/// `text` in lines of at most [`COLUMNS`] characters that begin with `indent`.
fn filled(indent: &str, text: &str) -> String {
    let mut lines = vec![indent.to_owned()];
    for word in text.split_whitespace() {
        if let Some(line) = lines.last_mut() {
            if line.len() > indent.len() && line.len() + 1 + word.len() > COLUMNS {
                lines.push(format!("{indent}{word}"));
            } else {
                if line.len() > indent.len() {
                    line.push(' ');
                }
                line.push_str(word);
            }
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::CommandFactory;

    fn check(command: &Command, path: &str) {
        let text = page(command, path);
        let lines = text.lines().count();
        assert!(lines <= LINES, "{path} has {lines} lines:\n{text}");
        for line in text.lines() {
            let is_usage = line.contains("sage:") || line.trim_start().starts_with("hedgerow ");
            assert!(line.len() <= 100, "{path}: {line}");
            assert!(is_usage || line.len() <= COLUMNS, "{path}: {line}");
        }
        for row in rows(command) {
            assert!(
                text.contains(&row.name),
                "{path} does not name {}",
                row.name
            );
        }
        for inner in command.get_subcommands() {
            if inner.get_name() != "help" && !inner.is_hide_set() {
                check(inner, &format!("{path} {}", inner.get_name()));
            }
        }
    }

    fn built() -> Command {
        let mut command = Arguments::command();
        command.build();
        command
    }

    #[test]
    fn every_page_fits_and_names_every_option() {
        let command = built();
        let text = page(&command, "hedgerow");
        assert!(text.lines().count() <= LINES, "{text}");
        for inner in command.get_subcommands() {
            let name = inner.get_name();
            if name != "help" && !inner.is_hide_set() {
                check(inner, &format!("hedgerow {name}"));
                let groups = GROUPS.iter().filter(|(_, names)| names.contains(&name));
                assert_eq!(groups.count(), 1, "{name}");
            }
        }
    }

    #[test]
    fn every_command_has_examples_of_its_own() {
        for command in built().get_subcommands().filter(|it| !it.is_hide_set()) {
            let name = command.get_name();
            assert!(
                name == "help" || !examples::short(name).is_empty(),
                "{name}"
            );
        }
    }
}
