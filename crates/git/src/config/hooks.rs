//! Hooks that the configuration names: git-config(1) under `hook.<friendly-name>.*`.

use super::{boolean, Config};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeMap;

/// The events of githooks(5): no hook is called like one.
const EVENTS: [&str; 28] = [
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "p4-prepare-changelist",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

/// What the configuration says of hooks.
#[derive(Default)]
struct Hooks {
    /// Names and their events, in the order in which they run.
    events: Vec<(BString, BString)>,
    commands: BTreeMap<BString, BString>,
    disabled: Vec<BString>,
}

impl Config {
    /// The commands for the shell that run at `event`, in order.
    ///
    /// # Errors
    /// [`Error::Config`], in git's words, if a hook has no command, or is called like an event.
    pub(crate) fn hook_commands(&self, event: &str) -> Result<Vec<BString>> {
        let mut hooks = Hooks::default();
        for section in self.file.sections_by_name("hook").into_iter().flatten() {
            let Some(name) = section.header().subsection_name() else {
                continue;
            };
            for (key, value) in section.body() {
                let key = key.to_ascii_lowercase();
                hooks.set(name, &key, value.as_ref())?;
            }
        }
        hooks.commands_at(event.into())
    }
}

impl Hooks {
    fn set(&mut self, name: &BStr, key: &str, value: &BStr) -> Result<()> {
        match key {
            "event" if value.is_empty() => self.events.retain(|(other, _)| other != name),
            "event" => {
                if EVENTS.iter().any(|event| name == *event) {
                    return Err(Error::Config {
                        reason: format!(
                            "hook friendly-name '{name}' collides with a known event name; please \
                             choose a different friendly-name"
                        ),
                    });
                }
                let hook = (name.to_owned(), value.to_owned());
                // The last time that it is named counts.
                self.events.retain(|other| *other != hook);
                self.events.push(hook);
            }
            "command" => drop(self.commands.insert(name.into(), value.into())),
            "enabled" => {
                let is_enabled = boolean(value);
                if is_enabled.is_some() {
                    self.disabled.retain(|other| other != name);
                }
                if is_enabled == Some(false) {
                    self.disabled.push(name.into());
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn commands_at(&self, event: &BStr) -> Result<Vec<BString>> {
        let is_disabled = |name: &BStr| self.disabled.iter().any(|other| other == name);
        let is_hook =
            self.commands.contains_key(event) || self.events.iter().any(|(name, _)| name == event);
        let mut commands = Vec::new();
        for (name, at) in &self.events {
            if is_disabled(name.as_bstr()) {
                continue;
            }
            let command = self.commands.get(name).ok_or_else(|| Error::Config {
                reason: format!(
                    "'hook.{name}.command' must be configured or 'hook.{name}.event' must be \
                     removed; aborting."
                ),
            })?;
            if at == event && (is_hook || !is_disabled(event)) {
                commands.push(command.clone());
            }
        }
        Ok(commands)
    }
}
