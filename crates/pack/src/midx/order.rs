//! The order of the bits of a bitmap.

use super::select::Row;
use super::split::in_parallel;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

/// The objects in pseudo-pack order, and the range of each pack.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// For each bit, the position of the object.
    pub positions: Vec<u32>,
    /// For each pack, its first bit and its number of bits.
    pub packs: Vec<(u32, u32)>,
}

/// Sorts the objects of `rows`, which are in order of ids: those of the pack `preferred` first,
/// then those of the other `packs` by number, within each pack by offset.
pub(crate) fn pseudo_pack_order(
    rows: impl Iterator<Item = Row>,
    packs: usize,
    preferred: Option<u32>,
    threads: NonZeroUsize,
) -> Order {
    let mut of_packs: Vec<Vec<(u64, u32)>> = vec![Vec::new(); packs];
    for (position, row) in (0..).zip(rows) {
        if let Some(of_pack) = of_packs.get_mut(row.pack as usize) {
            of_pack.push((row.offset, position));
        }
    }
    let of_packs: Vec<_> = of_packs.into_iter().map(Mutex::new).collect();
    let sorted = in_parallel(packs, threads, |number| {
        let lock = of_packs[number].lock();
        let mut lock = lock.unwrap_or_else(PoisonError::into_inner);
        let mut objects = std::mem::take(&mut *lock);
        drop(lock);
        objects.sort_unstable();
        let positions = objects.into_iter().map(|(_, position)| position);
        Ok::<Vec<u32>, std::convert::Infallible>(positions.collect())
    });
    let Ok(sorted) = sorted;
    let mut order = Order {
        positions: Vec::new(),
        packs: vec![(0, 0); packs],
    };
    let preferred = preferred.map(|number| number as usize);
    let others = (0..packs).filter(|number| Some(*number) != preferred);
    for number in preferred.into_iter().chain(others) {
        let objects = &sorted[number];
        if !objects.is_empty() {
            order.packs[number] = (order.positions.len() as u32, objects.len() as u32);
        }
        order.positions.extend_from_slice(objects);
    }
    order
}
