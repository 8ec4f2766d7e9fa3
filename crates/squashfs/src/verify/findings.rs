use crate::reader::{Image, ImageSource};
use crate::{Damage, Error, Part};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Maximum number of findings kept; further ones are only counted.
const KEPT: usize = 1000;

/// Collects findings.
#[derive(Default)]
pub struct Findings {
    /// Each with the number of the affected inode, if there is one.
    kept: Vec<(Damage, Option<u32>)>,
    omitted: u64,
}

impl Findings {
    pub fn add(&mut self, damage: Damage) {
        self.push(damage, None);
    }

    /// Adds damage of the file with this inode number; [`Self::into_sorted`] finds its path.
    pub fn add_of(&mut self, inode: u32, damage: Damage) {
        self.push(damage, Some(inode));
    }

    pub fn add_error(&mut self, part: Part, error: Error) {
        self.add(damage(part, error));
    }

    fn push(&mut self, damage: Damage, inode: Option<u32>) {
        if self.kept.len() < KEPT {
            self.kept.push((damage, inode))
        } else {
            self.omitted += 1
        }
    }

    /// The findings, sorted, without duplicates and with paths, and the number of those only
    /// counted.
    pub fn into_sorted(self, image: &Image) -> (Vec<Damage>, u64) {
        let mut paths: HashMap<u32, Option<Vec<u8>>> = HashMap::new();
        for number in self.kept.iter().filter_map(|(_, inode)| *inode) {
            paths.insert(number, None);
        }
        if let (false, Ok(source)) = (paths.is_empty(), ImageSource::new(image)) {
            let mut missing = paths.len();
            source.entries(&mut |found| {
                if let Some(path @ None) = paths.get_mut(&found.inode.number) {
                    *path = Some(found.entry.path.to_vec());
                    missing -= 1;
                }
                match missing {
                    0 => ControlFlow::Break(()),
                    _ => ControlFlow::Continue(()),
                }
            });
        }
        let with_path = |(damage, inode): (Damage, Option<u32>)| {
            let path = inode.and_then(|inode| paths.get(&inode)?.as_deref());
            match path {
                Some(path) => damage.at(path),
                None => damage,
            }
        };
        let mut findings: Vec<Damage> = self.kept.into_iter().map(with_path).collect();
        findings.sort();
        findings.dedup();
        (findings, self.omitted)
    }
}

/// Turns an error into damage of `part`.
pub fn damage(part: Part, error: Error) -> Damage {
    match error {
        Error::Damaged(damage) => damage,
        error => Damage::new(part, 0, error.to_string()),
    }
}
