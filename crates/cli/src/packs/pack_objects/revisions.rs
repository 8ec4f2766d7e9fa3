//! What a pack is asked for by revisions, as git-upload-pack asks: `--revs`.

use crate::failure::Failure;
use crate::output::Output;
use crate::packs::rev_list::revisions::Revisions;
use bstr::{BStr, ByteSlice};
use hedgerow_git::repository::Repository;
use hedgerow_pack::{ObjectId, ObjectKind};
use hedgerow_reach::{Filter, Question, Source, Tip};
use hedgerow_serve::Tag;

/// The revisions that standard input names, one a line, up to an empty line.
pub fn tips(
    repository: &Repository,
    source: Source<'_>,
    output: &Output,
) -> Result<Vec<Tip>, Failure> {
    let mut revisions = Revisions::new(repository, source, true, output);
    revisions.add_from_input()?;
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
    let mut revisions = Revisions::new(repository, source, true, output);
    if all {
        revisions.option("--all".into(), &mut std::iter::empty())?;
    }
    revisions.add_from_input()?;
    let mut question = Question {
        filter,
        threads,
        ..Question::default()
    };
    for tip in revisions.tips {
        match tip.is_uninteresting {
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
    let mut tags = Vec::new();
    for reference in repository.references_below(BStr::new(b"refs/tags/"))? {
        let Some(id) = reference.id else { continue };
        // What is broken goes with nothing.
        let Ok(ObjectKind::Tag) = repository.object_kind(&id) else {
            continue;
        };
        if let Ok(Some(target)) = repository.peel(&id, None) {
            tags.push(Tag { id, target });
        }
    }
    Ok(tags)
}
