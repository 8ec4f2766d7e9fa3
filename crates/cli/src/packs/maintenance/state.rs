//! What there is to choose by.

use crate::arguments::Global;
use crate::environment;
use crate::failure::Failure;
use crate::output::Output;
use crate::packs::repack::{
    count_loose, divide, has_promisor_remote, members, ExistingPacks, Repack, Settings,
};
use hedgerow_git::repository::Repository;
use hedgerow_pack::Bitmaps;

/// From how many loose objects on they are many (`maintenance.geometric-repack.auto`).
const MANY_LOOSE: i64 = 100;
const FACTOR: i64 = 2;

/// The state of the packs of a repository.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The packs of the own directory that may be repacked.
    pub packs: usize,
    /// How many of them a geometric repack would join.
    pub joined: usize,
    /// All objects in packs, copies counted.
    pub packed: u64,
    pub loose: u64,
    pub many_loose: u64,
    /// Whether bitmaps are wanted, and possible.
    pub wants_bitmaps: bool,
    /// How many objects the packs have that have bitmaps.
    pub with_bitmaps: Option<u64>,
}

impl State {
    pub fn look(
        repository: &Repository,
        global: &Global,
        output: &Output,
    ) -> Result<Self, Failure> {
        let settings = Settings::resolve(&geometric(repository)?, global, repository, output)?;
        let existing = ExistingPacks::collect(repository, &settings)?;
        let (promisor, plain) = members(&existing, &settings);
        let packs = promisor.len() + plain.len();
        let factor = u32::try_from(factor(repository)?).unwrap_or(FACTOR as u32);
        let (mut joined, _) = divide(plain, factor)?;
        joined.extend(divide(promisor, factor)?.0);
        let store = repository.objects();
        // What deletes believes no accelerator; here it is only asked which there are.
        let aided = Repository::discover(&environment::of_git(global)?)?;
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
            // As with git, 0 means never, and less always.
            many_loose: match many.unwrap_or(MANY_LOOSE) {
                0 => u64::MAX,
                many => u64::try_from(many).unwrap_or(1),
            },
            wants_bitmaps: wants_bitmaps(repository)?,
            with_bitmaps: bitmaps.map(|bitmaps| u64::from(bitmaps.order().count())),
        })
    }
}

/// Whether bitmaps are to be written: of one pack, which has everything, or of all packs.
pub fn wants_bitmaps(repository: &Repository) -> Result<bool, Failure> {
    let config = repository.config();
    let configured = match config.bool("repack.writeBitmaps")? {
        None => config.bool("pack.writeBitmaps")?,
        configured => configured,
    };
    let is_possible = !repository.objects().has_alternates() && !has_promisor_remote(repository)?;
    Ok(is_possible && configured.unwrap_or(repository.is_bare()))
}

/// A geometric repack, in the words of the command.
pub fn geometric(repository: &Repository) -> Result<Repack, Failure> {
    let has_midx = repository.config().bool("core.multiPackIndex")?;
    let has_midx = has_midx.unwrap_or(true);
    Ok(Repack {
        geometric: Some(u32::try_from(factor(repository)?).unwrap_or(FACTOR as u32)),
        delete: true,
        local: true,
        write_midx: has_midx,
        write_bitmap_index: has_midx && wants_bitmaps(repository)?,
        no_write_bitmap_index: !has_midx,
        ..Repack::default()
    })
}

fn factor(repository: &Repository) -> Result<i64, Failure> {
    let key = "maintenance.geometric-repack.splitFactor";
    let factor = repository.config().integer(key)?;
    Ok(factor.filter(|factor| *factor > 1).unwrap_or(FACTOR))
}
