/// Where an object of one [`crate::ObjectStore`] is kept; means nothing to another store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Location {
    /// In a pack.
    Packed {
        /// The pack's number in the store.
        pack: u32,
        /// Where its entry starts, in bytes from the start of the pack.
        offset: u64,
    },
    /// In a file of its own.
    Loose {
        /// The number of the object directory in the store.
        directory: u32,
    },
}

/// An entry of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place {
    pub pack: u32,
    pub offset: u64,
}

impl From<Place> for Location {
    fn from(place: Place) -> Self {
        Location::Packed {
            pack: place.pack,
            offset: place.offset,
        }
    }
}

impl Location {
    /// The entry of a pack that it is, if it is one.
    pub(crate) fn place(self) -> Option<Place> {
        match self {
            Location::Packed { pack, offset } => Some(Place { pack, offset }),
            Location::Loose { .. } => None,
        }
    }
}
