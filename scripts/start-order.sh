#!/usr/bin/env bash
# Records which functions short commands call, those of the shortest first, for scripts/link-in-order.sh:
# writes packaging/start-order.txt. Needs valgrind, git and the release binary that `make` builds. It is
# worth running before a release; until then, what is new is found elsewhere.
#
#   start-order.sh [BINARY]
set -euo pipefail
cd "$(dirname "$0")/.."
binary=$(realpath "${1:-${CARGO_TARGET_DIR:-target}/release/hedgerow}")
list=$PWD/packaging/start-order.txt
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
. scripts/symbols.sh

cd "$place"
export HOME=$place GIT_CONFIG_NOSYSTEM=1
git init -q repository
cd repository
for file in 1 2 3; do
    mkdir "d$file"
    echo "$file" | tee "$file" >"d$file/file"
done
git add .
git -c user.name=a -c user.email=a@b.example commit -q -m one
git repack -a -d -b -q

calls() {
    valgrind -q --tool=callgrind --demangle=no --callgrind-out-file="$place/$((++run)).calls" \
        "$binary" "$@" >/dev/null 2>&1
}
run=0
calls --version
calls cat-file -s HEAD:1
calls rev-list --count --objects --use-bitmap-index HEAD
calls status --short
echo changed >"$PWD/1"
calls restore 1

symbols "$binary" >"$place/symbols"
for ((call = 1; call <= run; call++)); do
    # A function is defined at its first mention: `fn=(12) name`, or `cfn=` where it is called.
    sed -nE "s/^c?fn=\\([0-9]+\\) ([^']*).*/\\1/p" "$place/$call.calls" >"$place/called"
    awk -F '\t' 'NR == FNR { name[$1] = $2; next } $1 in name { print name[$1] }' \
        "$place/symbols" "$place/called" | LC_ALL=C sort
done | awk '!seen[$0]++' >"$list"
echo "$(wc -l <"$list") functions in $list"
