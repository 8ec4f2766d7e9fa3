//! From the first pass to an index: runs the second pass, and the checks that need all objects.

use super::check::Findings;
use super::delta_trees::DeltaTrees;
use super::examine::Examination;
use super::record::{Form, Record, Records};
use super::resolve::{is_delta, resolve, ResolveInput, Resolved};
use super::statistics::{self, PackedObject};
use super::{large, named, IndexOptions, IndexedPack, Refusal};
use crate::index_writer::{sort_index_entries, IndexEntry};
use crate::{Error, ObjectKind, ObjectStore, Reader, Result};
use gix_hash::ObjectId;
use hedgerow_engine::Stage;
use hedgerow_fs::OutputFile;

/// A pack whose objects are all known.
pub(crate) struct Conclusion {
    records: Vec<Record>,
    objects: Vec<PackedObject>,
    findings: Findings,
    refers_outside: bool,
    missing_modules: Vec<ObjectId>,
    /// The bases that a thin pack left out.
    pub outside: Vec<ObjectId>,
}

impl Conclusion {
    /// Resolves the deltas among `records` and makes the remaining checks.
    pub fn resolve_and_check(
        data: &[u8],
        mut records: Records,
        mut findings: Findings,
        options: &IndexOptions<'_>,
        examination: Examination<'_>,
    ) -> Result<Self> {
        let deltas = records
            .list
            .iter()
            .filter(|record| is_delta(record))
            .count();
        let progress = &examination.execution.progress;
        progress.stage(Stage::Resolving).expect(deltas as u64);
        let delta_trees = DeltaTrees::new(&records);
        records.bases = Vec::new();
        let ground = ResolveInput {
            data,
            records: &records.list,
            delta_trees: &delta_trees,
            outside: &[],
            store: options.store,
        };
        let roots = roots(&records.list, &delta_trees);
        let (mut resolved, found) = resolve(ground, &roots, examination)?;
        findings.append(found);
        // `added` below needs the deltas that lack a base before outside ones are resolved.
        let is_open = open(&records.list, &delta_trees);
        let candidates = candidates(&delta_trees, options)?;
        if !candidates.is_empty() {
            let ground = ResolveInput {
                outside: &candidates,
                ..ground
            };
            let end = records.list.len() + candidates.len();
            let roots: Vec<u32> = (records.list.len() as u32..end as u32).collect();
            let (more, found) = resolve(ground, &roots, examination)?;
            resolved.extend(more);
            findings.append(found);
            // The base exists, but deltas still wait for it: it is damaged.
            if let Some(id) = candidates.iter().find(|id| delta_trees.is_wanted(id)) {
                return Err(Refusal::LocalCorrupt(*id).into());
            }
        }
        let count = open(&records.list, &delta_trees)
            .into_iter()
            .filter(|is| *is);
        let count = count.count() as u64;
        if count > 0 {
            return Err(Refusal::Unresolved { count }.into());
        }
        large::compare(data, &records.list, &findings, examination)?;
        let known = Known::new(&mut records.list, &resolved, options);
        let outside = delta_trees.added(&records.list, is_open, &candidates);
        let refers_outside = options.links && known.check_links(&findings, options.store)?;
        let ground = ResolveInput {
            data,
            records: &records.list,
            delta_trees: &delta_trees,
            outside: &candidates,
            store: options.store,
        };
        let missing_modules = named::check(ground, &known, examination, &mut findings)?;
        let objects = if options.statistics {
            statistics::gather(data, &records.list, &delta_trees, &resolved)
        } else {
            Vec::new()
        };
        Ok(Conclusion {
            records: records.list,
            objects,
            findings,
            refers_outside,
            missing_modules,
            outside,
        })
    }

    /// Number of entries in the pack.
    pub fn count(&self) -> usize {
        self.records.len()
    }

    /// The pack, with the index entries of objects `added` to it.
    pub fn into_pack(
        self,
        checksum: ObjectId,
        options: &IndexOptions<'_>,
        added: Vec<IndexEntry>,
        file: Option<OutputFile>,
    ) -> Result<IndexedPack> {
        let entry = |record: &Record| IndexEntry {
            id: record.id,
            crc32: record.crc32,
            offset: record.offset,
        };
        let mut entries: Vec<IndexEntry> = self.records.iter().map(entry).collect();
        drop(self.records);
        let added_count = added.len();
        entries.extend(added);
        sort_index_entries(&mut entries, options.execution.threads().get());
        if options.unique {
            let twice = entries.windows(2).find(|pair| pair[0].id == pair[1].id);
            if let Some(twice) = twice.and_then(|pair| pair.first()) {
                return Err(Refusal::Twice(twice.id).into());
            }
        }
        Ok(IndexedPack {
            checksum,
            entries,
            objects: self.objects,
            warnings: self.findings.warnings,
            refers_outside: self.refers_outside,
            missing_modules: self.missing_modules,
            added: added_count,
            rest: Vec::new(),
            file,
        })
    }
}

