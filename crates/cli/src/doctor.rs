//! `hedgerow doctor`: what is here, and what would be faster.

use crate::environment;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::{shown, Output};
use clap::Args;
use hedgerow::doctor::{advise, examine, Advice, Facts, RepositoryFacts, Standing};
use serde_json::{json, Value};
use std::fmt::Write;
use std::path::PathBuf;

/// Something keeps commands from running as they should.
const FOUND_PROBLEM: u8 = 1;

/// Check a directory, its repository and the machine, and say what would make commands faster
///
/// Changes nothing. Prints the version, the file system, limits of the machine, git's version and the
/// settings that matter, then what would help, why, and the command to run. Exits with 1 if
/// something keeps commands from running as they should.
///
/// --json prints one document, schema hedgerow.doctor.v1.
#[derive(Debug, Args)]
pub struct Doctor {
    /// The directory to check [default: the current one]
    #[arg(value_name = "DIR")]
    pub examined: Option<PathBuf>,
}

pub fn run(command: &Doctor, global: &Global, output: &Output) -> Result<u8, Failure> {
    let environment = environment::of_git(global)?;
    let directory = match &command.examined {
        Some(named) => environment.cwd.join(named),
        None => environment.cwd.clone(),
    };
    let facts = examine(&directory, &environment);
    let facts = facts?;
    let advice = advise(&facts);
    if global.json {
        output.data(format!("{:#}\n", document(&facts, &advice)).as_bytes());
    } else {
        output.data(shown(text(&facts, &advice)).as_bytes());
    }
    let has_problem = advice.iter().any(|it| it.standing == Standing::Problem);
    Ok(if has_problem { FOUND_PROBLEM } else { 0 })
}

/// Fields are only ever added.
fn document(facts: &Facts, advice: &[Advice]) -> Value {
    let limits = &facts.limits;
    let advised = advice.iter().map(|it| {
        json!({
            "kind": if it.standing == Standing::Problem { "problem" } else { "faster" },
            "why": it.why,
            "fix": it.fix,
        })
    });
    json!({
        "schema": "hedgerow.doctor.v1",
        "version": env!("CARGO_PKG_VERSION"),
        "directory": facts.directory.display().to_string(),
        "file_system": {
            "name": facts.file_system.name,
            "magic": facts.file_system.magic,
            "is_network": facts.file_system.is_network(),
        },
        "limits": {
            "processors": limits.processors,
            "descriptors": limits.descriptors,
            "threads": limits.threads,
            "watches": limits.watches,
        },
        "git_version": facts.git_version,
        "repository": facts.repository.as_ref().map(repository),
        "advice": advised.collect::<Vec<_>>(),
    })
}

fn repository(found: &RepositoryFacts) -> Value {
    let settings = found.settings.iter();
    let settings = settings.map(|it| (it.key.to_owned(), json!(it.value)));
    let settings: serde_json::Map<String, Value> = settings.collect();
    json!({
        "git_dir": found.git_dir.display().to_string(),
        "work_tree": found.work_tree.as_ref().map(|path| path.display().to_string()),
        "settings": settings,
        "tracked": found.tracked,
        "has_untracked_cache": found.has_untracked_cache,
        "packs": found.packs,
        "has_multi_pack_index": found.has_multi_pack_index,
        "has_bitmaps": found.has_bitmaps,
        "has_commit_graph": found.has_commit_graph,
        "loose_objects": found.loose_objects,
    })
}

fn text(facts: &Facts, advice: &[Advice]) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        // Writing to memory does not fail.
        let _ = writeln!(text, "{name:<15} {value}");
    };
    let limits = &facts.limits;
    line("hedgerow", env!("CARGO_PKG_VERSION"));
    line("git", facts.git_version.as_deref().unwrap_or("not found"));
    line("directory", &facts.directory.display().to_string());
    let place = if facts.file_system.is_network() {
        " (over the network)"
    } else {
        ""
    };
    line("file system", &format!("{}{place}", facts.file_system));
    line("processors", &limits.processors.to_string());
    line("open files", &limits.descriptors.to_string());
    line("threads", &or(limits.threads, "no limit"));
    line("inotify watches", &or(limits.watches, "not known"));
    match &facts.repository {
        None => line("repository", "none"),
        Some(found) => {
            line("repository", &found.git_dir.display().to_string());
            line("tracked files", &found.tracked.to_string());
            line("packs", &packs(found));
            line("loose objects", &format!("about {}", found.loose_objects));
            let set = found.settings.iter();
            for setting in set {
                let value = setting.value.as_deref().unwrap_or("not set");
                line("setting", &format!("{} {value}", setting.key));
            }
        }
    }
    for it in advice {
        let label = match it.standing {
            Standing::Problem => "problem",
            Standing::Faster => "faster",
        };
        let _ = write!(text, "\n{label}: {}\n  {}\n", it.why, it.fix);
    }
    if advice.is_empty() {
        text.push_str("\nNothing to improve.\n");
    }
    text
}

fn packs(found: &RepositoryFacts) -> String {
    let parts = [
        (found.has_multi_pack_index, "multi-pack-index"),
        (found.has_bitmaps, "bitmaps"),
        (found.has_commit_graph, "commit-graph"),
    ];
    let there = parts.iter().filter(|(is_there, _)| *is_there);
    let there: Vec<&str> = there.map(|(_, name)| *name).collect();
    match there.as_slice() {
        [] => found.packs.to_string(),
        there => format!("{}, with {}", found.packs, there.join(", ")),
    }
}

fn or(number: Option<u64>, absent: &str) -> String {
    number.map_or_else(|| absent.to_owned(), |number| number.to_string())
}
