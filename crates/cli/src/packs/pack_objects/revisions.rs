//! What a pack is asked for by revisions, as git-upload-pack asks: `--revs`.

use crate::failure::Failure;
use crate::output::Output;
use hedgerow::plumbing::git::reachability::{exists, RevisionArguments};
use hedgerow::plumbing::reach::{Filter, Question, Source, Tip};
use hedgerow::Repository;
use hedgerow_fs::StandardInput;
use std::io::BufReader;

/// The revisions that standard input names, one a line, up to an empty line.
pub fn tips(
    repository: &Repository,
    source: Source<'_>,
    output: &Output,
) -> Result<Vec<Tip>, Failure> {
    let warn = |warning| output.warn(warning);
    let mut revisions = RevisionArguments::new(repository, source, true, &warn);
    revisions.add_lines(BufReader::new(StandardInput))?;
    Ok(revisions.tips)
}

/// Reads revisions from standard input, one a line, up to an empty line; `all` references and
/// `HEAD` come before them.
pub fn question(
    repository: &Repository,
    source: Source<'_>,
    all: bool,
    filter: Option<Filter>,
    threads: usize,
    output: &Output,
) -> Result<Question, Failure> {
    let warn = |warning| output.warn(warning);
    let mut revisions = RevisionArguments::new(repository, source, true, &warn);
    if all {
        revisions.option("--all".into(), &mut std::iter::empty())?;
    }
    revisions.add_lines(BufReader::new(StandardInput))?;
    let mut question = Question {
        filter,
        threads,
        ..Question::default()
    };
    for tip in revisions.tips {
        match tip.is_uninteresting {
            // A partial clone may know of what it has not.
            true if !exists(repository, &tip.id)?
                && repository.partial_clone_remote().is_none() =>
            {
                return Err(Failure::fatal(format_args!("bad object {}", tip.id)));
            }
            true => question.haves.push(tip.id),
            false => question.wants.push(tip.id),
        }
    }
    if !question.is_set() {
        return Err(Failure::usage(
            "pack-objects does not support filters by depth; git does",
        ));
    }
    Ok(question)
}
