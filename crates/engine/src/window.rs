use crate::sync::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::PoisonError;

/// Minimum cost of an item, in bytes, so that the number of items without content is also bounded.
const LEAST_BYTES: u64 = 256;

/// The position of an item in the order of a run, starting at 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(u64);

impl Ticket {
    /// The one after this.
    pub(crate) fn next(self) -> Self {
        Ticket(self.0 + 1)
    }

    /// Its number.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// Restores the order of admission for items that are finished in any order, and admits only a
/// limited number of bytes at a time.
///
/// An item is in flight from [`admit`](Self::admit) until [`commit`](Self::commit), or until
/// [`next`](Self::next) is called for the following one. It costs its size in bytes, at least 256;
/// the total cost of the items in flight never exceeds the budget, except that an item is always
/// admitted when no other is in flight. One thread commits; any number of threads admit and
/// deliver.
#[derive(Debug)]
pub struct ReorderWindow<O> {
    state: Mutex<State<O>>,
    /// Notified when bytes were released, or at the end.
    room: Condvar,
    /// Notified when the next item in order was delivered, or at the end.
    ready: Condvar,
    budget_bytes: u64,
}

#[derive(Debug)]
struct State<O> {
    /// Admitted items that were not yet taken, the oldest first.
    places: VecDeque<Place<O>>,
    /// The ticket of the first place.
    first: u64,
    /// Total cost of the items in flight, including the one being committed.
    in_flight_bytes: u64,
    /// Cost of the item being committed.
    committing_bytes: u64,
    /// Whether a thread waits to be admitted, or to commit: notifying without a waiter would still
    /// cost a system call.
    waits_for_room: bool,
    waits_for_ready: bool,
    finished: bool,
    stopped: bool,
}

#[derive(Debug)]
struct Place<O> {
    cost_bytes: u64,
    output: Option<O>,
}

impl<O> ReorderWindow<O> {
    /// A window for `budget_bytes` bytes in flight.
    pub fn new(budget_bytes: u64) -> Self {
        ReorderWindow {
            state: Mutex::new(State {
                places: VecDeque::new(),
                first: 0,
                in_flight_bytes: 0,
                committing_bytes: 0,
                waits_for_room: false,
                waits_for_ready: false,
                finished: false,
                stopped: false,
            }),
            room: Condvar::new(),
            ready: Condvar::new(),
            budget_bytes,
        }
    }

    /// Waits until there is room for an item of `bytes` bytes, and returns the next ticket; `None`
    /// once the window is stopped or finished.
    pub fn admit(&self, bytes: u64) -> Option<Ticket> {
        let cost_bytes = bytes.max(LEAST_BYTES);
        let mut state = self.lock();
        loop {
            if state.stopped || state.finished {
                return None;
            }
            let sum = state.in_flight_bytes.saturating_add(cost_bytes);
            if state.in_flight_bytes == 0 || sum <= self.budget_bytes {
                state.in_flight_bytes = sum;
                state.places.push_back(Place {
                    cost_bytes,
                    output: None,
                });
                return Some(Ticket(state.first + state.places.len() as u64 - 1));
            }
            state.waits_for_room = true;
            state = wait(&self.room, state);
        }
    }

    /// Delivers the finished item of this ticket. It is dropped if the window is stopped.
    pub fn deliver(&self, ticket: Ticket, output: O) {
        let mut state = self.lock();
        let place = ticket.0.checked_sub(state.first);
        let place = place.and_then(|place| usize::try_from(place).ok());
        match place.and_then(|place| state.places.get_mut(place)) {
            Some(place) => {
                debug_assert!(place.output.is_none(), "an item is delivered once");
                place.output = Some(output);
            }
            None => {
                assert!(state.stopped, "an item is delivered before its turn");
                return drop(state);
            }
        }
        if place == Some(0) && std::mem::take(&mut state.waits_for_ready) {
            drop(state);
            self.ready.notify_one();
        }
    }

