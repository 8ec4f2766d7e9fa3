#!/bin/sh
# install.sh ARCHIVE SHA256 DIR: unpacks hedgerow's .tar.xz, a file or a URL, into DIR, if its checksum is
# SHA256, and makes DIR/git-links, whose git is hedgerow. Prints that directory: it goes first in PATH.
# If something is wrong, DIR is left as it was.
set -eu

fail() {
    echo "error: $1" >&2
    exit 1
}

[ $# = 3 ] || { echo "usage: install.sh ARCHIVE SHA256 DIR" >&2; exit 2; }
archive=${1#file://}
sha256=$(printf %s "$2" | tr A-F a-f)
case $3 in /*) directory=$3 ;; *) directory=$PWD/$3 ;; esac
for program in tar xz sha256sum; do
    command -v "$program" >/dev/null || fail "'$program' is not installed"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $archive in
http://* | https://*)
    command -v curl >/dev/null || fail "'curl' is not installed"
    curl --fail --silent --show-error --location --output "$work/archive" "$archive"
    ;;
*) cp -- "$archive" "$work/archive" ;;
esac
found=$(sha256sum "$work/archive" | cut -d' ' -f1)
[ "$found" = "$sha256" ] || fail "'$1' has the checksum $found, not $sha256; nothing was installed"
mkdir "$work/unpacked"
tar -xJf "$work/archive" -C "$work/unpacked" --strip-components=1
program=$(find "$work/unpacked" -name hedgerow -type f -perm -u+x | head -n 1)
[ -n "$program" ] || fail "there is no hedgerow in '$1'"
mkdir -p "$directory"
[ ! -e "$directory/hedgerow" ] || cp -p "$directory/hedgerow" "$work/old"
cp "$program" "$directory/hedgerow.new"
mv "$directory/hedgerow.new" "$directory/hedgerow"
if ! "$directory/hedgerow" --quiet shim install "$directory/git-links"; then
    rm "$directory/hedgerow"
    [ ! -e "$work/old" ] || cp -p "$work/old" "$directory/hedgerow"
    rmdir "$directory" 2>/dev/null || :
    fail "'$directory/git-links' cannot be made; nothing was installed"
fi
ln -sfn ../hedgerow "$directory/git-links/hedgerow"
echo "$directory/git-links"
