//! What would make commands faster, from facts alone.

use super::{Facts, RepositoryFacts};

/// From this many tracked files on, settings that save calls pay.
const MANY_FILES: usize = 10_000;
/// From this many packs on, looking for an object in each of them costs time.
const MANY_PACKS: usize = 20;
/// From this many loose objects on, packing them pays; git's own `gc.auto`.
const MANY_LOOSE: usize = 6_700;
/// Fewer descriptors than this limit the number of workers: 64 workers hold a few each.
const FEW_DESCRIPTORS: u64 = 256;
/// Fewer threads than this leave no room for 64 workers.
const FEW_THREADS: u64 = 128;

/// How a finding stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Something keeps commands from running as they should.
    Problem,
    /// Something could be faster.
    Faster,
}

/// Something to do, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// How it stands.
    pub standing: Standing,
    /// What was found, and what follows from it.
    pub why: String,
    /// The command to run, or what to change.
    pub fix: String,
}

/// What to do here; empty if nothing is known that would help.
pub fn advise(facts: &Facts) -> Vec<Advice> {
    let mut advice = of_machine(facts);
    if let Some(repository) = &facts.repository {
        advice.extend(of_settings(facts, repository));
        advice.extend(of_objects(repository));
    }
    advice
}

fn of_machine(facts: &Facts) -> Vec<Advice> {
    let mut advice = Vec::new();
    let limits = &facts.limits;
    if facts.git_version.is_none() {
        advice.push(problem(
            "git is not in PATH. Filters, submodules, missing objects of partial clones and \
             refused options need it."
                .into(),
            "install git",
        ));
    }
    if limits.descriptors < FEW_DESCRIPTORS {
        let count = limits.descriptors;
        advice.push(problem(
            format!("Only {count} files may be open at once, which limits the number of workers."),
            "ulimit -n 1024",
        ));
    }
    if let Some(threads) = limits.threads.filter(|threads| *threads < FEW_THREADS) {
        advice.push(problem(
            format!("Only {threads} threads are allowed, which limits the number of workers."),
            "raise the limit on tasks (pids.max of the control group, or ulimit -u)",
        ));
    }
    advice
}

fn of_settings(facts: &Facts, repository: &RepositoryFacts) -> Vec<Advice> {
    let mut advice = Vec::new();
    let is_far = facts.file_system.is_network();
    let has_many = repository.tracked >= MANY_FILES;
    let value = |key: &str| {
        let found = repository.settings.iter().find(|it| it.key == key);
        found.and_then(|it| it.value.as_deref())
    };
    if is_far && value("checkout.workers").is_none() {
        let name = facts.file_system;
        advice.push(faster(
            format!("git checks out with one worker. On {name}, each file costs it round trips."),
            "hedgerow tune",
        ));
    }
    let is_wanted = value("feature.manyFiles") == Some("true") || has_many || is_far;
    let is_decided = value("core.untrackedCache").is_some();
    if is_wanted && !is_decided && !repository.has_untracked_cache {
        advice.push(faster(
            format!(
                "There are {} tracked files and no untracked cache: status lists every directory.",
                repository.tracked
            ),
            "git config core.untrackedCache true && git status",
        ));
    }
    if value("core.preloadIndex") == Some("false") {
        advice.push(faster(
            "core.preloadIndex is off: git looks at one tracked file after the other.".into(),
            "git config --unset core.preloadIndex",
        ));
    }
    if has_many && value("index.version").is_none() && value("feature.manyFiles").is_none() {
        advice.push(faster(
            "The index stores every path whole. Version 4 is half as large and quicker to read."
                .into(),
            "git config index.version 4 && git update-index --index-version 4",
        ));
    }
    advice
}

