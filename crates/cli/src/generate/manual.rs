//! Manual pages in man(7), from the definition of a command.

use super::candidates::git_options;
use super::sections;
use crate::applets::{has_single_dash, option_names};
use crate::git_options::{GitOptions, Spelling};
use crate::help::examples;
use clap::{Arg, ArgAction, Command};
use std::fmt::Write;

/// Lines of text are broken before this column.
const WIDTH: usize = 76;
/// When this version was released: the date of every page.
const RELEASED: &str = "2026-11-23";

/// The page of a command; `names` are the program and the words of the command.
pub fn page(command: &Command, names: &[&str]) -> String {
    let title = names.join("-");
    let mut page = Page::default();
    let version = env!("CARGO_PKG_VERSION");
    page.line(&format!(
        ".TH {} 1 {RELEASED} \"hedgerow {version}\" \"User Commands\"",
        title.to_uppercase()
    ));
    page.section("NAME");
    let about = command.get_about().map(ToString::to_string);
    let about = about.unwrap_or_default();
    page.text(&format!("{title} - {about}"));
    page.section("SYNOPSIS");
    synopsis(command, names, &mut page);
    page.section("DESCRIPTION");
    let long = command.get_long_about().map(ToString::to_string);
    page.paragraphs(long.as_deref().unwrap_or(&about));
    let after = command.get_after_long_help().or(command.get_after_help());
    if let Some(after) = after.map(ToString::to_string) {
        page.line(".PP");
        page.paragraphs(&after);
    }
    commands(command, &title, &mut page);
    options(command, names, &mut page);
    listed("EXIT STATUS", sections::exit_status(names), &mut page);
    listed("ENVIRONMENT", sections::environment(names), &mut page);
    page.section("EXAMPLES");
    let key = if names.len() == 1 { names } else { &names[1..] };
    for (number, example) in examples::of(&key.join(" ")).iter().enumerate() {
        if number > 0 {
            page.line(".PP");
        }
        page.text(example.what);
        page.verbatim(example.lines.iter().copied());
    }
    page.section("SEE ALSO");
    see_also(&sections::see_also(command, names), &mut page);
    page.text
}

/// The subcommands that have pages.
pub fn subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    let all = command.get_subcommands();
    all.filter(|inner| !inner.is_hide_set() && inner.get_name() != "help")
}

fn synopsis(command: &Command, names: &[&str], page: &mut Page) {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:");
    let program = names.join(" ");
    for (number, line) in usage.lines().map(str::trim).enumerate() {
        if number > 0 {
            page.line(".br");
        }
        match line.strip_prefix(&program) {
            Some(rest) => {
                page.line(&format!(".B {}", escaped(&program)));
                page.text(rest.trim());
            }
            None => page.text(line),
        }
    }
}

fn commands(command: &Command, title: &str, page: &mut Page) {
    if subcommands(command).next().is_none() {
        return;
    }
    page.section("COMMANDS");
    for inner in subcommands(command) {
        page.line(".TP");
        let name = format!("{title}-{}", inner.get_name());
        page.line(&format!(".BR {} (1)", escaped(&name)));
        let about = inner.get_about().map(ToString::to_string);
        page.text(&about.unwrap_or_default());
    }
}

/// Options, then operands. Those of every command are described on the first page only.
fn options(command: &Command, names: &[&str], page: &mut Page) {
    page.section("OPTIONS");
    let is_first = names.len() == 1;
    let shown = |arg: &&Arg| !arg.is_hide_set() && (is_first || !arg.is_global_set());
    let git = git_options(&names[1..]);
    for arg in command.get_arguments().filter(shown) {
        let head = if has_single_dash(names[0]) {
            single_head(arg)
        } else {
            head(arg, git)
        };
        // What only clap knows, and the command does not take.
        if head.is_empty() {
            continue;
        }
        page.line(".TP");
        page.line(&head);
        let help = arg.get_long_help().or(arg.get_help());
        let mut help = help.map(ToString::to_string).unwrap_or_default();
        let values = arg.get_possible_values();
        let values: Vec<&str> = values.iter().map(|it| it.get_name()).collect();
        if !values.is_empty() && takes_value(arg) && !arg.is_hide_possible_values_set() {
            let _ = write!(help, " (one of: {})", values.join(", "));
        }
        let default: Vec<_> = arg.get_default_values().iter().collect();
        if let ([default], true, false) = (
            default.as_slice(),
            takes_value(arg),
            help.contains("[default"),
        ) {
            let _ = write!(help, " [default: {}]", default.to_string_lossy());
        }
        let others = option_names(arg).skip(1).map(|name| format!("-{name}"));
        let others: Vec<String> = others.collect();
        if has_single_dash(names[0]) && !others.is_empty() {
            let _ = write!(help, " (also {})", others.join(", "));
        }
        page.text(&help);
    }
    if !is_first {
        page.line(".PP");
        page.text("Options of every command are described in");
        page.line(".BR hedgerow (1).");
    }
}

