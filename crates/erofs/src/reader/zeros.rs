//! Clusters that hold nothing but zeros. A hole of a compressed content is a run of them, mostly of the
//! same one again and again.

use super::cluster::ClusterForm;
use super::{Piece, Stored};
use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

/// Maximum number of clusters that are remembered.
const KEPT: usize = 4096;

/// A cluster: its position and size in bytes, how it holds its content, and the length of that.
type Cluster = (u64, u64, ClusterForm, u64);

/// The clusters that were seen to hold nothing but zeros.
#[derive(Default)]
pub(super) struct ZeroClusters(RwLock<HashSet<Cluster>>);

impl ZeroClusters {
    /// Whether a piece is known to be of such a cluster.
    pub(super) fn contain(&self, piece: &Piece) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        !known.is_empty() && cluster_of(piece).is_some_and(|cluster| known.contains(&cluster))
    }

    /// Remembers the cluster of a piece.
    pub(super) fn add(&self, piece: &Piece) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() < KEPT {
            known.extend(cluster_of(piece));
        }
    }
}

fn cluster_of(piece: &Piece) -> Option<Cluster> {
    let Stored::Cluster {
        position,
        bytes,
        form,
        around: (before, behind),
    } = piece.stored
    else {
        return None;
    };
    Some((position, bytes, form, before + piece.length + behind))
}
