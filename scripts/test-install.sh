#!/usr/bin/env bash
# Installs each artefact of target/dist in a bare Debian, uses it there, removes it, and looks at what
# is left: nothing may be. Without artefacts, what `make install` installs of the debug binary.
# Needs root and debootstrap; the bare Debian is kept in target/debian-root.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/toolchain.sh

target=${CARGO_TARGET_DIR:-$PWD/target}
debian=$target/debian-root
log=$target/test-install.log
passed=0

main() {
    local artefact
    if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
        echo "skipped: installing in a bare Debian needs root and debootstrap"
        return
    fi
    if ! make_debian; then
        tail -n 3 "$log"
        echo "skipped: debootstrap failed; nothing was installed in a bare Debian"
        return
    fi
    work=$(mktemp -d)
    trap 'clean_up; rm -rf "$work"' EXIT
    make_scene
    machine=$(uname -m)
    for artefact in "$target"/dist/*-"$machine"-*.tar.xz; do
        [ ! -e "$artefact" ] || check "$artefact" install_archive remove_archive
    done
    for artefact in "$target"/dist/hedgerow_*_"$(dpkg --print-architecture)".deb; do
        [ ! -e "$artefact" ] || check "$artefact" install_packages remove_packages
    done
    binary=$target/release/hedgerow
    if [ "$passed" = 0 ]; then
        binary=$target/debug/hedgerow
        [ -x "$binary" ] || cargo build --locked -q -p hedgerow-cli
    fi
    [ ! -x "$binary" ] || check "$binary" install_built remove_built
    echo "installed, used and removed in a bare Debian: $passed"
}

make_debian() {
    [ ! -e "$debian/complete" ] || return 0
    local suite
    # shellcheck source=/dev/null
    suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
    rm -rf "$debian"
    debootstrap --variant=minbase "$suite" "$debian" >"$log" 2>&1 && touch "$debian/complete"
}

# A repository, made here: the bare Debian has no git.
make_scene() {
    local git
    git=(env -i "PATH=$PATH" HOME=/nonexistent git -c user.name=n -c user.email=e@example.com)
    mkdir "$work/scene"
    "${git[@]}" init -q -b main "$work/scene/repository"
    (
        cd "$work/scene/repository"
        mkdir directory
        echo one >file
        echo inner >directory/inner
        "${git[@]}" add .
        "${git[@]}" commit -q -m one
        "${git[@]}" tag v1
        echo two >file
        "${git[@]}" commit -q -a -m two
    )
    cat >"$work/scene/use" <<'USE'
#!/bin/sh
# Uses what is installed; links are asked for by name.
set -eu
cd /scene
run=${1:-}
hedgerow() { command "${run}hedgerow" "$@"; }
hedgerow --version | grep -q '^hedgerow [0-9]'
cp -R repository copy
cd copy
chown -R 0:0 .
hedgerow checkout -q v1
test "$(cat file)" = one
hedgerow status --porcelain | { ! grep .; }
"${run}git-hedgerow" switch -q main
test "$(cat file)" = two
hedgerow walk --sort directory | grep -qx directory/inner
hedgerow image create -q . /scene/image
hedgerow image extract -q --no-owner /scene/image /scene/extracted
cmp file /scene/extracted/file
hedgerow image create -q git:v1 /scene/commit
hedgerow image cat /scene/commit file | grep -qx one
printf '%s\n' "$(hedgerow rev-list -n1 HEAD)" --not "" |
    "${run}hedgerow-upload-pack-hook" git pack-objects --revs --thin --stdout --delta-base-offset >/scene/sent.pack
hedgerow index-pack /scene/sent.pack >/dev/null
test "$(hedgerow verify-pack -v /scene/sent.idx | grep -c commit)" = 2
if command -v "${run}tar2sqfs" >/dev/null; then
    tar -C /scene/extracted -cf - file | "${run}tar2sqfs" -q /scene/from-tar
    "${run}rdsquashfs" -l / /scene/from-tar | grep -q file
fi
hedgerow generate candidates hedgerow -- checkout ma | grep -q '^main'
USE
    chmod +x "$work/scene/use"
}

# check ARTEFACT INSTALL REMOVE: in a copy of the bare Debian that goes away.
check() {
    local artefact=$1 before
    mkdir -p "$work/upper" "$work/over" "$work/root"
    mount -t tmpfs none "$work/upper"
    mkdir "$work/upper/changed" "$work/upper/work"
    mount -t overlay overlay "$work/root" \
        -o "lowerdir=$debian,upperdir=$work/upper/changed,workdir=$work/upper/work"
    listing >"$work/before"
    # Extended attributes of a directory that is open are read below /proc.
    mount -t proc proc "$work/root/proc"
    run=
    "$2" "$artefact"
    cp -R "$work/scene" "$work/root/scene"
    chroot "$work/root" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/root /scene/use "$run"
    rm -rf "$work/root/scene"
    "$3" "$artefact"
    listing >"$work/after"
    diff "$work/before" "$work/after" || { echo "error: $artefact leaves something behind" >&2; exit 1; }
    clean_up
    passed=$((passed + 1))
    echo "ok: ${artefact##*/}"
}

# Every file of the root, but what dpkg keeps for itself.
listing() {
    (cd "$work/root" && find . -path ./proc -prune -o -path ./var/lib/dpkg -prune -o -path ./var/log -prune -o \
        -path ./var/cache -prune -o -printf '%p %y %m %U:%G %s %l\n' | grep -v '^\.[^ ]* d ' | LC_ALL=C sort
        find . -path ./proc -prune -o -path ./var -prune -o -type d -print | LC_ALL=C sort)
}

clean_up() {
    umount "$work/root/proc" 2>/dev/null || true
    umount "$work/root" 2>/dev/null || true
    umount "$work/upper" 2>/dev/null || true
}

install_archive() {
    mkdir "$work/root/opt/hedgerow"
    tar -C "$work/root/opt/hedgerow" --strip-components=1 --no-same-owner -xf "$1"
    test -s "$work/root/opt/hedgerow/share/man/man1/hedgerow-checkout.1"
    run=/opt/hedgerow/bin/
}

remove_archive() {
    rm -r "$work/root/opt/hedgerow"
}

install_packages() {
    local tools=${1/hedgerow_/hedgerow-squashfs-tools_}
    cp "$1" "$tools" "$work/root/tmp"
    chroot "$work/root" dpkg -i "/tmp/${1##*/}" "/tmp/${tools##*/}" >"$log" 2>&1 || { cat "$log"; exit 1; }
    rm "$work/root/tmp"/*.deb
    # A bare Debian leaves manual pages where it is told to; ours is told nothing.
    test -s "$work/root/usr/share/man/man1/hedgerow-checkout.1.gz"
    test -s "$work/root/usr/share/bash-completion/completions/hedgerow"
}

remove_packages() {
    chroot "$work/root" dpkg -P hedgerow-squashfs-tools hedgerow >"$log" 2>&1 || { cat "$log"; exit 1; }
}

install_built() {
    DESTDIR=$work/root LINKS=all BINARY=$1 scripts/install.sh install >"$log"
}

remove_built() {
    DESTDIR=$work/root scripts/install.sh uninstall >"$log"
}

main
