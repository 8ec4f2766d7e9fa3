//! Recipes from any bytes: they are refused, or their entries come in canonical order, each once.
#![no_main]

use hedgerow_squashfs::recipe::{
    Defaults, Description, FileContexts, Labels, SortRules, XattrFile,
};
use hedgerow_squashfs::rules::XattrRules;
use hedgerow_squashfs::Role;
use hedgerow_tree::canonical_order;
use libfuzzer_sys::fuzz_target;
use std::path::Path;
use std::sync::Arc;

fuzz_target!(|content: &[u8]| {
    let name = Path::new("recipe");
    let labels = Arc::new(Labels {
        keep: true,
        xattrs: XattrFile::parse(name, content).ok(),
        contexts: FileContexts::parse(name, content).ok(),
        rules: XattrRules::default(),
    });
    let rules = SortRules::parse(name, content)
        .or_else(|_| SortRules::parse(name, b"-1 [glob_no_path] *a*\n1 b"));
    // A glob would list directories of this machine.
    if content.windows(4).any(|word| word == b"glob") {
        return;
    }
    let Ok(description) =
        Description::parse(name, content, Path::new("/nowhere"), Defaults::default())
    else {
        return;
    };
    let nodes = description.into_nodes(labels);
    let arranged = rules
        .expect("they are right")
        .arrange(nodes)
        .expect("a source of memory");
    let mut last: Option<Vec<u8>> = None;
    for mut item in arranged.items.flatten() {
        item.node.handle.xattrs().expect("they need no file");
        if matches!(item.role, Role::Content(_)) {
            continue;
        }
        if let Some(last) = &last {
            assert!(canonical_order(last, &item.node.path).is_lt());
        }
        last = Some(item.node.path);
    }
});
