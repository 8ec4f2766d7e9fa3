//! Attributes from any bytes, asked for the path in their first line.
#![no_main]

use hedgerow_git::convert::{AttributeSources, Attributes, Converter, ConvertOptions};
use hedgerow_tree::{check_path, EntryKind, NameRules};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|content: &[u8]| {
    let path = content.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if check_path(path, EntryKind::File, NameRules::default()).is_err() {
        return;
    }
    let sources = AttributeSources {
        directories: vec![("".into(), content), ("a".into(), content)],
        info: Some(content),
        ..AttributeSources::default()
    };
    let converter = Converter::new(ConvertOptions::default(), Attributes::new(&sources));
    converter.conversion(path.into());
});
