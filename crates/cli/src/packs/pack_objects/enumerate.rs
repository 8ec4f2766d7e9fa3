//! Which objects a pack is to hold, one by one: what revisions reach besides what is left out, or
//! what packs have.

use super::revisions::tips;
use super::serve::usable_bitmaps;
use super::{PackJob, PackObjects};
use crate::failure::Failure;
use crate::packs::watcher::Watcher;
use bstr::ByteSlice;
use hedgerow::plumbing::git::reachability::{Roots, Sources};
use hedgerow::plumbing::maintain::{add_loose, add_packed, follow, Limits};
use hedgerow::plumbing::pack::{Bitmaps, ObjectKind};
use hedgerow::plumbing::reach::{Missing, Question, Request, Source, Tip};
use hedgerow::plumbing::serve::{
    name_objects, objects_of_pack, own_loose_objects, reached, tags, walked, PackReuse, Selected,
    Selection, Selector, Wanted,
};
use hedgerow::Repository;
use hedgerow_fs::StandardInput;
use std::collections::{BTreeMap, HashSet};
use std::io::{BufRead, BufReader};

/// The objects of a pack.
pub struct Enumerated {
    pub wanted: Vec<Wanted>,
    /// Whether all that they reach is among them.
    pub is_closed: bool,
}

/// Whether the objects must be enumerated: what is left out, or added, goes by object.
pub fn needs_list(command: &PackObjects) -> Result<bool, Failure> {
    let question = Question {
        filter: command.filter()?,
        ..Question::default()
    };
    Ok(!command.stdout
        || command.local
        || command.incremental
        || command.honor_pack_keep
        || !command.keep_pack.is_empty()
        || command.unpacked
        || command.reflog
        || command.indexed_objects
        || command.keep_unreachable
        || command.pack_loose_unreachable
        || command.exclude_promisor_objects
        || !question.is_set())
}

/// What the options leave out.
pub fn selection(command: &PackObjects, repository: &Repository) -> Selection {
    let store = repository.objects();
    let is_named = |name: &str| command.keep_pack.iter().any(|kept| kept == name);
    let named = store.pack_files().filter(|(number, path, _)| {
        let name = path.file_name().and_then(|name| name.to_str());
        store.is_local_pack(*number) && name.is_some_and(is_named)
    });
    Selection {
        // Commits that are passed over are not all that is in packs.
        incremental: command.incremental || command.unpacked && command.stdin_packs.is_none(),
        local: command.local,
        honor_pack_keep: command.honor_pack_keep,
        left_out: named.map(|(number, ..)| number).collect(),
    }
}

/// What the revisions reach that the options ask for.
pub fn of_revisions(job: &PackJob<'_>) -> Result<Enumerated, Failure> {
    let (command, repository) = (job.command, job.repository);
    let sources = Sources::read(repository)?;
    let source = sources.as_stored(repository);
    let roots = Roots {
        references: command.all,
        logs: command.reflog,
        indexes: command.indexed_objects,
    };
    let warn = |warning| job.output.warn(warning);
    let mut all: Vec<Tip> = roots.tips(repository, &sources, &warn)?;
    if command.revs || command.thin {
        all.extend(tips(repository, source, job.output)?);
    }
    let request = Request {
        filter: command.filter()?,
        exclude_promised: command.exclude_promisor_objects,
        only_unpacked: command.unpacked,
        missing: Missing::Error,
        tips: all,
        ..Request::default()
    };
    let is_set = request.filter.is_none()
        && !request.exclude_promised
        && !request.only_unpacked
        && !request.tips.iter().any(|tip| tip.is_uninteresting);
    let threads = job.options.execution.threads().get();
    let mut wanted = match bitmaps_for(command, repository)? {
        Some(bitmaps) if can_be_by_bitmaps(command, &request) => {
            by_bitmaps(source, &bitmaps, request, threads)?
        }
        _ if is_set => reached(source, &request.tips, threads)?,
        _ => walked(source, request)?,
    };
    if command.include_tag {
        add_tags(repository, &mut wanted)?;
    }
    let selector = Selector::new(repository.objects(), &selection(command, repository));
    if command.keep_unreachable {
        add_packed(repository, &selector, &mut wanted)?;
    }
    let watcher = Watcher::new(job.global, job.output);
    if command.pack_loose_unreachable {
        add_loose(repository, &mut wanted, &watcher)?;
    }
    let has_less = selector.retain(&mut wanted);
    let is_closed = !has_less && command.filter.is_empty() && !command.exclude_promisor_objects;
    Ok(Enumerated { wanted, is_closed })
}

/// The bitmaps that are to be used. For a pack that is a file, only if they are asked for: what a
/// walk finds is in a better order, and does not depend on them.
fn bitmaps_for<'r>(
    command: &PackObjects,
    repository: &'r Repository,
) -> Result<Option<Bitmaps<'r>>, Failure> {
    if command.stdout || command.use_bitmap_index && command.writes_bitmaps().is_none() {
        usable_bitmaps(command, repository)
    } else {
        Ok(None)
    }
}

fn can_be_by_bitmaps(command: &PackObjects, request: &Request) -> bool {
    let question = Question {
        filter: request.filter.clone(),
        ..Question::default()
    };
    let adds_unreachable = command.keep_unreachable || command.pack_loose_unreachable;
    question.is_set()
        && !request.exclude_promised
        && !request.only_unpacked
        && !adds_unreachable
        && request.tips.iter().any(|tip| !tip.is_uninteresting)
}

