use crate::sync::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::PoisonError;

/// What an item costs at least, in bytes: so that even items without content are bounded.
const LEAST_BYTES: u64 = 256;

/// The place of an item in the order of a run, from 0 on.
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

/// Puts what is finished in any order back into the order in which it was admitted, and admits no
/// more than a budget of bytes at a time.
///
/// An item is in flight from [`admit`](Self::admit) until [`commit`](Self::commit), or until the
/// [`next`](Self::next) one is asked for. An item costs its bytes, at least 256; the sum of those
/// in flight never exceeds the budget, except that an item is always admitted when no other is
/// in flight. One thread commits; any number admits and delivers.
#[derive(Debug)]
pub struct ReorderWindow<O> {
    state: Mutex<State<O>>,
    /// Told when bytes were given back, or all is over.
    room: Condvar,
    /// Told when the next in order was delivered, or all is over.
    ready: Condvar,
    budget_bytes: u64,
}

#[derive(Debug)]
struct State<O> {
    /// What is admitted and not yet taken, the oldest first.
    places: VecDeque<Place<O>>,
    /// The ticket of the first place.
    first: u64,
    /// What the items in flight cost, with the one being committed.
    in_flight_bytes: u64,
    /// What the item being committed costs.
    committing_bytes: u64,
    /// Whether somebody waits to be admitted, or to commit. Telling nobody is a system call too.
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
    /// A window for so many bytes in flight.
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

    /// Waits until there is room for an item of `bytes`, and gives it the next ticket; `None`
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

    /// The item with this ticket is finished. Dropped if the window is stopped.
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

    /// Waits for the next item in order, and counts the one before it as committed. `None` when
    /// the window is stopped, or finished and everything in flight was given out.
    ///
    /// Not an [`Iterator`], since it works on a shared window.
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

    /// The item that was given out last is committed.
    pub fn commit(&self) {
        self.give_back(&mut self.lock());
    }

    /// Nothing more is admitted; what is in flight is still to be committed.
    pub fn finish(&self) {
        self.lock().finished = true;
        self.room.notify_all();
        self.ready.notify_one();
    }

    /// Everybody who waits is sent away; what is in flight is dropped.
    pub fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        let dropped = std::mem::take(&mut state.places);
        drop(state);
        self.room.notify_all();
        self.ready.notify_one();
        drop(dropped);
    }

    /// What the items in flight cost now, in bytes.
    pub fn in_flight_bytes(&self) -> u64 {
        self.lock().in_flight_bytes
    }

    /// Items that are admitted and not yet given out.
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
