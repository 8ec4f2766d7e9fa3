#!/usr/bin/env bash
# git-scripts.sh [SCRIPT...]: runs git's own test scripts about packs (t5302 ...) with a git that
# leaves to hedgerow what hedgerow knows: the commands of the table below, if all their options are
# in it. Everything else, and whatever has an option that is not, is done by the real git.
#
# GIT_SRC is a checkout of git that was built (`make all`, `make -C t/helper`); HEDGEROW the binary
# (default: target/debug/hedgerow). Prints for each script what passed, which tests failed and how
# many calls reached hedgerow; ends with 1 if any failed. OUTPUT (default: a temporary directory that
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
[ $# -gt 0 ] || set -- t5302 t5308 t5309 t5310 t5318 t5319 t5325 t5326 t5327 t5331
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
output=${OUTPUT:-$work/output}
mkdir -p "$work/exec" "$work/trash" "$output"

# COMMAND OPTION...: `=` after an option stands for a value in the same word, `:` for the next word;
# the letters after `-@` may stand together in a word.
cat >"$work/table" <<'END'
cat-file -t -s -e -p --batch --batch= --batch-check --batch-check= --batch-command --batch-command= --batch-all-objects --unordered --buffer --no-buffer -z -Z --filter=
index-pack -v -o: --stdin --fix-thin --strict --strict= --fsck-objects --fsck-objects= --check-self-contained-and-connected --rev-index --no-rev-index --keep --keep= --verify --verify-stat --verify-stat-only --index-version= --max-input-size= --threads= --object-format= --show-resolving-progress --report-end-of-input --pack_header=
multi-pack-index --object-dir= --object-dir: --preferred-pack= --preferred-pack: --stdin-packs --bitmap --refs-snapshot= --batch-size= --progress --no-progress
pack-objects --stdout --keep-pack= --reflog --indexed-objects --unpacked --stdin-packs --keep-unreachable --pack-loose-unreachable --exclude-promisor-objects --write-bitmap-index --no-write-bitmap-index --max-pack-size= --window= --depth= --window-memory= --threads= --delta-base-offset --thin --non-empty --compression= --no-reuse-delta --no-reuse-object --honor-pack-keep --local --incremental --index-version= --revs --all --include-tag --filter= --no-filter --use-bitmap-index --no-use-bitmap-index --all-progress --all-progress-implied -q --progress --no-progress
repack -@aAdfFnlbkmq -g: --local --write-bitmap-index --no-write-bitmap-index --cruft --cruft-expiration= --unpack-unreachable= --keep-unreachable --window= --window-memory= --depth= --threads= --max-pack-size= --pack-kept-objects --no-pack-kept-objects --keep-pack= --geometric= --write-midx --no-write-midx
rev-list --quiet --count --objects --objects-edge --topo-order --date-order --reverse --parents --first-parent --merges --no-merges --boundary --left-right --left-only --right-only --timestamp --in-commit-order --no-object-names --object-names --filter= --filter-print-omitted --filter-provided-objects --no-filter --use-bitmap-index --disk-usage --disk-usage= --missing= --no-walk --do-walk --all --branches --tags --remotes --branches= --tags= --remotes= --glob= --exclude= --not --stdin --max-count= --skip= --since= --until= --min-parents= --max-parents= -z
verify-pack -v --verbose -s --stat-only --object-format=
END

cat >"$work/exec/git" <<END
#!/bin/sh
real='$git_src/git' hedgerow='$hedgerow' table='$work/table' calls='$work/calls'
END
cat >>"$work/exec/git" <<'END'
# Becomes hedgerow if it knows all words; returns if not.
try() {
    n=${GIT_CONFIG_COUNT:-0} directory=
    while :; do
        case ${1-} in
        -C) directory=$directory${directory:+/}$2 ;;
        -c)
            case $2 in *=*) value=${2#*=} ;; *) value=true ;; esac
            export "GIT_CONFIG_KEY_$n=${2%%=*}" "GIT_CONFIG_VALUE_$n=$value"
            n=$((n + 1))
            ;;
        *) break ;;
        esac
        shift 2
    done
    command=${1-}
    case $command in
    cat-file | index-pack | multi-pack-index | pack-objects | repack | rev-list | verify-pack) ;;
    *) return ;;
    esac
    while read -r name known; do [ "$name" = "$command" ] && break; done <"$table"
    letters=
    for option in $known; do
        case $option in -@*) letters=${option#-@} ;; esac
    done
    wants_value= first=t
    for word; do
        if [ -n "$wants_value$first" ]; then
            wants_value= first=
            continue
        fi
        case $word in
        -[0-9]*) [ "$command" = rev-list ] || return ;;
        -*)
            case " $known " in
            *" $word "* | *" ${word%%=*}= "*) ;;
            *" $word: "*) wants_value=t ;;
            *)
                [ -n "$letters" ] || return
                case ${word#-} in *[!$letters]* | '') return ;; esac
                ;;
            esac
            ;;
        compact) [ "$command" != multi-pack-index ] || return ;;
        # A path.
        *) [ "$command" != rev-list ] || [ ! -e "$word" ] || return ;;
        esac
    done
    echo "$command" >>"$calls"
    [ "$n" = 0 ] || export GIT_CONFIG_COUNT="$n"
    exec "$hedgerow" ${directory:+-C "$directory"} "$@"
}
try "$@"
exec "$real" "$@"
END
chmod +x "$work/exec/git"
find "$git_src" -maxdepth 1 -name 'git-*' -type f -exec ln -s {} "$work/exec" \;
mkdir "$work/bin"
ln -s "$work/exec/git" "$work/bin/git"

code=0
for script; do
    path=$(cd "$git_src/t" && ls "$script"-*.sh 2>/dev/null | head -n 1)
    [ -n "$path" ] || fail "there is no script $script in '$git_src/t'"
    : >"$work/calls"
    log=$output/$script.log
    # shellcheck disable=SC2086 # options are words
    (cd "$git_src/t" && GIT_TEST_INSTALLED=$work/bin GIT_TEST_EXEC_PATH=$work/exec \
        TEST_OUTPUT_DIRECTORY=$work/trash sh "./$path" ${GIT_SCRIPT_OPTIONS:-}) >"$log" 2>&1 || code=1
    passed=$(grep -c '^ok ' "$log" || true)
    broken=$(grep -c '^not ok .*# TODO' "$log" || true)
    total=$(grep -cE '^(not )?ok ' "$log" || true)
    reached=$(sort "$work/calls" | uniq -c | awk '{printf "%s %s %s", (NR > 1 ? "," : ""), $2, $1}')
    echo "$script: $passed of $((total - broken)) passed; calls of hedgerow:${reached:- none}"
    grep '^not ok ' "$log" | grep -v '# TODO' | sed 's/^/  /' || true
    [ "$total" -gt 0 ] || { tail -n 5 "$log"; code=1; }
done
exit $code
