//! Why an answer by bitmaps is not faster.

use super::is_grafted;
use crate::repository::Repository;
use hedgerow_pack::Bitmaps;
use hedgerow_reach::Trace;
use std::fmt;

/// From so many commits, trees or objects on, a better bitmap is worth its while.
const MANY: u64 = 1000;

/// What keeps an answer from being faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hindrance {
    /// The repository is shallow or has grafts, about which bitmaps know nothing.
    Grafted,
    /// There is no bitmap that can be used.
    NoBitmaps,
    /// There is no lookup table: all entries are stepped over first.
    NoLookupTable,
    /// The tips are far from any commit with a bitmap.
    FarFromBitmaps,
    /// Many objects are outside the pack that has bitmaps.
    OutsidePack,
}

impl fmt::Display for Hindrance {
    /// Why it is not faster, and what to do about it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Hindrance::Grafted => {
                "the repository is shallow or has grafts, about which bitmaps know nothing"
            }
            Hindrance::NoBitmaps => {
                "there is no bitmap that can be used; make one: hedgerow bitmap write"
            }
            Hindrance::NoLookupTable => {
                "without a lookup table, all entries are read first: set \
                 pack.writeBitmapLookupTable and write the bitmaps anew"
            }
            Hindrance::FarFromBitmaps => {
                "much had to be walked: the tips are far from any commit with a bitmap; repack, or \
                 write the bitmaps anew with pack.preferBitmapTips for such tips"
            }
            Hindrance::OutsidePack => {
                "many objects are outside the pack that has bitmaps, and are not copied verbatim: \
                 repack"
            }
        })
    }
}

impl Hindrance {
    /// What kept the answer of which `trace` tells from being faster; `bitmaps` are those that it was
    /// found with.
    pub fn find(
        repository: &Repository,
        bitmaps: Option<&Bitmaps<'_>>,
        trace: &Trace,
    ) -> Vec<Hindrance> {
        let Some(bitmaps) = bitmaps else {
            return vec![if is_grafted(repository) {
                Hindrance::Grafted
            } else {
                Hindrance::NoBitmaps
            }];
        };
        let mut found = Vec::new();
        if !bitmaps.has_lookup_table() && bitmaps.commit_count() > 0 {
            found.push(Hindrance::NoLookupTable);
        }
        let sides = [&trace.wants, &trace.haves];
        let walked: u64 = sides.iter().map(|used| used.commits_walked).sum();
        let trees: u64 = sides.iter().map(|used| used.trees_read).sum();
        if walked >= MANY || trees >= MANY {
            found.push(Hindrance::FarFromBitmaps);
        }
        let outside = trace.wants.outside;
        if outside >= MANY && outside * 10 > trace.objects {
            found.push(Hindrance::OutsidePack);
        }
        found
    }
}
