#!/usr/bin/env bash
# The check-list of a release: says of each point whether it holds, and ends with 1 if one does not.
# Building everything twice takes an hour; `release-check.sh quick` leaves out what builds. Until
# there is a release, three points fail that a maintainer settles: see "Releases" in CONTRIBUTING.md.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. scripts/toolchain.sh
target=${CARGO_TARGET_DIR:-$PWD/target}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
failed=0

point() {
    local name=$1 said
    shift
    if said=$("$@" 2>&1); then
        echo "ok: $name"
        grep '^skipped:' <<<"$said"
    else
        echo "FAILED: $name"
        tail -n 15 <<<"$said" | sed 's/^/    /'
        failed=$((failed + 1))
    fi
}

nothing_uncommitted() {
    [ -z "$(git status --porcelain | tee /dev/stderr)" ]
}

released() {
    sed -n "s/^## \[$version\] - \([0-9]\{4\}-[0-9][0-9]-[0-9][0-9]\)$/\1/p" CHANGELOG.md
}

changelog_has_a_date() {
    [ -n "$(released)" ] || { echo "CHANGELOG.md has no line '## [$version] - YYYY-MM-DD'"; false; }
}

pages_have_the_date() {
    grep -qF "const RELEASED: &str = \"$(released)\";" crates/cli/src/generate/manual.rs ||
        { echo "RELEASED in crates/cli/src/generate/manual.rs is not the date of CHANGELOG.md"; false; }
}

manifest_has_a_repository() {
    grep -q '^repository = "https://' Cargo.toml ||
        { echo "[workspace.package] in Cargo.toml has no line 'repository = \"https://...\"'"; false; }
}

no_such_tag() {
    ! git rev-parse -q --verify "refs/tags/v$version"
}

crates_have_the_version() {
    ! grep -nE '^hedgerow-?[a-z]* = .*version = ' Cargo.toml | grep -v "version = \"$version\""
}

packages() {
    cargo package --workspace --locked --target-dir "$target/package" "$@"
}

# Another directory, another target directory, the same bytes.
reproducible() {
    local elsewhere
    elsewhere=$(mktemp -d) || return
    git worktree add -q --detach "$elsewhere/tree" HEAD &&
        (cd "$elsewhere/tree" && unset CARGO_TARGET_DIR &&
            PATH=$target/tools/bin:$PATH bash scripts/dist.sh) &&
        diff -r "$target/artefacts" "$elsewhere/tree/target/artefacts"
    local code=$?
    git worktree remove --force "$elsewhere/tree"
    rm -rf "$elsewhere"
    return $code
}

# No archive's binary is above ten megabytes, and that for this machine starts no slower than git.
small_and_quick() {
    local archive binary size code=0 measured=
    binary=$(mktemp) || return
    chmod +x "$binary"
    for archive in "$target"/artefacts/*.tar.xz; do
        tar -xJf "$archive" -O --wildcards '*/bin/hedgerow' >"$binary" || code=1
        size=$(stat -c %s "$binary")
        echo "$size bytes: ${archive##*/}"
        [ "$size" -gt 0 ] && [ "$size" -le 10485760 ] || code=1
        case $archive in
            *-"$(uname -m)"-*) bash scripts/start-time.sh "$binary" && measured=1 || code=1 ;;
        esac
    done
    rm -f "$binary"
    [ -n "$measured" ] || code=1
    return "$code"
}

point "nothing is uncommitted" nothing_uncommitted
point "CHANGELOG.md says when $version was released" changelog_has_a_date
point "the manual pages have that date" pages_have_the_date
point "the crates say where the repository is" manifest_has_a_repository
point "there is no tag v$version yet" no_such_tag
point "the crates refer to each other as $version" crates_have_the_version
point "the promised Rust is enough" bash scripts/msrv.sh
if [ "${1:-}" = quick ]; then
    point "every crate is packaged" packages --no-verify
else
    point "every crate is packaged and builds from its package" packages
    point "lint" make --no-print-directory lint
    point "make dist" bash scripts/dist.sh
    point "the same bytes in another directory" reproducible
    point "small, and quick to start" small_and_quick
    point "installed, used and removed in a bare Debian" bash scripts/test-install.sh
    point "tests" make --no-print-directory test
fi
echo "points that do not hold: $failed"
[ "$failed" = 0 ]
