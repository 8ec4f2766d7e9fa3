use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The results of `work` for each of `0..count`, in order, computed by up to `threads` threads. If
/// there are several errors, the one with the lowest number is returned.
pub(super) fn in_parallel<T: Send, E: Send>(
    count: usize,
    threads: NonZeroUsize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return done;
            }
            done.push((number, work(number)));
        }
    };
    let others = threads.get().min(count).saturating_sub(1);
    let mut all = Vec::with_capacity(count);
    for done in hedgerow_fs::threads::together("split", others, run) {
        all.extend(done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
    }
    all.sort_unstable_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, outcome)| outcome).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_in_order_and_the_first_error_wins() {
        for threads in [1, 2, 7] {
            let threads = NonZeroUsize::new(threads).unwrap();
            let squares = in_parallel(100, threads, |number| Ok::<_, ()>(number * number));
            assert_eq!(
                squares.unwrap(),
                (0..100).map(|n| n * n).collect::<Vec<_>>()
            );
            let odd = in_parallel(100, threads, |n| if n < 40 { Ok(n) } else { Err(n) });
            assert_eq!(odd, Err(40));
            assert_eq!(in_parallel(0, threads, Ok::<_, ()>), Ok(Vec::new()));
        }
    }
}
