#!/usr/bin/env bash
# Builds the Python package as a wheel, in target/wheels, with the command line in it.
#
#   scripts/wheel.sh [dev|release]     PYTHON=python3.14t for another interpreter
#
# For a free-threaded interpreter, which knows no stable interface, the wheel is for that version alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/toolchain.sh

profile=${1:-release}
python=${PYTHON:-python3}
target=${CARGO_TARGET_DIR:-$PWD/target}
export CARGO_TARGET_DIR=$target
tools=$target/python/tools

# maturin, from the path or in an environment of its own.
find_maturin() {
    if command -v maturin >/dev/null && maturin --version >/dev/null 2>&1; then
        maturin=maturin
        return
    fi
    if [ ! -x "$tools/bin/maturin" ]; then
        echo "installing: maturin, in $tools"
        "$python" -m venv "$tools"
        "$tools/bin/pip" install --quiet 'maturin>=1.9,<2'
    fi
    maturin=$tools/bin/maturin
}

# Puts the command line where the package has it.
bundle_command_line() {
    local place=crates/python/python/hedgerow/bin folder=$profile
    [ "$profile" != dev ] || folder=debug
    # Tests of the workspace have built it; with the features of this package alone, it would be built anew.
    if [ "$profile" != dev ] || [ ! -x "$target/$folder/hedgerow" ]; then
        cargo build --locked --profile "$profile" -p hedgerow-cli
    fi
    mkdir -p "$place"
    cp "$target/$folder/hedgerow" "$place/hedgerow"
    strip "$place/hedgerow"
    cp LICENSE-MIT LICENSE-APACHE crates/python/
}

find_maturin
bundle_command_line
features=()
if "$python" -c 'import sys, sysconfig; sys.exit(not sysconfig.get_config_var("Py_GIL_DISABLED"))'; then
    features=(--no-default-features)
fi
[ "$profile" != dev ] || features+=(--features as-tested)
mkdir -p "$target/wheels"
rm -f "$target"/wheels/hedgerow-*.whl
"$maturin" build --locked --manifest-path crates/python/Cargo.toml --profile "$profile" \
    --compression-level 9 --interpreter "$python" --out "$target/wheels" "${features[@]}"
for wheel in "$target"/wheels/hedgerow-*.whl; do
    echo "wheel: $wheel, $(($(stat -c %s "$wheel") / 1024)) KiB"
done
