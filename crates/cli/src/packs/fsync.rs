//! What is to be on the disk before a command ends: `core.fsync` of git-config(1).

use super::surroundings::Surroundings;
use crate::environment;
use crate::failure::Failure;
use bstr::ByteSlice;
use hedgerow_git::repository::Repository;

/// The parts of a repository that packs are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fsync {
    pub pack: bool,
    pub pack_metadata: bool,
}

impl Fsync {
    /// As the configuration has it; both without one.
    pub fn resolve(surroundings: &Surroundings) -> Result<Self, Failure> {
        Self::configured(surroundings.repository.as_ref())
    }

    /// As the configuration of `repository` has it.
    pub fn of(repository: &Repository) -> Result<Self, Failure> {
        Self::configured(Some(repository))
    }

    fn configured(repository: Option<&Repository>) -> Result<Self, Failure> {
        let both = Fsync {
            pack: true,
            pack_metadata: true,
        };
        if let Some(value) = environment::variable("GIT_TEST_FSYNC") {
            let value = value.to_string_lossy();
            if hedgerow_git::repository::boolean(value.as_bytes().as_bstr()) == Some(false) {
                return Ok(Fsync {
                    pack: false,
                    pack_metadata: false,
                });
            }
        }
        let Some(repository) = repository else {
            return Ok(both);
        };
        match repository.config().text("core.fsync")? {
            Some(text) => Ok(parse(&text.to_str_lossy())),
            None => Ok(both),
        }
    }
}

/// Components are added to git's default, or taken from it with a minus; `none` starts from
/// nothing.
fn parse(text: &str) -> Fsync {
    let mut fsync = Fsync {
        pack: true,
        pack_metadata: true,
    };
    for word in text.split([',', ' ', '\t']).filter(|word| !word.is_empty()) {
        let (name, value) = match word.strip_prefix('-') {
            Some(name) => (name, false),
            None => (word, true),
        };
        match name {
            "none" => (fsync.pack, fsync.pack_metadata) = (false, false),
            "pack" => fsync.pack = value,
            "pack-metadata" | "derived-metadata" => fsync.pack_metadata = value,
            "objects" | "committed" | "added" => fsync.pack = value,
            "all" => (fsync.pack, fsync.pack_metadata) = (value, value),
            _ => {}
        }
    }
    fsync
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_add_up() {
        for (text, pack, pack_metadata) in [
            ("none", false, false),
            ("none,pack", true, false),
            ("-pack-metadata", true, false),
            ("all,-pack", false, true),
            ("none,derived-metadata", false, true),
            ("reference", true, true),
        ] {
            let expected = Fsync {
                pack,
                pack_metadata,
            };
            assert_eq!(parse(text), expected, "{text}");
        }
    }
}
