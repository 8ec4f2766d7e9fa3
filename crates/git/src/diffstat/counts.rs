//! How much of each file changed. Contents are read and compared by several workers.

use super::Counts;
use crate::config::Config;
use crate::convert::{AttributeSources, AttributeValue, Attributes};
use crate::index::{Index, Mode};
use crate::merge::{changed_lines, is_binary, Algorithm};
use crate::repository::{Objects, Repository};
use crate::status::rename::{map_contents, Filepair, ObjectContents, Side};
use crate::worktree::attribute_files::{directories_above, Direction};
use crate::worktree::Worktree;
use crate::{Error, Result};
use bstr::{BStr, ByteSlice};
use hedgerow_engine::{Execution, Options};
use hedgerow_pack::Reader;

/// What decides how a file is compared.
const ATTRIBUTE: &[u8] = b"diff";

/// Counts changes.
pub(super) struct Counter<'r> {
    objects: Objects<'r>,
    contents: ObjectContents<'r>,
    /// For both sides of each pair, whether it is told to be binary.
    told: Vec<[Option<bool>; 2]>,
    big_file_bytes: u64,
    algorithm: Algorithm,
}

/// `diff.algorithm`.
pub(super) fn algorithm(config: &Config) -> Result<Algorithm> {
    let Some(name) = config.string("diff.algorithm") else {
        return Ok(Algorithm::Myers);
    };
    match name.to_ascii_lowercase().as_slice() {
        b"myers" | b"default" => Ok(Algorithm::Myers),
        b"histogram" => Ok(Algorithm::Histogram),
        b"minimal" | b"patience" => Err(Error::NotBuilt {
            reason: format!("a diffstat by the algorithm '{name}' (--no-stat goes without)"),
        }),
        _ => Err(Error::Config {
            reason: "unknown value for config 'diff.algorithm': ".to_owned() + &name.to_string(),
        }),
    }
}

impl<'r> Counter<'r> {
    /// For the files of `pairs`, with the attributes that the working tree has for them.
    pub(super) fn new(
        repository: &'r Repository,
        pairs: &[Filepair],
        execution: &Execution,
    ) -> Result<Self> {
        let sides = pairs.iter().flat_map(|pair| [&pair.old, &pair.new]);
        let paths = sides.flatten().map(|side| side.path.as_bstr());
        let directories = directories_above(paths);
        let worktree = Worktree::open(repository, execution, "diffstat")?;
        let index = Index::load(
            repository.index_path(),
            repository.git_dir(),
            repository.hash_kind(),
        )?;
        let index = index.map_or_else(|| Index::empty(repository.hash_kind()), |found| found.0);
        let direction = Direction::CheckIn {
            listed: None,
            is_gone: &|_| false,
        };
        let read = |sources: &AttributeSources<'_>| Attributes::of_names(sources, &[ATTRIBUTE]);
        let (attributes, _) = worktree.attributes(&index, &directories, &direction, read)?;
        let told = |side: &Option<Side>| told(repository.config(), &attributes, side.as_ref());
        let told = pairs
            .iter()
            .map(|pair| Ok([told(&pair.old)?, told(&pair.new)?]));
        Ok(Counter {
            objects: repository.shared_objects(),
            contents: ObjectContents::new(repository),
            told: told.collect::<Result<_>>()?,
            big_file_bytes: repository.settings().big_file_bytes,
            algorithm: algorithm(repository.config())?,
        })
    }

    /// The counts of all `pairs`, in their order.
    pub(super) fn count_all(&self, pairs: &[Filepair], engine: &Options) -> Result<Vec<Counts>> {
        let count = |reader: &mut Reader<'r>, _: &mut (), at: usize| {
            self.count(reader, &pairs[at], self.told[at])
        };
        map_contents(&self.contents, engine, pairs.len(), || (), count)
    }

    fn count(
        &self,
        reader: &mut Reader<'r>,
        pair: &Filepair,
        told: [Option<bool>; 2],
    ) -> Result<Counts> {
        let (old, new) = (pair.old.as_ref(), pair.new.as_ref());
        let id = |side: Option<&Side>| side.and_then(|side| side.id);
        let is_same = id(old) == id(new);
        let before = self.content(reader, old)?;
        let after = self.content(reader, new)?;
        let is_binary = |told: Option<bool>, content: &[u8]| {
            let is_large = content.len() as u64 > self.big_file_bytes;
            told.unwrap_or_else(|| is_large || is_binary(content))
        };
        if is_binary(told[0], &before) || is_binary(told[1], &after) {
            let bytes = |content: &[u8]| if is_same { 0 } else { content.len() as u64 };
            return Ok(Counts::Bytes {
                added: bytes(&after),
                removed: bytes(&before),
            });
        }
        let (removed, added) = if is_same {
            (0, 0)
        } else {
            changed_lines(self.algorithm, &before, &after)
        };
        Ok(Counts::Lines { added, removed })
    }

    /// What is compared: of a submodule, a line with its commit.
    fn content(&self, reader: &mut Reader<'r>, side: Option<&Side>) -> Result<Vec<u8>> {
        match side.and_then(|side| Some((side.mode, side.id?))) {
            None => Ok(Vec::new()),
            Some((Mode::Gitlink, id)) => Ok(format!("Subproject commit {id}\n").into_bytes()),
            Some((_, id)) => {
                let id = self.objects.replacement(&id)?;
                let location = self.objects.store.locate(&id)?;
                let location = location.ok_or(Error::MissingBlob { id })?;
                let (_, content) = reader.read(&id, location)?;
                Ok(content.to_vec())
            }
        }
    }
}

/// Whether the attributes say that a file is binary; `None` if its content decides.
fn told(config: &Config, attributes: &Attributes, side: Option<&Side>) -> Result<Option<bool>> {
    let is_file = |side: &&Side| matches!(side.mode, Mode::File | Mode::Executable);
    let Some(side) = side.filter(is_file) else {
        return Ok(None);
    };
    match attributes.value_of(side.path.as_bstr(), false, 0) {
        AttributeValue::Set => Ok(Some(false)),
        AttributeValue::Unset => Ok(Some(true)),
        AttributeValue::Unspecified => Ok(None),
        AttributeValue::Text(driver) => told_by_driver(config, driver),
    }
}

/// `diff.<driver>.binary`; `auto` leaves it to the content.
fn told_by_driver(config: &Config, driver: &BStr) -> Result<Option<bool>> {
    let word = config.string_in("diff", driver, "binary");
    let Some(word) = word.filter(|word| word != "auto") else {
        return Ok(None);
    };
    let value = crate::config::boolean(word.as_bstr());
    value.map(Some).ok_or_else(|| Error::Config {
        reason: format!("bad boolean config value '{word}' for 'diff.{driver}.binary'"),
    })
}
