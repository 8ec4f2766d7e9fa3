#!/usr/bin/env bash
# Installs hedgerow with its links, manual pages and completions, or removes exactly what it installed.
#
#   install.sh install|uninstall, with these variables:
#   PREFIX     where to (default /usr/local); DESTDIR is put in front of it, for packages
#   LINKS      names that become links to hedgerow (default "git-hedgerow hedgerow-upload-pack-hook");
#              also gensquashfs, mksquashfs, rdsquashfs, sqfs2tar, sqfsdiff, sqfstar, tar2sqfs, unsquashfs, or "all", or ""
#   FORCE      1 replaces files that were not installed by this script; otherwise they are refused
#   BINARY     the binary (default target/release/hedgerow)
#   GENERATOR  a binary that runs here and makes the pages (default BINARY)
#   STRIP      the program that strips BINARY (default strip)
#   DEBUG      1 installs the debugging information, too: bin/.debug/hedgerow.debug, where debuggers look
#              (OBJCOPY is the program that takes it out of BINARY)
#   ZSHDIR     the directory for completions of zsh (default PREFIX/share/zsh/site-functions)
set -euo pipefail
caller=$PWD
cd "$(dirname "$0")/.."

tools="gensquashfs mksquashfs rdsquashfs sqfs2tar sqfsdiff sqfstar tar2sqfs unsquashfs"
prefix=${PREFIX:-/usr/local}
root=${DESTDIR:-}
case $root in '' | /*) ;; *) root=$caller/$root ;; esac
binary=${BINARY:-${CARGO_TARGET_DIR:-target}/release/hedgerow}
links=${LINKS-git-hedgerow hedgerow-upload-pack-hook}
[ "$links" != all ] || links="git-hedgerow hedgerow-upload-pack-hook $tools"
zsh=${ZSHDIR:-$prefix/share/zsh/site-functions}
man=$prefix/share/man/man1
bash=$prefix/share/bash-completion/completions
fish=$prefix/share/fish/vendor_completions.d
doc=$prefix/share/doc/hedgerow
# What was installed, a path a line; a directory that was made for it ends in a slash.
list=$prefix/share/hedgerow/installed

main() {
    case ${1:-} in
        install) install_all ;;
        uninstall) uninstall ;;
        *) fail "usage: install.sh install|uninstall" ;;
    esac
}

fail() {
    echo "error: $1" >&2
    [ -z "${2:-}" ] || printf '\nhint: %s\n' "$2" >&2
    exit 1
}

install_all() {
    local name
    case $prefix in /*) ;; *) fail "PREFIX is not an absolute path: '$prefix'" ;; esac
    for name in $links; do
        case " git-hedgerow hedgerow-upload-pack-hook $tools " in
            *" $name "*) ;;
            *) fail "hedgerow has no link called '$name'" ;;
        esac
    done
    [ -f "$binary" ] || fail "there is no '$binary'" "make builds it"
    stage=$(mktemp -d)
    trap 'rm -rf "$stage"' EXIT
    stage_files
    refuse_foreign
    refuse_unwritable
    put_in_place
    echo "installed: $root$prefix/bin/hedgerow, $(find "$stage" ! -type d | wc -l) files in all"
    case ":$PATH:" in
        *":$prefix/bin:"*) ;;
        *) [ -n "$root" ] || echo "note: $prefix/bin is not in PATH" ;;
    esac
}

# Makes everything as it is to be, below a directory of its own.
stage_files() {
    local name page words generator=${GENERATOR:-$binary}
    case $generator in */*) ;; *) generator=./$generator ;; esac
    mkdir -p "$stage$prefix/bin" "$stage$man" "$stage$bash" "$stage$fish" "$stage$zsh" "$stage$doc"
    if command -v "${STRIP:-strip}" >/dev/null; then
        "${STRIP:-strip}" -o "$stage$prefix/bin/hedgerow" "$binary"
    else
        echo "note: ${STRIP:-strip} is not installed: the binary keeps its debugging information"
        cp "$binary" "$stage$prefix/bin/hedgerow"
    fi
    [ "${DEBUG:-}" != 1 ] || stage_debugging_information
    chmod 755 "$stage$prefix/bin/hedgerow"
    for name in $links; do
        ln -s hedgerow "$stage$prefix/bin/$name"
    done
    "$generator" generate man --list >"$stage/pages"
    while IFS= read -r words; do
        case " $tools " in
            *" $words "*)
                case " $links " in *" $words "*) page=$words ;; *) continue ;; esac
                ;;
            *) page=hedgerow${words:+-${words// /-}} ;;
        esac
        # shellcheck disable=SC2086 # the words of a command
        "$generator" generate man $words >"$stage$man/$page.1" </dev/null
    done <"$stage/pages"
    rm "$stage/pages"
    case " $links " in *" git-hedgerow "*) echo ".so man1/hedgerow.1" >"$stage$man/git-hedgerow.1" ;; esac
    "$generator" generate completions bash >"$stage$bash/hedgerow"
    "$generator" generate completions fish >"$stage$fish/hedgerow.fish"
    "$generator" generate completions zsh >"$stage$zsh/_hedgerow"
    for name in $links; do
        # bash and fish look for a file of the command's name.
        case $name in
            hedgerow-upload-pack-hook) ;;
            git-hedgerow) ln -s _hedgerow "$stage$zsh/_git-hedgerow" ;;
            *)
                ln -s hedgerow "$stage$bash/$name"
                ln -s hedgerow.fish "$stage$fish/$name.fish"
                ;;
        esac
    done
    cp LICENSE-APACHE LICENSE-MIT THIRD-PARTY-NOTICES.md CHANGELOG.md "$stage$doc"
    chmod 644 "$stage$doc"/* "$stage$man"/*
}

stage_debugging_information() {
    local copy=${OBJCOPY:-objcopy} directory=$stage$prefix/bin/.debug
    mkdir "$directory"
    "$copy" --only-keep-debug "$binary" "$directory/hedgerow.debug"
    chmod 644 "$directory/hedgerow.debug"
    "$copy" --add-gnu-debuglink="$directory/hedgerow.debug" "$stage$prefix/bin/hedgerow"
}

# Every path that is to be installed.
staged() {
    (cd "$stage" && find . ! -type d -printf '/%P\n' | LC_ALL=C sort)
}

# Nothing is touched if anything is in the way that came from elsewhere.
refuse_foreign() {
    local path foreign=()
    [ "${FORCE:-}" != 1 ] || return 0
    while IFS= read -r path; do
        if [ -e "$root$path" ] || [ -L "$root$path" ]; then
            grep -qxF -- "$path" "$root$list" 2>/dev/null || foreign+=("$root$path")
        fi
    done < <(staged)
    if [ "${#foreign[@]}" -gt 0 ]; then
        fail "not installed by this script, and not replaced: ${foreign[*]}" \
            "FORCE=1 replaces them; LINKS chooses which links are made"
    fi
}

# Nor if something cannot be written.
refuse_unwritable() {
    local path directory
    while IFS= read -r path; do
        directory=$root$(dirname "$path")
        while [ ! -d "$directory" ]; do directory=$(dirname "$directory"); done
        [ -w "$directory" ] || fail "'$directory' is not writable" \
            "PREFIX=\$HOME/.local installs for yourself alone"
    done < <(staged)
}

put_in_place() {
    local path made new
    made=$(known | grep '/$' || true)
    new=$(staged)
    while IFS= read -r path; do
        made+=$'\n'$(make_directory "$(dirname "$path")")
        # Renamed into place: a hedgerow that runs is not written to.
        cp -P "$stage$path" "$root$path.hedgerow-new"
        mv -fT "$root$path.hedgerow-new" "$root$path"
    done <<<"$new"
    # What an earlier version installed, and this one does not, would stay for ever.
    while IFS= read -r path; do
        [ -z "$path" ] || rm -f "$root$path"
    done < <(known | grep -v '/$' | grep -vxF -e "$new" -e "$list")
    made+=$'\n'$(make_directory "$(dirname "$list")")
    printf '%s\n' "$made" "$new" "$list" | grep . | LC_ALL=C sort -u >"$stage/list"
    chmod 644 "$stage/list"
    mv -f "$stage/list" "$root$list"
}

# What is installed.
known() {
    [ ! -f "$root$list" ] || cat "$root$list"
}

# Makes a directory and those above it, and says which were missing.
make_directory() {
    [ ! -d "$root$1" ] || return 0
    [ "$1" = / ] || make_directory "$(dirname "$1")"
    mkdir "$root$1"
    echo "$1/"
}

uninstall() {
    [ -f "$root$list" ] || fail "nothing was installed here: there is no '$root$list'"
    remove_listed
    echo "removed: hedgerow from $root$prefix"
}

# Files first, then the directories that were made for them and are empty, innermost first.
remove_listed() {
    local path paths
    paths=$(LC_ALL=C sort -r "$root$list")
    while IFS= read -r path; do
        case $path in
            */) ;;
            *) rm -f "$root$path" ;;
        esac
    done <<<"$paths"
    while IFS= read -r path; do
        case $path in
            */) rmdir "$root$path" 2>/dev/null || true ;;
        esac
    done <<<"$paths"
}

main "$@"
