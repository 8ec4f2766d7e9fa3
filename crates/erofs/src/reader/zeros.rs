//! Clusters that hold nothing but zeros. A hole of a compressed content is a run of them, mostly of the
//! same one again and again.

use super::map::Cluster;
use super::Piece;
use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

/// Maximum number of clusters that are remembered.
const KEPT: usize = 4096;

/// The clusters that were seen to hold nothing but zeros.
#[derive(Default)]
pub(super) struct ZeroClusters(RwLock<HashSet<Cluster>>);

impl ZeroClusters {
    /// Whether a piece is known to be of such a cluster.
    pub(super) fn contain(&self, piece: &Piece) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        !known.is_empty()
            && piece
                .cluster()
                .is_some_and(|(cluster, _)| known.contains(&cluster))
    }

    /// Remembers the cluster of a piece.
    pub(super) fn add(&self, piece: &Piece) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() < KEPT {
            known.extend(piece.cluster().map(|(cluster, _)| cluster));
        }
    }
}
