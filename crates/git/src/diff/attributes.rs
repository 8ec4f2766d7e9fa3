//! What the attribute `diff` says about files: gitattributes(5) under "Generating diff text".

use crate::config::Config;
use crate::convert::{AttributeSources, AttributeValue, Attributes};
use crate::index::{Index, Mode};
use crate::lines::Algorithm;
use crate::repository::Repository;
use crate::status::rename::{Filepair, Side};
use crate::worktree::attribute_files::{directories_above, Direction};
use crate::worktree::Worktree;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_engine::Execution;

const ATTRIBUTE: &[u8] = b"diff";

/// The drivers that git knows without configuration; all of them know the function lines of their
/// language.
const KNOWN: [&str; 25] = [
    "ada", "bash", "bibtex", "cpp", "csharp", "css", "dts", "elixir", "fortran", "fountain",
    "golang", "html", "ini", "java", "kotlin", "markdown", "matlab", "objc", "pascal", "perl",
    "php", "python", "ruby", "rust", "scheme",
];

/// What is told about both sides of a pair.
#[derive(Clone, Debug, Default)]
pub(crate) struct DiffAttributes {
    /// Of the old side and of the new.
    pub sides: [Driver; 2],
}

/// What is told about a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Driver {
    /// Whether it is binary; `None` if its content decides.
    pub is_binary: Option<bool>,
    /// The name of a driver that has rules of its own for the functions that hunks are in.
    pub functions: Option<BString>,
    /// The driver's algorithm.
    pub algorithm: Option<Algorithm>,
}

impl DiffAttributes {
    /// For all `pairs`, in their order, with the attributes that the working tree has for them.
    pub(crate) fn of_pairs(
        repository: &Repository,
        pairs: &[Filepair],
        execution: &Execution,
    ) -> Result<Vec<Self>> {
        let sides = pairs.iter().flat_map(|pair| [&pair.old, &pair.new]);
        let paths = sides.flatten().map(|side| side.path.as_bstr());
        let directories = directories_above(paths);
        let worktree = Worktree::open_if_any(repository, execution, "diff")?;
        let index = repository.load_index()?;
        let index = index.map_or_else(|| Index::empty(repository.hash_kind()), |found| found.0);
        let direction = Direction::CheckIn {
            listed: None,
            is_gone: &|_| false,
        };
        let read = |sources: &AttributeSources<'_>| Attributes::of_names(sources, &[ATTRIBUTE]);
        let (attributes, _) = repository
            .with_objects_read(|| worktree.attributes(&index, &directories, &direction, read))?;
        let driver = |side: &Option<Side>| {
            let is_file = |side: &&Side| matches!(side.mode, Mode::File | Mode::Executable);
            match side.as_ref().filter(is_file) {
                Some(side) => Driver::of(repository.config(), &attributes, side.path.as_bstr()),
                None => Ok(Driver::default()),
            }
        };
        let told = pairs.iter().map(|pair| {
            Ok(DiffAttributes {
                sides: [driver(&pair.old)?, driver(&pair.new)?],
            })
        });
        told.collect()
    }

    /// The algorithm of the files' driver.
    pub(crate) fn algorithm(&self) -> Option<Algorithm> {
        self.sides.iter().find_map(|side| side.algorithm)
    }
}

impl Driver {
    fn of(config: &Config, attributes: &Attributes, path: &BStr) -> Result<Self> {
        let told = |is_binary| Driver {
            is_binary: Some(is_binary),
            ..Driver::default()
        };
        match attributes.value_of(path, false, 0) {
            AttributeValue::Set => Ok(told(false)),
            AttributeValue::Unset => Ok(told(true)),
            AttributeValue::Unspecified => Ok(Driver::default()),
            AttributeValue::Text(name) => Driver::named(config, name),
        }
    }

    fn named(config: &Config, name: &BStr) -> Result<Self> {
        let setting = |key| config.string_in("diff", name, key);
        let has_rule = setting("xfuncname").is_some() || setting("funcname").is_some();
        let is_known = KNOWN.iter().any(|known| *known == name) || name == "tex";
        let algorithm = setting("algorithm").map(|word| algorithm(word.as_bstr()));
        let binary = setting("binary").filter(|word| word != "auto");
        let is_binary = binary.map(|word| {
            crate::config::boolean(word.as_bstr()).ok_or_else(|| Error::Config {
                reason: format!("bad boolean config value '{word}' for 'diff.{name}.binary'"),
            })
        });
        Ok(Driver {
            is_binary: is_binary.transpose()?,
            functions: (has_rule || is_known).then(|| name.to_owned()),
            algorithm: algorithm.transpose()?,
        })
    }
}

/// `diff.algorithm`.
pub(crate) fn configured_algorithm(config: &Config) -> Result<Option<Algorithm>> {
    let word = config.string("diff.algorithm");
    word.map(|word| algorithm(word.as_bstr())).transpose()
}

/// Refuses a `diff.algorithm` that does not exist, as git does where it may compare lines.
pub(crate) fn check_algorithm(config: &Config) -> Result<()> {
    match configured_algorithm(config) {
        Ok(_) | Err(Error::NotBuilt { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The algorithm that git calls `name`.
pub fn algorithm(name: &BStr) -> Result<Algorithm> {
    match name.to_ascii_lowercase().as_slice() {
        b"myers" | b"default" => Ok(Algorithm::Myers),
        b"minimal" => Ok(Algorithm::Minimal),
        b"histogram" => Ok(Algorithm::Histogram),
        b"patience" => Err(Error::NotBuilt {
            reason: format!("a comparison of lines by the algorithm '{name}'"),
        }),
        _ => Err(Error::Config {
            reason: "unknown value for config 'diff.algorithm': ".to_owned() + &name.to_string(),
        }),
    }
}
