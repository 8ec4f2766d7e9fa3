//! The configuration of conversion, as options of [`crate::convert`].

use crate::convert::{ConvertOptions, Driver};
use crate::repository::Repository;
use crate::Result;
use bstr::{BString, ByteSlice};

/// The conversion options of the repository's configuration.
pub(crate) fn options(repository: &Repository) -> Result<ConvertOptions> {
    let settings = repository.settings();
    let defaults = ConvertOptions::default();
    let encodings = repository.config().string("core.checkRoundtripEncoding");
    Ok(ConvertOptions {
        auto_crlf: settings.autocrlf,
        eol: settings.eol.unwrap_or_default(),
        safe_crlf: settings.safecrlf,
        round_trip_encodings: match encodings {
            Some(list) => words(&list),
            None => defaults.round_trip_encodings,
        },
        drivers: drivers(repository)?,
    })
}

fn words(list: &BString) -> Vec<BString> {
    let parts = list.split(|byte| matches!(byte, b' ' | b','));
    parts
        .filter(|part| !part.is_empty())
        .map(BString::from)
        .collect()
}

fn drivers(repository: &Repository) -> Result<Vec<Driver>> {
    let config = repository.config();
    let mut drivers = Vec::new();
    for name in config.subsections("filter") {
        let text = |key: &str| config.string_in("filter", name.as_bstr(), key);
        let required = match text("required") {
            Some(value) => is_true(&value, &name)?,
            None => false,
        };
        drivers.push(Driver {
            clean: text("clean"),
            smudge: text("smudge"),
            process: text("process"),
            required,
            name: name.clone(),
        });
    }
    Ok(drivers)
}

fn is_true(value: &BString, name: &BString) -> Result<bool> {
    match value.to_ascii_lowercase().as_slice() {
        b"true" | b"yes" | b"on" | b"1" => Ok(true),
        b"false" | b"no" | b"off" | b"0" | b"" => Ok(false),
        _ => Err(crate::Error::Config {
            reason: format!("bad boolean config value '{value}' for 'filter.{name}.required'"),
        }),
    }
}
