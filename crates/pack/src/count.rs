use crate::ObjectStore;

impl ObjectStore {
    /// About how many objects are packed: an object in several packs counts in each. What is
    /// loose does not count, as for git, which sizes its abbreviations of ids by this.
    pub fn packed_count(&self) -> u64 {
        self.packs()
            .filter_map(|(_, pack)| pack.index().ok())
            .map(|index| u64::from(index.count()))
            .sum()
    }
}
