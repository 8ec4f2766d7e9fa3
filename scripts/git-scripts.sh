#!/usr/bin/env bash
# git-scripts.sh [SCRIPT|GROUP...]: runs git's own test scripts (t5302 ...) with a git that leaves
# to hedgerow what hedgerow knows: the commands of the table below, if all their options are in it.
# Everything else, and whatever has an option that is not, is done by the real git. The groups are
# `packs` (the default) and `worktree`: scripts about packs, and about checkout and status.
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
    t7400 t7401 t7402 t7403 t7406 t7508 t7512 t7519'
scripts=
for script in "${@:-packs}"; do
    case $script in
    packs) scripts="$scripts $packs" ;;
    worktree) scripts="$scripts $worktree" ;;
    *) scripts="$scripts $script" ;;
    esac
done
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
output=${OUTPUT:-$work/output}
mkdir -p "$work/exec" "$work/trash" "$output"

# COMMAND OPTION...: `=` after an option stands for a value in the same word, `:` for the next word,
# `*` after a letter for anything that follows it; the letters after `-@` may stand together in a
# word. Words after `--` are paths; who has no `--` does not know it.
cat >"$work/table" <<'END'
archive -@v --format= --format: --prefix= --prefix: --add-file= --add-file: --add-virtual-file= --add-virtual-file: -o: -o* --output= --output: --worktree-attributes --verbose --mtime= --mtime: --
cat-file -t -s -e -p --batch --batch= --batch-check --batch-check= --batch-command --batch-command= --batch-all-objects --unordered --buffer --no-buffer -z -Z --filter=
checkout -@fqdlt23m --merge --no-merge --no-conflict --conflict= --conflict: -b: -B: -b* -B* --force --no-force --detach --no-detach --quiet --progress --no-progress --guess --no-guess --orphan: --orphan= --track --track= --no-track --overlay --no-overlay --overwrite-ignore --no-overwrite-ignore --ignore-other-worktrees --no-ignore-other-worktrees --ours --theirs --ignore-skip-worktree-bits --pathspec-from-file= --pathspec-from-file: --pathspec-file-nul --recurse-submodules --recurse-submodules= --no-recurse-submodules - --
checkout-index -@afnquz --all --force --no-create --quiet --index --stdin --temp --no-temp --prefix= --prefix: --stage= --stage: --ignore-skip-worktree-bits --
clean -@dfnqxX -e: -e* --exclude= --exclude: --force --dry-run --quiet --
diff-files --quiet --exit-code --no-exit-code --name-only --name-status --raw -z -R --diff-filter= --diff-filter: --abbrev --abbrev= --no-abbrev --ignore-submodules --ignore-submodules= --
diff-index -m --cached --quiet --exit-code --no-exit-code --name-only --name-status --raw -z -R --diff-filter= --diff-filter: --abbrev --abbrev= --no-abbrev --ignore-submodules --ignore-submodules= --
index-pack -v -o: --stdin --fix-thin --strict --strict= --fsck-objects --fsck-objects= --check-self-contained-and-connected --rev-index --no-rev-index --keep --keep= --verify --verify-stat --verify-stat-only --index-version= --max-input-size= --threads= --object-format= --show-resolving-progress --report-end-of-input --pack_header=
ls-files -@zvtfcdmoiksu --eol -x: -x* -X: -X* --cached --deleted --modified --others --ignored --stage --killed --directory --empty-directory --no-empty-directory --unmerged --resolve-undo --exclude= --exclude: --exclude-from= --exclude-from: --exclude-per-directory= --exclude-per-directory: --exclude-standard --full-name --error-unmatch --abbrev --abbrev= --no-abbrev --deduplicate --sparse --format= --
merge -@nqvm --ff-only --ff --stat --no-stat --summary --compact-summary --quiet --no-edit --edit --allow-unrelated-histories --overwrite-ignore --no-overwrite-ignore
multi-pack-index --object-dir= --object-dir: --preferred-pack= --preferred-pack: --stdin-packs --bitmap --refs-snapshot= --batch-size= --progress --no-progress
pack-objects --stdout --keep-pack= --reflog --indexed-objects --unpacked --stdin-packs --keep-unreachable --pack-loose-unreachable --exclude-promisor-objects --write-bitmap-index --no-write-bitmap-index --max-pack-size= --window= --depth= --window-memory= --threads= --delta-base-offset --thin --non-empty --compression= --no-reuse-delta --no-reuse-object --honor-pack-keep --local --incremental --index-version= --revs --all --include-tag --filter= --no-filter --use-bitmap-index --no-use-bitmap-index --all-progress --all-progress-implied -q --progress --no-progress
read-tree -@imnuvq --reset --prefix= --prefix: --trivial --aggressive --empty --index-output= --index-output: --no-sparse-checkout --sparse-checkout --exclude-per-directory= --exclude-per-directory: --verbose --dry-run --quiet --recurse-submodules --recurse-submodules= --no-recurse-submodules
repack -@aAdfFnlbkmq -g: --local --write-bitmap-index --no-write-bitmap-index --cruft --cruft-expiration= --unpack-unreachable= --keep-unreachable --window= --window-memory= --depth= --threads= --max-pack-size= --pack-kept-objects --no-pack-kept-objects --keep-pack= --geometric= --write-midx --no-write-midx
reset -@Nq --mixed --soft --hard --merge --keep --quiet --refresh --no-refresh --intent-to-add --pathspec-from-file= --pathspec-from-file: --pathspec-file-nul --recurse-submodules --recurse-submodules= --no-recurse-submodules --
restore -@qSW23m --merge --no-merge --conflict= --conflict: -s: -s* --source= --source: --staged --worktree --no-staged --no-worktree --ignore-unmerged --overlay --no-overlay --ours --theirs --ignore-skip-worktree-bits --pathspec-from-file= --pathspec-from-file: --pathspec-file-nul --quiet --progress --no-progress --recurse-submodules --recurse-submodules= --no-recurse-submodules --
rev-list --quiet --count --objects --objects-edge --topo-order --date-order --reverse --parents --first-parent --merges --no-merges --boundary --left-right --left-only --right-only --timestamp --in-commit-order --no-object-names --object-names --filter= --filter-print-omitted --filter-provided-objects --no-filter --use-bitmap-index --disk-usage --disk-usage= --missing= --no-walk --do-walk --all --branches --tags --remotes --branches= --tags= --remotes= --glob= --exclude= --not --stdin --max-count= --skip= --since= --until= --min-parents= --max-parents= -z
sparse-checkout -@nfz --cone --no-cone --sparse-index --no-sparse-index --skip-checks --stdin --dry-run --force --rules-file: --rules-file= --end-of-options --
stash -@kSuaq -m: -m* --keep-index --no-keep-index --staged --include-untracked --all --quiet --message= --message: --pathspec-from-file= --pathspec-from-file: --pathspec-file-nul --index --no-index --label-ours= --label-theirs= --label-base= --
status -@szb --short --no-short --long --no-long --porcelain --porcelain= --branch --no-branch --show-stash --no-show-stash --ahead-behind --no-ahead-behind --null -u* --untracked-files --untracked-files= --ignored --ignored= --no-ignored --ignore-submodules --ignore-submodules= --column --column= --no-column --renames --no-renames -M* --find-renames --find-renames= --
submodule -@fiNq --quiet --init --recursive --force --no-fetch --checkout --cached -j: -j* --jobs= --jobs: --
switch -@fqdtm --merge --no-merge --conflict= --conflict: -c: -C: -c* -C* --create= --create: --force-create= --force-create: --force --discard-changes --detach --no-detach --quiet --progress --no-progress --guess --no-guess --orphan: --orphan= --track --track= --no-track --overwrite-ignore --no-overwrite-ignore --ignore-other-worktrees --recurse-submodules --recurse-submodules= --no-recurse-submodules - --
verify-pack -v --verbose -s --stat-only --object-format=
worktree -@fdqvnz -b: -B: --force --detach --checkout --no-checkout --lock --reason: --reason= --orphan --quiet --track --no-track --guess-remote --no-guess-remote --relative-paths --no-relative-paths --porcelain --verbose --expire: --expire= --dry-run - --
END

