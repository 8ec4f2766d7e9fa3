//! From the first pass to an index: runs the second pass, and the checks that need all objects.

use super::check::Findings;
use super::deferred::{check_named, compare_large, Known};
use super::delta_trees::DeltaTrees;
use super::examine::Examination;
use super::record::{Record, Records};
use super::resolve::resolve;
use super::resolve_input::{is_delta, ResolveInput};
use super::statistics::{self, PackedObject};
use super::{IndexOptions, IndexedPack, Refusal};
use crate::error::Result;
use crate::pack_file::index_writer::{sort_index_entries, IndexEntry};
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
        compare_large(data, &records.list, &findings, examination)?;
        let known = Known::new(&mut records.list, &resolved, options);
        let outside = delta_trees.added(&records.list, is_open, &candidates);
        if options.checks_kinds() {
            known.check_kinds(&findings)?;
        }
        let refers_outside = options.links && known.has_outside(&findings, options.store)?;
        let ground = ResolveInput {
            data,
            records: &records.list,
            delta_trees: &delta_trees,
            outside: &candidates,
            store: options.store,
        };
        let missing_modules = check_named(ground, &known, examination, &mut findings)?;
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
        let count = entries.len();
        sort_index_entries(&mut entries, options.execution.threads().get());
        assert_eq!(entries.len(), count, "sorting loses no entry");
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
