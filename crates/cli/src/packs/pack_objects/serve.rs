//! Packs of what revisions reach.

use super::revisions::{question, tags, More};
use super::{pack_reuse, tell, write, PackObjects};
use crate::arguments::Global;
use crate::failure::Failure;
use crate::output::Output;
use crate::packs::sources::{bitmaps, Sources};
use crate::progress::Meter;
use hedgerow_git::repository::Repository;
use hedgerow_pack::{oid, Bitmaps};
use hedgerow_serve::{PackOptions, Selected};

pub fn run(
    command: &PackObjects,
    global: &Global,
    repository: &Repository,
    options: &PackOptions,
    output: &Output,
) -> Result<u8, Failure> {
    let sources = Sources::read(repository)?;
    let source = sources.of(repository);
    let filter = command.filter.as_deref().filter(|_| !command.no_filter);
    let more = More {
        all: command.all,
        input: true,
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
    let selected = Selected::find(
        source,
        bitmaps.as_ref(),
        &question,
        &tags,
        pack_reuse(repository)?,
    )?;
    if command.non_empty && selected.count() == 0 {
        return Ok(0);
    }
    let has = |id: &oid| selected.receiver_has(id);
    let contents = selected.contents(command.thin.then_some(&has));
    let meter = Meter::start(global, "Packing objects", &options.progress);
    let written = write(command, global, repository, &contents, options)?;
    drop(meter);
    tell(command, global, repository, &written, output);
    Ok(0)
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
