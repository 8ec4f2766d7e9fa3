#!/usr/bin/env bash
# What hedgerow is for, in a minute and a half after the build: a checkout beside git's, the same at
# round trips of a millisecond, a status, a commit as an image, a clone from a server. What is
# compared is proven to be equal.
#
# REPO=path takes a repository of yours instead of the one that is made (it is only read), DIR=path
# says where the working trees go (default: memory, /dev/shm, if there is room; else target/).
# HEDGEROW=path and LATENCYFS=path take binaries that exist; then nothing is built.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly FILES=10000 COMMITS=5 ROUNDS=3 NEEDED_KIB=1500000 BUILD_KIB=1000000
# On the slow file system: so few that git takes less than 15 seconds.
readonly SLOW_FILES=1500 ROUND_TRIP_US=1000
export LC_ALL=C

fail() {
    echo "error: $1" >&2
    [ -z "${2:-}" ] || printf '\nhint: %s\n' "$2" >&2
    exit 1
}

title() {
    printf '\n== %s\n' "$1"
}

# watched LABEL COMMAND...: says every two seconds that the command still runs. What it prints is in
# $place/out.
watched() {
    local label=$1 began=$SECONDS code=0 child said
    shift
    said=$began
    printf '%s ...' "$label"
    "$@" >"$place/out" 2>&1 </dev/null &
    child=$!
    while kill -0 "$child" 2>/dev/null; do
        sleep 0.05
        if [ $((SECONDS - said)) -ge 2 ]; then
            said=$SECONDS
            printf ' %s s ...' "$((SECONDS - began))"
        fi
    done
    wait "$child" || code=$?
    printf ' done\n'
    [ "$code" = 0 ] || { cat "$place/out" >&2; fail "failed: $label"; }
}

# loud COMMAND...: runs it. Where its output goes to no terminal, on which it would show that it still runs,
# that is said after two seconds without a line.
loud() {
    if [ -t 1 ] && [ -t 2 ]; then
        "$@"
        return
    fi
    "$@" 2>&1 </dev/null | {
        local line began=$SECONDS open=
        while :; do
            if IFS= read -r -t 2 line; then
                [ -z "$open" ] || echo
                open=
                printf '%s\n' "$line"
            elif [ $? -gt 128 ]; then
                open=1
                printf ' %s s ...' "$((SECONDS - began))"
            else
                break
            fi
        done
        [ -z "$open" ] || echo
    }
}

# timed NAME LABEL COMMAND...: runs it watched; appends "real user+sys" to $place/NAME.times.
timed() {
    local name=$1 label=$2
    shift 2
    watched "$label" clocked "$place/clock" "$@"
    tail -n 1 "$place/clock" | awk '{ print $1, $2 + $3 }' >>"$place/$name.times"
}

clocked() {
    local TIMEFORMAT='%R %U %S' clock=$1
    shift
    { time "$@" >"$place/said" 2>&1; } 2>"$clock" || { cat "$place/said"; return 1; }
}

# row NAME WORDS: seconds by the clock and of processors, the middle of the rounds.
row() {
    printf '  %-44s %9.2f s %9.2f CPU s\n' "$2" "$(median "$1" 1)" "$(median "$1" 2)"
}

warn_if_busy() {
    awk -v cores="$(nproc)" '$1 > cores / 2 {
        printf "warning: the machine is busy (load average %s, %d processors): times will vary\n", $1, cores
    }' /proc/loadavg
}

free_kib() {
    df -Pk "$1" | awk 'NR == 2 { print $4 }'
}

require_tools() {
    command -v git >/dev/null || fail "git is not installed" "on Debian: apt-get install git"
    for tool in awk diff find nproc tar; do
        command -v "$tool" >/dev/null || fail "$tool is not installed"
    done
    mkdir -p target
    if [ -z "${HEDGEROW:-}" ] && [ ! -x target/release/hedgerow ] && [ "$(free_kib target)" -lt "$BUILD_KIB" ]; then
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
    trap clean_up EXIT
    trap 'exit 130' INT TERM
}

clean_up() {
    if mountpoint -q "$place/mounted" 2>/dev/null; then
        umount "$place/mounted"
    fi
    rm -rf "$place"
}

build() {
    if [ -n "${HEDGEROW:-}" ]; then
        hedgerow=$HEDGEROW latencyfs=${LATENCYFS:-}
        return
    fi
    . scripts/toolchain.sh
    echo "Building hedgerow ..."
    loud bash scripts/build.sh
    loud cargo build --locked --release -p hedgerow-latencyfs
    hedgerow=${CARGO_TARGET_DIR:-$PWD/target}/release/hedgerow
    latencyfs=${CARGO_TARGET_DIR:-$PWD/target}/release/latencyfs
}

