//! The trait of stores of references: a second store, in memory, and what uses a store with it.
#![allow(
    clippy::disallowed_methods,
    reason = "tests play the user, who has no handle"
)]

mod files;
mod memory;
mod reftable;
mod used;

use super::{
    Expected, LogMessage, Logged, RefChange, RefEdit, RefStore, RefValue, Signature, WriteOptions,
};
use crate::config::{ReftableSettings, Sharing};
use crate::{Error, Result};
use bstr::BStr;
use gix_hash::ObjectId;

fn id(digit: char) -> ObjectId {
    ObjectId::from_hex(digit.to_string().repeat(40).as_bytes()).unwrap()
}

fn committer() -> Signature {
    Signature {
        name: "A".into(),
        email: "a@b".into(),
        time: gix_date::Time::new(1_700_000_000, 0),
    }
}

fn edit<'a>(name: &'a str, value: Option<ObjectId>, expected: Expected) -> RefEdit<'a> {
    let set = |id| RefChange::Set(RefValue::Direct(id));
    RefEdit {
        name: name.into(),
        change: value.map_or(RefChange::Delete, set),
        expected,
        log: value.map(|new| Logged {
            old: None,
            new,
            create: true,
        }),
        message: None,
    }
}

fn change(store: &dyn RefStore, edits: &[RefEdit<'_>]) -> Result<()> {
    let options = WriteOptions {
        sharing: Sharing::Umask,
        sync: false,
        lock_timeout: Some(std::time::Duration::ZERO),
        packed_lock_timeout: Some(std::time::Duration::ZERO),
        reftable: ReftableSettings::default(),
        is_cancelled: &|| false,
    };
    let committer = committer();
    let message = LogMessage {
        text: "why".into(),
        committer: &committer,
    };
    store.prepare(edits, &options)?.commit(Some(message))
}

/// What is listed below `prefix`: names, and `None` where a reference is broken.
fn listed(store: &dyn RefStore, prefix: &str) -> Vec<(String, Option<RefValue>)> {
    let mut found = Vec::new();
    let mut visit = |name: &BStr, value: Result<RefValue>| {
        found.push((name.to_string(), value.ok()));
        Ok(())
    };
    store.list(prefix.into(), &mut visit).unwrap();
    found
}

/// What every store must do.
fn check(store: &dyn RefStore) {
    let main: &BStr = "refs/heads/main".into();
    assert_eq!(store.read(main).unwrap(), None);
    assert!(!store.contains(main).unwrap());
    change(
        store,
        &[
            edit("refs/heads/main", Some(id('1')), Expected::Absent),
            edit("refs/heads/a/b", Some(id('2')), Expected::Anything),
            edit("refs/tags/v1", Some(id('3')), Expected::Anything),
        ],
    )
    .unwrap();
    let direct = |digit| Some(RefValue::Direct(id(digit)));
    assert_eq!(store.read(main).unwrap(), direct('1'));
    assert!(store.contains(main).unwrap());
    let names = [("refs/heads/a/b", '2'), ("refs/heads/main", '1')];
    let expected: Vec<_> = names
        .map(|(name, digit)| (name.to_owned(), direct(digit)))
        .into();
    assert_eq!(listed(store, "refs/heads/"), expected);
    assert_eq!(listed(store, "refs/").len(), 3);
    assert_eq!(listed(store, "refs/nothing/"), []);

    // Of several changes none is made if one is refused.
    let refused = change(
        store,
        &[
            edit("refs/heads/other", Some(id('4')), Expected::Absent),
            edit("refs/heads/main", Some(id('4')), Expected::Id(id('2'))),
        ],
    );
    let Err(Error::Reference { name, reason }) = refused else {
        panic!("{refused:?}");
    };
    let found = Some(id('1'));
    assert_eq!(name, main);
    assert_eq!(reason, super::ReferenceProblem::Changed { found });
    assert!(change(store, &[edit("refs/heads/main", None, Expected::Absent)]).is_err());
    assert_eq!(listed(store, "refs/heads/"), expected);

    // A log grows with each change, and only then.
    for (value, entries) in [('1', 1), ('5', 2), ('6', 3)] {
        change(
            store,
            &[edit("refs/heads/main", Some(id(value)), Expected::Anything)],
        )
        .unwrap();
        assert!(store.has_log(main));
        let mut log = Vec::new();
        store.read_log(main, &mut |entry| log.push(entry)).unwrap();
        assert_eq!(log.len(), entries);
        assert_eq!(log[0].new, id(value));
        assert_eq!(log[0].message, "why");
        assert!(log[entries - 1].old.is_null());
    }
    let log = store
        .logs()
        .unwrap()
        .into_iter()
        .find(|log| log.name == main);
    assert!(log.unwrap().ids.into_iter().eq(['1', '5', '6'].map(id)));

    change(
        store,
        &[edit("refs/heads/main", None, Expected::Id(id('6')))],
    )
    .unwrap();
    assert_eq!(store.read(main).unwrap(), None);
    assert!(!store.has_log(main));
}
