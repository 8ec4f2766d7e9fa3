//! What revisions reach: one by one for packs that stay, or as a set for those that are sent.

use super::{Enumerated, Enumeration};
use crate::tags::intact;
use crate::{
    add_loose, add_packed, reached, tags, walked, Contents, Error, PackOptions, PackReuse, Result,
    Selected, Selector, Wanted,
};
use hedgerow_git::reachability::{bitmaps, exists, RevisionArguments, Sources};
use hedgerow_git::repository::Repository;
use hedgerow_pack::{oid, Bitmaps, ObjectId, ObjectKind};
use hedgerow_reach::{Missing, Objects, Question, Request, Source, Tip};
use std::collections::HashSet;
use std::io::BufRead;

impl Enumeration {
    /// The objects that the roots and `revisions`, which are listed one a line, reach. `warn` is told
    /// what git would warn of.
    ///
    /// # Errors
    /// If a revision names nothing, or something that is reachable is missing or damaged.
    pub fn of_revisions(
        &self,
        repository: &Repository,
        revisions: impl BufRead,
        warn: &dyn Fn(String),
    ) -> Result<Enumerated> {
        let (revisions, shallow) = without_shallow(repository, revisions)?;
        let mut sources = Sources::read(repository)?;
        sources.make_shallow(&shallow);
        let revisions = revisions.as_slice();
        let source = sources.as_stored(repository);
        let request = self.request(repository, &sources, revisions, warn)?;
        let is_set = request.filter.is_none()
            && !request.exclude_promised
            && !request.only_unpacked
            && !request.tips.iter().any(|tip| tip.is_uninteresting);
        let mut wanted = match self.bitmaps_for_list(repository)? {
            Some(bitmaps) if shallow.is_empty() && self.can_be_by_bitmaps(&request) => {
                by_bitmaps(source, &bitmaps, request, self.threads)?
            }
            _ if is_set => reached(source, &request.tips, self.threads)?,
            _ => walked(source, request)?,
        };
        let store = repository.objects();
        let selection = |by_walk| Selector::new(store, &self.selection(store, by_walk));
        let mut has_less = selection(true).retain(&mut wanted);
        // What is added may be packed, with --unpacked too.
        let selector = selection(false);
        if self.include_tag {
            add_tags(repository, &mut wanted)?;
        }
        if self.keep_unreachable {
            add_packed(repository, &selector, &mut wanted)?;
        }
        if self.pack_loose_unreachable {
            add_loose(repository, &mut wanted, warn)?;
        }
        has_less |= selector.retain(&mut wanted);
        let is_closed = !has_less && self.filter.is_none() && !self.exclude_promised;
        Ok(Enumerated { wanted, is_closed })
    }

    /// What the roots and `revisions` ask for, object by object.
    pub(super) fn request(
        &self,
        repository: &Repository,
        sources: &Sources,
        revisions: impl BufRead,
        warn: &dyn Fn(String),
    ) -> Result<Request> {
        let mut all: Vec<Tip> = self.roots.tips(repository, sources, warn)?;
        let source = sources.as_stored(repository);
        let mut arguments = RevisionArguments::new(repository, source, true, warn);
        arguments.lines_are_revisions = true;
        arguments.add_lines(revisions)?;
        all.extend(arguments.tips);
        Ok(Request {
            filter: self.filter.clone(),
            exclude_promised: self.exclude_promised,
            only_unpacked: self.unpacked,
            missing: Missing::Error,
            tips: all,
            ..Request::default()
        })
    }

