//! `jwalk-contender DIRECTORY THREADS`: what a program that uses jwalk well would do. Every entry
//! is statted by the thread that lists its directory, and only the totals come back.

use jwalk::{Parallelism, WalkDirGeneric};

/// Size in bytes of an entry, if it could be statted.
type State = ((), Option<u64>);

fn main() {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [root, threads] = arguments.as_slice() else {
        panic!("jwalk-contender DIRECTORY THREADS");
    };
    let threads = threads.to_str().and_then(|text| text.parse().ok());
    let threads = threads.expect("THREADS is not a number");
    let parallelism = match threads {
        1 => Parallelism::Serial,
        _ => Parallelism::RayonNewPool(threads),
    };
    let walk = WalkDirGeneric::<State>::new(root)
        .skip_hidden(false)
        .parallelism(parallelism)
        .process_read_dir(|_, _, _, children| {
            for entry in children.iter_mut().flatten() {
                entry.client_state = entry.metadata().ok().map(|metadata| metadata.len());
            }
        });
    let (mut entries, mut bytes) = (0u64, 0u64);
    for entry in walk.into_iter().flatten().filter(|entry| entry.depth > 0) {
        entries += 1;
        bytes += entry.client_state.unwrap_or(0);
    }
    println!("entries {entries}\nbytes {bytes}");
}