/// The objects that are not deltas but bases of some, those with the most work first.
fn roots(records: &[Record], delta_trees: &DeltaTrees) -> Vec<u32> {
    let weights = delta_trees.weights(records);
    let numbered = records.iter().zip(0..);
    let is_root = |(record, number): &(&Record, u32)| {
        !is_delta(record) && delta_trees.is_base(*number, &record.id)
    };
    let mut roots: Vec<u32> = numbered.filter(is_root).map(|(_, number)| number).collect();
    roots.sort_by_key(|number| std::cmp::Reverse(weights.get(*number as usize).copied()));
    roots
}

/// For each entry, whether it is a delta without a base.
fn open(records: &[Record], delta_trees: &DeltaTrees) -> Vec<bool> {
    let numbered = records.iter().zip(0..);
    numbered
        .map(|(record, number)| is_delta(record) && delta_trees.parent(number).is_none())
        .collect()
}

/// The bases that deltas wait for and the repository has, in the order of the first deltas on them.
/// The pack may contain some of them too, as deltas that wait themselves.
fn candidates(delta_trees: &DeltaTrees, options: &IndexOptions<'_>) -> Result<Vec<ObjectId>> {
    let (Some(store), true) = (options.store, options.fix_thin) else {
        return Ok(Vec::new());
    };
    let mut candidates = Vec::new();
    for id in delta_trees.wanted() {
        if store.locate(&id)?.is_some() {
            candidates.push(id);
        }
    }
    Ok(candidates)
}

/// The objects of the pack, by id.
pub(crate) struct Known {
    /// In order of ids; empty if no lookups are needed.
    list: Vec<(ObjectId, ObjectKind, u32)>,
}

impl Known {
    /// Builds the table, and sets the ids of resolved deltas in `records`.
    fn new(records: &mut [Record], resolved: &[Resolved], options: &IndexOptions<'_>) -> Self {
        let is_needed = options.links || options.rules.is_some();
        let mut list = Vec::new();
        if is_needed {
            list.extend(
                records
                    .iter()
                    .zip(0..)
                    .filter_map(|(record, number)| match record.form {
                        Form::Whole(kind) => Some((record.id, kind, number)),
                        _ => None,
                    }),
            );
        }
        for done in resolved {
            if let Some(record) = records.get_mut(done.number as usize) {
                record.id = done.id;
            }
            if is_needed {
                list.push((done.id, done.kind, done.number));
            }
        }
        list.sort_unstable_by_key(|(id, _, number)| (*id, *number));
        Known { list }
    }

    /// The kind and number of an object of the pack.
    pub fn find(&self, id: &ObjectId) -> Option<(ObjectKind, u32)> {
        let at = self.list.partition_point(|(known, _, _)| known < id);
        let (known, kind, number) = self.list.get(at)?;
        (known == id).then_some((*kind, *number))
    }

    /// Refuses a pack with references to objects that do not exist or are of another kind. Returns
    /// whether it refers to objects that only the repository has.
    fn check_links(&self, findings: &Findings, store: Option<&ObjectStore>) -> Result<bool> {
        if let Some(id) = findings.mismatch {
            return Err(Refusal::KindMismatch(id).into());
        }
        let mut missing = Vec::new();
        for (id, wanted) in &findings.links {
            match self.find(id) {
                None => missing.push((*id, *wanted)),
                Some((kind, _)) if wanted.is_some_and(|wanted| wanted != kind) => {
                    return Err(Refusal::KindMismatch(*id).into());
                }
                Some(_) => {}
            }
        }
        missing.sort_unstable_by_key(|(id, _)| *id);
        let mut reader = store.map(Reader::new);
        for (id, wanted) in &missing {
            let found = existing_kind(*id, reader.as_mut(), store)?;
            let found = found.ok_or(Refusal::NotReceived(*id))?;
            let expected = wanted.unwrap_or(found);
            if expected != found {
                let id = *id;
                return Err(Refusal::OtherKind {
                    id,
                    expected,
                    found,
                }
                .into());
            }
        }
        Ok(!missing.is_empty())
    }
}

/// The kind of an object of the repository; `None` if it does not exist.
fn existing_kind(
    id: ObjectId,
    reader: Option<&mut Reader<'_>>,
    store: Option<&ObjectStore>,
) -> Result<Option<ObjectKind>> {
    let (Some(reader), Some(store)) = (reader, store) else {
        return Ok(None);
    };
    let found = match store.locate(&id) {
        Ok(found) => found,
        Err(Error::UnusablePack { .. }) => None,
        Err(error) => return Err(error),
    };
    match found {
        Some(location) => Ok(Some(reader.header(&id, location)?.kind)),
        None => Ok(None),
    }
}
