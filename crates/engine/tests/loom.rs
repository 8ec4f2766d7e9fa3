//! Every interleaving of small uses of the reorder window:
//! `RUSTFLAGS="--cfg loom" cargo test -p hedgerow-engine --release --test loom`.
#![cfg(loom)]

use hedgerow_engine::ReorderWindow;
use loom::sync::Arc;
use loom::thread;

type Window = Arc<ReorderWindow<u64>>;

/// Two workers, two items each, room for two: order is kept, the budget too, nobody hangs.
#[test]
fn items_come_in_order_within_the_budget() {
    model(3, || {
        let window: Window = Arc::new(ReorderWindow::new(600));
        let source = Arc::new(loom::sync::Mutex::new(3_u32));
        let workers: Vec<_> = (0..2)
            .map(|_| {
                let (window, source) = (window.clone(), source.clone());
                thread::spawn(move || loop {
                    let mut left = source.lock().unwrap();
                    if *left == 0 {
                        return window.finish();
                    }
                    *left -= 1;
                    let ticket = window.admit(300).unwrap();
                    drop(left);
                    assert!(window.in_flight_bytes() <= 600);
                    window.deliver(ticket, ticket.number());
                })
            })
            .collect();
        for expected in 0..3 {
            let (ticket, output) = window.next().unwrap();
            assert_eq!((ticket.number(), output), (expected, expected));
        }
        assert!(window.next().is_none());
        assert_eq!(window.in_flight_bytes(), 0);
        workers
            .into_iter()
            .for_each(|worker| worker.join().unwrap());
    });
}

/// An item above the budget is admitted, alone.
#[test]
fn a_large_item_goes_alone() {
    model(3, || {
        let window: Window = Arc::new(ReorderWindow::new(300));
        let worker = {
            let window = window.clone();
            thread::spawn(move || {
                for bytes in [256, 900, 256] {
                    let ticket = window.admit(bytes).unwrap();
                    assert_eq!(window.in_flight_bytes(), bytes);
                    window.deliver(ticket, bytes);
                }
                window.finish();
            })
        };
        for bytes in [256, 900, 256] {
            assert_eq!(window.next().unwrap().1, bytes);
        }
        assert!(window.next().is_none());
        worker.join().unwrap();
    });
}

/// Stopped at any moment by a third thread, admission and commit both come back.
#[test]
fn stopping_sends_everybody_away() {
    model(3, || {
        let window: Window = Arc::new(ReorderWindow::new(256));
        let worker = {
            let window = window.clone();
            thread::spawn(move || {
                while let Some(ticket) = window.admit(256) {
                    window.deliver(ticket, 0);
                    if ticket.number() == 1 {
                        return window.finish();
                    }
                }
            })
        };
        let stopper = {
            let window = window.clone();
            thread::spawn(move || window.stop())
        };
        let mut expected = 0;
        while let Some((ticket, _)) = window.next() {
            assert_eq!(ticket.number(), expected);
            expected += 1;
        }
        worker.join().unwrap();
        stopper.join().unwrap();
        assert_eq!(window.admit(1), None);
    });
}

/// A worker that fails after admission never delivers; its stop still ends everything.
#[test]
fn a_worker_that_gives_up_ends_the_run() {
    model(3, || {
        let window: Window = Arc::new(ReorderWindow::new(256));
        let failing = {
            let window = window.clone();
            thread::spawn(move || {
                if window.admit(256).is_some() {
                    window.stop();
                }
            })
        };
        let waiting = {
            let window = window.clone();
            thread::spawn(move || {
                if let Some(ticket) = window.admit(256) {
                    window.deliver(ticket, 1);
                }
            })
        };
        while window.next().is_some() {}
        failing.join().unwrap();
        waiting.join().unwrap();
    });
}

/// All interleavings with at most so many forced switches between threads.
fn model(preemptions: usize, check: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(check);
}
