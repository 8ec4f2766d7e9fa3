//! Packs of what revisions reach.

use super::revisions::question;
use super::{PackJob, PackObjects};
use crate::failure::Failure;
use hedgerow::plumbing::git::reachability::{bitmaps, Sources};
use hedgerow::plumbing::pack::{oid, Bitmaps};
use hedgerow::plumbing::serve::{tags, PackReuse, Selected};
use hedgerow::Repository;

pub fn run(job: &PackJob<'_>) -> Result<u8, Failure> {
    let (command, repository) = (job.command, job.repository);
    let sources = Sources::read(repository)?;
    let source = sources.without_replacements(repository);
    let threads = job.options.execution.threads().get();
    let question = question(
        repository,
        source,
        command.all,
        command.filter()?,
        threads,
        job.output,
    )?;
    let bitmaps = usable_bitmaps(command, repository)?;
    let tags = if command.include_tag {
        tags(repository)?
    } else {
        Vec::new()
    };
    let selected = Selected::find(
        source,
        bitmaps.as_ref(),
        &question,
        &tags,
        PackReuse::configured(repository)?,
    )?;
    let has = |id: &oid| selected.receiver_has(id);
    // The receiver of what is filtered may lack what it has the commits of.
    let had = if command.thin && command.filter.is_empty() {
        selected.bases(repository.objects(), &question.wants, job.options.window)
    } else {
        Vec::new()
    };
    let contents = selected.contents(command.thin.then_some(&has), had);
    job.pack(&contents, selected.count(), &job.options, false)
}

/// The bitmaps of the repository, if they may be used.
pub fn usable_bitmaps<'r>(
    command: &PackObjects,
    repository: &'r Repository,
) -> Result<Option<Bitmaps<'r>>, Failure> {
    let configured = repository.config().bool("pack.useBitmaps")?.unwrap_or(true);
    let wanted = command.use_bitmap_index || configured && !command.no_use_bitmap_index;
    Ok(if wanted { bitmaps(repository) } else { None })
}
