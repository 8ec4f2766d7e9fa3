#!/usr/bin/env bash
# Scores the quality of the command line: 35 rows, 0 to 2 points each, by running the real binary.
# Each row is two checks, a point each. What only a person can judge is printed with what to look at,
# and is no part of the score.  check-list.sh [BINARY]
#
# Ends with 1 if a row has no point or the sum is below 62.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
root=$PWD
hedgerow=$(realpath "${1:-${CARGO_TARGET_DIR:-target}/release/hedgerow}") || exit 1
[ -x "$hedgerow" ] || { echo "error: '$hedgerow' cannot be run" >&2; exit 1; }
readonly ENOUGH=62
sum=0 rows=0 empty=0
place=$(mktemp -d) || exit 1
trap 'rm -rf "$place"' EXIT
export LC_ALL=C GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null HOME=$place
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com
unset NO_COLOR HEDGEROW_LOG GIT_DIR GIT_WORK_TREE COLUMNS

# row NAME CHECK CHECK: a point for each check that holds.
row() {
    local points=0 lacks=()
    for check in "$2" "$3"; do
        # A check runs in a directory and a shell of its own: it can leave nothing to the next one.
        if (cd "$place/tree" && "$check") >/dev/null 2>&1 </dev/null; then
            points=$((points + 1))
        else
            lacks+=("${check//_/ }")
        fi
    done
    rows=$((rows + 1)) sum=$((sum + points))
    [ "$points" -gt 0 ] || empty=$((empty + 1))
    printf '%2d  %-16s %d' "$rows" "$1" "$points"
    [ ${#lacks[@]} = 0 ] || printf '   lacks: %s' "$(IFS=';'; echo "${lacks[*]}")"
    printf '\n'
}

# What a person has to judge.
person() {
    printf '    %-16s to be judged by a person: %s\n' "$1" "$2"
}

# code N COMMAND...: the exit code.
code() {
    local wanted=$1 got=0
    shift
    "$@" || got=$?
    [ "$got" = "$wanted" ]
}

# says TEXT COMMAND...: standard output has the text. complains: standard error.
says() {
    local text=$1
    shift
    "$@" 2>/dev/null | grep -qF -- "$text"
}

complains() {
    local text=$1
    shift
    { "$@" 2>&1 >/dev/null || true; } | grep -qF -- "$text"
}

# silent N COMMAND...: stream N (1 or 2) is empty.
silent() {
    local stream=$1
    shift
    if [ "$stream" = 1 ]; then [ -z "$("$@" 2>/dev/null)" ]; else [ -z "$("$@" 2>&1 >/dev/null)" ]; fi
}

json() {
    python3 -c 'import json, sys
for line in ([text] if (text := sys.stdin.read()).count("\n") > 0 and text.lstrip().startswith("{\n") else text.splitlines()):
    assert json.loads(line)["schema"].startswith("hedgerow.")'
}

make_tree() {
    git init -q -b main "$place/tree" && cd "$place/tree" || exit 1
    mkdir sub && echo one >file && echo two >sub/other && git add . && git commit -qm one
    git branch side && echo more >>file && git commit -qam two
    cd "$root" || exit 1
}

commands() {
    "$hedgerow" help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p' | grep -v '^help$'
}

each_command() {
    local command count=0
    for command in $(commands); do
        "$@" "$command" || return 1
        count=$((count + 1))
    done
    [ "$count" -gt 20 ]
}

short_help() {
    says 'Usage: ' "$hedgerow" "$1" -h && says 'Examples:' "$hedgerow" "$1" -h && [ "$("$hedgerow" "$1" -h | wc -l)" -le 25 ]
}
long_help_is_a_page() { [ "$("$hedgerow" "$1" --help | wc -l)" -gt 5 ]; }
every_command_has_short_help() { each_command short_help; }
every_command_has_long_help() { each_command long_help_is_a_page; }
a_misspelled_command_gets_a_suggestion() { complains "checkout" "$hedgerow" chekcout; }
a_misspelled_option_gets_an_answer() { complains "did you mean '--summary'?" "$hedgerow" walk --sumary; }
an_error_names_path_and_reason() { complains "'none'" "$hedgerow" walk none && complains 'No such file' "$hedgerow" walk none; }
a_hint_says_what_to_do() { complains 'hint: ' "$hedgerow" stats file; }
data_goes_to_standard_output() { silent 2 "$hedgerow" walk . && says sub/other "$hedgerow" walk .; }
errors_go_to_standard_error() { silent 1 "$hedgerow" walk none; }
wrong_usage_is_2_or_129() { code 2 "$hedgerow" walk --none && code 129 "$hedgerow" checkout --none; }
difference_is_1() {
    "$hedgerow" image create git:main "$place/m.sqfs" && "$hedgerow" image create git:side "$place/s.sqfs" &&
        code 1 "$hedgerow" image diff "$place/m.sqfs" "$place/s.sqfs" &&
        code 0 "$hedgerow" image diff "$place/m.sqfs" "$place/m.sqfs"
}
same_code() { local wanted=0; git "$@" || wanted=$?; code "$wanted" "$hedgerow" "$@"; }
refusals_have_the_code_of_git() { same_code checkout none && same_code switch none && same_code merge --ff-only none; }
fatal_errors_have_the_code_of_git() { cd "$place" && mkdir -p outside && cd outside && same_code status && same_code cat-file -t HEAD; }
progress_is_not_in_a_log_unless_wanted() { silent 2 "$hedgerow" walk --summary .; }
progress_can_be_refused() { silent 2 "$hedgerow" --no-progress checkout -q -f main; }
documents_name_their_schema() { "$hedgerow" status --json | json && "$hedgerow" walk --json . | json; }
errors_are_documents_too() { { "$hedgerow" --json walk none 2>&1 >/dev/null || true; } | json; }
walk_ends_paths_with_NUL() {
    touch $'line\nbreak' && cmp <("$hedgerow" walk -0 . | sort -z) <(find . -mindepth 1 -print0 | sort -z) && rm $'line\nbreak'
}
status_and_ls_files_end_paths_with_NUL() { cmp <("$hedgerow" ls-files -z) <(git ls-files -z) && touch new && cmp <("$hedgerow" status -z) <(git status -z) && rm new; }
no_color_without_a_terminal() { ! "$hedgerow" status | grep -q $'\033' && ! "$hedgerow" walk none 2>&1 | grep -q $'\033'; }
color_on_demand() { { "$hedgerow" --color=always walk none 2>&1 || true; } | grep -q $'\033'; }
quiet_is_quiet() { silent 2 "$hedgerow" -q checkout -f main && silent 1 "$hedgerow" -q checkout -f main; }
verbose_names_the_workers() { complains 'workers: ' "$hedgerow" -v walk . && complains 'workers: ' "$hedgerow" -v checkout -f; }
jobs_are_taken_and_checked() { "$hedgerow" -j3 walk . && "$hedgerow" -j auto walk . && code 2 "$hedgerow" -j many walk .; }
jobs_change_no_result() { "$hedgerow" -j1 image create -f . "$place/1.sqfs" && "$hedgerow" -j8 image create -f . "$place/8.sqfs" && cmp "$place"/[18].sqfs; }
clean_has_a_dry_run() { touch new && says 'Would remove new' "$hedgerow" clean -n && [ -e new ] && rm new; }
repack_and_tune_have_a_dry_run() { "$hedgerow" repack -a -d --dry-run && [ -z "$(ls .git/objects/pack)" ] && "$hedgerow" tune --dry-run . && code 1 git config checkout.workers; }
nothing_is_overwritten_unasked() { echo mine >"$place/mine" && ! "$hedgerow" image create . "$place/mine" && grep -q mine "$place/mine"; }
force_overwrites() { echo mine >"$place/mine" && "$hedgerow" image create -f . "$place/mine" && "$hedgerow" image verify "$place/mine"; }
a_closed_pipe_is_no_error() { "$hedgerow" walk / 2>"$place/err" | head -n 1; [ "${PIPESTATUS[0]}" = 0 ] && ! grep -qi 'pipe' "$place/err"; }
a_full_output_is_an_error() { ! "$hedgerow" walk . >/dev/full; }
images_are_reproducible() { "$hedgerow" image create -f git:HEAD "$place/a.sqfs" && sleep 1.1 && "$hedgerow" image create -f git:HEAD "$place/b.sqfs" && cmp "$place"/[ab].sqfs; }
SOURCE_DATE_EPOCH_is_heeded() { SOURCE_DATE_EPOCH=5 "$hedgerow" image create -f . "$place/e.sqfs" && says '5 s since the epoch' "$hedgerow" image info "$place/e.sqfs"; }
linked() { ln -sf "$hedgerow" "$place/$1" && "$place/$1" "${@:2}"; }
linked_as_tar2sqfs() { tar -c . | linked tar2sqfs -f "$place/t.sqfs" && "$hedgerow" image verify "$place/t.sqfs"; }
linked_as_rdsquashfs() { "$hedgerow" image create -f . "$place/r.sqfs" && linked rdsquashfs --describe "$place/r.sqfs" | grep -q file; }
completions_for_three_shells() {
    local shell
    for shell in bash zsh fish; do
        "$hedgerow" generate completions "$shell" >"$place/completions" && [ -s "$place/completions" ] || return 1
        ! command -v "$shell" || "$shell" -n "$place/completions" || return 1
    done
}
completions_know_branches() { says side "$hedgerow" generate candidates hedgerow -- checkout si; }
page_of() { "$hedgerow" generate man "$1" | grep -q '^\.SH'; }
every_command_has_a_page() { each_command page_of; }
pages_have_examples_and_exit_codes() { says EXAMPLES "$hedgerow" generate man checkout && says 'EXIT' "$hedgerow" generate man checkout; }
configuration_is_read() { git config checkout.workers 3 && complains 'checkout.workers' "$hedgerow" -v checkout -f; local code=$?; git config --unset checkout.workers; return $code; }
configuration_is_documented() { says 'checkout.workers' "$hedgerow" help configuration; }
environment_is_read() { HEDGEROW_LOG=info complains 'info ' "$hedgerow" walk .; }
environment_is_documented() { says HEDGEROW_LOG "$hedgerow" help environment && says SOURCE_DATE_EPOCH "$hedgerow" help environment; }
version_is_a_line() { [ "$("$hedgerow" --version | wc -l)" = 1 ]; }
verbose_version_names_codecs() { says zstd "$hedgerow" --version --verbose; }
packages_are_built_by_a_target() { grep -q '^dist:' "$root/Makefile" && [ -f "$root/scripts/dist.sh" ]; }
packages_are_installed_in_a_test() { [ -f "$root/scripts/test-install.sh" ] && make -C "$root" -n install; }
what_is_shipped_is_small() { [ "$(stat -c %s "$shipped")" -le 10485760 ]; }
what_is_shipped_is_quick_to_start() { bash "$root/scripts/start-time.sh" "$shipped" 21; }
git_hedgerow_works() { ln -sf "$hedgerow" "$place/git-hedgerow" && PATH=$place:$PATH git hedgerow status -s; }
git_hedgerow_has_the_codes() { ln -sf "$hedgerow" "$place/git-hedgerow" && code 129 env PATH="$place:$PATH" git hedgerow checkout --none; }
README_has_examples_and_limits() { grep -q '^\$ hedgerow ' "$root/README.md" && grep -qiE 'known.limits' "$root/README.md"; }
README_is_tested() { [ -f "$root/crates/cli/tests/documentation/readme.rs" ]; }
site_has_a_book() { [ -f "$root/docs/book.toml" ] && [ -f "$root/docs/src/tutorial.md" ]; }
links_lead_somewhere() { (cd "$root" && python3 -B docs/tools/links.py); }
pages_for_who_comes_from_elsewhere() { ls "$root"/docs/src/how-to/from-git.md "$root"/docs/src/how-to/from-squashfs-tools.md; }
faq_is_there() { [ -f "$root/docs/src/faq.md" ]; }
changelog_has_the_version() { local version; version=$("$hedgerow" --version | awk '{ print $2 }') && grep -qF "## [$version]" "$root/CHANGELOG.md"; }
changelog_says_what_is_promised() { grep -q '^### Promised' "$root/CHANGELOG.md"; }
security_says_where_to_report() { grep -qi 'report' "$root/SECURITY.md"; }
advisories_have_tests() { grep -q 'CVE-' "$root/SECURITY.md" && grep -rq 'CVE\|cve' "$root/crates/cli/tests/advisories"; }
stats_are_told_and_drawn() { "$hedgerow" --stats="$place/run.json" walk . && says 'limited' "$hedgerow" stats "$place/run.json"; }
stats_have_a_page_and_a_trace() { "$hedgerow" --stats="$place/run.json" --trace "$place/run.trace" walk . && "$hedgerow" stats "$place/run.json" -fo "$place/run.html" && grep -q '<svg' "$place/run.html" && python3 -m json.tool "$place/run.trace"; }
doctor_looks() { "$hedgerow" doctor; }
doctor_speaks_JSON() { "$hedgerow" doctor --json | json; }
estimates_stand_in_the_help() { says 'six seconds' "$hedgerow" tune --help; }
the_tests_say_how_long_they_take() { grep -q '^echo .* minutes' "$root/scripts/test.sh"; }
words_are_held_by_a_test() { [ -d "$root/crates/cli/tests/wording" ]; }
no_panic_text() { ! { "$hedgerow" walk none; "$hedgerow" cat-file -t none; "$hedgerow" stats file; } 2>&1 | grep -qE 'panicked|RUST_BACKTRACE|Err\('; }
an_interrupt_ends_by_the_signal() { code 130 timeout --preserve-status -s INT 0.3 "$hedgerow" image create / "$place/all.sqfs"; }
an_interrupt_leaves_nothing() { mkdir "$place/kept" && timeout -s INT 0.3 "$hedgerow" image create / "$place/kept/all.sqfs"; [ -z "$(ls -A "$place/kept")" ]; }

# The binary that `make dist` ships for this machine; without artefacts, the one that was given.
find_shipped() {
    local archive
    shipped=$place/shipped
    for archive in "${CARGO_TARGET_DIR:-$root/target}"/artefacts/hedgerow-*-"$(uname -m)"-*.tar.xz; do
        if tar -xJf "$archive" -O --wildcards '*/bin/hedgerow' >"$shipped" 2>/dev/null; then
            chmod +x "$shipped"
            echo "note: size and start are those of ${archive##*/}: $(stat -c %s "$shipped") bytes"
            return
        fi
    done
    shipped=$hedgerow
    echo "note: size and start are those of $hedgerow: make dist makes what is shipped"
}

make_tree
find_shipped
row help every_command_has_short_help every_command_has_long_help
row misspelling a_misspelled_command_gets_a_suggestion a_misspelled_option_gets_an_answer
row errors an_error_names_path_and_reason a_hint_says_what_to_do
row stdout/stderr data_goes_to_standard_output errors_go_to_standard_error
row 'exit codes' wrong_usage_is_2_or_129 difference_is_1
row "git's codes" refusals_have_the_code_of_git fatal_errors_have_the_code_of_git
row progress progress_is_not_in_a_log_unless_wanted progress_can_be_refused
person progress "a bar on a terminal after one second, with count, bytes, rate and time left"
row JSON documents_name_their_schema errors_are_documents_too
row NUL walk_ends_paths_with_NUL status_and_ls_files_end_paths_with_NUL
row color no_color_without_a_terminal color_on_demand
row verbosity quiet_is_quiet verbose_names_the_workers
row jobs jobs_are_taken_and_checked jobs_change_no_result
row 'dry run' clean_has_a_dry_run repack_and_tune_have_a_dry_run
row overwriting nothing_is_overwritten_unasked force_overwrites
row pipes a_closed_pipe_is_no_error a_full_output_is_an_error
row reproducible images_are_reproducible SOURCE_DATE_EPOCH_is_heeded
row 'linked names' linked_as_tar2sqfs linked_as_rdsquashfs
row completions completions_for_three_shells completions_know_branches
row pages every_command_has_a_page pages_have_examples_and_exit_codes
row configuration configuration_is_read configuration_is_documented
row environment environment_is_read environment_is_documented
row version version_is_a_line verbose_version_names_codecs
row packages packages_are_built_by_a_target packages_are_installed_in_a_test
row 'size and start' what_is_shipped_is_small what_is_shipped_is_quick_to_start
row 'git hedgerow' git_hedgerow_works git_hedgerow_has_the_codes
row README README_has_examples_and_limits README_is_tested
person README "the first screen says what it is, for whom, and what it does not do"
row site site_has_a_book links_lead_somewhere
person site "make docs, then the pages at the width of a telephone"
row 'moving pages' pages_for_who_comes_from_elsewhere faq_is_there
row changelog changelog_has_the_version changelog_says_what_is_promised
row security security_says_where_to_report advisories_have_tests
row stats stats_are_told_and_drawn stats_have_a_page_and_a_trace
person stats "the page in a browser, light and dark; the trace in Perfetto"
row doctor doctor_looks doctor_speaks_JSON
person doctor "whether its advice fits the machine"
row estimates estimates_stand_in_the_help the_tests_say_how_long_they_take
row words words_are_held_by_a_test no_panic_text
person words "some pages and errors: is each sentence understood at once?"
row interruption an_interrupt_ends_by_the_signal an_interrupt_leaves_nothing
echo
echo "$sum of $((2 * rows)) points in $rows rows; rows without a point: $empty"
[ "$empty" = 0 ] && [ "$sum" -ge "$ENOUGH" ]
