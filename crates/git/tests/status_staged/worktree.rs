//! Renames between index and working tree, which need contents that have no object yet.

use super::fixture::Repo;
use gix_hash::ObjectId;
use hedgerow_git::index::Mode;
use hedgerow_git::status::rename::{
    detect, Contents, Filepair, ObjectContents, RenameOptions, Side,
};
use hedgerow_git::Result;
use std::path::Path;

/// Objects for the sides that have one, files for the others.
struct Both<'r> {
    objects: ObjectContents<'r>,
    root: &'r Path,
}

impl Both<'_> {
    fn file(&self, side: &Side) -> Option<Vec<u8>> {
        std::fs::read(self.root.join(side.path.to_string())).ok()
    }
}

impl<'r> Contents for Both<'r> {
    type Worker = <ObjectContents<'r> as Contents>::Worker;

    fn worker(&self) -> Self::Worker {
        self.objects.worker()
    }

    fn id(&self, _: &mut Self::Worker, side: &Side) -> Result<Option<ObjectId>> {
        let Some(content) = self.file(side) else {
            return Ok(None);
        };
        let mut hasher = gix_hash::hasher(gix_hash::Kind::Sha1);
        hasher.update(format!("blob {}\0", content.len()).as_bytes());
        hasher.update(&content);
        Ok(hasher.try_finalize().ok())
    }

    fn size(&self, worker: &mut Self::Worker, side: &Side) -> Result<Option<u64>> {
        match side.id {
            Some(_) => self.objects.size(worker, side),
            None => Ok(self.file(side).map(|content| content.len() as u64)),
        }
    }

    fn read(
        &self,
        worker: &mut Self::Worker,
        side: &Side,
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        match side.id {
            Some(_) => self.objects.read(worker, side, sink)?,
            // In the smallest pieces there are.
            None => self.file(side).unwrap().chunks(1).for_each(sink),
        }
        Ok(())
    }
}

fn text(seed: u32) -> String {
    let line = |n: u32| format!("line {} {n}\r\n", (n + 7) * seed % 31);
    (0..40).map(line).collect()
}

/// The renames in the working tree.
fn by_git(repo: &Repo) -> Vec<String> {
    let output = repo.git(&["status", "--porcelain=v2", "-z"]);
    let output = String::from_utf8(output).unwrap();
    let mut fields = output.split('\0');
    let mut expected = Vec::new();
    while let Some(record) = fields.next() {
        if record.starts_with("2 .R") {
            let (_, score_and_path) = record.rsplit_once(" R").unwrap();
            expected.push(format!("R{score_and_path} <- {}", fields.next().unwrap()));
        }
    }
    expected
}

#[test]
fn files_intended_to_be_added_are_renamed_from_deleted_ones() {
    let repo = Repo::new();
    for n in 0..6 {
        repo.write(format!("old{n}"), text(n + 1).as_bytes());
    }
    repo.write("old6", [text(9).as_bytes(), b"\0"].concat());
    repo.git(&["add", "."]);
    repo.commit_staged();
    for n in 0..7 {
        std::fs::remove_file(repo.path(format!("old{n}"))).unwrap();
        repo.write(
            format!("new{n}"),
            text(n + 1).replace("3\r\n", "x\n").as_bytes(),
        );
    }
    repo.write("new0", text(1).as_bytes());
    repo.write(
        "new6",
        [text(9).replace("3\r\n", "x\n").as_bytes(), b"\0"].concat(),
    );
    repo.git(&["add", "-N", "--ignore-removal", "."]);

    let repository = repo.open(&[]);
    let index = repo.index_of(&repository);
    let mut pairs: Vec<Filepair> = Vec::new();
    for (path, entry) in index.iter() {
        let side = |id| Side {
            path: path.to_owned(),
            mode: Mode::File,
            id,
        };
        let is_new = entry.flags.intent_to_add;
        pairs.push(Filepair {
            old: (!is_new).then(|| side(Some(entry.id))),
            new: is_new.then(|| side(None)),
            ..Filepair::default()
        });
    }
    // One that is gone by the time it is to be read.
    pairs.push(Filepair {
        new: Some(Side {
            path: "vanished".into(),
            mode: Mode::File,
            id: None,
        }),
        ..Filepair::default()
    });
    let root = repo.path("");
    let contents = Both {
        objects: ObjectContents::new(&repository),
        root: &root,
    };
    let engine = hedgerow_engine::Options::default();
    detect(&mut pairs, &RenameOptions::default(), &contents, &engine).unwrap();
    let found: Vec<String> = pairs
        .iter()
        .filter_map(|pair| {
            let (origin, old) = (pair.origin?, pair.old.as_ref()?);
            let (score, path) = (origin.score.percent(), pair.path()?);
            Some(format!("R{score} {path} <- {}", old.path))
        })
        .collect();
    assert_eq!(found, by_git(&repo));
    assert_eq!(found.len(), 7);
    assert_eq!(pairs.last().unwrap().origin, None);
}
