//! The plan of a repack, made before anything is changed.

use super::cruft::{self, Ages};
use super::existing::{ExistingPack, ExistingPacks, Role};
use super::geometric;
use super::settings::{Extent, Settings, Unreachable};
use crate::loosening::Loosening;
use crate::Observer;
use crate::Result;
use hedgerow_fs::Timestamp;
use hedgerow_git::reachability::{Roots, Sources};
use hedgerow_git::repository::Repository;
use hedgerow_pack::{Location, ObjectId, ObjectStore};
use hedgerow_reach::{Request, Tip};
use hedgerow_serve::{
    add_loose, add_packed, objects_of_pack, reached, walked, Selection, Selector, Wanted,
};
use std::collections::HashSet;

/// The role of a new pack.
#[derive(Debug)]
pub enum NewRole {
    /// A pack of objects in use.
    Plain {
        /// Whether it contains everything that its objects reach.
        is_closed: bool,
    },
    /// A pack of objects from a promisor remote.
    Promisor,
    /// A pack of unreachable objects.
    Cruft(Ages),
}

/// A pack to make, unless it would be empty.
#[derive(Debug)]
pub struct NewPack {
    /// Its objects, each once.
    pub wanted: Vec<Wanted>,
    /// Its role.
    pub role: NewRole,
}

impl NewPack {
    /// About how many bytes it is going to have: those that its objects take now.
    pub fn disk_bytes(&self, store: &ObjectStore) -> u64 {
        let size = |object: &Wanted| store.size_on_disk(&object.id, object.location).unwrap_or(0);
        self.wanted.iter().map(size).sum()
    }
}

/// What a repack does with a pack of the own directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackFate {
    /// Its objects go into a pack with those of others, and it is deleted.
    RolledUp,
    /// It is deleted.
    Deleted,
    /// It stays, because it was named or has a `.keep` file.
    MarkedToStay,
    /// It stays, though others are deleted.
    Needed,
    /// It stays, as all do.
    Left,
}

/// What a repack is going to do.
#[derive(Debug)]
pub struct Plan {
    /// The packs that exist.
    pub existing: ExistingPacks,
    /// The tips that were known to be in use.
    pub tips: HashSet<ObjectId>,
    /// The packs to make, in this order.
    pub packs: Vec<NewPack>,
    /// The packs that may be deleted afterwards.
    pub replaced: Vec<ExistingPack>,
    /// The packs larger than the combined ones, smallest first; only for a geometric repack.
    pub above: Option<Vec<ExistingPack>>,
    /// The objects to make loose, and their ages.
    pub loosened: Vec<(Wanted, Timestamp)>,
}

impl Plan {
    /// Makes a plan. The packs are listed first: packs that appear later are not deleted.
    pub fn make(
        repository: &Repository,
        settings: &Settings,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let existing = ExistingPacks::collect(repository, settings)?;
        let sources = Sources::read(repository)?;
        let mut plan = Plan {
            existing,
            tips: HashSet::new(),
            packs: Vec::new(),
            replaced: Vec::new(),
            above: None,
            loosened: Vec::new(),
        };
        if let Extent::Geometric(factor) = settings.extent {
            geometric::plan(&mut plan, repository, factor, settings, observer)?;
        } else {
            let tips = Roots::ALL.tips(repository, &sources, &|warning: String| {
                observer.warn(&warning)
            })?;
            plan.tips = tips.iter().map(|tip| tip.id).collect();
            plan.add_reachable(repository, &sources, tips, settings)?;
        }
        if settings.extent == Extent::All {
            plan.replaced = plan.existing.not_kept().cloned().collect();
            plan.add_unreachable(repository, settings, observer)?;
        }
        if !settings.deletes {
            plan.replaced.clear();
        }
        Ok(plan)
    }

    /// Which objects new packs leave out because of their location.
    fn selection(&self, settings: &Settings) -> Selection {
        Selection {
            incremental: settings.extent == Extent::Loose,
            local: settings.local,
            left_out: self.existing.left_out(settings),
            ..Selection::default()
        }
    }

    /// Plans the pack of reachable objects.
    fn add_reachable(
        &mut self,
        repository: &Repository,
        sources: &Sources,
        tips: Vec<Tip>,
        settings: &Settings,
    ) -> Result<()> {
        let store = repository.objects();
        let selector = Selector::new(store, &self.selection(settings));
        let is_whole = settings.extent == Extent::All;
        if is_whole {
            self.add_promised(repository, &selector)?;
        }
        let excludes = has_promisor_remote(repository)?;
        let source = sources.as_stored(repository);
        // Only a walk in order can leave out promised or packed objects.
        let mut wanted = if !excludes && is_whole {
            reached(source, &tips, settings.options.execution.threads().get())?
        } else {
            let request = Request {
                tips,
                exclude_promised: excludes,
                only_unpacked: !is_whole,
                ..Request::default()
            };
            walked(source, request)?
        };
        let has_less = selector.retain(&mut wanted);
        let has_promised = excludes && self.existing.packs.iter().any(|pack| pack.is_promisor);
        let is_closed = !has_less && !has_promised && is_whole;
        self.packs.push(NewPack {
            wanted,
            role: NewRole::Plain { is_closed },
        });
        Ok(())
    }

