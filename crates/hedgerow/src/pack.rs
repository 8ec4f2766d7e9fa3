//! Git packs: indexing one ([`index`]), checking one ([`verify`]), repacking a repository ([`repack`]), and making one for a
//! receiver that has some commits and wants others ([`serve`]).

pub use hedgerow_maintain::repack::Request as RepackRequest;
pub use hedgerow_maintain::{Error as RepackError, Observer};
pub use hedgerow_pack::indexer::{
    IndexOptions, IndexedPack, Installation, PackedObject, Severities,
};
pub use hedgerow_pack::{Error as PackError, HashKind, IndexLayout};
pub use hedgerow_reach::{Error as ReachError, Question};
pub use hedgerow_serve::{Error as ServeError, PackOptions, PackWritten};

use crate::{Environment, Repository};
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

/// Checks the pack at `pack`, and compares the index and the reverse index beside it with what they have
/// to be, as `git verify-pack` does. [`IndexedPack::objects`] tells of each object if
/// [`IndexOptions::statistics`] asks for that.
///
/// # Errors
/// [`PackError::Refused`] and [`PackError::Checked`] tell what is wrong with the pack or an index;
/// [`PackError::BadIndex`] if there is no index that can be read.
///
/// ```no_run
/// use hedgerow::pack::{verify, HashKind, IndexOptions};
///
/// # fn main() -> Result<(), hedgerow::pack::PackError> {
/// let verified = verify("objects.pack".as_ref(), &IndexOptions::new(HashKind::Sha1))?;
/// println!("{} objects are sound", verified.entries.len());
/// # Ok(())
/// # }
/// ```
pub fn verify(pack: &Path, options: &IndexOptions<'_>) -> Result<IndexedPack, PackError> {
    let indexed = index_pack_file(pack, options)?;
    let index = pack.with_extension("idx");
    let layout =
        IndexedPack::layout_of(&index, options.hash).map_err(|reason| PackError::BadIndex {
            path: index.clone(),
            reason,
        })?;
    let reverse = Some(pack.with_extension("rev")).filter(|path| hedgerow_fs::exists(path));
    let threads = options.execution.threads().get();
    indexed.verify(&index, &layout, reverse.as_deref(), threads)?;
    Ok(indexed)
}

/// How many of `objects` it takes how many deltas to build: the first number counts those that are
/// whole.
///
/// ```
/// assert!(hedgerow::pack::chain_lengths(&[]).is_empty());
/// ```
pub fn chain_lengths(objects: &[PackedObject]) -> Vec<u64> {
    let mut chains: Vec<u64> = Vec::new();
    for object in objects {
        let depth = object.depth as usize;
        if chains.len() <= depth {
            chains.resize(depth + 1, 0);
        }
        chains[depth] += 1;
    }
    chains
}

/// Repacks `repository` like `git repack`. Warnings and the progress of each pack are reported to
/// `observer`. A repository that was opened with accelerators is opened anew without them (`unaided` of
/// [`crate::Environment`]): objects that a wrong accelerator does not contain would be deleted.
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
/// let environment = Environment::from_vars(std::env::vars_os(), directory)?;
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
    let unaided = match repository.environment() {
        environment if environment.unaided => None,
        environment => Some(Repository::discover(&Environment {
            unaided: true,
            ..environment.clone()
        })?),
    };
    let repository = unaided.as_ref().unwrap_or(repository);
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
