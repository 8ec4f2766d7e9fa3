//! A commit-graph from any bytes, alone and as the second of a chain: whatever it says is followed
//! or refused.
#![no_main]

use hedgerow_pack::{HashKind, ObjectStore, StoreOptions};
use libfuzzer_sys::fuzz_target;
use std::fs;

fuzz_target!(|input: &[u8]| {
    let Some((kind, content)) = input.split_first() else { return };
    let is_chain = kind & 1 == 1;
    let (first, second) = match is_chain {
        true => content.split_at(content.len() / 2),
        false => (content, &[][..]),
    };
    let directory = tempfile::tempdir().expect("a temporary directory");
    let info = directory.path().join("info");
    let chain = info.join("commit-graphs");
    fs::create_dir_all(&chain).expect("a directory");
    let names = ["1".repeat(40), "2".repeat(40)];
    if is_chain {
        for (name, content) in names.iter().zip([first, second]) {
            fs::write(chain.join(format!("graph-{name}.graph")), content).expect("a file");
        }
        let list = names.join("\n") + "\n";
        fs::write(chain.join("commit-graph-chain"), list).expect("a file");
    } else {
        fs::write(info.join("commit-graph"), first).expect("a file");
    }
    let options = StoreOptions { hash: HashKind::Sha1, ..StoreOptions::default() };
    let Ok(store) = ObjectStore::open(directory.path(), options) else { return };
    let Some(graph) = store.commit_graph() else { return };
    for position in (0..graph.count().min(64)).chain([graph.count(), u32::MAX]) {
        if let Some(id) = graph.id(position) {
            let _ = graph.position(id);
        }
        let _ = (graph.commit(position), graph.generation(position));
        let parents = graph.parents(position).into_iter().flatten();
        assert!(parents.flatten().all(|parent| parent < graph.count()));
    }
});
