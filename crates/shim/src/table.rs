//! The options that hedgerow knows completely, by command. A call with any other word is git's.
//!
//! A word stands for itself. `=` at its end: with a value attached; `:` the value is the next word;
//! `*` after a letter: anything may follow it. The letters after `-@` may stand together in one
//! word. `-` is a word of its own. Words after `--` are paths; a command without `--` in its row does
//! not know it.

/// The row of the command `name`.
pub(crate) fn row(name: &str) -> Option<&'static str> {
    let row = ROWS.iter().find(|(command, _)| *command == name);
    row.map(|(_, options)| *options)
}

/// The commands that have a row.
pub fn commands() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|(command, _)| *command)
}

const ROWS: &[(&str, &str)] = &[
    (
        "archive",
        "-@v --format= --format: --prefix= --prefix: --add-file= --add-file: \
         --add-virtual-file= --add-virtual-file: -o: -o* --output= --output: \
         --worktree-attributes --verbose --mtime= --mtime: --",
    ),
    (
        "cat-file",
        "-t -s -e -p --batch --batch= --batch-check --batch-check= --batch-command \
         --batch-command= --batch-all-objects --unordered --buffer --no-buffer -z -Z \
         --filter=",
    ),
    (
        "checkout",
        "-@fqdlt23m --merge --no-merge --no-conflict --conflict= --conflict: -b: -B: -b* -B* \
         --force --no-force --detach --no-detach --quiet --progress --no-progress --guess \
         --no-guess --orphan: --orphan= --track --track= --no-track --overlay --no-overlay \
         --overwrite-ignore --no-overwrite-ignore --ignore-other-worktrees \
         --no-ignore-other-worktrees --ours --theirs --ignore-skip-worktree-bits \
         --pathspec-from-file= --pathspec-from-file: --pathspec-file-nul --recurse-submodules \
         --recurse-submodules= --no-recurse-submodules - --",
    ),
    (
        "checkout-index",
        "-@afnquz --all --force --no-create --quiet --index --stdin --temp --no-temp \
         --prefix= --prefix: --stage= --stage: --ignore-skip-worktree-bits --",
    ),
    (
        "clean",
        "-@dfnqxX -e: -e* --exclude= --exclude: --force --dry-run --quiet --",
    ),
    (
        "clone",
        "-@nlqvs --verbose --quiet --progress --no-progress --no-checkout --bare --mirror \
         --local --no-local --no-hardlinks --shared --recurse-submodules \
         --recurse-submodules= --recursive --recursive= -j: -j* --jobs= --jobs: --template= \
         --template: --reference= --reference: --reference-if-able= --reference-if-able: \
         --dissociate -o: -o* --origin= --origin: -b: -b* --branch= --branch: --revision= \
         --revision: -u: -u* --upload-pack= --upload-pack: --depth= --depth: --shallow-since= \
         --shallow-since: --shallow-exclude= --shallow-exclude: --single-branch \
         --no-single-branch --tags --no-tags --shallow-submodules --no-shallow-submodules \
         --separate-git-dir= --separate-git-dir: --ref-format= --ref-format: -c: -c* \
         --config= --config: --server-option= --server-option: -4 -6 --ipv4 --ipv6 --filter= \
         --filter: --also-filter-submodules --remote-submodules --sparse --bundle-uri= \
         --bundle-uri: --reject-shallow --no-reject-shallow --",
    ),
    (
        "diff-files",
        "--quiet --exit-code --no-exit-code --name-only --name-status --raw -z -R \
         --diff-filter= --diff-filter: --abbrev --abbrev= --no-abbrev --ignore-submodules \
         --ignore-submodules= --",
    ),
    (
        "diff-index",
        "-m --cached --quiet --exit-code --no-exit-code --name-only --name-status --raw -z -R \
         --diff-filter= --diff-filter: --abbrev --abbrev= --no-abbrev --ignore-submodules \
         --ignore-submodules= --",
    ),
    (
        "index-pack",
        "-v -o: --stdin --fix-thin --strict --strict= --fsck-objects --fsck-objects= \
         --check-self-contained-and-connected --rev-index --no-rev-index --keep --keep= \
         --verify --verify-stat --verify-stat-only --index-version= --max-input-size= \
         --threads= --object-format= --show-resolving-progress --report-end-of-input \
         --pack_header= --promisor --promisor= --no-progress",
    ),
    (
        "ls-files",
        "-@zvtfcdmoiksu --eol -x: -x* -X: -X* --cached --deleted --modified --others \
         --ignored --stage --killed --directory --empty-directory --no-empty-directory \
         --unmerged --resolve-undo --exclude= --exclude: --exclude-from= --exclude-from: \
         --exclude-per-directory= --exclude-per-directory: --exclude-standard --full-name \
         --error-unmatch --abbrev --abbrev= --no-abbrev --deduplicate --sparse --format= --",
    ),
    (
        "merge",
        "-@nqvm --ff-only --ff --stat --no-stat --summary --compact-summary --quiet --no-edit \
         --edit --allow-unrelated-histories --overwrite-ignore --no-overwrite-ignore",
    ),
    (
        "multi-pack-index",
        "--object-dir= --object-dir: --preferred-pack= --preferred-pack: --stdin-packs \
         --bitmap --refs-snapshot= --batch-size= --progress --no-progress",
    ),
    (
        "pack-objects",
        "--stdout --keep-pack= --reflog --indexed-objects --unpacked --stdin-packs \
         --keep-unreachable --pack-loose-unreachable --exclude-promisor-objects \
         --write-bitmap-index --no-write-bitmap-index --max-pack-size= --window= --depth= \
         --window-memory= --threads= --delta-base-offset --thin --non-empty --compression= \
         --no-reuse-delta --no-reuse-object --honor-pack-keep --local --incremental \
         --index-version= --revs --all --include-tag --filter= --no-filter --use-bitmap-index \
         --no-use-bitmap-index --all-progress --all-progress-implied -q --progress \
         --no-progress",
    ),
    (
        "read-tree",
        "-@imnuvq --reset --prefix= --prefix: --trivial --aggressive --empty --index-output= \
         --index-output: --no-sparse-checkout --sparse-checkout --exclude-per-directory= \
         --exclude-per-directory: --verbose --dry-run --quiet --recurse-submodules \
         --recurse-submodules= --no-recurse-submodules",
    ),
    (
        "repack",
        "-@aAdfFnlbkmq -g: --local --write-bitmap-index --no-write-bitmap-index --cruft \
         --cruft-expiration= --unpack-unreachable= --keep-unreachable --window= \
         --window-memory= --depth= --threads= --max-pack-size= --pack-kept-objects \
         --no-pack-kept-objects --keep-pack= --geometric= --write-midx --no-write-midx",
    ),
    (
        "reset",
        "-@Nq --mixed --soft --hard --merge --keep --quiet --refresh --no-refresh \
         --intent-to-add --pathspec-from-file= --pathspec-from-file: --pathspec-file-nul \
         --recurse-submodules --recurse-submodules= --no-recurse-submodules --",
    ),
    (
        "restore",
        "-@qSW23m --merge --no-merge --conflict= --conflict: -s: -s* --source= --source: \
         --staged --worktree --no-staged --no-worktree --ignore-unmerged --overlay \
         --no-overlay --ours --theirs --ignore-skip-worktree-bits --pathspec-from-file= \
         --pathspec-from-file: --pathspec-file-nul --quiet --progress --no-progress \
         --recurse-submodules --recurse-submodules= --no-recurse-submodules --",
    ),
    (
        "rev-list",
        "--quiet --count --objects --objects-edge --topo-order --date-order --reverse \
         --parents --first-parent --merges --no-merges --boundary --left-right --left-only \
         --right-only --timestamp --in-commit-order --no-object-names --object-names \
         --filter= --filter-print-omitted --filter-provided-objects --no-filter \
         --use-bitmap-index --disk-usage --disk-usage= --missing= --no-walk --do-walk --all \
         --branches --tags --remotes --branches= --tags= --remotes= --glob= --exclude= --not \
         --stdin --max-count= --skip= --since= --until= --min-parents= --max-parents= -z \
         --exclude-promisor-objects --exclude-hidden= --alternate-refs",
    ),
    (
        "sparse-checkout",
        "-@nfz --cone --no-cone --sparse-index --no-sparse-index --skip-checks --stdin \
         --dry-run --force --rules-file: --rules-file= --end-of-options --",
    ),
    (
        "stash",
        "-@kSuaq -m: -m* --keep-index --no-keep-index --staged --include-untracked --all \
         --quiet --message= --message: --pathspec-from-file= --pathspec-from-file: \
         --pathspec-file-nul --index --no-index --label-ours= --label-theirs= --label-base= \
         --",
    ),
    (
        "status",
        "-@szb --short --no-short --long --no-long --porcelain --porcelain= --branch \
         --no-branch --show-stash --no-show-stash --ahead-behind --no-ahead-behind --null -u* \
         --untracked-files --untracked-files= --ignored --ignored= --no-ignored \
         --ignore-submodules --ignore-submodules= --column --column= --no-column --renames \
         --no-renames -M* --find-renames --find-renames= --",
    ),
    (
        "submodule",
        "-@fiNq --quiet --init --recursive --force --no-fetch --checkout --cached -j: -j* \
         --jobs= --jobs: --require-init --depth= --depth: --recommend-shallow \
         --no-recommend-shallow --filter= --filter: --single-branch --no-single-branch \
         --reference= --reference: --dissociate --ref-format= --ref-format: --",
    ),
    (
        "switch",
        "-@fqdtm --merge --no-merge --conflict= --conflict: -c: -C: -c* -C* --create= \
         --create: --force-create= --force-create: --force --discard-changes --detach \
         --no-detach --quiet --progress --no-progress --guess --no-guess --orphan: --orphan= \
         --track --track= --no-track --overwrite-ignore --no-overwrite-ignore \
         --ignore-other-worktrees --recurse-submodules --recurse-submodules= \
         --no-recurse-submodules - --",
    ),
    (
        "verify-pack",
        "-v --verbose -s --stat-only --object-format=",
    ),
    (
        "worktree",
        "-@fdqvnz -b: -B: --force --detach --checkout --no-checkout --lock --reason: \
         --reason= --orphan --quiet --track --no-track --guess-remote --no-guess-remote \
         --relative-paths --no-relative-paths --porcelain --verbose --expire: --expire= \
         --dry-run - --",
    ),
];
