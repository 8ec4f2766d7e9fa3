//! Registering submodules: git-submodule(1) under `init`.

use super::modules::Modules;
use super::place::refuse_new;
use super::{displayed, listed, read_index, url, Listed};
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};

/// What was registered, and the warnings on the way, in git's words and order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Registered {
    /// The address of a submodule is in the configuration now.
    Url(String),
    /// A warning.
    Warning(String),
}

/// Puts the submodules that `pathspecs` select into the configuration of `repository`: of all of
/// them without any, or of those that `submodule.active` selects.
///
/// # Errors
/// In git's words, if a submodule has no address. Those before it are registered then.
pub fn init_submodules(
    repository: &Repository,
    pathspecs: &[BString],
    above: &BStr,
    told: &mut dyn FnMut(Registered),
) -> Result<()> {
    refuse_new(repository)?;
    let index = read_index(repository)?;
    let modules = Modules::read(repository, &index)?;
    for warning in &modules.warnings {
        told(Registered::Warning(warning.clone()));
    }
    let mut chosen = listed(repository, &index, pathspecs)?;
    let config = repository.config();
    if pathspecs.is_empty() && !config.strings("submodule.active").is_empty() {
        let mut active = Vec::new();
        for one in chosen {
            if modules.is_active(repository, one.path.as_bstr())? {
                active.push(one);
            }
        }
        chosen = active;
    }
    for one in &chosen {
        init(repository, &modules, one, above, told)?;
    }
    Ok(())
}

fn init(
    repository: &Repository,
    modules: &Modules,
    listed: &Listed,
    above: &BStr,
    told: &mut dyn FnMut(Registered),
) -> Result<()> {
    let path = listed.path.as_bstr();
    let shown = displayed(repository, above, path);
    let no_url = || Error::Setup {
        reason: format!("No url found for submodule path '{shown}' in .gitmodules"),
    };
    let module = modules.at(path).ok_or_else(no_url)?;
    let config = repository.config();
    let name = module.name.as_bstr();
    let is_set = |key| config.string_in("submodule", name, key).is_some();
    let set = |key, value: BString| {
        let section = ("submodule", Some(name));
        let lock = repository.prepare_config(section, &[(key, value)])?;
        lock.commit()?;
        Ok::<(), Error>(())
    };
    if !modules.is_active(repository, path)? {
        set("active", "true".into())?;
    }
    if !is_set("url") {
        let url = module.url.as_ref().ok_or_else(no_url)?;
        let mut warn = |warning| told(Registered::Warning(warning));
        let url = url::resolved(repository, url.as_bstr(), &mut warn)?;
        set("url", url.clone())?;
        let line = format!("Submodule '{name}' ({url}) registered for path '{shown}'");
        told(Registered::Url(line));
    }
    if let (Some(update), false) = (&module.update, is_set("update")) {
        set("update", update.clone())?;
    }
    Ok(())
}
