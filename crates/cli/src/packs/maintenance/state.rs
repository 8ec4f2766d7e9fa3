//! What there is to choose by.

use crate::arguments::Global;
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
    /// How many objects the pack has that has bitmaps.
    pub with_bitmaps: Option<u64>,
    /// Whether that pack would be joined with others.
    pub loses_bitmaps: bool,
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
        let bitmaps = Bitmaps::open(store);
        let marked = bitmaps.as_ref().map(|bitmaps| bitmaps.order());
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
            with_bitmaps: marked.map(|order| u64::from(order.count())),
            loses_bitmaps: marked.is_some_and(|order| {
                let is_joined = |number| joined.iter().any(|pack| pack.number == number);
                order.parts().iter().any(|part| is_joined(part.pack))
            }),
        })
    }
}

/// Whether a full repack is to write bitmaps: those of one pack, which has everything.
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
    Ok(Repack {
        geometric: Some(u32::try_from(factor(repository)?).unwrap_or(FACTOR as u32)),
        delete: true,
        local: true,
        write_midx: has_midx.unwrap_or(true),
        no_write_bitmap_index: true,
        ..Repack::default()
    })
}

fn factor(repository: &Repository) -> Result<i64, Failure> {
    let key = "maintenance.geometric-repack.splitFactor";
    let factor = repository.config().integer(key)?;
    Ok(factor.filter(|factor| *factor > 1).unwrap_or(FACTOR))
}
