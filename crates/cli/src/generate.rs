//! Completions and manual pages, generated from the definition of the command line.

use crate::applets;
use crate::arguments::{Arguments, Generate};
use crate::failure::Failure;
use crate::help::reference;
use crate::output::Output;
use crate::walk::not_started;
use clap::CommandFactory;

pub fn run(what: &Generate, output: &Output) -> Result<u8, Failure> {
    let mut command = Arguments::command();
    let mut content = Vec::new();
    match what {
        Generate::Completions { shell } => {
            clap_complete::generate(*shell, &mut command, "hedgerow", &mut content);
        }
        Generate::Reference { command: name } => {
            command.build();
            content = reference_page(&command, name.as_deref())?.into_bytes();
        }
        Generate::Man { command: names } => {
            if let [name] = names.as_slice() {
                if let Some(tool) = applets::command(name) {
                    return written(tool, output);
                }
            }
            command.build();
            let mut title = "hedgerow".to_owned();
            for name in names {
                let found = command.find_subcommand(name).cloned();
                command = found.ok_or_else(|| {
                    not_started(format_args!("there is no command '{}'", names.join(" ")))
                })?;
                title = format!("{title}-{name}");
            }
            render(command.display_name(title), &mut content)?;
        }
    }
    output.data(&content);
    Ok(0)
}

fn reference_page(command: &clap::Command, name: Option<&str>) -> Result<String, Failure> {
    let Some(name) = name else {
        return Ok(reference::list(command));
    };
    let found = command.find_subcommand(name);
    let found = found.ok_or_else(|| not_started(format_args!("there is no command '{name}'")))?;
    Ok(reference::page(found, &format!("hedgerow {name}")))
}

/// Writes the manual page of a tool.
fn written(tool: clap::Command, output: &Output) -> Result<u8, Failure> {
    let mut content = Vec::new();
    render(tool, &mut content)?;
    output.data(&content);
    Ok(0)
}

fn render(command: clap::Command, content: &mut Vec<u8>) -> Result<(), Failure> {
    clap_mangen::Man::new(command)
        .render(content)
        .map_err(Failure::fatal)
}
