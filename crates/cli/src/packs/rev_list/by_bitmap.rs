//! Answers by reachability bitmaps: `--use-bitmap-index`.

use super::failure;
use super::options::Options;
use super::output::disk_usage;
use crate::failure::Failure;
use crate::output::Output;
use crate::packs::stream::{push_hex, Stream};
use hedgerow_pack::{Bitmaps, ObjectId, ObjectKind};
use hedgerow_reach::{reachable, Missing, ObjectSet, Objects, Order, Question, Request, Source};
use std::ops::ControlFlow;

/// So many ids are gathered before they are shown. They are all over the index: one after the other
/// without anything in between, several are on their way from memory at a time.
const BATCH: usize = 64;

/// The kinds in the order that git lists them in here.
const KINDS: [ObjectKind; 4] = [
    ObjectKind::Commit,
    ObjectKind::Tree,
    ObjectKind::Blob,
    ObjectKind::Tag,
];

/// Whether bitmaps are wanted and the answer is a set.
pub fn can_answer(options: &Options) -> bool {
    let request = &options.request;
    let usual = Request::default();
    let is_plain = request.order == Order::Met
        && !request.in_commit_order
        && !request.is_reversed
        && !request.first_parent
        && !request.boundary
        && !request.exclude_promised
        && request.skip == 0
        && (request.max_count.is_none() || options.count && request.objects == Objects::None)
        && request.not_before.is_none()
        && request.not_after.is_none()
        && request.min_parents == usual.min_parents
        && request.max_parents.is_none()
        && request.side.is_none()
        && request.no_walk.is_none()
        && request.missing == Missing::Error
        && request.objects != Objects::WithEdges;
    let is_shown_plainly = !options.left_right
        && !options.parents
        && !options.timestamp
        && !options.print_omitted
        && !options.null;
    options.use_bitmap_index && is_plain && is_shown_plainly && question(options).is_set()
}

fn question(options: &Options) -> Question {
    let request = &options.request;
    let tips = |is_have: bool| {
        let tips = request.tips.iter();
        let tips = tips.filter(move |tip| tip.is_uninteresting == is_have);
        tips.map(|tip| tip.id).collect::<Vec<_>>()
    };
    Question {
        wants: tips(false),
        haves: tips(true),
        filter: request.filter.clone(),
        filter_wants: request.filter_tips,
        only_commits: request.objects == Objects::None,
        threads: hedgerow_fs::cpu::available(),
    }
}

pub fn answer(
    source: Source<'_>,
    bitmaps: &Bitmaps<'_>,
    options: &Options,
    output: &Output,
) -> Result<(), Failure> {
    let question = question(options);
    let answer = match reachable(source, Some(bitmaps), &question) {
        Err(hedgerow_reach::Error::DamagedBitmap) => reachable(source, None, &question),
        answer => answer,
    };
    let objects = answer.map_err(failure)?.objects;
    let kinds: &[ObjectKind] = match options.request.objects {
        Objects::None => &KINDS[..1],
        _ => &KINDS,
    };
    if let Some(for_people) = options.disk_usage {
        let bytes = disk_bytes(source, &objects, kinds)?;
        output.data(disk_usage(bytes, for_people).as_bytes());
        return Ok(());
    }
    if options.count {
        let counts = kinds.iter().map(|kind| objects.count_of(*kind));
        let count = counts.sum::<Option<u64>>().ok_or_else(damaged)?;
        let shown = options
            .request
            .max_count
            .map_or(count, |most| most.min(count));
        output.data(format!("{shown}\n").as_bytes());
        return Ok(());
    }
    let mut stream = Stream::new();
    for_each(&objects, kinds, |id, _| {
        push_hex(stream.buffer(), id.as_slice());
        stream.buffer().push(b'\n');
        Ok(stream.step())
    })?;
    // A closed pipe ends quietly.
    let _ = stream.flush();
    Ok(())
}

fn disk_bytes(
    source: Source<'_>,
    objects: &ObjectSet<'_, '_>,
    kinds: &[ObjectKind],
) -> Result<u64, Failure> {
    let mut bytes = 0_u64;
    let order = objects.bitmaps().map(Bitmaps::order);
    for_each(objects, kinds, |id, bit| {
        let known = bit.and_then(|bit| order?.location(bit));
        let location = match known {
            Some(location) => Some(location),
            None => source.store.locate(&id).map_err(Failure::fatal)?,
        };
        if let Some(location) = location {
            let size = source.store.size_on_disk(&id, location);
            bytes += size.map_err(Failure::fatal)?;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(bytes)
}

/// Calls `show` for each object of `kinds`, kind by kind, with its bit if it has one, until it wants
/// no more.
fn for_each(
    objects: &ObjectSet<'_, '_>,
    kinds: &[ObjectKind],
    mut show: impl FnMut(ObjectId, Option<u32>) -> Result<ControlFlow<()>, Failure>,
) -> Result<(), Failure> {
    let mut batch = Vec::with_capacity(BATCH);
    for kind in kinds {
        if let Some(bitmaps) = objects.bitmaps() {
            let mut bits = bitmaps.of_kind(*kind).map_err(Failure::fatal)?.clone();
            bits.intersect(objects.bits());
            let mut bits = bits.iter();
            loop {
                batch.clear();
                for bit in bits.by_ref().take(BATCH) {
                    let id = bitmaps.order().id(bit).ok_or_else(damaged)?;
                    batch.push((id.to_owned(), bit));
                }
                for (id, bit) in &batch {
                    if show(*id, Some(*bit))?.is_break() {
                        return Ok(());
                    }
                }
                if batch.len() < BATCH {
                    break;
                }
            }
        }
        for extra in objects.extra().iter().filter(|extra| extra.kind == *kind) {
            if show(extra.id, None)?.is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn damaged() -> Failure {
    Failure::fatal("a bitmap is damaged")
}
