#!/usr/bin/env bash
# Formatting and clippy, for every target of the workspace; a warning is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/toolchain.sh

cargo fmt --all --check
cargo clippy --locked --workspace --all-targets -- -D warnings
# A workspace of its own, which nothing else builds.
CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/fuzz" \
    cargo check --locked --manifest-path fuzz/Cargo.toml --bins
if command -v shellcheck >/dev/null; then
    shellcheck --shell=bash --exclude=SC1091 .ci/run scripts/*.sh bench/realnfs/*.sh
else
    echo "skipped: the shell scripts are not checked: no shellcheck"
fi
echo "lint: clean"
