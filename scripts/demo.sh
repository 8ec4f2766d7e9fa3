#!/usr/bin/env bash
# Checks a repository out with git and with hedgerow, proves that the trees are equal, and shows
# how long each took; then asks both for the status of the tree, and lists it.
#
# REPO=path takes a repository of yours instead of the one that is made (it is only read), DIR=path
# says where the working trees go (default: memory, /dev/shm, if there is room; else target/).
set -euo pipefail
cd "$(dirname "$0")/.."

readonly FILES=20000 COMMITS=5 ROUNDS=3 NEEDED_KIB=1500000 BUILD_KIB=1000000
export LC_ALL=C

fail() {
    echo "error: $1" >&2
    [ -z "${2:-}" ] || printf '\nhint: %s\n' "$2" >&2
    exit 1
}

free_kib() {
    df -Pk "$1" | awk 'NR == 2 { print $4 }'
}

require_tools() {
    command -v git >/dev/null || fail "git is not installed" "on Debian: apt-get install git"
    for tool in awk diff find; do
        command -v "$tool" >/dev/null || fail "$tool is not installed"
    done
    mkdir -p target
    if [ ! -x target/release/hedgerow ] && [ "$(free_kib target)" -lt "$BUILD_KIB" ]; then
        fail "less than $((BUILD_KIB / 1000)) MB are free for building in $PWD/target"
    fi
}

# Where the working trees go: $place.
choose_place() {
    place=${DIR:-}
    if [ -z "$place" ]; then
        place=$PWD/target
        if [ -d /dev/shm ] && [ -w /dev/shm ] && [ "$(free_kib /dev/shm)" -ge "$NEEDED_KIB" ] &&
            awk '/^MemAvailable:/ { exit !($2 >= 2000000) }' /proc/meminfo; then
            place=/dev/shm
        fi
    fi
    if [ ! -d "$place" ] || [ ! -w "$place" ]; then
        fail "cannot write into the directory '$place'"
    fi
    [ "$(free_kib "$place")" -ge "$NEEDED_KIB" ] ||
        fail "less than $((NEEDED_KIB / 1000)) MB are free in '$place'" "name another with DIR=path"
    place=$(mktemp -d "$place/hedgerow-demo.XXXXXX")
    trap 'rm -rf "$place"' EXIT
    trap 'exit 130' INT TERM
}

make_repository() {
    if [ -n "${REPO:-}" ]; then
        git -C "$REPO" rev-parse --verify -q 'HEAD^{commit}' >/dev/null 2>&1 ||
            fail "'$REPO' is not a repository with a commit" "REPO= takes the path of a clone"
        echo "Cloning $REPO ..."
        git clone -q --no-checkout --no-hardlinks "$REPO" "$place/repo"
    else
        echo "Making a repository of $FILES files and $COMMITS commits ..."
        bash scripts/make-repository.sh "$FILES" "$COMMITS" "$place/repo"
    fi
    # Read once, so that the first contender does not pay for the disk.
    find "$place/repo/.git/objects" -type f -exec cat {} + >/dev/null
}

# A clone without files, which shares the objects by hard links: $place/$1.
fresh_clone() {
    rm -rf "${place:?}/$1"
    git clone -q --no-checkout "$place/repo" "$place/$1"
    git -C "$place/$1" config checkout.workers 1
}

# measure CONTENDER: one checkout; appends "real user+sys" to $place/CONTENDER.times.
measure() {
    local contender=$1 TIMEFORMAT='%R %U %S'
    fresh_clone tree
    case $contender in
    hedgerow)
        # The clone asks for one worker above, which is git's default: ask for nothing instead.
        git -C "$place/tree" config --unset checkout.workers
        { time "$hedgerow" -C "$place/tree" checkout -q; } 2>"$place/out" || broken "$contender"
        ;;
    git-*)
        { time git -C "$place/tree" -c "checkout.workers=${contender#git-}" checkout -q; } \
            2>"$place/out" || broken "$contender"
        ;;
    esac
    tail -n 1 "$place/out" | awk '{ print $1, $2 + $3 }' >>"$place/$contender.times"
}

broken() {
    cat "$place/out" >&2
    fail "$1 failed to check out"
}

# The middle of column $2 of what was measured of contender $1.
median() {
    awk -v column="$2" '{ print $column }' "$place/$1.times" | sort -n |
        awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}

show_progress() {
    fresh_clone ours
    git -C "$place/ours" config --unset checkout.workers
    echo "\$ hedgerow checkout --progress -v"
    "$hedgerow" -C "$place/ours" checkout --progress -v </dev/null
    fresh_clone theirs
    git -C "$place/theirs" checkout -q
}

