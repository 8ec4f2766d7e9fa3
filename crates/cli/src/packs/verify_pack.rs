//! `hedgerow verify-pack`: git-verify-pack(1).

use super::pack_objects::asked_threads;
use crate::environment;
use crate::execution::tell_threads;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use clap::Args;
use hedgerow::numbers::counted;
use hedgerow::pack::{chain_lengths, verify, HashKind, IndexOptions, PackError, PackedObject};
use hedgerow::plumbing::git::indexing::IndexingPlace;
use hedgerow::Execution;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Verify packs against their indexes
#[derive(Debug, Args)]
pub struct VerifyPack {
    /// Only print statistics of delta chains
    #[arg(short, long)]
    pub stat_only: bool,
    /// The hash function of the objects, outside of a repository
    #[arg(long, value_name = "sha1|sha256")]
    pub object_format: Option<String>,
    /// Packs, or their indexes
    #[arg(value_name = "PACK", required = true)]
    pub packs: Vec<PathBuf>,
}

pub fn run(command: &VerifyPack, global: &Global, output: &Output) -> Result<u8, Failure> {
    let place = IndexingPlace::find(&environment::of_git(global)?)?;
    let is_verbose = global.verbose > 0;
    let hash = match command.object_format.as_deref() {
        Some("sha256") => HashKind::Sha256,
        Some("sha1") => HashKind::Sha1,
        _ => place.hash(),
    };
    let options = IndexOptions {
        execution: Execution::with_threads(place.threads(asked_threads(None, global))?),
        unique: true,
        statistics: is_verbose || command.stat_only,
        ..IndexOptions::new(hash)
    };
    tell_threads(global, &options.execution, "pack.threads or the processors");
    let mut code = 0;
    for word in &command.packs {
        let shown = pack_of(word);
        let pack = environment::from_directory(global, &shown);
        match verify(&pack, &options) {
            Ok(indexed) => {
                if options.statistics {
                    output.data(statistics(&indexed.objects, command.stat_only).as_bytes());
                }
                if is_verbose && !command.stat_only {
                    output.data(format!("{}: ok\n", shown.display()).as_bytes());
                }
            }
            Err(error) => {
                output.error_line(format_args!("fatal: {}", words(&error, &shown)));
                if options.statistics {
                    output.data(format!("{}: bad\n", shown.display()).as_bytes());
                }
                code = 1;
            }
        }
    }
    Ok(code)
}

/// The pack that a word of the command line means: itself, or that of the index.
fn pack_of(word: &Path) -> PathBuf {
    let extension = word.extension().unwrap_or_default();
    if extension == "pack" {
        return word.to_owned();
    }
    if extension == "idx" {
        return word.with_extension("pack");
    }
    let mut name = word.as_os_str().to_owned();
    name.push(".pack");
    name.into()
}

fn words(error: &PackError, pack: &Path) -> String {
    let index = pack.with_extension("idx");
    let index = index.display();
    match error {
        PackError::BadIndex { .. } => format!("Cannot open existing pack idx file for '{index}'"),
        PackError::Fs(error) if error.is_missing() => {
            format!("Cannot open existing pack file '{index}'")
        }
        error => error.to_string(),
    }
}

/// What `-v` tells of each object, unless only the lengths of chains are wanted, which follow.
pub fn statistics(objects: &[PackedObject], chains_only: bool) -> String {
    let mut text = String::new();
    if !chains_only {
        objects
            .iter()
            .for_each(|object| describe(object, &mut text));
    }
    let chains = chain_lengths(objects);
    for (depth, count) in chains.iter().enumerate().filter(|(_, count)| **count > 0) {
        let label = match depth {
            0 => "non delta".to_owned(),
            depth => format!("chain length = {depth}"),
        };
        let _ = writeln!(text, "{label}: {}", counted(*count, "object"));
    }
    text
}

fn describe(object: &PackedObject, text: &mut String) {
    let PackedObject {
        id,
        kind,
        size,
        size_in_pack,
        offset,
        depth,
        base,
    } = object;
    let kind = kind.name();
    // Writing to a string does not fail.
    let _ = write!(text, "{id} {kind:<6} {size} {size_in_pack} {offset}");
    if let Some(base) = base {
        let _ = write!(text, " {depth} {base}");
    }
    text.push('\n');
}
