#!/usr/bin/env bash
# Installs each artefact of target/artefacts in a bare Debian, uses it there, removes it, and looks at what
# is left: nothing may be. Without artefacts, what `make install` installs of the debug binary.
#
# Everything is used twice: in a Debian without git, and, with the examples of the README as they
# stand, in one with git and rpm. Needs root and debootstrap; both are kept in target/debian-bare
# and target/debian-git. Archives of another machine are used there, too, if qemu-user-static has
# an emulator for it.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/toolchain.sh

target=${CARGO_TARGET_DIR:-$PWD/target}
bare=$target/debian-bare
with_git=$target/debian-git
log=$target/test-install.log
passed=0

main() {
    local artefact
    if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
        echo "skipped: installing in a bare Debian needs root and debootstrap"
        return
    fi
    if ! make_debian "$bare" || ! make_debian "$with_git" --include=git,rpm; then
        tail -n 3 "$log"
        echo "skipped: debootstrap failed; nothing was installed in a bare Debian"
        return
    fi
    work=$(mktemp -d)
    trap 'clean_up; rm -rf "$work"' EXIT
    make_scene
    make_examples
    machine=$(uname -m)
    for artefact in "$target"/artefacts/*-linux-*.tar.xz; do
        [ ! -e "$artefact" ] || check_archive "$artefact"
    done
    for artefact in "$target"/artefacts/hedgerow_*_"$(dpkg --print-architecture)".deb; do
        [ ! -e "$artefact" ] || check "$artefact" install_packages remove_packages
    done
    for artefact in "$target"/artefacts/hedgerow-[0-9]*."$machine".rpm; do
        [ ! -e "$artefact" ] || check_in "$with_git" "$artefact" install_rpm remove_rpm
    done
    binary=$target/release/hedgerow
    if [ "$passed" = 0 ]; then
        binary=$target/debug/hedgerow
        [ -x "$binary" ] || cargo build --locked -q -p hedgerow-cli
    fi
    [ ! -x "$binary" ] || check "$binary" install_built remove_built
    echo "installed, used and removed in a bare Debian: $passed"
}

# make_debian DIRECTORY OPTION...
make_debian() {
    local directory=$1 suite
    shift
    [ ! -e "$directory/complete" ] || return 0
    # shellcheck source=/dev/null
    suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
    rm -rf "$directory"
    debootstrap --variant=minbase "$@" "$suite" "$directory" >"$log" 2>&1 && touch "$directory/complete"
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
# Uses what is installed, by the names that the PATH has.
set -eu
cd /scene
hedgerow --version | grep -q '^hedgerow [0-9]'
cp -R repository copy
cd copy
chown -R 0:0 .
hedgerow checkout -q v1
test "$(cat file)" = one
hedgerow status --porcelain | { ! grep .; }
git-hedgerow switch -q main
test "$(cat file)" = two
hedgerow walk --sort directory | grep -qx directory/inner
hedgerow image create -q . /scene/image
hedgerow image extract -q --no-owner /scene/image /scene/extracted
cmp file /scene/extracted/file
hedgerow image create -q git:v1 /scene/commit
hedgerow image cat /scene/commit file | grep -qx one
printf '%s\n' "$(hedgerow rev-list -n1 HEAD)" --not "" |
    hedgerow-upload-pack-hook git pack-objects --revs --thin --stdout --delta-base-offset >/scene/sent.pack
hedgerow index-pack /scene/sent.pack >/dev/null
test "$(hedgerow verify-pack -v /scene/sent.idx | grep -c commit)" = 2
if command -v tar2sqfs >/dev/null; then
    tar -C /scene/extracted -cf - file | tar2sqfs -q /scene/from-tar
    rdsquashfs -l / /scene/from-tar | grep -q file
fi
hedgerow generate candidates hedgerow -- checkout ma | grep -q '^main'
USE
    chmod +x "$work/scene/use"
}

# The repository of the README's examples, with the ids that it shows, and each example as a script
# with what it is to print.
make_examples() {
    mkdir "$work/scene/examples"
    awk '/^## Five examples/ { here = 1 } here && /^```$/ { exit } inside { print } here && /^```sh$/ { inside = 1 }' \
        README.md >"$work/scene/make"
    # With these times, the ids are those of the README.
    (
        cd "$work/scene/examples"
        env -i "PATH=$PATH" HOME=/nonexistent TZ=UTC GIT_AUTHOR_DATE="1700000000 +0100" \
            GIT_COMMITTER_NAME="C O Mitter" GIT_COMMITTER_EMAIL=committer@example.com \
            GIT_COMMITTER_DATE="1700000000 +0100" bash -e "$work/scene/make"
    )
    awk -v directory="$work/scene/examples" '
        /^```console$/ { number++; script = directory "/" number ".sh"; expected = directory "/" number ".expected"; next }
        /^```/ { script = ""; next }
        script == "" { next }
        { print >expected }
        sub(/^\$ /, "") {
            shown = $0
            gsub(/\047/, "\047\\\047\047", shown)
            printf "printf \"%%s\\n\" \047$ %s\047\n%s\n", shown, $0 >script
        }' README.md
    [ "$(find "$work/scene/examples" -name '*.sh' | wc -l)" = 5 ]
    cat >"$work/scene/read" <<'READ'
#!/bin/sh
# The examples of the README, by the hedgerow of the PATH.
set -eu
chown -R 0:0 /scene/examples
mkdir -p "$HOME"
cd /scene/examples/example
for number in 1 2 3 4 5; do
    sh "../$number.sh" >"../$number.printed" 2>&1 || true
    diff "../$number.expected" "../$number.printed"
done
READ
    chmod +x "$work/scene/read"
}

# check ARTEFACT INSTALL REMOVE: without git, and with it.
check() {
    check_in "$bare" "$@"
    check_in "$with_git" "$@"
}

# An archive of another machine is used through an emulator.
check_archive() {
    local version name emulator
    version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
    name=${1##*/hedgerow-"$version"-}
    emulator=qemu-${name%%-*}-static
    if [ "${name%%-*}" = "$machine" ]; then
        check "$1" install_archive remove_archive
    elif command -v "$emulator" >/dev/null; then
        check "$1" install_emulated remove_archive
    else
        echo "skipped: ${1##*/}: there is no $emulator"
    fi
}

