//! What the configuration leaves to the real git where hedgerow was called in its place.

use super::{boolean, Config};
use crate::{Error, Result};
use bstr::ByteSlice;

/// A call of git that this process answers, as far as the configuration leaves it to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InPlaceOf {
    /// Git's command.
    pub command: &'static str,
    /// Its output goes to a terminal, where git may start a pager.
    pub is_paged: bool,
}

/// Settings with which git writes a trace.
const TRACES: [&str; 3] = [
    "trace2.normalTarget",
    "trace2.perfTarget",
    "trace2.eventTarget",
];

impl InPlaceOf {
    /// # Errors
    /// [`Error::NotBuilt`]: the call is the real git's, because of `hedgerow.shim.<command>`,
    /// `pager.<command>`, or a trace that git is to write.
    pub(crate) fn check(self, config: &Config) -> Result<()> {
        let says = |text: Option<bstr::BString>| text.and_then(|text| boolean(text.as_bstr()));
        let own = says(config.string_in("hedgerow", "shim".into(), self.command));
        let pager = config.string(&format!("pager.{}", self.command));
        let is_paged = pager.is_some_and(|pager| boolean(pager.as_bstr()) != Some(false));
        let traced = TRACES.iter().find(|key| {
            let target = config.string(key);
            target.is_some_and(|target| boolean(target.as_bstr()) != Some(false))
        });
        let reason = if own == Some(false) {
            format!("hedgerow.shim.{} is off", self.command)
        } else if self.is_paged && is_paged {
            format!("pager.{} is on", self.command)
        } else if let Some(key) = traced {
            format!("{key} is set")
        } else {
            return Ok(());
        };
        Err(Error::NotBuilt { reason })
    }
}
