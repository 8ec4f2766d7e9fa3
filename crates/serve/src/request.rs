//! A request for a pack: objects selected by reachability.

use crate::spread::Spread;
use crate::tags::intact;
use crate::{Contents, Error, Result, Wanted};
use hedgerow_pack::{oid, Bitmaps, Location, ObjectId, ObjectStore};
use hedgerow_reach::{reachable, Extra, ObjectSet, Question, Source, Trace};

/// An annotated tag that is sent along with its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The tag.
    pub id: ObjectId,
    /// Its target, with all tags peeled.
    pub target: ObjectId,
}

/// The packs with bitmaps whose entries are copied as they are: `pack.allowPackReuse`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PackReuse {
    /// No pack.
    None,
    /// The only pack, or the preferred pack of a multi-pack-index.
    #[default]
    Single,
    /// All packs of a multi-pack-index.
    Multi,
}

/// The objects that a request selects.
#[derive(Debug)]
pub struct Selected<'b, 's> {
    objects: ObjectSet<'b, 's>,
    had: Option<ObjectSet<'b, 's>>,
    /// The objects in the order of the bitmaps.
    spread: Spread,
    /// The other objects.
    wanted: Vec<Wanted>,
    /// How they were found.
    pub trace: Trace,
}

impl<'b, 's> Selected<'b, 's> {
    /// Finds the objects of `question`, with `bitmaps` as far as they go, and those of `tags` whose
    /// targets are among them. Entries of the packs that `reuse` permits are copied as they are.
    ///
    /// # Errors
    /// [`Error::Reach`] if a reachable object is missing or damaged.
    pub fn find(
        source: Source<'s>,
        bitmaps: Option<&'b Bitmaps<'s>>,
        question: &Question,
        tags: &[Tag],
        reuse: PackReuse,
    ) -> Result<Self> {
        match Self::find_with(source, bitmaps, question, tags, reuse) {
            Err(Error::Reach(hedgerow_reach::Error::DamagedBitmap)) => {
                Self::find_with(source, None, question, tags, reuse)
            }
            found => found,
        }
    }

    fn find_with(
        source: Source<'s>,
        bitmaps: Option<&'b Bitmaps<'s>>,
        question: &Question,
        tags: &[Tag],
        reuse: PackReuse,
    ) -> Result<Self> {
        let answer = reachable(source, bitmaps, question)?;
        let mut selected = Selected {
            objects: answer.objects,
            had: answer.had,
            spread: Spread::default(),
            wanted: Vec::new(),
            trace: answer.trace,
        };
        selected.add_tags(source.store, tags);
        selected.locate(source.store)?;
        if let Some(bitmaps) = bitmaps {
            let bits = selected.objects.bits();
            selected.spread = Spread::new(source.store, bitmaps, bits, reuse)?;
        }
        Ok(selected)
    }

    /// Number of objects.
    pub fn count(&self) -> u64 {
        self.objects.count()
    }

    /// Whether the receiver has an object, as far as is known.
    pub fn receiver_has(&self, id: &oid) -> bool {
        self.had.as_ref().is_some_and(|had| had.contains(id))
    }

    /// Whether a loose object is among them.
    pub(crate) fn sends_loose(&self) -> bool {
        let is_loose = |wanted: &Wanted| matches!(wanted.location, Location::Loose { .. });
        self.wanted.iter().any(is_loose)
    }

    /// Whether an object is among them.
    pub(crate) fn sends(&self, id: &oid) -> bool {
        self.objects.contains(id)
    }

    /// The contents of a pack of these objects. For thin packs, `has` is
    /// [`Selected::receiver_has`], and `had` are [`Selected::bases`].
    pub fn contents<'c>(
        &'c self,
        has: Option<&'c (dyn Fn(&oid) -> bool + Sync)>,
        had: Vec<Wanted>,
    ) -> Contents<'c> {
        Contents {
            verbatim: self.spread.verbatim(self.objects.bits()),
            wanted: [self.wanted.as_slice(), &self.spread.wanted].concat(),
            had,
            has,
        }
    }

    fn add_tags(&mut self, store: &ObjectStore, tags: &[Tag]) {
        for tag in tags {
            let is_asked_for = self.objects.contains(&tag.target) && !self.receiver_has(&tag.id);
            if is_asked_for && intact(store, &tag.id).is_some() {
                self.objects.add_tag(tag.id);
            }
        }
    }

    /// Locates the objects that are not in the order of the bitmaps.
    fn locate(&mut self, store: &ObjectStore) -> Result<()> {
        let ids: Vec<ObjectId> = self.objects.extra().iter().map(|extra| extra.id).collect();
        let locations = store.locate_all(&ids).map_err(Error::Object)?;
        let found = self.objects.extra().iter().zip(locations);
        self.wanted = found
            .map(|(extra, location)| wanted(extra, location))
            .collect::<Result<_>>()?;
        Ok(())
    }
}

fn wanted(extra: &Extra, location: Option<Location>) -> Result<Wanted> {
    let missing = || Error::Object(hedgerow_pack::Error::Missing { id: extra.id });
    Ok(Wanted {
        id: extra.id,
        location: location.ok_or_else(missing)?,
        kind: extra.kind,
        name_hash: extra.name_hash,
    })
}
