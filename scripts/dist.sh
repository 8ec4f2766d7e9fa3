#!/usr/bin/env bash
# Makes what is shipped, in target/artefacts: for each machine an archive, and packages for Debian and for
# RPM, with a binary that needs no library; the list of its ingredients (SBOM, CycloneDX), and
# checksums.
#
#   TARGETS            the targets (default: those that can be built here, see static-build.sh)
#   SOURCE_DATE_EPOCH  the time of all files (default: that of the commit)
#
# The same commit and compiler give the same bytes in any directory. cargo-cyclonedx is built into
# target/tools if it is missing; NO_SBOM=1 does without. packaging/rpm is built there, too.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/toolchain.sh
target=${CARGO_TARGET_DIR:-$PWD/target}
. scripts/static-build.sh

export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
export LC_ALL=C TZ=UTC
umask 022
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
targets=${TARGETS:-$(static_targets)}
dist=$target/artefacts
[ -n "$targets" ] || { echo "error: there is no target that can be built here" >&2; exit 1; }
for machine in x86_64 aarch64; do
    case $targets in
        *"$machine-unknown-linux-musl"*) ;;
        *"$machine"*) echo "note: $machine is linked with glibc: rustup target add $machine-unknown-linux-musl" ;;
        *) echo "skipped: $machine: its standard library or its C compiler is not installed" ;;
    esac
done
rm -rf "$dist"
mkdir -p "$dist"
cargo install --locked --debug -q --root "$target/tools" --target-dir "$target/tools/build" \
    --path packaging/rpm

# Manual pages and completions are the same for every machine.
generator=
for triple in $targets; do
    [ "${triple%%-*}" != "$(uname -m)" ] || generator=$target/$triple/release/hedgerow
done
if [ -z "$generator" ]; then
    cargo build --locked -p hedgerow-cli
    generator=$target/debug/hedgerow
fi