listing() {
    (cd "$place/$1" && find . -path ./.git -prune -o -printf '%y %m %p -> %l\n' | sort)
}

prove_equal() {
    diff -r --no-dereference --exclude=.git "$place/theirs" "$place/ours" ||
        fail "the trees differ"
    diff <(listing theirs) <(listing ours) || fail "types or permissions differ"
    [ -z "$(git -C "$place/ours" status --porcelain)" ] ||
        fail "git status finds the tree that hedgerow made not clean"
    diff <(git -C "$place/theirs" ls-files --stage) <(git -C "$place/ours" ls-files --stage) ||
        fail "the indexes differ"
    echo "Equal: $(listing ours | grep -c '^[fl]') files, contents, permissions, links and index;" \
        "git status is clean."
}

measure_all() {
    local round contender
    echo "Timing $ROUNDS rounds of each ..."
    for round in warm-up $(seq "$ROUNDS"); do
        for contender in git-1 git-2 git-4 git-8 hedgerow; do
            measure "$contender"
        done
        [ "$round" != warm-up ] || rm "$place"/*.times
    done
}

table() {
    local best=git-2 contender wall cpu
    for contender in git-2 git-4 git-8; do
        awk -v a="$(median "$contender" 1)" -v b="$(median "$best" 1)" 'BEGIN { exit !(a < b) }' &&
            best=$contender
    done
    wall=$(median hedgerow 1) cpu=$(median hedgerow 2)
    printf '\n%-34s %9s %9s %9s %9s\n' "" seconds "CPU s" "x time" "x CPU"
    for contender in git-1 "$best" hedgerow; do
        printf '%s %s %s\n' "$contender" "$(median "$contender" 1)" "$(median "$contender" 2)"
    done | awk -v wall="$wall" -v cpu="$cpu" '
        $1 == "hedgerow" { name = "hedgerow, no options" }
        $1 ~ /^git-/ { name = "git, checkout.workers=" substr($1, 5) (NR == 2 ? " (its best)" : "") }
        { printf "%-34s %9.2f %9.2f %9.2f %9.2f\n", name, $2, $3, $2 / wall, $3 / cpu }'
    printf '\nMedians of %s; %s in %s; x: how many times what hedgerow took.\n' "$ROUNDS rounds" \
        "$(git --version)" "$(df -Pk "$place" | awk 'NR == 2 { print $1 }')"
}

# times NAME COMMAND...: runs it in the tree that hedgerow made; appends as measure does.
times() {
    local name=$1 TIMEFORMAT='%R %U %S'
    shift
    { time (cd "$place/ours" && "$@" >/dev/null 2>&1); } 2>"$place/out" || broken "$name"
    tail -n 1 "$place/out" | awk '{ print $1, $2 + $3 }' >>"$place/$name.times"
}

# The status of the tree, and what is in it.
show_walk() {
    local round name
    # What both say first: something is there to be said, and the index is settled.
    touch "$place/ours/untracked" && git -C "$place/ours" status >/dev/null
    diff <(git -C "$place/ours" status) <("$hedgerow" -C "$place/ours" status) ||
        fail "git and hedgerow differ in the status"
    diff <(cd "$place/ours" && find . -mindepth 1 -printf '%P\0' | sort -z | tr '\0\n' '\n ') \
        <("$hedgerow" walk -0 "$place/ours" | sed -z "s|^$place/ours/||" | sort -z |
            tr '\0\n' '\n ') || fail "find and hedgerow list different things"
    for round in warm-up $(seq "$ROUNDS"); do
        times git-status git status
        times hedgerow-status "$hedgerow" status
        times find find . -printf '%y %s %T@ %i\n'
        times hedgerow-walk "$hedgerow" walk --stat --summary .
        [ "$round" != warm-up ] || rm "$place"/{git-status,hedgerow-status,find,hedgerow-walk}.times
    done
    printf '\nThe same words from git status, the same names from find:\n'
    for name in git-status hedgerow-status find hedgerow-walk; do
        printf '%-34s %9.3f s\n' "${name/-/ }" "$(median "$name" 1)"
    done
    printf 'Where each question is a round trip (NFS), hedgerow keeps up to 64 of them under way.\n'
}

require_tools
. scripts/toolchain.sh
echo "Building hedgerow ..."
cargo build --locked --release -q -p hedgerow-cli
hedgerow=${CARGO_TARGET_DIR:-$PWD/target}/release/hedgerow
choose_place
# What the user or the system has set must not favour either side.
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_TERMINAL_PROMPT=0
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
make_repository
show_progress
prove_equal
measure_all
table
show_walk
