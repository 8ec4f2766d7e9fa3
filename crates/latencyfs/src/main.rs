//! `latencyfs`: serves one mount until it is unmounted. See `latencyfs --help`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::exit,
    reason = "a program of its own, not a part of hedgerow"
)]

mod arguments;
mod daemon;

use arguments::{parse, Arguments, Parsed, Run, USAGE};
use hedgerow_latencyfs::{unmount, Server};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let arguments = match parse(words.iter().cloned()) {
        Ok(Parsed::Run(arguments)) => *arguments,
        Ok(Parsed::Help) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(why) => {
            eprintln!("latencyfs: {why}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let done = match arguments.run {
        Run::StartDaemon => daemon::start(&words),
        Run::Foreground | Run::AsDaemon => serve(arguments).map(|()| ExitCode::SUCCESS),
    };
    done.unwrap_or_else(|error| {
        eprintln!("latencyfs: {error}");
        ExitCode::FAILURE
    })
}

fn serve(arguments: Arguments) -> io::Result<()> {
    // The kernel has already applied the caller's umask.
    rustix::process::umask(rustix::fs::Mode::empty());
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let server = Server::mount(
        &arguments.backing,
        &arguments.mount_point,
        arguments.settings,
    )?;
    if arguments.run == Run::AsDaemon {
        daemon::say_ready()?;
    }
    let mount_point = arguments.mount_point;
    std::thread::spawn(move || {
        for _ in signals.forever() {
            if let Err(error) = unmount(&mount_point) {
                eprintln!("latencyfs: {}: {error}", mount_point.display());
            }
        }
    });
    let counted = server.wait()?;
    match arguments.stats_file {
        Some(file) => write_stats(file, &counted.to_json()),
        None => Ok(()),
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "the file is the measurer's, outside of every tree that hedgerow writes"
)]
fn write_stats(file: PathBuf, text: &str) -> io::Result<()> {
    let named = |error| io::Error::other(format!("{}: {error}", file.display()));
    std::fs::write(&file, text).map_err(named)
}
