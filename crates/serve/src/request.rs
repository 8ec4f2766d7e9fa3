//! What a pack is asked for: objects by what they are reachable from.

use crate::{Contents, Error, Result, Verbatim, Wanted};
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

/// The objects that a request selects.
#[derive(Debug)]
pub struct Selected<'b, 's> {
    objects: ObjectSet<'b, 's>,
    had: Option<ObjectSet<'b, 's>>,
    wanted: Vec<Wanted>,
    /// How they were found.
    pub trace: Trace,
}

impl<'b, 's> Selected<'b, 's> {
    /// Finds the objects of `question`, with `bitmaps` as far as they go, and those of `tags`
    /// whose targets are among them.
    ///
    /// # Errors
    /// [`Error::Reach`] if something that is reachable is missing or damaged.
    pub fn find(
        source: Source<'s>,
        bitmaps: Option<&'b Bitmaps<'s>>,
        question: &Question,
        tags: &[Tag],
    ) -> Result<Self> {
        let answer = match reachable(source, bitmaps, question) {
            Err(hedgerow_reach::Error::DamagedBitmap) => reachable(source, None, question),
            answer => answer,
        }?;
        let mut selected = Selected {
            objects: answer.objects,
            had: answer.had,
            wanted: Vec::new(),
            trace: answer.trace,
        };
        selected.add_tags(tags);
        selected.locate(source.store)?;
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

    /// The contents of a pack of them. `has` is [`Selected::receiver_has`], for thin packs.
    pub fn contents<'c>(&'c self, has: Option<&'c (dyn Fn(&oid) -> bool + Sync)>) -> Contents<'c> {
        let verbatim = self.objects.bitmaps().map(|bitmaps| Verbatim {
            pack: bitmaps.order().pack(),
            words: self.objects.bits().as_slice(),
        });
        Contents {
            verbatim: verbatim.filter(|verbatim| verbatim.words.iter().any(|word| *word != 0)),
            wanted: self.wanted.clone(),
            had: Vec::new(),
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

    /// Finds the objects that are not in the pack of the bitmaps.
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
