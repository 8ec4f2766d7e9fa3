//! One or two examples for each command.

/// The command, without `hedgerow`, and its examples, likewise.
pub const EXAMPLES: [(&str, &[&str]); 58] = [
    (
        "archive",
        &["archive -o v1.tar.gz v1", "archive --prefix=src/ HEAD docs"],
    ),
    ("bitmap", &["bitmap write", "bitmap explain main --not v1"]),
    ("bitmap explain", &["bitmap explain main --not v1"]),
    ("bitmap list", &["bitmap list"]),
    ("bitmap verify", &["bitmap verify"]),
    ("bitmap write", &["bitmap write"]),
    (
        "cat-file",
        &["cat-file -p HEAD:README.md", "cat-file --batch-check < ids"],
    ),
    ("checkout", &["checkout main", "checkout v1 -- docs"]),
    (
        "checkout-index",
        &["checkout-index -a --prefix=/tmp/export/"],
    ),
    ("clean", &["clean -n -d", "clean -f -d"]),
    ("diff-files", &["diff-files --name-status"]),
    ("diff-index", &["diff-index --cached --name-status HEAD"]),
    ("doctor", &["doctor", "doctor --json /mnt/nfs"]),
    (
        "image",
        &["image create src src.sqfs", "image extract src.sqfs out"],
    ),
    ("image cat", &["image cat src.sqfs etc/hostname"]),
    (
        "image create",
        &[
            "image create -c zstd -l 15 src src.sqfs",
            "image create git:v1 v1.sqfs",
        ],
    ),
    ("image diff", &["image diff old.sqfs new.sqfs"]),
    (
        "image extract",
        &[
            "image extract src.sqfs out",
            "image extract src.sqfs out etc",
        ],
    ),
    ("image info", &["image info src.sqfs"]),
    ("image list", &["image list -l src.sqfs usr"]),
    ("image to-tar", &["image to-tar src.sqfs | tar -t"]),
    ("image verify", &["image verify src.sqfs"]),
    (
        "index-pack",
        &[
            "index-pack --stdin < received.pack",
            "index-pack --strict a.pack",
        ],
    ),
    (
        "ls-files",
        &["ls-files -s", "ls-files -o --exclude-standard"],
    ),
    ("maintenance", &["maintenance run --dry-run"]),
    (
        "maintenance run",
        &["maintenance run --dry-run", "maintenance run --auto"],
    ),
    ("merge", &["merge --ff-only origin/main"]),
    ("multi-pack-index", &["multi-pack-index write --bitmap"]),
    ("multi-pack-index expire", &["multi-pack-index expire"]),
    (
        "multi-pack-index repack",
        &["multi-pack-index repack --batch-size=1g"],
    ),
    ("multi-pack-index verify", &["multi-pack-index verify"]),
    (
        "multi-pack-index write",
        &["multi-pack-index write --bitmap"],
    ),
    (
        "pack-objects",
        &["pack-objects --all --stdout < /dev/null > all.pack"],
    ),
    ("read-tree", &["read-tree -m -u HEAD main"]),
    ("repack", &["repack -a -d -b", "repack --geometric=2 -d -m"]),
    ("reset", &["reset --hard v1", "reset HEAD -- docs"]),
    (
        "restore",
        &["restore docs", "restore --source=v1 --staged docs"],
    ),
    (
        "rev-list",
        &["rev-list --count main", "rev-list --objects main --not v1"],
    ),
    ("reverse-index", &["reverse-index"]),
    ("sparse-checkout", &["sparse-checkout set docs src/core"]),
    (
        "sparse-checkout set",
        &["sparse-checkout set docs src/core"],
    ),
    ("stash", &["stash push -u -m 'half done'", "stash pop"]),
    ("stash pop", &["stash pop"]),
    ("stash push", &["stash push -u -m 'half done' -- src"]),
    ("stats", &["stats run.json", "stats run.json -o run.svg"]),
    ("status", &["status", "status --porcelain=v2 -z"]),
    ("submodule", &["submodule update --init --recursive"]),
    ("submodule update", &["submodule update --init --recursive"]),
    ("switch", &["switch main", "switch -c topic origin/main"]),
    ("tune", &["tune --dry-run", "tune /mnt/nfs/work"]),
    (
        "upload-pack-hook",
        &["upload-pack-hook git pack-objects --revs --stdout"],
    ),
    ("verify-pack", &["verify-pack -v .git/objects/pack/*.idx"]),
    (
        "walk",
        &["walk --summary /usr", "walk --stat --sort -0 src"],
    ),
    ("worktree", &["worktree add ../fix topic", "worktree list"]),
    ("worktree add", &["worktree add -b fix ../fix main"]),
    ("worktree list", &["worktree list --porcelain"]),
    ("worktree prune", &["worktree prune -n"]),
    ("worktree remove", &["worktree remove ../fix"]),
];

/// The examples of a command; none for a few whose name says it all.
pub fn find(command: &str) -> &'static [&'static str] {
    let found = EXAMPLES.iter().find(|(name, _)| *name == command);
    found.map_or(&[], |(_, examples)| examples)
}
