#!/usr/bin/env bash
# Tests of the Python package: builds its wheel, installs it into an environment of its own and runs
# crates/python/tests. What cannot be had is skipped with a message.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/toolchain.sh

python=${PYTHON:-python3}
target=${CARGO_TARGET_DIR:-$PWD/target}
environment=$target/python/test
required=(pytest)
optional=(pyarrow polars duckdb fsspec mypy s3fs)

skip() {
    echo "skipped: the Python package is not tested: $1"
    exit 0
}

command -v "$python" >/dev/null || skip "no $python"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "$python is older than 3.11"
if [ ! -x "$environment/bin/pip" ]; then
    "$python" -m venv "$environment" >/dev/null 2>&1 || skip "no module venv"
fi
# What is there is not asked for again: the index may be out of reach.
have() {
    "$environment/bin/python" -c "import $1" >/dev/null 2>&1
}
for package in "${required[@]}"; do
    have "$package" || timeout 120 "$environment/bin/pip" install --quiet "$package" ||
        skip "$package cannot be installed"
done
for package in "${optional[@]}"; do
    have "$package" || timeout 120 "$environment/bin/pip" install --quiet "$package" ||
        echo "skipped: tests that need $package, which cannot be installed"
done
# The server that stands in for an object store.
have moto.server || timeout 300 "$environment/bin/pip" install --quiet 'moto[server]' ||
    echo "skipped: tests that need moto's server, which cannot be installed"
PYTHON=$environment/bin/python bash scripts/wheel.sh dev
"$environment/bin/pip" install --quiet --no-deps --force-reinstall "$target"/wheels/hedgerow-*.whl
cd crates/python
"$environment/bin/python" -m pytest -q -rs -p no:cacheprovider tests | sed 's/^SKIPPED/skipped:/'
