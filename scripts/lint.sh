#!/usr/bin/env bash
# Formatting and clippy, for every target of the workspace; licences, sources
# and bans of what is linked. A warning is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/toolchain.sh

# Holds dependencies against deny.toml. Where CI runs, the tool is built if it is missing.
check_dependencies() {
    local tools=${CARGO_TARGET_DIR:-$PWD/target}/tools
    PATH=$tools/bin:$PATH
    if ! command -v cargo-deny >/dev/null && [ -n "${CI:-}" ]; then
        echo "installing: cargo-deny, into $tools"
        cargo install --locked --debug -q --root "$tools" cargo-deny || true
    fi
    if ! command -v cargo-deny >/dev/null; then
        echo "skipped: dependencies are not checked: no cargo-deny (cargo install cargo-deny)"
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
RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --workspace
check_dependencies
if command -v shellcheck >/dev/null; then
    shellcheck --shell=bash --exclude=SC1091 .ci/run scripts/*.sh bench/realnfs/*.sh
else
    echo "skipped: the shell scripts are not checked: no shellcheck"
fi
echo "lint: clean"