cat >"$work/exec/git" <<END
#!/bin/sh
real='$git_src/git' hedgerow='$hedgerow' table='$work/table' calls='$work/calls' left='$work/left'
END
cat >>"$work/exec/git" <<'END'
# Notes that the real git has to do a command of the table, because of a word.
leave() {
    printf '%s %s\n' "$command" "$(printf %s "${1%%=*}" | tr '[:space:]' _)" >>"$left"
}

# Lets hedgerow update submodules, and ends; returns if something would have to be cloned or fetched,
# which is refused before anything is touched.
try_submodule() {
    [ "$n" = 0 ] || export GIT_CONFIG_COUNT="$n"
    said=$(mktemp -d)
    result=0
    "$hedgerow" ${directory:+-C "$directory"} "$@" >"$said/out" 2>"$said/err" || result=$?
    if [ "$result" != 129 ]; then
        echo "$command" >>"$calls"
        cat "$said/out"
        cat "$said/err" >&2
        rm -rf "$said"
        exit "$result"
    fi
    rm -rf "$said"
    leave clone
    unset GIT_CONFIG_COUNT
}

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
    '' | -*) return ;;
    *) grep -q "^$command " "$table" || return ;;
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
        --) case " $known " in *" -- "*) break ;; esac ;;
        esac
        case $word in
        -[0-9]*) case $command in rev-list | archive) ;; *) leave "$word"; return ;; esac ;;
        -*)
            case " $known " in
            *" $word "* | *" ${word%%=*}= "*) ;;
            *" $word: "*) wants_value=t ;;
            *)
                letter=${word#-} letter=-${letter%"${letter#?}"}
                case " $known " in *" $letter* "*) continue ;; esac
                case ${letters:+${word#-}} in *[!$letters]* | '') leave "$word"; return ;; esac
                ;;
            esac
            ;;
        compact) [ "$command" != multi-pack-index ] || { leave "$word"; return; } ;;
        show | export | import) [ "$command" != stash ] || { leave "$word"; return; } ;;
        # A path.
        *) [ "$command" != rev-list ] || [ ! -e "$word" ] || { leave path; return; } ;;
        esac
    done
    # A merge that needs a commit is git's, and so is what configured commands write.
    case $command in
    merge) case " $* " in *" --ff-only "*) ;; *) leave no--ff-only; return ;; esac ;;
    archive)
        case " $* " in *zip*) leave zip; return ;; esac
        ! "$real" config --get-regexp '^tar\..*\.command$' >/dev/null 2>&1 || { leave tar.command; return; }
        ;;
    submodule)
        case " $* " in *" update "* | *" init "* | *" status "*) ;; *) leave other; return ;; esac
        try_submodule "$@"
        return
        ;;
    esac
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

