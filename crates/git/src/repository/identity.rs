//! Who acts, for the logs of references: git-commit(1) under "COMMIT INFORMATION". Where the
//! environment gives no date, the time is the system's, in its zone.

use super::Repository;
use crate::config::Person;
use crate::dates::signature_date;
use crate::refs::Signature;
use crate::{Error, Result};
use bstr::{BString, ByteSlice};

impl Repository {
    /// Who is written into the logs: `GIT_COMMITTER_*`, then `committer.*` and `user.*`, then the
    /// account of this process. Fails for a date that cannot be read.
    pub fn committer(&self) -> Result<Signature> {
        self.person("committer", &self.environment.committer)
    }

    /// Who acts, as author and as committer, where commits need somebody and `name` and `email` are
    /// taken if nobody is configured.
    pub(crate) fn authors(&self, name: &str, email: &str) -> Result<(Signature, Signature)> {
        let or = |given: &Person, role: &str| {
            let known = |key: &str| {
                self.config.string(&format!("{role}.{key}")).is_some()
                    || self.config.string(&format!("user.{key}")).is_some()
            };
            let has_name = given.name.is_some() || known("name");
            let has_email =
                given.email.is_some() || known("email") || self.environment.email.is_some();
            let mut person = given.clone();
            if !(has_name && has_email) {
                person.name = Some(name.into());
                person.email = Some(email.into());
            }
            person
        };
        let environment = &self.environment;
        let author = self.person("author", &or(&environment.author, "author"))?;
        let committer = self.person("committer", &or(&environment.committer, "committer"))?;
        Ok((author, committer))
    }

    fn person(&self, role: &str, given: &Person) -> Result<Signature> {
        let configured = |key: &str| {
            self.config
                .string(&format!("{role}.{key}"))
                .or_else(|| self.config.string(&format!("user.{key}")))
        };
        let name = given.name.clone().or_else(|| configured("name"));
        let email = given
            .email
            .clone()
            .or_else(|| configured("email"))
            .or_else(|| self.environment.email.clone());
        let time = match &given.date {
            Some(date) => parse_date(date)?,
            None => now(),
        };
        Ok(Signature {
            name: cleaned(&name.unwrap_or_else(account_name)),
            email: cleaned(&email.unwrap_or_else(account_address)),
            time,
        })
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
    let (seconds, minutes) = signature_date(date.as_ref()).ok_or_else(|| Error::Setup {
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
    let is_crud = |character: char| {
        character <= ' ' || matches!(character, ',' | ':' | ';' | '<' | '>' | '"' | '\\' | '\'')
    };
    let kept = text.trim_with(is_crud);
    kept.iter()
        .copied()
        .filter(|byte| !matches!(byte, b'\n' | b'<' | b'>'))
        .collect::<Vec<u8>>()
        .into()
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
