use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of parts of the cache with a lock of their own.
const SHARDS: usize = 8;

/// A bounded cache of recently read blocks, by position, for any number of threads. Two threads
/// that miss the same block at the same time both read it.
pub struct Cache<T> {
    shards: [Mutex<Shard<T>>; SHARDS],
    blocks_per_shard: usize,
}

struct Shard<T> {
    blocks: HashMap<u64, (Arc<T>, u64)>,
    uses: u64,
}

impl<T> Cache<T> {
    /// A cache for about this many blocks.
    pub fn new(blocks: usize) -> Self {
        Cache {
            shards: std::array::from_fn(|_| {
                Mutex::new(Shard {
                    blocks: HashMap::new(),
                    uses: 0,
                })
            }),
            blocks_per_shard: blocks.div_ceil(SHARDS).max(1),
        }
    }

    /// The block at `position`: from the cache, or read by `read` and then cached.
    pub fn get<E>(&self, position: u64, read: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        // Spreads positions over the shards: they are thousands of bytes apart, at no typical
        // distance.
        let spread = position.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let Some(shard) = self.shards.get(spread as usize % SHARDS) else {
            return read().map(Arc::new);
        };
        let lock = || shard.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = lock();
        found.uses += 1;
        let now = found.uses;
        if let Some((block, used)) = found.blocks.get_mut(&position) {
            *used = now;
            return Ok(Arc::clone(block));
        }
        drop(found);
        let block = Arc::new(read()?);
        let mut shard = lock();
        if shard.blocks.len() >= self.blocks_per_shard {
            let oldest = shard.blocks.iter().min_by_key(|(_, (_, used))| *used);
            if let Some(oldest) = oldest.map(|(position, _)| *position) {
                shard.blocks.remove(&oldest);
            }
        }
        shard.blocks.insert(position, (Arc::clone(&block), now));
        Ok(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_stays_small_and_keeps_what_is_used() {
        let cache = Cache::new(16);
        let mut reads = 0;
        for position in 0..10_000u64 {
            for position in [position, 77] {
                let block = cache.get(position, || {
                    reads += 1;
                    Ok::<u64, ()>(position * 2)
                });
                assert_eq!(*block.unwrap(), position * 2);
            }
        }
        assert_eq!(reads, 10_000);
        let kept = cache
            .shards
            .iter()
            .map(|shard| shard.lock().unwrap().blocks.len());
        assert!(kept.sum::<usize>() <= 16);
    }

    #[test]
    fn what_cannot_be_read_is_not_kept() {
        let cache = Cache::new(1);
        assert_eq!(cache.get(1, || Err::<u8, _>("no")), Err("no"));
        assert_eq!(
            cache.get(1, || Ok::<u8, &str>(3)).map(|block| *block),
            Ok(3)
        );
    }
}
