//! Completions and manual pages, generated from the definition of the command line.

mod candidates;
mod manual;
mod sections;
mod values;

use crate::applets;
use crate::arguments::{Arguments, Generate, Shell};
use crate::failure::Failure;
use crate::global::Global;
use crate::help::reference;
use crate::output::Output;
use crate::walk::not_started;
use clap::CommandFactory;

pub fn run(what: &Generate, global: &Global, output: &Output) -> Result<u8, Failure> {
    let text = match what {
        Generate::Completions { shell } => script(*shell).to_owned(),
        Generate::Reference { command } => reference_page(command.as_deref())?,
        Generate::Man { list: true, .. } => pages().join("\n") + "\n",
        Generate::Man { command, .. } => page(command)?,
        Generate::Candidates { program, words } => {
            let command = applet_or_own(program)?;
            output.data(&candidates::list(command, words, global));
            return Ok(0);
        }
    };
    output.data(text.as_bytes());
    Ok(0)
}

/// The definition of a program: hedgerow's own or that of a tool.
fn applet_or_own(program: &str) -> Result<clap::Command, Failure> {
    if program == "hedgerow" {
        return Ok(Arguments::command());
    }
    let tool = applets::command(program);
    tool.ok_or_else(|| not_started(format_args!("there is no program '{program}'")))
}

/// What a shell has to read for completions.
fn script(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => include_str!("completions/hedgerow.bash"),
        Shell::Zsh => include_str!("completions/hedgerow.zsh"),
        Shell::Fish => include_str!("completions/hedgerow.fish"),
    }
}

/// The page of a command in the reference of the documentation.
fn reference_page(name: Option<&str>) -> Result<String, Failure> {
    let mut command = Arguments::command();
    command.build();
    let Some(name) = name else {
        return Ok(reference::list(&command));
    };
    let found = command.find_subcommand(name);
    let found = found.ok_or_else(|| not_started(format_args!("there is no command '{name}'")))?;
    Ok(reference::page(found, &format!("hedgerow {name}")))
}

/// The manual page of a command or a tool.
fn page(names: &[String]) -> Result<String, Failure> {
    if let [name] = names {
        if let Some(mut tool) = applets::command(name) {
            tool.build();
            return Ok(manual::page(&tool, &[name]));
        }
    }
    let mut command = Arguments::command();
    command.build();
    let mut found = &command;
    for name in names {
        let inner = found.find_subcommand(name);
        found = inner.ok_or_else(|| {
            not_started(format_args!("there is no command '{}'", names.join(" ")))
        })?;
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok(manual::page(found, &[&["hedgerow"], &names[..]].concat()))
}

/// What to give `generate man` for each page: nothing for that of hedgerow itself, the words of a
/// command, the name of a tool.
fn pages() -> Vec<String> {
    let mut pages = Vec::new();
    let mut command = Arguments::command();
    command.build();
    add_pages("", &command, &mut pages);
    pages.extend(applets::names().map(str::to_owned));
    pages
}

fn add_pages(words: &str, command: &clap::Command, pages: &mut Vec<String>) {
    pages.push(words.to_owned());
    for inner in manual::subcommands(command) {
        let words = format!("{words} {}", inner.get_name());
        add_pages(words.trim_start(), inner, pages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a user of a page can rely on finding there.
    const SECTIONS: [&str; 8] = [
        ".SH NAME",
        ".SH SYNOPSIS",
        ".SH DESCRIPTION",
        ".SH \"EXIT STATUS\"",
        ".SH ENVIRONMENT",
        ".SH EXAMPLES",
        ".SH \"SEE ALSO\"",
        ".SH OPTIONS",
    ];

    #[test]
    fn every_page_has_every_section() {
        let pages = pages();
        assert!(pages.len() > 60, "{}", pages.len());
        for words in pages {
            let names: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            let text = page(&names).ok().unwrap();
            for section in SECTIONS {
                let lines = text.lines().filter(|line| *line == section).count();
                assert_eq!(lines, 1, "'{words}' has {section} {lines} times");
            }
            for line in text.lines() {
                let is_text = !line.starts_with('.');
                assert!(!is_text || line.len() <= 80, "{words}: {line}");
                assert!(!line.is_empty() && !line.ends_with(' '), "{words}: {text}");
            }
        }
    }

    #[test]
    fn examples_belong_to_pages_and_parse() {
        let pages = pages();
        for (name, examples) in crate::help::examples::all() {
            let is_known = name == "hedgerow" || pages.iter().any(|page| page == name);
            assert!(is_known, "there is no page for the examples of '{name}'");
            for line in examples.iter().flat_map(|example| &example.lines) {
                let used = line.split(" | ").any(parses);
                assert!(used || line.starts_with("git "), "{name}: {line}");
            }
        }
    }

    /// Whether this is a command that is understood. Words in quotes have no blanks that matter here.
    fn parses(line: &str) -> bool {
        let line = line.split(['<', '>']).next().unwrap_or_default();
        let mut words: Vec<String> = Vec::new();
        for (number, part) in line.split('\'').enumerate() {
            if number % 2 == 1 {
                words.push(part.to_owned());
            } else {
                words.extend(part.split_whitespace().map(str::to_owned));
            }
        }
        let Some(program) = words.first().cloned() else {
            return false;
        };
        let Ok(command) = applet_or_own(&program) else {
            return false;
        };
        let own = program == "hedgerow";
        let words: Vec<std::ffi::OsString> = words.into_iter().map(Into::into).collect();
        let spelled = if own {
            crate::words::spelled(words).ok()
        } else {
            applets::translated(&program, words)
        };
        spelled.is_some_and(|words| command.try_get_matches_from(words).is_ok())
    }
}
