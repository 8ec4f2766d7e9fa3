//! Decompresses clusters.

use super::cluster::{bad_cluster, ClusterForm};
use super::Image;
use hedgerow_codec::block::BlockError;
use hedgerow_codec::cluster::{Algorithm, ClusterDecoder};
use hedgerow_image::{Error, Part, Result};
use std::sync::{Mutex, PoisonError};

/// Decoders that can be used again.
#[derive(Default)]
pub(super) struct Decoders(Mutex<Vec<ClusterDecoder>>);

impl Image {
    /// Fills `content` with what the cluster of so many bytes at `position` holds.
    pub(super) fn read_cluster(
        &self,
        position: u64,
        bytes: u64,
        form: ClusterForm,
        content: &mut [u8],
    ) -> Result<()> {
        let mut stored = vec![0; bytes as usize];
        self.bytes.read(Part::Data, position, &mut stored)?;
        match form {
            ClusterForm::Plain => {
                let found = stored.get(..content.len());
                let found =
                    found.ok_or_else(|| bad_cluster(position, "a cluster that is short"))?;
                content.copy_from_slice(found);
                Ok(())
            }
            ClusterForm::Rotated(by) => {
                let length = stored.len();
                if length == 0 || content.len() > length {
                    return Err(bad_cluster(position, "a cluster that is short").into());
                }
                // What is before the end of the logical block stands at the end of the cluster.
                let before_end = (self.superblock.block_bytes() - by) as usize;
                stored.rotate_left(length.saturating_sub(before_end));
                let found = stored.get(..content.len()).unwrap_or_default();
                content.copy_from_slice(found);
                Ok(())
            }
            ClusterForm::Compressed(algorithm, is_partial) => {
                // Without padding, the end of the compressed data is not known.
                let is_open = !self.pads_with_zeros() && algorithm == Algorithm::Lz4;
                let block = self.superblock.block_bytes() as usize;
                let zeros = stored.iter().take(block).take_while(|byte| **byte == 0);
                let zeros = if is_open { 0 } else { zeros.count() };
                let input = stored.get(zeros..).unwrap_or_default();
                self.decode(position, algorithm, input, content, is_partial || is_open)
            }
        }
    }

    fn decode(
        &self,
        position: u64,
        algorithm: Algorithm,
        input: &[u8],
        content: &mut [u8],
        is_partial: bool,
    ) -> Result<()> {
        let lock = || {
            self.decoders
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let waiting = lock().pop();
        let mut decoder = waiting.unwrap_or_default();
        let decoded = decoder.decode(algorithm, input, content, is_partial);
        lock().push(decoder);
        decoded.map_err(|error| match error {
            BlockError::OutOfMemory(_) => Error::Codec(error),
            error => bad_cluster(position, error.to_string()).into(),
        })
    }
}
