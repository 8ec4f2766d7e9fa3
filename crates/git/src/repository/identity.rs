//! Who acts, in commits and in the logs of references: git-commit(1) under "COMMIT INFORMATION". Where
//! the environment gives no date, the time is the system's, in its zone.

use super::Repository;
use crate::config::Person;
use crate::dates::signature_date;
use crate::refs::Signature;
use crate::{Error, Result};
use bstr::{BString, ByteSlice};

/// Who acts where nobody is configured.
#[derive(Clone, Copy, Debug)]
pub struct Fallback {
    /// The name.
    pub name: &'static str,
    /// The mail address.
    pub email: &'static str,
}

/// As what somebody acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The author of a commit.
    Author,
    /// The committer.
    Committer,
}

/// A name and an address as they are given.
struct Found {
    name: BString,
    /// The name is that of all roles, or of the account.
    is_usual: bool,
    email: BString,
}

impl Repository {
    /// Who is written into the logs: `GIT_COMMITTER_*`, then `committer.*` and `user.*`, then the
    /// account of this process. Fails for a date that cannot be read.
    pub fn committer(&self) -> Result<Signature> {
        self.logged(None)
    }

    /// The same, with a name and an address to take if none is configured.
    pub(crate) fn committer_or(&self, fallback: Fallback) -> Result<Signature> {
        self.logged(Some(fallback))
    }

    fn logged(&self, fallback: Option<Fallback>) -> Result<Signature> {
        let mut found = self.found(Role::Committer, fallback);
        if found.name.is_empty() {
            found.name = account().map_or_else(|| "unknown".into(), |account| account.name.into());
        }
        self.signature(Role::Committer, &found)
    }

    /// Who acts in commits, as author and as committer, with a name and an address to take if none is
    /// configured.
    ///
    /// # Errors
    /// [`Error::Identity`], in git's words: a name that says nothing, or a date that cannot be read.
    pub(crate) fn authors(&self, fallback: Fallback) -> Result<(Signature, Signature)> {
        let signature = |role: Role| {
            let found = self.found(role, Some(fallback));
            check(role, &found)?;
            self.signature(role, &found)
        };
        Ok((signature(Role::Author)?, signature(Role::Committer)?))
    }

    fn given(&self, role: Role) -> &Person {
        match role {
            Role::Author => &self.environment.author,
            Role::Committer => &self.environment.committer,
        }
    }

    fn found(&self, role: Role, fallback: Option<Fallback>) -> Found {
        let given = self.given(role);
        let name = self.found_for(
            role,
            "name",
            given.name.as_ref(),
            fallback.map(|it| it.name),
        );
        let email = fallback.map(|it| it.email);
        let email = self.found_for(role, "email", given.email.as_ref(), email);
        Found {
            is_usual: name.is_none(),
            name: name.unwrap_or_else(|| self.usual("name").unwrap_or_else(account_name)),
            email: email.unwrap_or_else(|| self.usual("email").unwrap_or_else(|| self.address())),
        }
    }

    /// The value of `key` for the role alone.
    fn found_for(
        &self,
        role: Role,
        key: &str,
        given: Option<&BString>,
        fallback: Option<&str>,
    ) -> Option<BString> {
        let section = match role {
            Role::Author => "author",
            Role::Committer => "committer",
        };
        let own = self.configured(section, key);
        let is_configured = own.is_some() || self.configured("user", key).is_some();
        let fallback = fallback.filter(|_| !is_configured).map(BString::from);
        let own = own.filter(|value| !value.is_empty());
        given.cloned().or(fallback).or(own)
    }

    /// The configured value of `key` for all roles; like git, an empty one if another section has the
    /// key.
    fn usual(&self, key: &str) -> Option<BString> {
        let mut others = ["author", "committer"].into_iter();
        self.configured("user", key).or_else(|| {
            let is_given = others.any(|section| self.configured(section, key).is_some());
            is_given.then(BString::default)
        })
    }

    fn configured(&self, section: &str, key: &str) -> Option<BString> {
        self.config.string(&format!("{section}.{key}"))
    }

    fn address(&self) -> BString {
        let given = self.environment.email.clone();
        given.unwrap_or_else(account_address)
    }

