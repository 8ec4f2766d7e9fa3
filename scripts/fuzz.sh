#!/usr/bin/env bash
# fuzz.sh [SECONDS] [TARGET...]: runs the fuzz targets (default: all), each for SECONDS (default: 20),
# as many at a time as there are processors. Each starts from its corpus in fuzz/corpus; what it adds
# goes to target/fuzz/corpus, and inputs that fail to target/fuzz/artifacts. Ends with 1 if one failed.
# With 0 SECONDS what is kept is only run once.
#
# FUZZ_SANITIZER=address|thread|leak builds with that sanitizer, which needs a nightly compiler
# (RUSTUP_TOOLCHAIN=nightly) for all but their own runs. FUZZ_BUILD_ONLY=1 only builds. FUZZ_SEED=N has
# them draw what they drew with that seed. FUZZ_PROFILE=smoke builds in less time, and finds less in more.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. scripts/toolchain.sh

seconds=${1:-20}
[ $# -eq 0 ] || shift
out=${CARGO_TARGET_DIR:-$PWD/target}/fuzz
host=$(rustc -vV | sed -n 's/^host: //p')
mkdir -p "$out/corpus" "$out/artifacts" "$out/logs"

# What cargo-fuzz passes to the compiler; overflows and failed assertions are findings, too.
flags="--cfg fuzzing -Cdebug-assertions -Coverflow-checks -Ccodegen-units=16 -Cpasses=sancov-module"
for option in level=4 inline-8bit-counters pc-table trace-compares; do
    flags+=" -Cllvm-args=-sanitizer-coverage-$option"
done
[ -z "${FUZZ_SANITIZER:-}" ] || flags+=" -Zsanitizer=$FUZZ_SANITIZER"

profile=${FUZZ_PROFILE:-release}
if ! RUSTFLAGS=$flags CARGO_TARGET_DIR=$out CARGO_PROFILE_RELEASE_LTO=off \
    CARGO_PROFILE_RELEASE_DEBUG=line-tables-only CARGO_PROFILE_RELEASE_OPT_LEVEL=${FUZZ_OPT_LEVEL:-1} \
    cargo build --locked -q --profile "$profile" --bins --manifest-path fuzz/Cargo.toml \
    --target "$host"; then
    echo "error: the fuzz targets do not build" >&2
    exit 1
fi
[ -z "${FUZZ_BUILD_ONLY:-}" ] || exit 0
targets=("$@")
[ $# -gt 0 ] || mapfile -t targets < <(sed -n 's/^name = "\([a-z_]*\)"$/\1/p' fuzz/Cargo.toml)

# run TARGET: one target; prints a line, fails if it found something.
run() {
    local corpus=$out/corpus/$1 log=$out/logs/$1 code=0
    mkdir -p "$corpus" "$out/artifacts/$1"
    [ ! -d "fuzz/corpus/$1" ] || cp -n fuzz/corpus/"$1"/* "$corpus" 2>/dev/null
    local extent=(-max_total_time="$seconds")
    [ "$seconds" != 0 ] || extent=(-runs=0)
    [ -z "${FUZZ_SEED:-}" ] || extent+=(-seed="$FUZZ_SEED")
    "$out/$host/$profile/$1" "${extent[@]}" -rss_limit_mb=1024 -timeout=10 \
        -max_len=40000 -artifact_prefix="$out/artifacts/$1/" "$corpus" >"$log" 2>&1 || code=$?
    awk -v name="$1" -v code="$code" '
        /^Done/ { runs = $2; time = $5 }
        END { printf "%-16s %10s inputs in %4s s%s\n", name, runs + 0, time + 0,
              code ? "  FAILED" : "" }' "$log"
    if [ "$code" != 0 ]; then
        grep -aE 'panicked|ERROR|SUMMARY|Test unit written' "$log" | head -n 5
    fi
    return "$code"
}
export -f run
export out host profile seconds
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I{} bash -c 'run {}' || {
    echo "fuzz: FAILED; the inputs are in $out/artifacts"
    exit 1
}
echo "fuzz: ok"
