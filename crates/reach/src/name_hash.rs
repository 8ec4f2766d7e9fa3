/// git's hash of a path, by which objects that were found at similar paths are put near each
/// other: the last sixteen characters count, and the last ones most.
#[derive(Clone, Copy, Debug, Default)]
pub struct NameHash(u32);

impl NameHash {
    /// The hash of a whole path.
    pub fn of(path: &[u8]) -> u32 {
        let mut hash = NameHash::default();
        hash.add(path);
        hash.value()
    }

    /// Adds the next part of the path. Space does not count.
    pub fn add(&mut self, part: &[u8]) {
        for byte in part
            .iter()
            .filter(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
        {
            self.0 = (self.0 >> 2).wrapping_add(u32::from(*byte) << 24);
        }
    }

    /// The hash of the parts so far; 0 if there was none.
    pub fn value(self) -> u32 {
        self.0
    }
}
