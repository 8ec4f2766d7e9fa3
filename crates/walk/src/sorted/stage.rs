//! Decides which entries are reported next.

use super::agenda::Front;
use super::node::{states_bytes, Node, States, CHUNK};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// The directories being reported, and those that were listed before their turn.
#[derive(Debug, Default)]
pub(super) struct Stage {
    /// From the root down to the directory whose entries are being reported.
    stack: Vec<Frame>,
    /// The path of that directory, with a trailing slash.
    path: Vec<u8>,
    /// By the number of the parent directory, and the position in it.
    finished: HashMap<(u64, usize), Option<Finished>>,
    /// By the number of the directory and of the chunk.
    chunks: HashMap<(u64, usize), States>,
    root: Option<Option<Finished>>,
}

/// A directory that was listed.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) node: Arc<Node>,
    /// The stats of all its entries, if they were queried together with the listing.
    pub(super) states: Option<States>,
}

#[derive(Debug)]
struct Frame {
    node: Arc<Node>,
    /// Length of the directory's path with a trailing slash.
    path_len: usize,
    /// The position of the next entry to report.
    next: usize,
    /// The position of the directory to enter before that.
    enter: Option<usize>,
    /// Stats, and the position of the entry that the first of them belongs to.
    states: Option<(usize, States)>,
    /// Nothing in this directory is reported, because its own entry could not be.
    muted: bool,
    /// The same for the directory at `enter`.
    mutes: bool,
}

/// Entries of one directory to report.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) node: Arc<Node>,
    pub(super) span: Range<usize>,
    pub(super) states: Option<(usize, States)>,
    pub(super) muted: bool,
}

/// The next step.
#[derive(Debug)]
pub(super) enum Next {
    /// Report these entries; the second value is the number of bytes released.
    Run(Run, usize),
    /// Continue when the front is available; the second value is the number of bytes released.
    Wait(Front, usize),
}

/// Memory for recording that a directory was listed, besides its entries, in bytes.
const FINISHED_BYTES: usize = 128;

/// Memory taken by a directory that was listed or skipped, in bytes.
pub(super) fn finished_bytes(finished: &Option<Finished>) -> usize {
    let entries = finished.as_ref().map_or(0, |finished| {
        let states = finished.states.as_ref().map_or(0, states_bytes);
        finished.node.memory_bytes() + states
    });
    FINISHED_BYTES + entries
}

impl Stage {
    /// The root was listed, or could not be.
    pub(super) fn root_is_finished(&mut self, root: Option<Finished>) {
        self.root = Some(root);
    }

    /// The directory at a position in another one was listed or skipped.
    pub(super) fn is_finished(&mut self, parent: u64, place: usize, finished: Option<Finished>) {
        self.finished.insert((parent, place), finished);
    }

    /// A chunk of a directory was statted.
    pub(super) fn is_statted(&mut self, node: u64, chunk: usize, states: States) {
        self.chunks.insert((node, chunk), states);
    }

    /// The next step; `path` becomes the path of the directory concerned, with a trailing slash.
    /// `metadata`: entries without stats are not reported.
    pub(super) fn next(&mut self, metadata: bool, path: &mut Vec<u8>) -> Next {
        let mut released = 0;
        if let Some(root) = self.root.take() {
            released += self.enter(root, 0, b"", false);
        }
        loop {
            let Some(frame) = self.stack.last_mut() else {
                return Next::Wait(Front::Nothing, released);
            };
            if let Some(place) = frame.enter {
                let id = frame.node.id;
                let Some(finished) = self.finished.remove(&(id, place)) else {
                    return Next::Wait(Front::Directory(id, place), released);
                };
                frame.enter = None;
                let (node, muted, path_len) = (frame.node.clone(), frame.mutes, frame.path_len);
                let name = node.name(node.items()[place]);
                released += self.enter(finished, path_len, name, muted);
                continue;
            }
            if frame.next >= frame.node.items().len() {
                self.stack.pop();
                continue;
            }
            if frame.node.in_chunks && frame.next % CHUNK == 0 {
                let key = (frame.node.id, frame.next / CHUNK);
                let Some(states) = self.chunks.remove(&key) else {
                    return Next::Wait(Front::Chunk(key.0, key.1), released);
                };
                released += states_bytes(&states);
                frame.states = Some((frame.next, states));
            }
            path.clear();
            path.extend_from_slice(&self.path[..frame.path_len]);
            return Next::Run(frame.run(metadata), released);
        }
    }

    /// Continues with a directory. Returns the number of bytes released.
    fn enter(
        &mut self,
        finished: Option<Finished>,
        parent_len: usize,
        name: &[u8],
        muted: bool,
    ) -> usize {
        let bytes = finished_bytes(&finished);
        let Some(finished) = finished else {
            return bytes;
        };
        self.path.truncate(parent_len);
        self.path.extend_from_slice(name);
        if !name.is_empty() {
            self.path.push(b'/');
        }
        self.stack.push(Frame {
            node: finished.node,
            path_len: self.path.len(),
            next: 0,
            enter: None,
            states: finished.states.map(|states| (0, states)),
            muted,
            mutes: false,
        });
        bytes
    }
}

impl Frame {
    /// The entries up to the next directory to enter, or to the end of the chunk.
    fn run(&mut self, metadata: bool) -> Run {
        let start = self.next;
        let mut end = if self.node.in_chunks {
            self.node.chunk(start / CHUNK).end
        } else {
            self.node.items().len()
        };
        if let Some(place) = self.node.next_entered_before(start, end) {
            self.enter = Some(place);
            self.mutes = self.muted || metadata && !self.has_state(place);
            end = place + 1;
        }
        self.next = end;
        Run {
            node: self.node.clone(),
            span: start..end,
            states: self.states.clone(),
            muted: self.muted,
        }
    }

    /// Whether the stat of the directory at `place` is available, if it is to be reported at all.
    fn has_state(&self, place: usize) -> bool {
        let is_listed = |item: &super::node::Item| item.is_listed();
        if !self.node.items().get(place).is_some_and(is_listed) {
            return true;
        }
        let states = self.states.as_ref();
        let state = states.and_then(|(first, states)| states.get(place.checked_sub(*first)?));
        state.is_some_and(Option::is_some)
    }
}
