use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// The ends of the names of variables that say how a trace is written.
const HOW: [&[u8]; 9] = [
    b"_BARE",
    b"_BRIEF",
    b"_CONFIG_PARAMS",
    b"_DST_DEBUG",
    b"_ENV_VARS",
    b"_MAX_FILES",
    b"_NESTING",
    b"_NO_DATA",
    b"_REDACT",
];

/// Environment variables, as a call found them.
#[derive(Clone, Debug, Default)]
pub struct Variables(Vec<(OsString, OsString)>);

impl Variables {
    /// Names and values.
    pub fn new(all: Vec<(OsString, OsString)>) -> Self {
        Variables(all)
    }

    /// The value of `name`.
    pub fn get(&self, name: &str) -> Option<OsString> {
        let found = self.0.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.clone())
    }

    /// Whether `name` is set to something that means no.
    pub(crate) fn is_off(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| means_no(&value))
    }

    /// The variable that asks git for a trace, if one does: only git writes it. Those that say how a
    /// trace is written ask for none.
    pub(crate) fn tracing(&self) -> Option<&OsStr> {
        let asks = |(name, value): &&(OsString, OsString)| {
            let name = name.as_bytes();
            name.starts_with(b"GIT_TRACE")
                && !name.starts_with(b"GIT_TRACE2_PARENT_")
                && !HOW.iter().any(|how| name.ends_with(how))
                && !value.is_empty()
                && !means_no(value)
        };
        self.0.iter().find(asks).map(|(name, _)| name.as_os_str())
    }
}

fn means_no(value: &OsStr) -> bool {
    [&b"off"[..], b"no", b"false", b"0"]
        .iter()
        .any(|no| value.as_bytes().eq_ignore_ascii_case(no))
}