make_repository() {
    if [ -n "${REPO:-}" ]; then
        git -C "$REPO" rev-parse --verify -q 'HEAD^{commit}' >/dev/null 2>&1 ||
            fail "'$REPO' is not a repository with a commit" "REPO= takes the path of a clone"
        watched "Cloning $REPO" git clone -q --no-checkout --no-hardlinks "$REPO" "$place/repo"
    else
        watched "Making a repository of $FILES files and $COMMITS commits" \
            bash scripts/make-repository.sh "$FILES" "$COMMITS" "$place/repo"
    fi
    # Read once, so that the first contender does not pay for the disk.
    find "$place/repo/.git/objects" -type f -exec cat {} + >/dev/null
}

# fresh_clone NAME [OF]: a clone without files, which shares the objects by hard links.
fresh_clone() {
    rm -rf "${place:?}/$1"
    git clone -q --no-checkout "$place/${2:-repo}" "$place/$1"
}

# check_out CONTENDER DIRECTORY: git-N is git with N workers.
check_out() {
    case $1 in
    hedgerow) "$hedgerow" -C "$2" checkout -q ;;
    git-*) git -C "$2" -c "checkout.workers=${1#git-}" checkout -q ;;
    esac
}

contender() {
    case $1 in
    hedgerow) echo "hedgerow, no options" ;;
    git-1) echo "git, as it comes" ;;
    git-*) echo "git, checkout.workers=${1#git-}" ;;
    esac
}

# median NAME COLUMN: the middle of what was measured.
median() {
    awk -v column="$2" '{ print $column }' "$place/$1.times" | sort -n |
        awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}

# How many times as fast the second is as the first.
times_as_fast() {
    awk -v a="$(median "$1" 1)" -v b="$(median "$2" 1)" \
        'BEGIN { printf "%.1f", a / (b > 0.001 ? b : 0.001) }'
}

listing() {
    (cd "$1" && find . -path ./.git -prune -o -printf '%y %m %p -> %l\n' | sort)
}

# same_trees THEIRS OURS: contents, kinds, permissions and links.
same_trees() {
    diff -r --no-dereference --exclude=.git "$1" "$2" || fail "the trees differ"
    diff <(listing "$1") <(listing "$2") || fail "types or permissions differ"
}

same_checkouts() {
    same_trees "$1" "$2"
    [ -z "$(git -C "$2" status --porcelain)" ] ||
        fail "git status finds the tree that hedgerow made not clean"
    diff <(git -C "$1" ls-files --stage) <(git -C "$2" ls-files --stage) || fail "the indexes differ"
}

