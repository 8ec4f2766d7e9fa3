//! What a pack is asked for: objects by what they are reachable from.

use crate::spread::Spread;
use crate::{Contents, Error, Result, Wanted};
use hedgerow_pack::{oid, Bitmaps, Location, ObjectId, ObjectStore};
use hedgerow_reach::{reachable, Extra, ObjectSet, Question, Source, Trace};

/// An annotated tag that goes along with what it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The tag.
    pub id: ObjectId,
    /// What it is of, past all tags.
    pub target: ObjectId,
}

/// Of which packs that bitmaps are of entries are copied as they are: `pack.allowPackReuse`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PackReuse {
    /// Of none.
    None,
    /// Of the only one, or the one that a multi-pack-index prefers.
    #[default]
    Single,
    /// Of all that a multi-pack-index lists.
    Multi,
}

/// The objects that a request selects.
#[derive(Debug)]
pub struct Selected<'b, 's> {
    objects: ObjectSet<'b, 's>,
    had: Option<ObjectSet<'b, 's>>,
    /// Those in the order of bitmaps.
    spread: Spread,
    /// The others.
    wanted: Vec<Wanted>,
    /// How they were found.
    pub trace: Trace,
}

impl<'b, 's> Selected<'b, 's> {
    /// Finds the objects of `question`, with `bitmaps` as far as they go, and those of `tags`
    /// whose targets are among them. Those of packs that `reuse` says are copied as they are.
    ///
    /// # Errors
    /// [`Error::Reach`] if something that is reachable is missing or damaged.
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
        selected.add_tags(tags);
        selected.locate(source.store)?;
        if let Some(bitmaps) = bitmaps {
            let bits = selected.objects.bits();
            selected.spread = Spread::new(source.store, bitmaps, bits, reuse)?;
        }
        Ok(selected)
    }

    /// How many objects there are.
    pub fn count(&self) -> u64 {
        self.objects.count()
    }

    /// Whether the receiver has an object, as far as that is known.
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

    /// The contents of a pack of them. For thin packs, `has` is [`Selected::receiver_has`], and
    /// `had` are [`Selected::bases`].
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

    fn add_tags(&mut self, tags: &[Tag]) {
        for tag in tags {
            if self.objects.contains(&tag.target) && !self.receiver_has(&tag.id) {
                self.objects.add_tag(tag.id);
            }
        }
    }

    /// Finds the objects that are not in the order of the bitmaps.
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