/// What `request` asks for: those objects that the tips reach and its haves do not.
fn by_bitmaps(
    source: Source<'_>,
    bitmaps: &Bitmaps<'_>,
    request: Request,
    threads: usize,
) -> Result<Vec<Wanted>, Failure> {
    let tips = |is_have: bool| {
        let tips = request.tips.iter();
        let tips = tips.filter(move |tip| tip.is_uninteresting == is_have);
        tips.map(|tip| tip.id).collect::<Vec<_>>()
    };
    let question = Question {
        wants: tips(false),
        haves: tips(true),
        filter: request.filter.clone(),
        threads,
        ..Question::default()
    };
    let reuse = PackReuse::None;
    let selected = Selected::find(source, Some(bitmaps), &question, &[], reuse)?;
    Ok(selected.contents(None, Vec::new()).wanted)
}

/// Adds the annotated tags of what is there.
fn add_tags(repository: &Repository, wanted: &mut Vec<Wanted>) -> Result<(), Failure> {
    let known: HashSet<_> = wanted.iter().map(|object| object.id).collect();
    for tag in tags(repository)? {
        if known.contains(&tag.target) && !known.contains(&tag.id) {
            let location = repository.objects().locate(&tag.id);
            wanted.extend(location.map_err(Failure::fatal)?.map(|location| Wanted {
                id: tag.id,
                location,
                kind: ObjectKind::Tag,
                name_hash: 0,
            }));
        }
    }
    Ok(())
}

/// How a pack that is named on standard input is meant.
#[derive(Clone, Copy, Default)]
struct Named {
    is_taken: bool,
    /// Left out, with all that it reaches.
    is_closed: bool,
    /// Left out, but not what it reaches.
    is_open: bool,
}

/// What the packs have that standard input names.
pub fn of_packs(job: &PackJob<'_>) -> Result<Enumerated, Failure> {
    let (command, repository) = (job.command, job.repository);
    let store = repository.objects();
    let follows = command.stdin_packs.as_deref() == Some("follow");
    let mut missing = read_names(follows)?;
    let mut chosen: Vec<(u32, Named)> = Vec::new();
    for (number, path, _) in store.pack_files() {
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(named) = name.and_then(|name| missing.remove(name)) else {
            continue;
        };
        if named.is_taken && command.exclude_promisor_objects {
            let path_of_mark = path.with_extension("promisor");
            if hedgerow_fs::exists(&path_of_mark) {
                return Err(Failure::fatal(format_args!(
                    "packfile {} is a promisor but --exclude-promisor-objects was given",
                    path.display()
                )));
            }
        }
        chosen.push((number, named));
    }
    if let Some(name) = missing.into_keys().next() {
        return Err(Failure::fatal(format_args!("could not find pack '{name}'")));
    }
    let of = |test: fn(&Named) -> bool| {
        let found = chosen.iter().filter(move |(_, named)| test(named));
        found.map(|(number, _)| *number).collect::<Vec<u32>>()
    };
    let mut selection = selection(command, repository);
    selection
        .left_out
        .extend(of(|named| named.is_closed || named.is_open));
    let mut wanted = Vec::new();
    // Packs are numbered from the newest.
    for number in of(|named| named.is_taken) {
        wanted.extend(objects_of_pack(store, number)?);
    }
    if command.unpacked {
        let mut warn = |warning| job.output.warn(warning);
        wanted.extend(own_loose_objects(store, &mut warn)?);
    }
    keep_first_of_each(&mut wanted);
    if follows {
        let mut starts = wanted.clone();
        for number in of(|named| named.is_open) {
            starts.extend(objects_of_pack(store, number)?);
        }
        let (closed, open) = (of(|named| named.is_closed), of(|named| named.is_open));
        let mut limits = Limits::default();
        if open.is_empty() {
            limits.passed = closed
        } else {
            limits.ends = closed
        }
        if command.exclude_promisor_objects {
            limits.ends.extend(store.promisor_packs());
        }
        follow(store, starts, &limits, &mut wanted)?;
    }
    Selector::new(store, &selection).retain(&mut wanted);
    name_objects(store, &mut wanted);
    commits_first(&mut wanted);
    Ok(Enumerated {
        wanted,
        is_closed: false,
    })
}

fn read_names(follows: bool) -> Result<BTreeMap<String, Named>, Failure> {
    let mut names: BTreeMap<String, Named> = BTreeMap::new();
    for line in BufReader::new(StandardInput).split(b'\n') {
        let line = line.map_err(Failure::fatal)?;
        let (kind, name) = match line.split_first() {
            None => continue,
            Some((b'^', name)) => (b'^', name),
            Some((b'!', name)) if follows => (b'!', name),
            _ => (b' ', line.as_slice()),
        };
        let named = names.entry(name.to_str_lossy().into_owned()).or_default();
        match kind {
            b'^' => named.is_closed = true,
            b'!' => named.is_open = true,
            _ => named.is_taken = true,
        }
    }
    Ok(names)
}

/// Drops what was there before.
pub fn keep_first_of_each(wanted: &mut Vec<Wanted>) {
    let mut seen = HashSet::with_capacity(wanted.len());
    wanted.retain(|object| seen.insert(object.id));
}

fn commits_first(wanted: &mut [Wanted]) {
    wanted.sort_by_key(|object| object.kind != ObjectKind::Commit);
}
