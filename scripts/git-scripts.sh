#!/usr/bin/env bash
# git-scripts.sh [SCRIPT|GROUP...]: runs git's own test scripts (t5302 ...) with hedgerow in the place of
# git (see 'hedgerow shim'): what it does not take, the real git does. The groups are `packs` (the default),
# `worktree` and `clone`: scripts about packs, about checkout and status, about cloning and fetching.
#
# GIT_SRC is a checkout of git that was built (`make all`, `make -C t/helper`); HEDGEROW the binary
# (default: target/debug/hedgerow). Prints for each script what passed, which tests failed, how
# many calls reached hedgerow, and how many of its commands went to the real git because of which
# word; ends with 1 if any test failed. OUTPUT (default: a temporary directory that
# goes away) gets what the scripts printed. GIT_SCRIPT_OPTIONS are given to each, e.g. '-v --run=3'.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "error: $*" >&2
    exit 2
}
[ -n "${GIT_SRC:-}" ] || fail "GIT_SRC is not set: the path of a checkout of git that was built"
[ -x "$GIT_SRC/git" ] || fail "GIT_SRC: there is no program '$GIT_SRC/git'; run 'make all' there"
[ -x "$GIT_SRC/t/helper/test-tool" ] || fail "GIT_SRC: run 'make -C t/helper' in '$GIT_SRC'"
git_src=$(realpath "$GIT_SRC")
hedgerow=$(realpath "${HEDGEROW:-target/debug/hedgerow}") || fail "there is no hedgerow binary"
[ -x "$hedgerow" ] || fail "there is no program '$hedgerow'"
packs='t5302 t5308 t5309 t5310 t5318 t5319 t5325 t5326 t5327 t5331'
worktree='t0020 t0021 t0022 t0023 t0024 t0025 t0026 t0027 t0028 t1011 t1090 t1091 t1092 t1507 t2000 t2002
    t2003 t2004 t2005 t2006 t2007 t2008 t2009 t2010 t2011 t2012 t2013 t2014 t2015 t2016 t2017 t2018
    t2019 t2020 t2021 t2022 t2023 t2024 t2025 t2026 t2027 t2030 t2050 t2060 t2070 t2071 t2072 t2080
    t2081 t2082 t2400 t2401 t2402 t2403 t2404 t2405 t2406 t2407 t3903 t3904 t3905 t3906 t3907 t3908
    t6040 t7063 t7101 t7102 t7103 t7104 t7105 t7106 t7107 t7110 t7111 t7112 t7113 t7201 t7300 t7301
    t7400 t7401 t7402 t7403 t7406 t7407 t7408 t7409 t7413 t7416 t7417 t7418 t7423 t7424 t7425 t7426 t7508 t7512
    t7519'
clone='t1500 t5500 t5501 t5502 t5503 t5505 t5506 t5507 t5509 t5510 t5512 t5513 t5514 t5515 t5516 t5518 t5520
    t5521 t5525 t5526 t5530 t5531 t5532 t5537 t5550 t5551 t5552 t5553 t5554 t5555 t5557 t5558 t5570 t5572 t5573
    t5574 t5582 t5583 t5600 t5601 t5602 t5603 t5604 t5605 t5606 t5607 t5609 t5610 t5611 t5612 t5613 t5614 t5615
    t5616 t5617 t5815 t7400'
scripts=
for script in "${@:-packs}"; do
    case $script in
    packs) scripts="$scripts $packs" ;;
    worktree) scripts="$scripts $worktree" ;;
    clone) scripts="$scripts $clone" ;;
    *) scripts="$scripts $script" ;;
    esac
done
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
output=${OUTPUT:-$work/output}
mkdir -p "$work/exec" "$work/trash" "$output"

# The scripts call hedgerow by the name of git. It becomes the real one, which is next in PATH, for what
# is not its own: crates/shim says which calls are.
ln -s "$hedgerow" "$work/exec/git"
mkdir "$work/real"
cat >"$work/real/git" <<END
#!/bin/sh
unset GIT_EXEC_PATH
exec '$git_src/git' --exec-path='$work/exec' "\$@"
END
chmod +x "$work/real/git"
find "$git_src" -maxdepth 1 -name 'git-*' -type f -exec ln -s {} "$work/exec" \;
mkdir "$work/bin"
ln -s "$work/exec/git" "$work/bin/git"

# Each line of the input and how often it is there, as one line.
counted() {
    sort | uniq -c | awk '{n = $1; $1 = ""; printf "%s%s %s", (NR > 1 ? "," : ""), $0, n}'
}

code=0
for script in $scripts; do
    path=$(cd "$git_src/t" && compgen -G "$script-*.sh" | head -n 1)
    [ -n "$path" ] || fail "there is no script $script in '$git_src/t'"
    : >"$work/calls"
    log=$output/$script.log
    # shellcheck disable=SC2086 # options are words
    (cd "$git_src/t" && PATH=$work/real:$PATH GIT_TEST_INSTALLED=$work/bin GIT_TEST_EXEC_PATH=$work/exec \
        HEDGEROW_SHIM_LOG=$work/calls TEST_OUTPUT_DIRECTORY=$work/trash sh "./$path" ${GIT_SCRIPT_OPTIONS:-}) >"$log" 2>&1 || code=1
    passed=$(grep -c '^ok ' "$log" || true)
    broken=$(grep -c '^not ok .*# TODO' "$log" || true)
    total=$(grep -cE '^(not )?ok ' "$log" || true)
    # "hedgerow COMMAND", or "git COMMAND REASON"; for a command that is not ours, the reason is its name.
    reached=$(sed -n 's/^hedgerow //p' "$work/calls" | counted)
    left=$(awk '$1 == "git" && $2 != "-" && $2 != $3 { print $2, $3 }' "$work/calls" | counted)
    echo "$script: $passed of $((total - broken)) passed; calls of hedgerow:${reached:- none}"
    [ -z "$left" ] || echo "  left to git:$left"
    grep '^not ok ' "$log" | grep -v '# TODO' | sed 's/^/  /' || true
    [ "$total" -gt 0 ] || { tail -n 5 "$log"; code=1; }
done
exit $code
