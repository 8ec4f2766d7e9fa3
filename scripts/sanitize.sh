#!/usr/bin/env bash
# sanitize.sh [CRATE...]: runs the tests of the crates that have `unsafe` (default: fs, codec, pack) with
# AddressSanitizer. It needs a nightly compiler; says aloud that it is skipped without one.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/toolchain.sh

if ! cargo +nightly --version >/dev/null 2>&1; then
    echo "skipped: AddressSanitizer: there is no nightly compiler"
    exit 0
fi
[ $# -gt 0 ] || set -- fs codec pack
packages=()
for crate in "$@"; do
    packages+=(-p "hedgerow-$crate")
done
host=$(rustc -vV | sed -n 's/^host: //p')
# What libraries in C leave to the end of the process is not a leak of ours, and libdeflate has
# tables of one name in several files.
# The libraries in C are instrumented by the C compiler, whose marks for the ends of scopes are not
# those of the runtime that is linked.
export "CFLAGS_${host//-/_}=-DTUKLIB_FAST_UNALIGNED_ACCESS -fno-sanitize-address-use-after-scope"
ASAN_OPTIONS=detect_leaks=0:detect_odr_violation=0 RUSTFLAGS="-Zsanitizer=address" \
    CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/sanitized" \
    cargo +nightly test --locked -q --target "$host" "${packages[@]}" </dev/null
echo "sanitize: ok"
