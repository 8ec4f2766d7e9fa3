#!/usr/bin/env bash
# How long `hedgerow --version` takes beside `git --version`, by turns, as medians in microseconds.
# Ends with 1 if hedgerow is slower.  start-time.sh [BINARY] [PAIRS]
set -euo pipefail
binary=${1:-${CARGO_TARGET_DIR:-target}/release/hedgerow}
pairs=${2:-201}
git=$(command -v git)

# Microseconds that a run of ten takes, a tenth.
time_of() {
    local started=${EPOCHREALTIME/./} run
    for ((run = 0; run < 10; run++)); do
        "$1" --version >/dev/null
    done
    echo $(((${EPOCHREALTIME/./} - started) / 10))
}

median() {
    sort -n | sed -n "$((pairs / 2 + 1))p"
}

ours=()
gits=()
for ((pair = 0; pair < pairs; pair++)); do
    gits+=("$(time_of "$git")")
    ours+=("$(time_of "$binary")")
done
our_median=$(printf '%s\n' "${ours[@]}" | median)
git_median=$(printf '%s\n' "${gits[@]}" | median)
echo "hedgerow --version: $our_median us; git --version: $git_median us (medians of $pairs pairs of ten)"
[ "$our_median" -le "$git_median" ]
