//! The state by which maintenance is chosen.

use crate::new_packs::repository_now;
use crate::repack::{
    count_loose, divide, has_promisor_remote, members, ExistingPacks, Request, Settings,
};
use crate::Observer;
use crate::Result;
use hedgerow_git::repository::Repository;
use hedgerow_pack::Bitmaps;

/// Number of loose objects that counts as many, by default (`maintenance.geometric-repack.auto`).
const MANY_LOOSE: i64 = 100;
const FACTOR: i64 = 2;

/// The state of the packs of a repository.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Number of packs of the own directory that may be repacked.
    pub packs: usize,
    /// Number of packs that a geometric repack would combine.
    pub joined: usize,
    /// Number of objects in packs, including duplicates.
    pub packed: u64,
    /// Number of loose objects of the own directory.
    pub loose: u64,
    /// Number of loose objects from which they are packed (`maintenance.geometric-repack.auto`).
    pub many_loose: u64,
    /// Whether bitmaps are wanted and possible.
    pub wants_bitmaps: bool,
    /// Number of objects in the packs that have bitmaps.
    pub with_bitmaps: Option<u64>,
}

impl State {
    /// Determines the state of `repository`.
    pub fn look(repository: &Repository, observer: &dyn Observer) -> Result<Self> {
        let settings = Settings::resolve(&geometric(repository)?, repository, observer)?;
        let existing = ExistingPacks::collect(repository, &settings)?;
        let (promisor, plain) = members(&existing, &settings);
        let packs = promisor.len() + plain.len();
        let factor = u32::try_from(factor(repository)?).unwrap_or(FACTOR as u32);
        let (mut joined, _) = divide(plain, factor)?;
        joined.extend(divide(promisor, factor)?.0);
        let store = repository.objects();
        // Code that deletes trusts no accelerator; this only asks which ones exist.
        let aided = repository_now(repository)?;
        let bitmaps = Bitmaps::open(aided.objects());
        let many = repository
            .config()
            .integer("maintenance.geometric-repack.auto")?;
        Ok(State {
            packs,
            joined: joined.len(),
            packed: existing
                .packs
                .iter()
                .map(|pack| u64::from(pack.objects))
                .sum(),
            loose: count_loose(store)?,
            // As in git, 0 means never, and a negative value always.
            many_loose: match many.unwrap_or(MANY_LOOSE) {
                0 => u64::MAX,
                many => u64::try_from(many).unwrap_or(1),
            },
            wants_bitmaps: wants_bitmaps(repository)?,
            with_bitmaps: bitmaps.map(|bitmaps| u64::from(bitmaps.order().count())),
        })
    }
}

/// Whether to write bitmaps: of a single pack that contains everything, or of all packs.
pub fn wants_bitmaps(repository: &Repository) -> Result<bool> {
    let config = repository.config();
    let configured = match config.bool("repack.writeBitmaps")? {
        None => config.bool("pack.writeBitmaps")?,
        configured => configured,
    };
    let is_possible = !repository.objects().has_alternates() && !has_promisor_remote(repository)?;
    Ok(is_possible && configured.unwrap_or(repository.is_bare()))
}

/// A geometric repack, as it is asked for.
pub(super) fn geometric(repository: &Repository) -> Result<Request> {
    let has_midx = repository.config().bool("core.multiPackIndex")?;
    let has_midx = has_midx.unwrap_or(true);
    Ok(Request {
        geometric: Some(u32::try_from(factor(repository)?).unwrap_or(FACTOR as u32)),
        delete: true,
        local: true,
        write_midx: has_midx,
        write_bitmaps: if has_midx {
            wants_bitmaps(repository)?.then_some(true)
        } else {
            Some(false)
        },
        ..Request::default()
    })
}

fn factor(repository: &Repository) -> Result<i64> {
    let key = "maintenance.geometric-repack.splitFactor";
    let factor = repository.config().integer(key)?;
    Ok(factor.filter(|factor| *factor > 1).unwrap_or(FACTOR))
}

/// A repack into one pack of all that is reachable, and one of what was lately.
pub(super) fn full(repository: &Repository) -> Result<Request> {
    const EXPIRY: &str = "2.weeks.ago";
    let expiry = repository.config().string("gc.pruneExpire");
    let expiry = expiry.map_or(EXPIRY.to_owned(), |expiry| expiry.to_string());
    Ok(Request {
        all: true,
        delete: true,
        local: true,
        cruft: true,
        cruft_expiration: Some(expiry),
        write_bitmaps: wants_bitmaps(repository)?.then_some(true),
        ..Request::default()
    })
}
