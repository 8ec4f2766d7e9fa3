//! Switches the working tree in the current directory to a branch or commit, and shows how far it is:
//! `cargo run --example checkout -- v1.30.0`.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own prints, and reads its environment"
)]

use hedgerow::checkout::{switch, Outcome, SwitchOptions, Target};
use hedgerow::{Environment, Execution, Repository, Stage};
use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let revision = std::env::args().nth(1).ok_or("which revision?")?;
    let environment = Environment::from_vars(std::env::vars_os(), std::env::current_dir()?)?;
    let repository = Repository::discover(&environment)?;
    let target = Target::of_revision(&repository, revision.as_str().into())?;
    let options = SwitchOptions {
        execution: Execution::default(),
        ..SwitchOptions::default()
    };
    let is_done = AtomicBool::new(false);
    let switched = std::thread::scope(|threads| {
        let files = options.execution.progress.stage(Stage::Files);
        threads.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                eprint!("\r{} of {} files", files.done(), files.total());
                std::thread::sleep(Duration::from_millis(100));
            }
            eprintln!();
        });
        let switched = switch(&repository, &target, &options);
        is_done.store(true, Ordering::Relaxed);
        switched
    })?;
    match switched.outcome {
        Outcome::Done(done) | Outcome::Incomplete(done) => {
            println!("{} files written, {} removed", done.written, done.removed);
            for failure in &done.failures {
                eprintln!("error: {}", failure.reason);
            }
            Ok(())
        }
        Outcome::Rejected(_) => Err("local changes would be lost: nothing was touched".into()),
        Outcome::Unmerged(paths) => Err(format!("{} paths are in conflict", paths.len()).into()),
    }
}