    /// Waits for the next item in order, and counts the previous one as committed. `None` when the
    /// window is stopped, or finished and every item was returned.
    ///
    /// Not an [`Iterator`], because it takes a shared reference.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&self) -> Option<(Ticket, O)> {
        let mut state = self.lock();
        self.give_back(&mut state);
        loop {
            if state.stopped {
                return None;
            }
            if state.finished && state.places.is_empty() {
                debug_assert_eq!(state.in_flight_bytes, 0, "all bytes are given back");
                return None;
            }
            let output = state
                .places
                .front_mut()
                .and_then(|place| place.output.take());
            if let Some(output) = output {
                let place = state.places.pop_front();
                state.committing_bytes = place.expect("it was there just now").cost_bytes;
                state.first += 1;
                return Some((Ticket(state.first - 1), output));
            }
            state.waits_for_ready = true;
            state = wait(&self.ready, state);
        }
    }

    /// Counts the item returned last as committed.
    pub fn commit(&self) {
        self.give_back(&mut self.lock());
    }

    /// Admits nothing more; items in flight are still committed.
    pub fn finish(&self) {
        self.lock().finished = true;
        self.room.notify_all();
        self.ready.notify_one();
    }

    /// Wakes all waiting threads with `None`; items in flight are dropped.
    pub fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        let dropped = std::mem::take(&mut state.places);
        drop(state);
        self.room.notify_all();
        self.ready.notify_one();
        drop(dropped);
    }

    /// Total cost of the items in flight, in bytes.
    pub fn in_flight_bytes(&self) -> u64 {
        self.lock().in_flight_bytes
    }

    /// Number of items admitted and not yet returned.
    pub fn in_flight(&self) -> usize {
        self.lock().places.len()
    }

    fn give_back(&self, state: &mut State<O>) {
        let bytes = std::mem::take(&mut state.committing_bytes);
        state.in_flight_bytes -= bytes;
        if bytes > 0 && std::mem::take(&mut state.waits_for_room) {
            self.room.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<O>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wait<'a, O>(told: &Condvar, state: MutexGuard<'a, State<O>>) -> MutexGuard<'a, State<O>> {
    told.wait(state).unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn order_is_that_of_the_tickets() {
        let window = ReorderWindow::new(10_000);
        let tickets: Vec<Ticket> = (0..5).map(|_| window.admit(1000).unwrap()).collect();
        for ticket in [3, 1, 0, 4, 2] {
            window.deliver(tickets[ticket], ticket);
        }
        window.finish();
        assert_eq!(window.admit(1), None);
        for number in 0..5 {
            let (ticket, output) = window.next().unwrap();
            assert_eq!((ticket.number(), output), (number as u64, number));
        }
        assert!(window.next().is_none());
        assert_eq!(window.in_flight_bytes(), 0);
    }

    #[test]
    fn an_item_larger_than_the_budget_goes_alone() {
        let window = ReorderWindow::new(1000);
        let large = window.admit(5000).unwrap();
        assert_eq!(window.in_flight_bytes(), 5000);
        std::thread::scope(|threads| {
            let next = threads.spawn(|| window.admit(0).unwrap());
            std::thread::sleep(std::time::Duration::from_millis(5));
            assert!(!next.is_finished());
            window.deliver(large, 'l');
            assert_eq!(window.next(), Some((large, 'l')));
            std::thread::sleep(std::time::Duration::from_millis(5));
            assert!(!next.is_finished(), "the large item is not committed yet");
            window.commit();
            assert_eq!(next.join().unwrap().number(), 1);
            assert_eq!(window.in_flight_bytes(), 256);
        });
    }

    #[test]
    fn a_stopped_window_gives_and_takes_nothing() {
        let window = ReorderWindow::new(1000);
        let ticket = window.admit(10).unwrap();
        window.stop();
        window.deliver(ticket, 1);
        assert!(window.next().is_none());
        assert_eq!(window.admit(1), None);
    }
}
