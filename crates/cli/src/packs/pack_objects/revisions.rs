//! What a pack is asked for by revisions, as git-upload-pack asks: `--revs`.

use crate::failure::Failure;
use crate::output::Output;
use bstr::{BStr, ByteSlice};
use hedgerow_fs::StandardInput;
use hedgerow_git::reachability::{exists, RevisionArguments};
use hedgerow_git::repository::Repository;
use hedgerow_pack::ObjectId;
use hedgerow_reach::{Filter, Question, Source, Tip};
use hedgerow_serve::Tag;
use std::collections::HashSet;
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

/// Reads the hexadecimal ids that git-upload-pack sends: wants, `--not`, haves, an empty line.
/// `None` if there is anything else.
pub fn plain_question(input: &[u8], filter: Option<Filter>, threads: usize) -> Option<Question> {
    let mut question = Question {
        filter,
        threads,
        ..Question::default()
    };
    let mut is_not = false;
    for line in input.lines() {
        match line {
            b"" => break,
            b"--not" => is_not = !is_not,
            line => {
                let (negated, hex) = match line.strip_prefix(b"^") {
                    Some(hex) => (!is_not, hex),
                    None => (is_not, line),
                };
                let id = ObjectId::from_hex(hex).ok()?;
                match negated {
                    true => question.haves.push(id),
                    false => question.wants.push(id),
                }
            }
        }
    }
    Some(question)
}

/// The annotated tags among the references, with what they are of.
pub fn tags(repository: &Repository) -> Result<Vec<Tag>, Failure> {
    Ok(annotated(repository, &tagged(repository)?))
}

/// What the references to tags are: annotated tags, and whatever else is tagged.
pub fn tagged(repository: &Repository) -> Result<Vec<ObjectId>, Failure> {
    let references = repository.references_below(BStr::new(b"refs/tags/"))?;
    Ok(references.into_iter().filter_map(|tag| tag.id).collect())
}

/// The annotated tags among `ids` and the tags that those are of, each once, with what they are of
/// past all tags: who gets a tag of a tag gets both.
pub fn annotated(repository: &Repository, ids: &[ObjectId]) -> Vec<Tag> {
    let mut known = HashSet::new();
    let mut tags = Vec::new();
    for id in ids {
        // What is broken goes with nothing.
        let Ok((chain, target)) = repository.tag_chain(id) else {
            continue;
        };
        let new = chain.into_iter().filter(|id| known.insert(*id));
        tags.extend(new.map(|id| Tag { id, target }));
    }
    tags
}
