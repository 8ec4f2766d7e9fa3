//! Objects that nothing reaches and that become loose when their packs are deleted.

use crate::Result;
use hedgerow_codec::Deflater;
use hedgerow_fs::Timestamp;
use hedgerow_pack::{write_loose, LooseOptions, ObjectId, ObjectStore, Reader};
use hedgerow_serve::{objects_of_pack, Selector, Wanted};
use std::collections::HashSet;

/// Which objects need not be made loose.
pub struct Loosening<'l> {
    /// The packs that are going to be deleted.
    pub packs: &'l [u32],
    /// What is in the new packs.
    pub packed: &'l HashSet<ObjectId>,
    /// What stays elsewhere is left out.
    pub staying: Selector<'l>,
    /// Objects of packs that were changed last before, in seconds since 1970, need not stay,
    pub expiry: Option<i64>,
    /// but for those that something younger reaches.
    pub recent: HashSet<ObjectId>,
}

impl Loosening<'_> {
    /// The objects to make loose, and when their packs were changed last.
    pub fn objects(&self, store: &ObjectStore) -> Result<Vec<(Wanted, Timestamp)>> {
        let mut met = HashSet::new();
        let mut found = Vec::new();
        for number in self.packs {
            let path = store.pack_path(*number).unwrap_or("".as_ref());
            let stat = hedgerow_fs::stat(path)?;
            let mtime = stat.map_or_else(hedgerow_fs::file_time, |stat| stat.mtime);
            let has_expired = self.expiry.is_some_and(|expiry| mtime.seconds <= expiry);
            for object in objects_of_pack(store, *number)? {
                let stays = self.packed.contains(&object.id)
                    || has_expired && !self.recent.contains(&object.id)
                    || self.staying.leaves_out(&object.id);
                if !stays && met.insert(object.id) {
                    found.push((object, mtime));
                }
            }
        }
        Ok(found)
    }
}

/// Makes `objects` loose, as old as they are.
pub fn loosen(store: &ObjectStore, objects: &[(Wanted, Timestamp)], level: i32) -> Result<()> {
    let mut reader = Reader::new(store);
    let mut deflater = Deflater::new(level);
    for (object, mtime) in objects {
        let (kind, content) = reader.read(&object.id, object.location)?;
        let directory = store.directory();
        let options = LooseOptions {
            mtime: Some(*mtime),
            ..LooseOptions::default()
        };
        let object_content = (kind, content);
        write_loose(
            directory,
            &object.id,
            object_content,
            &mut deflater,
            &options,
        )?;
    }
    Ok(())
}
