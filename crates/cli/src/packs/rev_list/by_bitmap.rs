//! Answers by reachability bitmaps: `--use-bitmap-index`.

use super::failure;
use super::options::Options;
use super::output::disk_usage;
use crate::failure::Failure;
use crate::output::Output;
use hedgerow::plumbing::git::object_query::{push_hex, OutputStream};
use hedgerow::plumbing::pack::{Bitmaps, ObjectKind};
use hedgerow::plumbing::reach::{reachable, Error, Objects, Source};
use hedgerow_fs::StandardOutput;

/// The kinds in the order that git lists them in here.
const KINDS: [ObjectKind; 4] = [
    ObjectKind::Commit,
    ObjectKind::Tree,
    ObjectKind::Blob,
    ObjectKind::Tag,
];

/// Whether bitmaps are wanted and the answer is a set.
pub fn can_answer(options: &Options) -> bool {
    let is_shown_plainly = !options.left_right
        && !options.parents
        && !options.timestamp
        && !options.print_omitted
        && !options.null;
    let is_set = options.request.is_answered_by_bitmaps(options.count);
    options.use_bitmap_index && is_shown_plainly && is_set
}

pub fn answer(
    source: Source<'_>,
    bitmaps: &Bitmaps<'_>,
    options: &Options,
    output: &Output,
) -> Result<(), Failure> {
    let question = options.request.question(hedgerow_fs::cpu::available());
    let answer = match reachable(source, Some(bitmaps), &question) {
        Err(Error::DamagedBitmap) => reachable(source, None, &question),
        answer => answer,
    };
    let objects = answer.map_err(failure)?.objects;
    let kinds: &[ObjectKind] = match options.request.objects {
        Objects::None => &KINDS[..1],
        _ => &KINDS,
    };
    if let Some(for_people) = options.disk_usage {
        let bytes = objects.disk_bytes(source, kinds).map_err(failure)?;
        output.data(disk_usage(bytes, for_people).as_bytes());
        return Ok(());
    }
    if options.count {
        let counts = kinds.iter().map(|kind| objects.count_of(*kind));
        let count = counts.sum::<Option<u64>>();
        let count = count.ok_or_else(|| failure(Error::DamagedBitmap))?;
        let shown = options
            .request
            .max_count
            .map_or(count, |most| most.min(count));
        output.data(format!("{shown}\n").as_bytes());
        return Ok(());
    }
    let mut stream = OutputStream::new(StandardOutput);
    let shown = objects.for_each(kinds, |id, _| {
        push_hex(stream.buffer(), id.as_slice());
        stream.buffer().push(b'\n');
        Ok(stream.step())
    });
    shown.map_err(failure)?;
    // A closed pipe ends quietly.
    let _ = stream.flush();
    Ok(())
}
