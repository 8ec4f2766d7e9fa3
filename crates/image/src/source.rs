use hedgerow_fs::ReadFile;
use std::sync::Arc;

/// Bytes that any number of threads can read at any position.
pub trait ReadAt: Send + Sync {
    /// Reads from `position` until `buffer` is full or the end is reached. Returns the number of
    /// bytes read.
    fn read_at(&self, buffer: &mut [u8], position: u64) -> hedgerow_fs::Result<usize>;

    /// The number of bytes.
    fn length(&self) -> hedgerow_fs::Result<u64>;
}

impl ReadAt for ReadFile {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> hedgerow_fs::Result<usize> {
        ReadFile::read_at(self, buffer, position)
    }

    fn length(&self) -> hedgerow_fs::Result<u64> {
        ReadFile::length(self)
    }
}

impl ReadAt for Vec<u8> {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> hedgerow_fs::Result<usize> {
        let start = usize::try_from(position).unwrap_or(usize::MAX);
        let rest = self.get(start..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(rest) {
            *to = *from;
        }
        Ok(count)
    }

    fn length(&self) -> hedgerow_fs::Result<u64> {
        Ok(self.len() as u64)
    }
}

impl<T: ReadAt + ?Sized> ReadAt for Arc<T> {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> hedgerow_fs::Result<usize> {
        (**self).read_at(buffer, position)
    }

    fn length(&self) -> hedgerow_fs::Result<u64> {
        (**self).length()
    }
}