show_checkout() {
    local round name best=git-2
    title "A checkout"
    for round in warm-up $(seq "$ROUNDS"); do
        for name in git-1 git-2 git-4 git-8 hedgerow; do
            fresh_clone "tree-$name"
            timed "$name" "round $round: $(contender "$name")" check_out "$name" "$place/tree-$name"
        done
        [ "$round" != warm-up ] || rm "$place"/*.times
    done
    watched "Comparing both trees and indexes" same_checkouts "$place/tree-git-1" "$place/tree-hedgerow"
    for name in git-4 git-8; do
        awk -v a="$(median "$name" 1)" -v b="$(median "$best" 1)" 'BEGIN { exit !(a < b) }' &&
            best=$name
    done
    echo "$(listing "$place/tree-hedgerow" | grep -c '^[fl]') files; equal: contents, permissions," \
        "links, index; git status is clean."
    for name in git-1 "$best" hedgerow; do
        row "$name" "$(contender "$name")"
    done
    echo "  hedgerow is $(times_as_fast git-1 hedgerow) times as fast as git, and" \
        "$(times_as_fast "$best" hedgerow) times as fast as git at its best (medians of $ROUNDS)."
}

show_latency() {
    local name
    title "The same where each call is a round trip of a millisecond, as on NFS"
    if [ ! -e /dev/fuse ] || [ ! -x "$latencyfs" ]; then
        echo "skipped: this needs /dev/fuse and the latencyfs of the tests"
        return
    fi
    watched "Making a repository of $SLOW_FILES files" \
        bash scripts/make-repository.sh "$SLOW_FILES" 1 "$place/few"
    mkdir "$place/mounted"
    for name in git-1 git-8 hedgerow; do
        fresh_clone "slow-$name" few
        if ! "$latencyfs" --nfs "$ROUND_TRIP_US" --daemon "$place/slow-$name" "$place/mounted" \
            2>"$place/out"; then
            echo "skipped: the file system cannot be mounted: $(head -n 1 "$place/out")"
            return
        fi
        timed "slow-$name" "$(contender "$name")" check_out "$name" "$place/mounted"
        umount "$place/mounted"
    done
    same_checkouts "$place/slow-git-1" "$place/slow-hedgerow"
    echo "$SLOW_FILES files; equal again."
    for name in git-1 git-8 hedgerow; do
        row "slow-$name" "$(contender "$name")"
    done
    echo "  hedgerow is $(times_as_fast slow-git-1 slow-hedgerow) times as fast as git, and" \
        "$(times_as_fast slow-git-8 slow-hedgerow) times as fast as git with eight workers:"
    echo "  up to 64 calls are under way at a time."
}

in_tree() {
    cd "$place/tree-hedgerow" && "$@"
}

show_status() {
    local round
    title "A status"
    # What both say first: something is there to be said, and the index is settled.
    touch "$place/tree-hedgerow/untracked" && in_tree git status >/dev/null
    diff <(in_tree git status) <(in_tree "$hedgerow" status) ||
        fail "git and hedgerow differ in the status"
    for round in $(seq "$ROUNDS"); do
        timed git-status "round $round: git status" in_tree git status
        timed hedgerow-status "round $round: hedgerow status" in_tree "$hedgerow" status
    done
    echo "The same words."
    row git-status "git status"
    row hedgerow-status "hedgerow status"
}

unpack_archive() {
    mkdir "$place/archived" && git -C "$place/repo" archive HEAD | tar -xC "$place/archived"
}

show_image() {
    title "A commit as a file-system image, without a checkout"
    timed image "\$ hedgerow image create -c zstd -l 3 git:HEAD tree.sqfs" \
        "$hedgerow" -C "$place/repo" image create -c zstd -l 3 git:HEAD "$place/tree.sqfs"
    timed verify "\$ hedgerow image verify tree.sqfs" "$hedgerow" image verify "$place/tree.sqfs"
    timed extract "\$ hedgerow image extract tree.sqfs extracted" \
        "$hedgerow" image extract "$place/tree.sqfs" "$place/extracted"
    watched "Unpacking git archive" unpack_archive
    watched "Comparing" same_contents "$place/archived" "$place/extracted"
    echo "Equal to git archive: $("$hedgerow" image list "$place/tree.sqfs" | wc -l) entries," \
        "$(du -m "$place/tree.sqfs" | cut -f 1) MB; mount -t squashfs shows it, too."
    row image "hedgerow image create"
    row verify "hedgerow image verify"
    row extract "hedgerow image extract"
}

# Permissions differ by the umask of whoever unpacks.
same_contents() {
    diff -r --no-dereference "$1" "$2" || fail "the trees differ"
}

# A clone through git's transport; git-upload-pack asks the hook for the pack, if there is one.
fetch_clone() {
    rm -rf "$place/fetched"
    git clone -q --bare --no-local "file://$place/repo" "$place/fetched"
}

# The user of a server is configured like this, once.
configure_hook() {
    git config -f "$place/serving" uploadpack.packObjectsHook "'$hedgerow' upload-pack-hook"
    git config -f "$place/serving" hedgerow.responseCache "$place/responses"
}

with_hook() {
    GIT_CONFIG_GLOBAL=$place/serving "$@"
}

objects() {
    git -C "$place/fetched" cat-file --batch-all-objects --batch-check | sort
}

show_clone() {
    title "A clone from a git server, with hedgerow as its hook"
    mkdir "$place/responses"
    configure_hook
    timed served-git "git alone" fetch_clone
    objects >"$place/objects.git"
    timed served-hook "with the hook" with_hook fetch_clone
    objects >"$place/objects.hook"
    [ -n "$(ls "$place/responses")" ] || fail "the hook was not asked"
    timed served-cache "again, from its cache" with_hook fetch_clone
    cmp "$place/objects.git" "$place/objects.hook" || fail "the clones have different objects"
    git -C "$place/fetched" fsck --connectivity-only >/dev/null 2>&1 || fail "git fsck finds a fault"
    echo "Equal: $(wc -l <"$place/objects.git") objects; git fsck finds nothing. Both sides together:"
    row served-git "git alone"
    row served-hook "with hedgerow upload-pack-hook"
    row served-cache "the same request again"
}

what_next() {
    cat <<EOF

What to try next:
  hedgerow doctor                 what would make commands faster here
  hedgerow -v checkout BRANCH     in a repository of yours: with the number of workers, and why
  hedgerow --stats=run.json checkout BRANCH; hedgerow stats run.json -o run.html
  hedgerow help                   all commands; hedgerow checkout -h for one
  make demo REPO=path             all of this with a repository of yours

$(git --version), $(nproc) processors, in $(df -Pk "$place" | awk 'NR == 2 { print $1 }'); $((SECONDS - started_at)) seconds after the build.
EOF
}

require_tools
build
choose_place
# What the user or the system has set must not favour either side.
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_TERMINAL_PROMPT=0
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
started_at=$SECONDS
warn_if_busy
make_repository
show_checkout
show_latency
show_status
show_image
show_clone
what_next
