/// git's hash of a path, which sorts objects with similar paths next to each other: only the last
/// sixteen characters count, and the last ones most.
#[derive(Clone, Copy, Debug, Default)]
pub struct NameHash(u32);

impl NameHash {
    /// The hash of a whole path.
    pub fn of(path: &[u8]) -> u32 {
        let mut hash = NameHash::default();
        hash.add(path);
        hash.value()
    }

    /// Adds the next part of the path. White space is ignored.
    pub fn add(&mut self, part: &[u8]) {
        for byte in part
            .iter()
            .filter(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
        {
            self.0 = (self.0 >> 2).wrapping_add(u32::from(*byte) << 24);
        }
    }

    /// The hash of the parts so far; 0 if there were none.
    pub fn value(self) -> u32 {
        self.0
    }
}