# Installs below $1, with the further variables given.
staged() {
    local root=$1
    shift
    env "$@" DESTDIR="$root" BINARY="$binary" GENERATOR="$generator" STRIP="$strip" \
        scripts/install.sh install >/dev/null
    rm -rf "${root:?}/usr/share/hedgerow"
    find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

# Copies the README to $1, with what it leads to, at the places that its links name.
documents() {
    cp README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md SECURITY.md TESTING.md THIRD-PARTY-NOTICES.md "$1"
    mkdir "$1/docs"
    cp -R docs/src docs/schemas "$1/docs"
    cp -R integrations "$1"
}

archive() {
    local name=hedgerow-$version-$triple stage=$work/archive
    staged "$work/root" PREFIX=/usr LINKS=all
    mkdir "$stage"
    mv "$work/root/usr" "$stage/$name"
    documents "$stage/$name/share/doc/hedgerow"
    find "$stage" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    tar -C "$stage" --sort=name --owner=0 --group=0 --numeric-owner --format=gnu \
        --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" | xz -9e -T1 >"$dist/$name.tar.xz"
}

# packaged KIND NAME LINKS VARIABLE=VALUE...: what a package of these links has, in $work/NAME.
packaged() {
    local kind=$1 name=$2 links=$3 stage=$work/$2
    shift 3
    staged "$stage" PREFIX=/usr LINKS="$links" "$@"
    documents "$stage/usr/share/doc/hedgerow"
    find "$stage/usr/share/man" -type f -exec gzip -9n {} +
    if [ "$kind" = deb ]; then
        (cd "$stage/usr/share/doc/hedgerow" && cat LICENSE-MIT LICENSE-APACHE >copyright && rm LICENSE-*)
    fi
    if [ "$name" != hedgerow ]; then
        # Only what the other package does not have.
        (cd "$work/hedgerow" && find . ! -type d) | (cd "$stage" && xargs rm -f)
        find "$stage" -type d -empty -delete
    fi
    find "$stage" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

# debian NAME LINKS FIELD...: a package of what is installed with these links.
debian() {
    local name=$1 links=$2 stage=$work/$1 architecture
    shift 2
    architecture=amd64
    [ "${triple%%-*}" != aarch64 ] || architecture=arm64
    packaged deb "$name" "$links" ZSHDIR=/usr/share/zsh/vendor-completions
    mkdir "$stage/DEBIAN"
    {
        printf 'Package: %s\nVersion: %s\nArchitecture: %s\n' "$name" "$version" "$architecture"
        printf '%s\n' "$@"
        printf 'Section: vcs\nPriority: optional\nMaintainer: The hedgerow developers <hedgerow@localhost>\n'
        printf 'Installed-Size: %s\n' "$(du -k --apparent-size -s "$stage/usr" | cut -f1)"
        printf 'Description: parallel checkout, status, walk, SquashFS images and Git packs\n'
        printf ' Moves whole file trees between Git packs, working trees, tar streams and\n'
        printf ' SquashFS images, in parallel and in a deterministic order, beside git.\n'
    } >"$stage/DEBIAN/control"
    (cd "$stage" && find usr -type f -print0 | sort -z | xargs -0 -r md5sum >DEBIAN/md5sums)
    find "$stage" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz -b "$stage" "$dist/${name}_${version}_$architecture.deb" >/dev/null
}

# rpm_package NAME LINKS RELATION...: the same for RPM.
rpm_package() {
    local name=$1 links=$2 machine=${triple%%-*}
    shift 2
    packaged rpm "$name" "$links"
    "$target/tools/bin/hedgerow-rpm" "$work/$name" "$dist/$name-$version-1.$machine.rpm" \
        "$name" "$version" "$machine" "$@"
}

for triple in $targets; do
    echo "building: $triple"
    build_static "$triple"
    binary=$target/$triple/release/hedgerow
    strip="strip"
    [ "${triple%%-*}" = "$(uname -m)" ] || strip=${triple%%-*}-linux-gnu-strip
    if readelf -lW "$binary" | grep -qw INTERP; then
        echo "error: $binary needs libraries" >&2
        exit 1
    fi
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    archive
    if command -v dpkg-deb >/dev/null; then
        debian hedgerow "git-hedgerow hedgerow-upload-pack-hook" "Recommends: git"
        debian hedgerow-squashfs-tools all "Depends: hedgerow (= $version)" \
            "Conflicts: squashfs-tools, squashfs-tools-ng" "Provides: squashfs-tools, squashfs-tools-ng"
    else
        echo "skipped: no package for Debian: dpkg-deb is not installed"
    fi
    rm -rf "$work/hedgerow" "$work/hedgerow-squashfs-tools"
    rpm_package hedgerow "git-hedgerow hedgerow-upload-pack-hook" recommends=git
    rpm_package hedgerow-squashfs-tools all "requires=hedgerow=$version-1" \
        conflicts=squashfs-tools conflicts=squashfs-tools-ng provides=squashfs-tools provides=squashfs-tools-ng
    rm -rf "$work"
done

if [ "${NO_SBOM:-}" != 1 ]; then
    PATH=$target/tools/bin:$PATH
    if ! command -v cargo-cyclonedx >/dev/null; then
        echo "installing: cargo-cyclonedx, into $target/tools"
        cargo install --locked --debug -q --root "$target/tools" cargo-cyclonedx
    fi
    # It writes beside the manifest, and only there.
    trap 'rm -rf "${work:-}"; rm -f crates/*/hedgerow.cdx.json' EXIT
    for triple in $targets; do
        cargo cyclonedx -q --manifest-path crates/cli/Cargo.toml --target "$triple" --format json \
            --override-filename hedgerow.cdx
        # Where it was built is nobody's business; a serial number would differ each time.
        sed "s#file://$PWD#file://#g; /\"serialNumber\"/d" crates/cli/hedgerow.cdx.json \
            >"$dist/hedgerow-$version-$triple.cdx.json"
    done
fi
(cd "$dist" && sha256sum -- * >SHA256SUMS)
ls -l "$dist"
