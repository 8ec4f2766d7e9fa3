use crate::{Error, Result};

/// The results of `work` on all `items`, in their order. Up to `threads` threads take a share each;
/// only the last share may have fewer than `least` items.
pub(crate) fn in_shares<T: Sync, R: Send>(
    items: &[T],
    least: usize,
    threads: usize,
    work: impl Fn(&[T]) -> Result<Vec<R>> + Sync,
) -> Result<Vec<R>> {
    let share = items.len().div_ceil(threads.max(1)).max(least);
    if items.len() <= share {
        return work(items);
    }
    let mut all = Vec::with_capacity(items.len());
    for done in hedgerow_fs::threads::each("share", items.chunks(share), work) {
        all.extend(done.map_err(|_| Error::Panicked)??);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..100).collect();
        for threads in [1, 3, 7, 200] {
            let doubled = in_shares(&items, 5, threads, |share| {
                assert!(share.len() >= 5);
                Ok(share.iter().map(|item| item * 2).collect())
            });
            let expected: Vec<u32> = items.iter().map(|item| item * 2).collect();
            assert_eq!(doubled.unwrap(), expected);
        }
        let failed = in_shares(&items, 1, 4, |share| {
            if share.contains(&70) {
                Err(Error::TooDeep)
            } else {
                Ok(vec![()])
            }
        });
        assert!(matches!(failed, Err(Error::TooDeep)));
    }
}