    /// Calls `make` with the contents of a pack, and their count, of what is reachable from the
    /// `revisions` that are listed one a line, as a set. With [`PackOptions::thin`], deltas may be
    /// against what the receiver has.
    ///
    /// # Errors
    /// As [`Enumeration::of_revisions`]; those of `make`.
    pub fn with_reachable<T, E: From<Error>>(
        &self,
        repository: &Repository,
        revisions: impl BufRead,
        options: &PackOptions,
        warn: &dyn Fn(String),
        make: impl FnOnce(&Contents<'_>, u64) -> Result<T, E>,
    ) -> Result<T, E> {
        let (revisions, shallow) = without_shallow(repository, revisions)?;
        let mut sources = Sources::read(repository).map_err(Error::Git)?;
        sources.make_shallow(&shallow);
        let source = sources.without_replacements(repository);
        let question = self.question(repository, source, revisions.as_slice(), warn)?;
        // Bitmaps know nothing of a boundary.
        let bitmaps = match shallow.as_slice() {
            [] => self.usable_bitmaps(repository)?,
            _ => None,
        };
        let tags = if self.include_tag {
            tags(repository)?
        } else {
            Vec::new()
        };
        let reuse = PackReuse::configured(repository)?;
        let selected = Selected::find(source, bitmaps.as_ref(), &question, &tags, reuse)?;
        let has = |id: &oid| selected.receiver_has(id);
        // The receiver of what is filtered may lack what it has the commits of.
        let had = if options.thin && self.filter.is_none() {
            selected.bases(repository.objects(), &question.wants, options.window)
        } else {
            Vec::new()
        };
        let contents = selected.contents(options.thin.then_some(&has), had);
        make(&contents, selected.count())
    }

    /// What `revisions` ask for; all references and `HEAD` come before them if they are roots.
    fn question(
        &self,
        repository: &Repository,
        source: Source<'_>,
        revisions: impl BufRead,
        warn: &dyn Fn(String),
    ) -> Result<Question> {
        let mut arguments = RevisionArguments::new(repository, source, true, warn);
        if self.roots.references {
            arguments.option("--all".into(), &mut std::iter::empty())?;
        }
        arguments.lines_are_revisions = true;
        arguments.add_lines(revisions)?;
        let mut question = Question {
            filter: self.filter.clone(),
            keeps_named: self.filter.is_some(),
            ..arguments.into_question(self.threads)
        };
        // Whoever asks for contents by their ids lacks them, although it has commits that reach them.
        let is_content = |id: &ObjectId| {
            let kind = repository.object_kind(id);
            matches!(kind, Ok(ObjectKind::Blob | ObjectKind::Tree))
        };
        if !question.wants.is_empty() && question.wants.iter().all(is_content) {
            question.haves.clear();
        }
        for have in &question.haves {
            // A partial clone may know of what it has not.
            if !exists(repository, have)? && repository.partial_clone_remote().is_none() {
                let reason = format!("bad object {have}");
                return Err(hedgerow_git::Error::Setup { reason }.into());
            }
        }
        if question.is_set() {
            Ok(question)
        } else {
            let reason = "pack-objects does not support filters by depth; git does".into();
            Err(hedgerow_git::Error::NotBuilt { reason }.into())
        }
    }

    /// The bitmaps of the repository, if they may be used.
    fn usable_bitmaps<'r>(&self, repository: &'r Repository) -> Result<Option<Bitmaps<'r>>> {
        let configured = repository.config().bool("pack.useBitmaps")?.unwrap_or(true);
        if self.use_bitmaps.unwrap_or(configured) {
            Ok(bitmaps(repository))
        } else {
            Ok(None)
        }
    }

    /// The bitmaps that a list is made with. For a pack that stays, only if they are asked for: what
    /// a walk finds is in a better order, and does not depend on them.
    fn bitmaps_for_list<'r>(&self, repository: &'r Repository) -> Result<Option<Bitmaps<'r>>> {
        if self.is_sent || self.use_bitmaps == Some(true) && !self.writes_bitmaps {
            self.usable_bitmaps(repository)
        } else {
            Ok(None)
        }
    }

    fn can_be_by_bitmaps(&self, request: &Request) -> bool {
        let adds_unreachable = self.keep_unreachable || self.pack_loose_unreachable;
        request.question(1).is_set()
            && !request.exclude_promised
            && !request.only_unpacked
            && !adds_unreachable
            && request.tips.iter().any(|tip| !tip.is_uninteresting)
    }
}

/// The lines of `revisions` up to an empty one, without those that say which commits count as shallow, and
/// these commits.
pub(super) fn without_shallow(
    repository: &Repository,
    mut revisions: impl BufRead,
) -> Result<(Vec<u8>, Vec<ObjectId>)> {
    let (mut lines, mut shallow) = (Vec::new(), Vec::new());
    loop {
        let start = lines.len();
        let read = revisions.read_until(b'\n', &mut lines);
        let length = read.map_err(|error| Error::List(format!("cannot read the list: {error}")))?;
        let line = lines.get(start..).unwrap_or_default();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if length == 0 || line.is_empty() {
            return Ok((lines, shallow));
        }
        if let Some(name) = line.strip_prefix(b"--shallow ") {
            let hex = name.get(..repository.hash_kind().len_in_hex());
            let id = hex.and_then(|hex| ObjectId::from_hex(hex).ok());
            shallow.push(id.ok_or_else(|| {
                let name = String::from_utf8_lossy(name);
                Error::List(format!("not an object name '{name}'"))
            })?);
            lines.truncate(start);
        }
    }
}

/// What `request` asks for: those objects that the tips reach and its haves do not.
fn by_bitmaps(
    source: Source<'_>,
    bitmaps: &Bitmaps<'_>,
    request: Request,
    threads: usize,
) -> Result<Vec<Wanted>> {
    let objects = Objects::All;
    let question = Question {
        keeps_named: request.filter.is_some(),
        ..Request { objects, ..request }.question(threads)
    };
    let reuse = PackReuse::None;
    let selected = Selected::find(source, Some(bitmaps), &question, &[], reuse)?;
    Ok(selected.contents(None, Vec::new()).wanted)
}

/// Adds the annotated tags of what is there.
pub(super) fn add_tags(repository: &Repository, wanted: &mut Vec<Wanted>) -> Result<()> {
    let known: HashSet<_> = wanted.iter().map(|object| object.id).collect();
    for tag in tags(repository)? {
        if known.contains(&tag.target) && !known.contains(&tag.id) {
            let location = intact(repository.objects(), &tag.id);
            wanted.extend(location.map(|location| Wanted {
                id: tag.id,
                location,
                kind: ObjectKind::Tag,
                name_hash: 0,
            }));
        }
    }
    Ok(())
}