    fn signature(&self, role: Role, found: &Found) -> Result<Signature> {
        let time = match &self.given(role).date {
            Some(date) => parse_date(date)?,
            None => now(),
        };
        Ok(Signature {
            name: cleaned(&found.name),
            email: cleaned(&found.email),
            time,
        })
    }
}

/// Refuses a name that says nothing.
fn check(role: Role, found: &Found) -> Result<()> {
    let reason = if found.name.is_empty() {
        format!("empty ident name (for <{}>) not allowed", found.email)
    } else if found.name.trim_with(is_crud).is_empty() {
        let name = &found.name;
        format!("name consists only of disallowed characters: {name}")
    } else {
        return Ok(());
    };
    let is_unknown = found.name.is_empty() && found.is_usual;
    Err(Error::Identity {
        unknown: is_unknown.then_some(role),
        reason,
    })
}

impl Role {
    /// What git says first if nobody was named: how to name somebody.
    pub fn preface(self) -> String {
        let role = match self {
            Role::Author => "Author",
            Role::Committer => "Committer",
        };
        format!(
            "{role} identity unknown\n\
         \n\
         *** Please tell me who you are.\n\
         \n\
         Run\n\
         \n\
         \x20 git config --global user.email \"you@example.com\"\n\
         \x20 git config --global user.name \"Your Name\"\n\
         \n\
         to set your account's default identity.\n\
         Omit --global to set the identity only in this repository.\n"
        )
    }
}

/// The time, and the difference of local time. The zone is asked of the C library, as git does it:
/// the crate would look through all zones of the system.
fn now() -> gix_date::Time {
    let seconds = hedgerow_fs::file_time().seconds;
    let offset = hedgerow_fs::local_offset(seconds).seconds;
    gix_date::Time::new(seconds, offset as i32)
}

fn parse_date(date: &BString) -> Result<gix_date::Time> {
    let (seconds, minutes) = signature_date(date.as_ref()).ok_or_else(|| Error::Identity {
        unknown: None,
        reason: format!("invalid date format: {date}"),
    })?;
    let offset = i32::try_from(minutes * 60).expect("an offset has four digits at most");
    Ok(gix_date::Time::new(seconds, offset))
}

/// The full name of the account: up to the first comma, `&` standing for the login name.
fn account_name() -> BString {
    let Some(account) = account() else {
        return "unknown".into();
    };
    let comment = account.comment.split(|byte| *byte == b',').next();
    let mut name = BString::default();
    for byte in comment.unwrap_or_default() {
        match byte {
            b'&' => {
                let start = name.len();
                name.extend_from_slice(&account.name);
                if let Some(first) = name.get_mut(start) {
                    first.make_ascii_uppercase();
                }
            }
            other => name.push(*other),
        }
    }
    if name.is_empty() {
        account.name.into()
    } else {
        name
    }
}

fn account_address() -> BString {
    let user = account().map_or_else(|| b"unknown".to_vec(), |account| account.name);
    let host = hedgerow_fs::host_name();
    let end = if host.contains(&b'.') { "" } else { ".(none)" };
    [&user[..], b"@", &host, end.as_bytes()].concat().into()
}

fn account() -> Option<hedgerow_fs::Account> {
    hedgerow_fs::account_by_uid(hedgerow_fs::effective_uid())
}

/// Takes out what would break the line: angle brackets and line ends anywhere, and at the ends
/// what git calls crud.
fn cleaned(text: &BString) -> BString {
    let kept = text.trim_with(is_crud);
    kept.iter()
        .copied()
        .filter(|byte| !matches!(byte, b'\n' | b'<' | b'>'))
        .collect::<Vec<u8>>()
        .into()
}

/// Whether git takes it from the ends of names.
fn is_crud(character: char) -> bool {
    character <= ' ' || matches!(character, ',' | ':' | ';' | '<' | '>' | '"' | '\\' | '\'')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crud_is_taken_out() {
        assert_eq!(cleaned(&" Ada <L>, ".into()), "Ada L");
        assert_eq!(cleaned(&"a\nb".into()), "ab");
        assert_eq!(cleaned(&"\"'".into()), "");
    }
}
