#!/bin/bash
# Writes the generated pages, checks links and anchors, and builds the site in target/site.
#
# mdBook is taken from PATH or from target/tools; if it is in neither, cargo installs it there. If
# that fails, because there is no network, the pages are checked all the same, and the script says
# that no site was built.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/toolchain.sh

MDBOOK_VERSION=0.5.4

cargo build --locked -q -p hedgerow-cli
python3 -B docs/tools/pages.py "${CARGO_TARGET_DIR:-target}/debug/hedgerow"
python3 -B docs/tools/links.py

tools="$PWD/target/tools"
export PATH="$PATH:$tools/bin"
if ! command -v mdbook > /dev/null; then
    echo "installing mdbook $MDBOOK_VERSION into target/tools with cargo; this takes some minutes"
    if ! cargo install --locked --debug -q --root "$tools" --no-default-features --features search \
        --version "$MDBOOK_VERSION" mdbook; then
        echo "skipped: the site was not built, because mdbook is not here and cannot be installed"
        exit 0
    fi
fi
mdbook build docs
echo "the site is in target/site/index.html"
