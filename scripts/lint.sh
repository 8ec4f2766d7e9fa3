#!/usr/bin/env bash
# Formatting and clippy, for every target of the workspace; what is linked, where cargo-deny is
# installed. A warning is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/toolchain.sh

# Licences, sources and bans of deny.toml are held by a test (crates/cli/tests/dependencies.rs);
# cargo-deny, which takes long to build, also reads texts of licences and advisories.
check_dependencies() {
    PATH=${CARGO_TARGET_DIR:-$PWD/target}/tools/bin:$PATH
    if ! command -v cargo-deny >/dev/null; then
        echo "skipped: advisories are not checked: no cargo-deny (cargo install cargo-deny)"
        return
    fi
    cargo deny --locked --log-level error check licenses bans sources
    if ! timeout 60 cargo deny fetch db >/dev/null 2>&1; then
        echo "skipped: advisories are not checked: their database cannot be fetched"
        return
    fi
    cargo deny --locked --log-level error check advisories
}

cargo fmt --all --check
cargo clippy --locked --workspace --all-targets -- -D warnings
# The fuzz targets stand beside the workspace: an option that is added breaks them unseen. Nothing is
# linked, so libfuzzer, which is C++, is not compiled: any file serves in its place.
CUSTOM_LIBFUZZER_PATH=$PWD/scripts/lint.sh CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target} \
    cargo clippy --locked --manifest-path fuzz/Cargo.toml --bins -- -D warnings
RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --workspace
check_dependencies
if command -v shellcheck >/dev/null; then
    shellcheck --shell=bash --exclude=SC1091 .ci/run scripts/*.sh bench/realnfs/*.sh
else
    echo "skipped: the shell scripts are not checked: no shellcheck"
fi
echo "lint: clean"
