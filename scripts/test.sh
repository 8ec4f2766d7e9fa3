#!/usr/bin/env bash
# Runs every test and says which were skipped and why.
#
# The tests drive git. These programs make more of them run; as root, those that are missing are
# installed, and without them the tests that need them say "skipped:".
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/toolchain.sh

wanted=(git:git git-lfs:git-lfs fusermount3:fuse3 hg:mercurial python3:python3
    bsdtar:libarchive-tools setfacl:acl getfattr:attr xz:xz-utils zstd:zstd
    mksquashfs:squashfs-tools gensquashfs:squashfs-tools-ng fsck.erofs:erofs-utils strace:strace
    veritysetup:cryptsetup-bin valgrind:valgrind mandoc:mandoc zsh:zsh fish:fish debootstrap:debootstrap) # program:Debian package
log=${CARGO_TARGET_DIR:-target}/test.log
mkdir -p "$(dirname "$log")"
: >"$log"

install_missing() {
    local pair missing=()
    for pair in "${wanted[@]}"; do
        command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
    done
    [ "${#missing[@]}" -gt 0 ] || return 0
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "installing: ${missing[*]}"
        if ! install_packages "${missing[@]}" </dev/null >"$log" 2>&1; then
            tail -n 5 "$log"
            echo "skipped: installing ${missing[*]} failed; tests that need them are skipped" |
                tee "$log"
        fi
    else
        echo "skipped: not installed: ${missing[*]}; tests that need them are skipped" |
            tee "$log"
    fi
    if ! command -v git >/dev/null; then
        echo "error: the tests need git" >&2
        exit 1
    fi
}

install_packages() {
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y -q "$@" || { apt-get update -q && apt-get install -y -q "$@"; }
}

# Runs a command, shows and keeps what it prints.
recorded() {
    "$@" </dev/null 2>&1 | tee -a "$log"
}

run_workspace() {
    # Tests wait for programs, mounts and clocks: with one more than there are processors, none is idle.
    # --show-output, because a test that passes hides its "skipped:" line otherwise.
    RUST_TEST_THREADS=${RUST_TEST_THREADS:-$(($(nproc) + 1))} \
    recorded cargo test --locked --workspace --no-fail-fast -- --show-output
}

# Tries all interleavings of the engine's ordered commit.
run_model_checker() {
    [ -e crates/engine/tests/loom.rs ] || return 0
    # Optimized, because it runs for long, but not across crates, which takes long to build.
    CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom" \
        recorded cargo test --locked -p hedgerow-engine --release --test loom -- --show-output
}

run_installation() {
    recorded bash scripts/test-install.sh
}

# Counts of the programs that the tests have built: no time is measured.
run_instructions() {
    if ! command -v python3 >/dev/null; then
        recorded echo "skipped: instructions are not counted: no python3"
        return 0
    fi
    BENCH_BUILD=tests recorded python3 bench/instructions.py
}

run_python() {
    recorded bash scripts/test-python.sh
}

summary() {
    echo
    echo "== what was skipped"
    grep -h '^skipped:' "$log" | sort | uniq -c || true
    echo "skipped in all: $(grep -c '^skipped:' "$log" || true)"
    echo
    echo "== test runs"
    grep -h '^test result:' "$log" | awk '
        { runs += 1; passed += $4; failed += $6; ignored += $8 }
        $6 > 0 { print }
        END { printf "%d test binaries: %d passed; %d failed; %d ignored\n", runs, passed, failed, ignored }'
}

# What the tests that failed have said, without stack traces.
complaints() {
    echo
    echo "== what failed"
    awk '
        /^failures:$/ { failed = !failed; shown = 0; next }
        /^(successes|test result):?/ { failed = 0 }
        failed && /^---- .* stdout ----$/ { shown = 60; print; next }
        failed && shown > 0 && !/^ +([0-9]+: |at )/ { shown -= 1; print substr($0, 1, 400) }' "$log"
    grep -hE '^test .* FAILED$' "$log" | sort -u || true
}

# What takes one processor, with a log of its own.
run_beside() {
    local log=$1 failed=0
    run_model_checker || failed=1
    run_installation || failed=1
    run_instructions || failed=1
    return "$failed"
}

# The Python package's tests mostly wait. What is said beside them is shown after what they say.
run_rest() {
    local failed=0
    beside=$(mktemp -d)
    : >"$beside/log"
    # As a job, or it would ignore the signals of the keyboard; whoever interrupts this script ends it.
    set -m
    run_beside "$beside/log" >"$beside/said" 2>&1 &
    job=$!
    set +m
    trap 'kill -- "-$job" 2>/dev/null || true; rm -rf "$beside"' EXIT
    run_python || failed=1
    wait "$job" || failed=1
    cat "$beside/said" && cat "$beside/log" >>"$log"
    return "$failed"
}

failures=0
echo "test: about 20 minutes on two processors, and 5 more if nothing is built yet"
install_missing
run_workspace || failures=1
run_rest || failures=1
summary
if [ "$failures" != 0 ]; then
    complaints
    echo "test: FAILED"
    exit 1
fi
echo "test: ok"
