//! `:/TEXT` and `^{/TEXT}`: the youngest commit whose message fits a regular expression.

use super::{failed, Resolver};
use crate::Result;
use bstr::{BStr, ByteSlice};
use hedgerow_pack::{ObjectId, ObjectKind, Reader};
use regex::bytes::RegexBuilder;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

/// A compiled expression may take this much memory.
const EXPRESSION_LIMIT_BYTES: usize = 1 << 20;

impl Resolver<'_> {
    /// Searches from `start`, or from `HEAD` and all references. `!-TEXT` is a message that does
    /// not fit, `!!TEXT` one that fits `!TEXT`.
    pub(super) fn find_message(
        &self,
        pattern: &BStr,
        start: Option<ObjectId>,
    ) -> Result<Option<ObjectId>> {
        let (negated, text) = match pattern.as_bytes() {
            [b'!', b'-', text @ ..] => (true, text),
            [b'!', text @ ..] if text.starts_with(b"!") => (false, text),
            [b'!', ..] => return Ok(None),
            text => (false, text),
        };
        let Ok(text) = text.to_str() else {
            return Err(failed(pattern, "the expression is not UTF-8"));
        };
        let built = RegexBuilder::new(text)
            .unicode(false)
            .dot_matches_new_line(true)
            .size_limit(EXPRESSION_LIMIT_BYTES)
            .build();
        let Ok(expression) = built else {
            return Err(failed(pattern, "invalid regular expression"));
        };
        let starts = match start {
            Some(commit) => vec![commit],
            None => self.all_tips()?,
        };
        let mut reader = Reader::new(self.repository.objects());
        let mut seen = HashSet::new();
        let mut queue = BinaryHeap::new();
        let mut turn = 0u64;
        let mut queued = starts;
        loop {
            for id in queued {
                if seen.insert(id) {
                    let commit = self.repository.commit_with(&mut reader, &id)?;
                    // Of two commits of the same second, the one queued first comes first.
                    let place = Reverse(turn);
                    turn += 1;
                    queue.push((commit.seconds, place, id, commit.parents, commit.message));
                }
            }
            let Some((_, _, id, parents, message)) = queue.pop() else {
                return Ok(None);
            };
            if expression.is_match(&message) != negated {
                return Ok(Some(id));
            }
            queued = parents;
        }
    }

    /// The commits of `HEAD` and all references, in the order git has them.
    fn all_tips(&self) -> Result<Vec<ObjectId>> {
        let repository = self.repository;
        let head = repository.head().ok().and_then(|head| head.id());
        let references = repository.references_below("refs/".into())?;
        let ids = references.iter().rev().filter_map(|found| found.id);
        let mut tips = Vec::new();
        for id in head.into_iter().chain(ids) {
            tips.extend(
                repository
                    .peel(&id, Some(ObjectKind::Commit))
                    .ok()
                    .flatten(),
            );
        }
        Ok(tips)
    }
}
