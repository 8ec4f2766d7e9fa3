//! A request of git-upload-pack to `git pack-objects`.

use super::NotAnswered;
use crate::tags::{annotated, tagged};
use crate::{ResponseKey, Tag};
use bstr::ByteSlice;
use hedgerow_git::reachability::is_grafted;
use hedgerow_git::repository::Repository;
use hedgerow_pack::ObjectId;
use hedgerow_reach::{Filter, Question};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// A request that can be answered here.
#[derive(Debug)]
pub struct Request {
    /// The requested objects.
    pub question: Question,
    /// The targets of tag references. The annotated tags among them are sent along with what they
    /// point to. Empty if tags are not requested.
    tagged: Vec<ObjectId>,
    /// Whether deltas may be against objects that the receiver has.
    pub thin: bool,
    /// Whether delta bases may be named by their offset.
    pub delta_base_offset: bool,
    /// Whether to report what was packed.
    pub progress: bool,
    /// The filter as it was given.
    pub filter: Option<String>,
}

impl Request {
    /// Parses the arguments of the command and its standard input. `NotAnswered::Unanswered` for
    /// anything that is not known to be supported.
    pub fn parse(
        words: &[OsString],
        input: &[u8],
        repository: &Repository,
    ) -> Result<Self, NotAnswered> {
        let unknown = |what: &str| NotAnswered::Unanswered(format!("not understood: {what}"));
        let mut words = words.iter().skip(1).map(|word| word.as_bytes());
        if words.next() != Some(b"pack-objects") {
            return Err(unknown("the command"));
        }
        let mut request = Request {
            question: Question::default(),
            tagged: Vec::new(),
            thin: false,
            delta_base_offset: false,
            progress: false,
            filter: None,
        };
        let (mut revs, mut stdout, mut include_tag) = (false, false, false);
        for word in words {
            match word {
                b"--revs" => revs = true,
                b"--stdout" => stdout = true,
                b"--thin" => request.thin = true,
                b"--delta-base-offset" => request.delta_base_offset = true,
                b"--include-tag" => include_tag = true,
                b"--progress" => request.progress = true,
                b"-q" | b"--quiet" => request.progress = false,
                word => {
                    let filter = word.strip_prefix(b"--filter=");
                    let filter = filter.and_then(|filter| std::str::from_utf8(filter).ok());
                    let shown = String::from_utf8_lossy(word);
                    let filter = filter.ok_or_else(|| unknown(&shown))?;
                    request.filter = Some(filter.to_owned());
                }
            }
        }
        if !revs || !stdout {
            return Err(unknown(
                "a pack that is not of revisions to standard output",
            ));
        }
        if is_grafted(repository) || repository.partial_clone_remote().is_some() {
            return Err(unknown("a repository that is not whole"));
        }
        let parse = |filter: &String| Filter::parse(filter.as_bytes());
        let filter = request.filter.as_ref().map(parse).transpose();
        let filter = filter.map_err(|error| unknown(&error.to_string()))?;
        let question = plain_question(input, filter, 1);
        request.question = question.ok_or_else(|| unknown("the revisions"))?;
        if !request.question.is_set() {
            return Err(unknown("the filter"));
        }
        if include_tag {
            let found = tagged(repository);
            request.tagged = found.map_err(|error| NotAnswered::Unanswered(error.to_string()))?;
        }
        Ok(request)
    }

    /// The annotated tags that are sent along with their targets.
    pub fn tags(&self, repository: &Repository) -> Vec<Tag> {
        annotated(repository, &self.tagged)
    }

    /// The key of the response within its repository, from the request and the tags. No object is
    /// read for it.
    pub fn key(&self) -> ResponseKey {
        let sorted = |ids: &[ObjectId]| {
            let mut ids = ids.to_vec();
            ids.sort_unstable();
            ids.dedup();
            ids.iter()
                .flat_map(|id| id.as_bytes().to_vec())
                .collect::<Vec<u8>>()
        };
        let flags = [
            u8::from(self.thin),
            u8::from(self.delta_base_offset),
            u8::from(self.filter.is_some()),
        ];
        ResponseKey::of([
            env!("CARGO_PKG_VERSION").as_bytes(),
            flags.as_slice(),
            self.filter.as_deref().unwrap_or_default().as_bytes(),
            &sorted(&self.question.wants),
            &sorted(&self.question.haves),
            &sorted(&self.tagged),
        ])
    }
}

/// Reads the hexadecimal ids that git-upload-pack sends: wants, `--not`, haves, an empty line.
/// `None` if there is anything else.
fn plain_question(input: &[u8], filter: Option<Filter>, threads: usize) -> Option<Question> {
    let mut question = Question {
        filter,
        // Whoever asks for contents by their ids lacks them, although it has commits that reach them.
        keeps_named: true,
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
                if negated {
                    question.haves.push(id)
                } else {
                    question.wants.push(id)
                }
            }
        }
    }
    Some(question)
}
