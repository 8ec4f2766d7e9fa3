//! Sorted rows from somewhere, and several of them merged into one.

use crate::row::{Attributes, Batch, Row};
use crate::Result;
use hedgerow_tree::canonical_order;
use std::cmp::Ordering;

/// Rows in canonical order, each path once.
pub(crate) trait Source {
    /// Moves to the next row; false after the last one.
    fn advance(&mut self) -> Result<bool>;
    /// The current row, after [`Source::advance`].
    fn row(&self) -> Row<'_>;
    /// Whether the current row is a directory that was not listed where the row comes from.
    fn is_left(&self) -> bool;
}

/// Rows in memory, which are sorted here.
pub(crate) struct Sorted {
    batch: Batch,
    order: Vec<u32>,
    next: usize,
}

impl Sorted {
    pub(crate) fn new(batch: Batch) -> Self {
        let mut order: Vec<u32> = (0..batch.len() as u32).collect();
        let path = |number: &u32| batch.row(*number as usize).path;
        order.sort_unstable_by(|a, b| canonical_order(path(a), path(b)));
        Sorted {
            batch,
            order,
            next: 0,
        }
    }
}

impl Source for Sorted {
    fn advance(&mut self) -> Result<bool> {
        self.next += 1;
        Ok(self.next <= self.order.len())
    }

    fn row(&self) -> Row<'_> {
        self.batch.row(self.order[self.next - 1] as usize)
    }

    fn is_left(&self) -> bool {
        false
    }
}

/// Several sources as one. Of rows with the same path, the newest state is taken; such a directory
/// is left if it is in all of them.
pub(crate) struct Merged<'s> {
    sources: Vec<Box<dyn Source + 's>>,
    /// Numbers of the sources that have a row: a heap, the one with the least path first.
    heap: Vec<usize>,
    path: Vec<u8>,
    attributes: Option<Attributes>,
    is_left: bool,
}

impl<'s> Merged<'s> {
    pub(crate) fn new(mut sources: Vec<Box<dyn Source + 's>>) -> Result<Self> {
        let mut heap = Vec::with_capacity(sources.len());
        for (number, source) in sources.iter_mut().enumerate() {
            if source.advance()? {
                heap.push(number);
            }
        }
        let mut merged = Merged {
            sources,
            heap,
            path: Vec::new(),
            attributes: None,
            is_left: false,
        };
        for place in (0..merged.heap.len() / 2).rev() {
            merged.sift(place);
        }
        Ok(merged)
    }

    fn order(&self, a: usize, b: usize) -> Ordering {
        let path = |place: usize| self.sources[self.heap[place]].row().path;
        canonical_order(path(a), path(b))
    }

    /// Moves the source at `place` down to where it belongs.
    fn sift(&mut self, mut place: usize) {
        loop {
            let children = [2 * place + 1, 2 * place + 2];
            let children = children
                .into_iter()
                .filter(|child| *child < self.heap.len());
            let Some(least) = children.min_by(|a, b| self.order(*a, *b)) else {
                return;
            };
            if self.order(place, least).is_le() {
                return;
            }
            self.heap.swap(place, least);
            place = least;
        }
    }

    /// Moves the first source to its next row.
    fn advance_first(&mut self) -> Result<()> {
        if !self.sources[self.heap[0]].advance()? {
            self.heap.swap_remove(0);
        }
        self.sift(0);
        Ok(())
    }
}

impl Source for Merged<'_> {
    fn advance(&mut self) -> Result<bool> {
        let Some(first) = self.heap.first() else {
            return Ok(false);
        };
        let source = &self.sources[*first];
        let row = source.row();
        self.path.clear();
        self.path.extend_from_slice(row.path);
        let mut attributes = row.attributes;
        self.is_left = source.is_left();
        self.advance_first()?;
        while let Some(first) = self.heap.first() {
            let source = &self.sources[*first];
            let row = source.row();
            if row.path != self.path {
                break;
            }
            attributes = attributes.max(row.attributes);
            self.is_left &= source.is_left();
            self.advance_first()?;
        }
        self.attributes = Some(attributes);
        Ok(true)
    }

    fn row(&self) -> Row<'_> {
        Row {
            path: &self.path,
            attributes: self.attributes.expect("there is a row after `advance`"),
        }
    }

    fn is_left(&self) -> bool {
        self.is_left
    }
}