    /// Adds a separate pack for objects from a promisor remote.
    fn add_promised(&mut self, repository: &Repository, selector: &Selector<'_>) -> Result<()> {
        let mut wanted = Vec::new();
        for pack in self.existing.packs.iter().filter(|pack| pack.is_promisor) {
            wanted.extend(objects_of_pack(repository.objects(), pack.number)?);
        }
        let mut seen = HashSet::with_capacity(wanted.len());
        wanted.retain(|object| seen.insert(object.id));
        selector.retain(&mut wanted);
        if !wanted.is_empty() {
            let role = NewRole::Promisor;
            self.packs.push(NewPack { wanted, role });
        }
        Ok(())
    }

    fn add_unreachable(
        &mut self,
        repository: &Repository,
        settings: &Settings,
        observer: &dyn Observer,
    ) -> Result<()> {
        match settings.unreachable {
            Unreachable::Kept if settings.deletes => self.keep(repository, settings, observer),
            Unreachable::Loosened { expiry } if settings.deletes => {
                self.loosen(repository, settings, expiry)
            }
            Unreachable::Cruft { expiry } => {
                let ages = cruft::plan(self, repository, settings, expiry)?;
                self.packs.extend(ages);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn keep(
        &mut self,
        repository: &Repository,
        settings: &Settings,
        observer: &dyn Observer,
    ) -> Result<()> {
        let selector = Selector::new(repository.objects(), &self.selection(settings));
        let elsewhere = self.objects_of(|role| matches!(role, NewRole::Promisor));
        let Some(main) = self.packs.last_mut() else {
            return Ok(());
        };
        let before = main.wanted.len();
        add_packed(repository, &selector, &mut main.wanted)?;
        add_loose(repository, &mut main.wanted, &|warning| {
            observer.warn(&warning)
        })?;
        let mut number = 0;
        main.wanted.retain(|object| {
            number += 1;
            number <= before || !elsewhere.contains(&object.id) && !selector.leaves_out(&object.id)
        });
        let is_more = main.wanted.len() > before;
        if let (NewRole::Plain { is_closed }, true) = (&mut main.role, is_more) {
            // Unreachable objects may refer to objects that are gone.
            *is_closed = false;
        }
        Ok(())
    }

    fn loosen(
        &mut self,
        repository: &Repository,
        settings: &Settings,
        expiry: Option<i64>,
    ) -> Result<()> {
        let store = repository.objects();
        let packed = self.objects_of(|_| true);
        let packs: Vec<u32> = self.replaced.iter().map(|pack| pack.number).collect();
        let recent = match expiry {
            Some(expiry) => cruft::recent(self, repository, expiry, &packed)?,
            None => HashSet::new(),
        };
        let kept = self.existing.with_role(Role::Kept);
        let staying = Selection {
            local: true,
            left_out: kept.map(|pack| pack.number).collect(),
            ..Selection::default()
        };
        let loosening = Loosening {
            packs: &packs,
            packed: &packed,
            staying: Selector::new(store, &staying),
            expiry,
            recent,
        };
        self.loosened = loosening.objects(store)?;
        debug_assert!(settings.deletes);
        Ok(())
    }

    /// What becomes of `pack`, one of the own directory.
    pub fn fate(&self, pack: &ExistingPack, settings: &Settings) -> PackFate {
        let is_replaced = self
            .replaced
            .iter()
            .any(|other| other.number == pack.number);
        match (is_replaced, pack.role) {
            (true, _) if self.above.is_some() => PackFate::RolledUp,
            (true, _) => PackFate::Deleted,
            (false, Role::Kept) => PackFate::MarkedToStay,
            (false, _) if settings.deletes => PackFate::Needed,
            (false, _) => PackFate::Left,
        }
    }

    /// How many loose objects of the own directory are in packs, or are going to be.
    ///
    /// # Errors
    /// If a directory cannot be listed.
    pub fn count_packed_loose(&self, store: &ObjectStore) -> Result<u64> {
        let packed = self.objects_of(|_| true);
        let is_packed = |copy| matches!(copy, Location::Packed { .. });
        let mut count = 0;
        for byte in 0..=u8::MAX {
            for id in store.own_loose_objects(byte)? {
                count += u64::from(packed.contains(&id) || store.all_copies(&id).any(is_packed));
            }
        }
        Ok(count)
    }

    /// The objects of the new packs of some roles.
    pub fn objects_of(&self, is_one: impl Fn(&NewRole) -> bool) -> HashSet<ObjectId> {
        let packs = self.packs.iter().filter(|pack| is_one(&pack.role));
        packs
            .flat_map(|pack| &pack.wanted)
            .map(|object| object.id)
            .collect()
    }
}

/// Whether there is a promisor remote, which has the objects that are missing here.
pub fn has_promisor_remote(repository: &Repository) -> Result<bool> {
    let config = repository.config();
    let is_one = |name: &bstr::BString| {
        let value = config.string_in("remote", name.as_ref(), "promisor");
        value.is_some_and(|value| hedgerow_git::config::boolean(value.as_ref()).unwrap_or(true))
    };
    let mut remotes = config.subsections("remote").into_iter();
    Ok(repository.partial_clone_remote().is_some() || remotes.any(|name| is_one(&name)))
}