# check_in DEBIAN ARTEFACT INSTALL REMOVE: in a copy of that Debian which goes away.
check_in() {
    local debian=$1 artefact=$2 where=bare
    mkdir -p "$work/upper" "$work/root"
    mount -t tmpfs none "$work/upper"
    mkdir "$work/upper/changed" "$work/upper/work"
    mount -t overlay overlay "$work/root" \
        -o "lowerdir=$debian,upperdir=$work/upper/changed,workdir=$work/upper/work"
    listing >"$work/before"
    # Extended attributes of a directory that is open are read below /proc.
    mount -t proc proc "$work/root/proc"
    run=
    "$3" "$artefact"
    cp -R "$work/scene" "$work/root/scene"
    in_root HOME=/root /scene/use
    if [ "$debian" = "$with_git" ]; then
        where="with git"
        in_root HOME=/scene/home /scene/read
    fi
    rm -rf "$work/root/scene"
    "$4" "$artefact"
    listing >"$work/after"
    diff "$work/before" "$work/after" || { echo "error: $artefact leaves something behind" >&2; exit 1; }
    clean_up
    passed=$((passed + 1))
    echo "ok: ${artefact##*/}, $where"
}

# in_root VARIABLE=VALUE PROGRAM...
in_root() {
    chroot "$work/root" /usr/bin/env -i "PATH=${run:+$run:}/usr/local/bin:/usr/bin:/bin" LC_ALL=C "$@"
}

# Every file of the root, but what dpkg and rpm keep for themselves.
listing() {
    (cd "$work/root" && find . -path ./proc -prune -o -path ./var/lib/dpkg -prune -o -path ./var/lib/rpm -prune -o \
        -path ./var/log -prune -o \
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
    run=/opt/hedgerow/bin
}

# The names of the archive, each as a script that runs it in the emulator.
install_emulated() {
    local link
    install_archive "$1"
    cp "$(command -v "$emulator")" "$work/root/opt/hedgerow/emulator"
    mkdir "$work/root/opt/hedgerow/names"
    for link in "$work"/root/opt/hedgerow/bin/*; do
        link=${link##*/}
        printf '#!/bin/sh\nexec /opt/hedgerow/emulator -0 %s /opt/hedgerow/bin/hedgerow "$@"\n' "$link" \
            >"$work/root/opt/hedgerow/names/$link"
        chmod 755 "$work/root/opt/hedgerow/names/$link"
    done
    run=/opt/hedgerow/names
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

# Debian's rpm installs nothing without being told to, and knows no packages that others could need.
install_rpm() {
    local tools=${1/hedgerow-/hedgerow-squashfs-tools-}
    cp "$1" "$tools" "$work/root/tmp"
    chroot "$work/root" sh -ec '
        cd /tmp
        rpm -K --dbpath /var/lib/rpm --nosignature ./*.rpm
        rpm -i --dbpath /var/lib/rpm --force-debian --nodeps ./*.rpm
        rpm -V --dbpath /var/lib/rpm --nodeps hedgerow hedgerow-squashfs-tools' >"$log" 2>&1 || { cat "$log"; exit 1; }
    rm "$work/root/tmp"/*.rpm
    test -s "$work/root/usr/share/man/man1/hedgerow-checkout.1.gz"
}

remove_rpm() {
    chroot "$work/root" rpm -e --dbpath /var/lib/rpm --force-debian hedgerow-squashfs-tools hedgerow \
        >"$log" 2>&1 || { cat "$log"; exit 1; }
}

install_built() {
    DESTDIR=$work/root LINKS=all BINARY=$1 scripts/install.sh install >"$log"
}

remove_built() {
    DESTDIR=$work/root scripts/install.sh uninstall >"$log"
}

main