# Each line of a file and how often it is there, as one line.
counted() {
    sort "$1" | uniq -c | awk '{n = $1; $1 = ""; printf "%s%s %s", (NR > 1 ? "," : ""), $0, n}'
}

code=0
for script in $scripts; do
    path=$(cd "$git_src/t" && compgen -G "$script-*.sh" | head -n 1)
    [ -n "$path" ] || fail "there is no script $script in '$git_src/t'"
    : >"$work/calls"
    : >"$work/left"
    log=$output/$script.log
    # shellcheck disable=SC2086 # options are words
    (cd "$git_src/t" && GIT_TEST_INSTALLED=$work/bin GIT_TEST_EXEC_PATH=$work/exec \
        TEST_OUTPUT_DIRECTORY=$work/trash sh "./$path" ${GIT_SCRIPT_OPTIONS:-}) >"$log" 2>&1 || code=1
    passed=$(grep -c '^ok ' "$log" || true)
    broken=$(grep -c '^not ok .*# TODO' "$log" || true)
    total=$(grep -cE '^(not )?ok ' "$log" || true)
    reached=$(counted "$work/calls") left=$(counted "$work/left")
    echo "$script: $passed of $((total - broken)) passed; calls of hedgerow:${reached:- none}"
    [ -z "$left" ] || echo "  left to git:$left"
    grep '^not ok ' "$log" | grep -v '# TODO' | sed 's/^/  /' || true
    [ "$total" -gt 0 ] || { tail -n 5 "$log"; code=1; }
done
exit $code
