use crate::read_file;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// A user in the system's account file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Login name.
    pub name: Vec<u8>,
    /// Numeric id.
    pub uid: u32,
    /// The comment field: full name first, then comma-separated details.
    pub comment: Vec<u8>,
    /// Home directory.
    pub home: PathBuf,
}

/// Upper limit for reading the account file, in bytes.
const ACCOUNT_FILE_LIMIT_BYTES: u64 = 64 << 20;

/// The effective user id of this process.
pub fn effective_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The account with the id `uid`, from `/etc/passwd`. Network account services are not queried.
pub fn account_by_uid(uid: u32) -> Option<Account> {
    find(|account| account.uid == uid)
}

/// The account with the login name `name`, from `/etc/passwd`.
pub fn account_by_name(name: &[u8]) -> Option<Account> {
    find(|account| account.name == name)
}

/// A group in the system's file of groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: Vec<u8>,
    /// Numeric id.
    pub gid: u32,
}

/// The group with the id `gid`, from `/etc/group`. Network account services are not queried.
pub fn group_by_gid(gid: u32) -> Option<Group> {
    find_group(|group| group.gid == gid)
}

/// The group with this name, from `/etc/group`.
pub fn group_by_name(name: &[u8]) -> Option<Group> {
    find_group(|group| group.name == name)
}

/// The host name, without the domain unless it was set with one.
pub fn host_name() -> Vec<u8> {
    rustix::system::uname().nodename().to_bytes().to_vec()
}

fn find_group(wanted: impl Fn(&Group) -> bool) -> Option<Group> {
    let content = read_file(Path::new("/etc/group"), ACCOUNT_FILE_LIMIT_BYTES)
        .ok()
        .flatten()?;
    let lines = content.split(|byte| *byte == b'\n');
    lines.filter_map(parse_group).find(wanted)
}

/// One line of group(5): `name:password:gid:members`.
fn parse_group(line: &[u8]) -> Option<Group> {
    let mut fields = line.split(|byte| *byte == b':');
    let name = fields.next()?.to_vec();
    let gid = std::str::from_utf8(fields.nth(1)?).ok()?.parse().ok()?;
    Some(Group { name, gid })
}

fn find(wanted: impl Fn(&Account) -> bool) -> Option<Account> {
    let content = read_file(Path::new("/etc/passwd"), ACCOUNT_FILE_LIMIT_BYTES)
        .ok()
        .flatten()?;
    content
        .split(|byte| *byte == b'\n')
        .filter_map(parse)
        .find(wanted)
}

/// One line of passwd(5): `name:password:uid:gid:comment:home:shell`.
fn parse(line: &[u8]) -> Option<Account> {
    let mut fields = line.split(|byte| *byte == b':');
    let name = fields.next()?.to_vec();
    let uid = std::str::from_utf8(fields.nth(1)?).ok()?.parse().ok()?;
    let comment = fields.nth(1)?.to_vec();
    let home = PathBuf::from(OsString::from_vec(fields.next()?.to_vec()));
    Some(Account {
        name,
        uid,
        comment,
        home,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_into_its_fields() {
        let account = parse(b"ada:x:1000:1001:Ada L,,,:/home/ada:/bin/sh").unwrap();
        assert_eq!(account.name, b"ada");
        assert_eq!(account.uid, 1000);
        assert_eq!(account.comment, b"Ada L,,,");
        assert_eq!(account.home, Path::new("/home/ada"));
        for broken in ["", "ada", "ada:x:many:1:::", "ada:x:1"] {
            assert_eq!(parse(broken.as_bytes()), None, "{broken}");
        }
        let group = parse_group(b"tape:x:26:ada,bob").unwrap();
        assert_eq!((group.name, group.gid), (b"tape".to_vec(), 26));
        assert_eq!(parse_group(b"tape:x:many:"), None);
    }
}