fn takes_value(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

/// An option of a tool whose options begin with a single dash.
fn single_head(arg: &Arg) -> String {
    let values = arg.get_value_names().unwrap_or_default();
    let values: Vec<&str> = values.iter().map(|name| name.as_str()).collect();
    let value = format!("\\fI{}\\fR", escaped(&values.join(" ")));
    if arg.is_positional() {
        return value;
    }
    let name = arg.get_long().map(escaped);
    let mut head = name.map_or_else(String::new, |name| format!("\\fB\\-{name}\\fR"));
    if !head.is_empty() && takes_value(arg) {
        let _ = write!(head, " {value}");
    }
    head
}

/// An option with its spellings and its value, or an operand.
fn head(arg: &Arg, git: Option<&GitOptions>) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    let value = format!("\\fI{}\\fR", escaped(&names.join(" ")));
    if arg.is_positional() {
        return value;
    }
    let Spelling { letter, long } = Spelling::of(arg, git);
    let letter = letter.map(|letter| format!("\\fB\\-{letter}\\fR"));
    let long = long.map(|long| format!("\\fB\\-\\-{}\\fR", escaped(&long)));
    let is_optional = arg.get_num_args().is_some_and(|it| it.min_values() == 0);
    let spellings: Vec<String> = letter.into_iter().chain(long.clone()).collect();
    let mut head = spellings.join(", ");
    if !head.is_empty() && takes_value(arg) && !names.is_empty() {
        let equals = if long.is_some() { "=" } else { "" };
        if is_optional {
            let _ = write!(head, "[{equals}{value}]");
        } else if long.is_some() {
            let _ = write!(head, "={value}");
        } else {
            let _ = write!(head, " {value}");
        }
    }
    head
}

fn listed(title: &str, items: Vec<(&str, &str)>, page: &mut Page) {
    page.section(title);
    for (name, meaning) in items {
        page.line(".TP");
        page.line(&format!(".B {}", escaped(name)));
        page.text(meaning);
    }
}

fn see_also(pages: &[(String, u8)], page: &mut Page) {
    for (number, (name, section)) in pages.iter().enumerate() {
        let end = if number + 1 < pages.len() { "," } else { "" };
        page.line(&format!(".BR {} ({section}){end}", escaped(name)));
    }
}

/// A page in the making.
#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn section(&mut self, title: &str) {
        let quote = if title.contains(' ') { "\"" } else { "" };
        self.line(&format!(".SH {quote}{title}{quote}"));
    }

    /// Text that is filled.
    fn text(&mut self, text: &str) {
        let mut line = String::new();
        for word in text.split_whitespace() {
            let word = escaped(word);
            if !line.is_empty() && line.len() + 1 + word.len() > WIDTH {
                self.line(&protected(&line));
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&word);
        }
        if !line.is_empty() {
            self.line(&protected(&line));
        }
    }

    /// Paragraphs with empty lines between them. What is indented, or a table, stays as it is.
    fn paragraphs(&mut self, text: &str) {
        let paragraphs = text.split("\n\n").filter(|text| !text.trim().is_empty());
        for (number, paragraph) in paragraphs.enumerate() {
            if number > 0 {
                self.line(".PP");
            }
            if paragraph.lines().any(|line| line.starts_with("  ")) {
                self.line(".nf");
                paragraph
                    .lines()
                    .for_each(|line| self.line(&protected(&escaped(line.trim_end()))));
                self.line(".fi");
            } else {
                self.text(paragraph);
            }
        }
    }

    fn verbatim<'t>(&mut self, lines: impl Iterator<Item = &'t str>) {
        self.line(".PP");
        self.line(".in +4n");
        self.line(".nf");
        lines.for_each(|line| self.line(&protected(&escaped(line))));
        self.line(".fi");
        self.line(".in");
    }
}

/// With the characters escaped that troff takes for something else.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut before = None;
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\e"),
            // A hyphen within a word stays one; one that is typed is a minus.
            '-' if !before.is_some_and(char::is_alphabetic) => escaped.push_str("\\-"),
            '\'' => escaped.push_str("\\(aq"),
            '^' => escaped.push_str("\\(ha"),
            '~' => escaped.push_str("\\(ti"),
            '`' => escaped.push_str("\\(ga"),
            other => escaped.push(other),
        }
        before = Some(character);
    }
    escaped
}

/// A line that begins like a request is text all the same.
fn protected(line: &str) -> String {
    if line.starts_with('.') {
        format!("\\&{line}")
    } else {
        line.to_owned()
    }
}
