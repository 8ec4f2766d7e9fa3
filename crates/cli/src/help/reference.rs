//! The reference of the documentation: Markdown of a command's page, from its definition.

use super::examples;
use super::short::specification;
use clap::{Arg, Command};
use std::fmt::Write;

/// The list of all commands, each with a link to its page.
pub fn list(command: &Command) -> String {
    let mut text = String::from("# Commands\n\n| command | what it does |\n| --- | --- |\n");
    let mut commands: Vec<&Command> = shown(command).collect();
    commands.sort_by_key(|inner| inner.get_name());
    for inner in commands {
        let (name, about) = (inner.get_name(), about(inner));
        let _ = writeln!(text, "| [{name}]({name}.md) | {about} |");
    }
    text.push_str("\n## Options of every command\n\n");
    for arg in command.get_arguments().filter(|arg| !arg.is_positional()) {
        text.push_str(&option(arg));
    }
    text
}

/// The page of `command`, whose name is `name`, with its subcommands.
pub fn page(command: &Command, name: &str) -> String {
    let mut text = String::new();
    section(&mut text, command, name, "#");
    for inner in shown(command) {
        let name = format!("{name} {}", inner.get_name());
        text.push('\n');
        section(&mut text, inner, &name, "##");
    }
    text
}

fn section(text: &mut String, command: &Command, name: &str, level: &str) {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.lines().map(|line| line.get(7..).unwrap_or_default());
    let usage: Vec<&str> = usage.collect();
    let _ = writeln!(text, "{level} {name}\n\n{}.\n", about(command));
    let _ = writeln!(text, "```text\n{}\n```", usage.join("\n"));
    if let Some(long) = command.get_long_about().map(ToString::to_string) {
        let more = long.split_once("\n\n").map(|(_, more)| more);
        if let Some(more) = more {
            let _ = writeln!(text, "\n{}", escaped(more));
        }
    }
    for (title, is_positional) in [("Arguments", true), ("Options", false)] {
        let own = command.get_arguments().filter(|arg| {
            let is_own =
                !arg.is_global_set() && !["help", "version"].contains(&arg.get_id().as_str());
            is_own && !arg.is_hide_set() && arg.is_positional() == is_positional
        });
        let own: Vec<&Arg> = own.collect();
        if !own.is_empty() {
            let _ = writeln!(text, "\n**{title}**\n");
            own.iter().for_each(|arg| text.push_str(&option(arg)));
        }
    }
    let of_command = name.trim_start_matches("hedgerow ");
    let examples = examples::of(of_command);
    if !examples.is_empty() {
        text.push_str("\n**Examples**\n\n```sh\n");
        for example in &examples {
            let _ = writeln!(text, "# {}", example.what.trim_end_matches(':'));
            example.lines.iter().for_each(|line| {
                let _ = writeln!(text, "{line}");
            });
        }
        text.push_str("```\n");
    }
}

/// An entry of a list.
fn option(arg: &Arg) -> String {
    let spec = if arg.is_positional() {
        let names = arg.get_value_names().unwrap_or_default();
        names
            .iter()
            .map(|it| it.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    } else {
        specification(arg)
    };
    let help = arg.get_long_help().or(arg.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    let help = escaped(&help.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut notes = Vec::new();
    let takes_value = arg.get_action().takes_values();
    let usual: Vec<_> = arg
        .get_default_values()
        .iter()
        .map(|it| it.to_string_lossy())
        .collect();
    if takes_value && !usual.is_empty() && !arg.is_hide_default_value_set() {
        notes.push(format!("default: {}", usual.join(" ")));
    }
    let possible = arg.get_possible_values();
    if takes_value && !possible.is_empty() {
        let names: Vec<&str> = possible
            .iter()
            .map(clap::builder::PossibleValue::get_name)
            .collect();
        notes.push(format!("one of: {}", names.join(", ")));
    }
    let notes = if notes.is_empty() {
        String::new()
    } else {
        format!(" ({})", notes.join("; "))
    };
    format!("- `{spec}`: {help}{notes}\n")
}

fn about(command: &Command) -> String {
    escaped(
        &command
            .get_about()
            .map(ToString::to_string)
            .unwrap_or_default(),
    )
}

/// Marks that Markdown would take for its own.
fn escaped(text: &str) -> String {
    text.replace('<', "&lt;")
        .replace('*', "\\*")
        .replace('|', "\\|")
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    let visible = command.get_subcommands().filter(|it| !it.is_hide_set());
    visible.filter(|it| it.get_name() != "help")
}
