//! Git packs: indexes a pack ([`index`]), repacks a repository ([`repack`]), and makes a pack for a
//! receiver that has some commits and wants others ([`serve`]).

pub use hedgerow_maintain::repack::Request as RepackRequest;
pub use hedgerow_maintain::{Error as RepackError, Observer};
pub use hedgerow_pack::indexer::{IndexOptions, IndexedPack, Installation, Severities};
pub use hedgerow_pack::{Error as PackError, HashKind, IndexLayout};
pub use hedgerow_reach::{Error as ReachError, Question};
pub use hedgerow_serve::{Error as ServeError, PackOptions, PackWritten};

use crate::Repository;
use hedgerow_git::reachability::{bitmaps, Sources};
use hedgerow_maintain::repack::{carry_out, Plan, Settings};
use hedgerow_pack::indexer::index_pack_file;
use hedgerow_serve::{write_pack, PackReuse, Selected};
use std::io::Write;
use std::path::Path;

/// Indexes the pack at `pack`: checks it completely, and writes its index and reverse index next to
/// it, like `git index-pack`.
///
/// # Errors
/// [`PackError::Refused`] and [`PackError::Checked`] tell what is wrong with the pack; then nothing
/// is written.
///
/// ```no_run
/// use hedgerow::pack::{index, HashKind, IndexOptions};
///
/// # fn main() -> Result<(), hedgerow::pack::PackError> {
/// let indexed = index("objects.pack".as_ref(), &IndexOptions::new(HashKind::Sha1))?;
/// println!("{} objects, pack {}", indexed.entries.len(), indexed.checksum);
/// # Ok(())
/// # }
/// ```
pub fn index(pack: &Path, options: &IndexOptions<'_>) -> Result<IndexedPack, PackError> {
    let mut indexed = index_pack_file(pack, options)?;
    indexed.install(&Installation {
        index: pack.with_extension("idx"),
        layout: IndexLayout::default(),
        reverse: Some(pack.with_extension("rev")),
        pack: None,
        notes: Vec::new(),
        sync_pack: false,
        sync_indexes: true,
        threads: options.execution.threads(),
    })?;
    Ok(indexed)
}

/// Repacks `repository` like `git repack`. Warnings and progress are reported to `observer`. The
/// repository must be opened without accelerators (`unaided` of [`crate::Environment`]), because
/// objects that a wrong accelerator does not contain would be deleted.
///
/// # Errors
/// An error before anything is deleted leaves all existing packs and objects in place.
///
/// ```no_run
/// use hedgerow::pack::{repack, Observer, RepackRequest};
/// use hedgerow::{Environment, Repository};
///
/// struct Quiet;
///
/// impl Observer for Quiet {
///     fn warn(&self, warning: &dyn std::fmt::Display) {
///         eprintln!("warning: {warning}");
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let directory = std::path::absolute("repository.git")?;
/// let environment = Environment {
///     unaided: true,
///     ..Environment::from_vars(std::env::vars_os(), directory)?
/// };
/// let request = RepackRequest {
///     all: true,
///     delete: true,
///     ..RepackRequest::default()
/// };
/// repack(&Repository::discover(&environment)?, &request, &Quiet)?;
/// # Ok(())
/// # }
/// ```
#[allow(
    clippy::result_large_err,
    reason = "an error ends the command: it is returned once"
)]
pub fn repack(
    repository: &Repository,
    request: &RepackRequest,
    observer: &dyn Observer,
) -> Result<(), RepackError> {
    let settings = Settings::resolve(request, repository, observer)?;
    let plan = Plan::make(repository, &settings, observer)?;
    carry_out(repository, plan, &settings, observer)
}

/// Writes to `output` a pack of the objects that are reachable from the wants of `question` and not
/// from its haves, as a server sends it for a fetch. Uses bitmaps if there are any, and copies as
/// much as possible from existing packs.
///
/// # Errors
/// An object is missing or damaged, or `output` cannot be written. The receiver can detect that the
/// pack is incomplete.
///
/// ```no_run
/// use hedgerow::pack::{serve, PackOptions, Question};
/// use hedgerow::{Environment, Repository};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let directory = std::path::absolute("repository.git")?;
/// let environment = Environment::from_vars(std::env::vars_os(), directory)?;
/// let repository = Repository::discover(&environment)?;
/// let question = Question {
///     wants: repository.head()?.id().into_iter().collect(),
///     ..Question::default()
/// };
/// let options = PackOptions::configured(&repository)?;
/// let mut pack = std::fs::File::create("head.pack")?;
/// let written = serve(&repository, &question, &options, &mut pack)?;
/// println!("{written}");
/// # Ok(())
/// # }
/// ```
pub fn serve(
    repository: &Repository,
    question: &Question,
    options: &PackOptions,
    output: &mut dyn Write,
) -> Result<PackWritten, ServeError> {
    let sources = Sources::read(repository)?;
    let source = sources.without_replacements(repository);
    let bitmaps = bitmaps(repository);
    let reuse = PackReuse::configured(repository)?;
    let selected = Selected::find(source, bitmaps.as_ref(), question, &[], reuse)?;
    let contents = selected.contents(None, Vec::new());
    write_pack(repository.objects(), &contents, options, false, output)
}
