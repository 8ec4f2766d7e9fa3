//! Packs of what revisions reach.

use super::revisions::{question, tags, More};
use super::{pack_reuse, tell, write, PackObjects};
use crate::arguments::Global;
use crate::failure::Failure;
use crate::output::Output;
use crate::packs::sources::{bitmaps, Sources};
use crate::progress::Meter;
use hedgerow_git::repository::Repository;
use hedgerow_pack::{oid, Bitmaps, ObjectStore};
use hedgerow_serve::{PackOptions, PackReuse, Selected, Selection, Selector, Wanted};

pub fn run(
    command: &PackObjects,
    global: &Global,
    repository: &Repository,
    options: &PackOptions,
    selection: Selection,
    output: &Output,
) -> Result<u8, Failure> {
    let sources = Sources::read(repository)?;
    let source = sources.of(repository);
    let filter = command.filter.as_deref().filter(|_| !command.no_filter);
    let more = More {
        all: command.all,
        input: command.revs,
    };
    let question = question(
        repository,
        source,
        more,
        filter,
        options.threads.get(),
        output,
    )?;
    let bitmaps = usable_bitmaps(command, repository)?;
    let tags = match command.include_tag {
        true => tags(repository)?,
        false => Vec::new(),
    };
    let is_partial = selection.incremental || selection.local || selection.honor_pack_keep;
    let reuse = match is_partial {
        true => PackReuse::None,
        false => pack_reuse(repository)?,
    };
    let selected = Selected::find(source, bitmaps.as_ref(), &question, &tags, reuse)?;
    let has = |id: &oid| selected.receiver_has(id);
    let mut contents = selected.contents(command.thin.then_some(&has));
    if is_partial {
        contents.wanted = select(source.store, selection, &contents.wanted)?;
    }
    if command.non_empty && contents.verbatim.is_empty() && contents.wanted.is_empty() {
        return Ok(0);
    }
    let meter = Meter::start(global, "Packing objects", &options.progress);
    let written = write(command, global, repository, &contents, options)?;
    drop(meter);
    tell(command, global, repository, &written, output);
    Ok(0)
}

/// Those of `wanted` that `selection` does not leave out.
fn select(
    store: &ObjectStore,
    selection: Selection,
    wanted: &[Wanted],
) -> Result<Vec<Wanted>, Failure> {
    let mut selector = Selector::new(store, selection);
    let mut selected = Vec::new();
    for object in wanted {
        if let Some(location) = selector.select(&object.id)? {
            selected.push(Wanted {
                location,
                ..*object
            });
        }
    }
    Ok(selected)
}

/// The bitmaps of the repository, if they may be used.
fn usable_bitmaps<'r>(
    command: &PackObjects,
    repository: &'r Repository,
) -> Result<Option<Bitmaps<'r>>, Failure> {
    let configured = repository.config().bool("pack.useBitmaps")?.unwrap_or(true);
    let wanted = command.use_bitmap_index || configured && !command.no_use_bitmap_index;
    Ok(match wanted {
        true => bitmaps(repository),
        false => None,
    })
}