fn of_objects(repository: &RepositoryFacts) -> Vec<Advice> {
    let mut advice = Vec::new();
    if repository.loose_objects >= MANY_LOOSE {
        advice.push(faster(
            format!(
                "There are about {} loose objects; each is a file to open.",
                repository.loose_objects
            ),
            "hedgerow maintenance run",
        ));
    }
    if repository.packs >= MANY_PACKS && !repository.has_multi_pack_index {
        advice.push(faster(
            format!(
                "There are {} packs without a multi-pack-index; each is searched in turn.",
                repository.packs
            ),
            "hedgerow multi-pack-index write",
        ));
    }
    if repository.is_bare && repository.packs > 0 && !repository.has_bitmaps {
        advice.push(faster(
            "This bare repository has no bitmaps: each fetch walks its history.".into(),
            "hedgerow repack -a -d -b",
        ));
    }
    advice
}

fn problem(why: String, fix: &str) -> Advice {
    Advice {
        standing: Standing::Problem,
        why,
        fix: fix.to_owned(),
    }
}

fn faster(why: String, fix: &str) -> Advice {
    Advice {
        standing: Standing::Faster,
        ..problem(why, fix)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Setting, SystemLimits, SETTINGS};
    use super::*;
    use hedgerow_fs::FileSystem;

    const TMPFS: u64 = 0x0102_1994;
    const NFS: u64 = 0x6969;

    /// A machine and a repository about which there is nothing to say.
    fn sound() -> Facts {
        Facts {
            directory: "/work".into(),
            file_system: FileSystem::from_magic(TMPFS),
            limits: SystemLimits {
                processors: 2,
                descriptors: 1024,
                threads: None,
                watches: Some(8192),
            },
            git_version: Some("2.55.0".into()),
            repository: Some(RepositoryFacts {
                git_dir: "/work/.git".into(),
                is_bare: false,
                work_tree: Some("/work".into()),
                settings: SETTINGS.map(|key| Setting { key, value: None }).into(),
                tracked: 100,
                has_untracked_cache: false,
                packs: 1,
                has_multi_pack_index: false,
                has_bitmaps: false,
                has_commit_graph: false,
                loose_objects: 0,
            }),
        }
    }

    fn fixes(change: impl FnOnce(&mut Facts, &mut RepositoryFacts)) -> Vec<String> {
        let mut facts = sound();
        let mut repository = facts.repository.take().unwrap();
        change(&mut facts, &mut repository);
        facts.repository = Some(repository);
        advise(&facts).into_iter().map(|it| it.fix).collect()
    }

    #[test]
    fn nothing_is_said_where_nothing_helps() {
        assert!(fixes(|_, _| {}).is_empty());
        let mut outside = sound();
        outside.repository = None;
        assert!(advise(&outside).is_empty());
    }

    #[test]
    fn each_fact_has_its_advice() {
        let first = |fixes: Vec<String>| fixes.into_iter().next().unwrap_or_default();
        let few = fixes(|facts, _| facts.limits.descriptors = 64);
        assert_eq!(first(few), "ulimit -n 1024");
        let threads = fixes(|facts, _| facts.limits.threads = Some(8));
        assert!(first(threads).starts_with("raise the limit"));
        assert_eq!(
            first(fixes(|facts, _| facts.git_version = None)),
            "install git"
        );
        let far = fixes(|facts, _| facts.file_system = FileSystem::from_magic(NFS));
        assert_eq!(far[0], "hedgerow tune");
        assert!(far[1].contains("untrackedCache"));
        let many = fixes(|_, repository| repository.tracked = 50_000);
        assert!(many[0].contains("untrackedCache") && many[1].contains("index.version"));
        let loose = fixes(|_, repository| repository.loose_objects = 7_000);
        assert_eq!(first(loose), "hedgerow maintenance run");
        let packs = fixes(|_, repository| repository.packs = 30);
        assert_eq!(first(packs), "hedgerow multi-pack-index write");
        let bare = fixes(|_, repository| repository.is_bare = true);
        assert_eq!(first(bare), "hedgerow repack -a -d -b");
    }

    #[test]
    fn a_setting_that_is_made_is_not_advised_again() {
        let decided = fixes(|_, repository| {
            repository.tracked = 50_000;
            for setting in &mut repository.settings {
                if ["core.untrackedCache", "index.version"].contains(&setting.key) {
                    setting.value = Some("false".into());
                }
            }
        });
        assert!(decided.is_empty(), "{decided:?}");
    }
}
