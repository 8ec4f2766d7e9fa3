#!/bin/sh
# install.sh ARCHIVE SHA256 DIR: unpacks hedgerow's .tar.xz, a file or a URL, into DIR, if its checksum is
# SHA256, and makes DIR/git-links, whose git is hedgerow. Prints that directory: it goes first in PATH.
# Nothing is left in DIR if something is wrong.
set -eu
[ $# = 3 ] || { echo "usage: install.sh ARCHIVE SHA256 DIR" >&2; exit 2; }
archive=$1 sha256=$2 directory=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $archive in
http://* | https://*) curl --fail --silent --show-error --location --output "$work/archive" "$archive" ;;
*) cp -- "$archive" "$work/archive" ;;
esac
found=$(sha256sum "$work/archive" | cut -d' ' -f1)
if [ "$found" != "$sha256" ]; then
    echo "error: '$archive' has the checksum $found, not $sha256; nothing was installed" >&2
    exit 1
fi
mkdir "$work/unpacked"
tar -xJf "$work/archive" -C "$work/unpacked" --strip-components=1
program=$(find "$work/unpacked" -name hedgerow -type f -perm -u+x | head -n 1)
[ -n "$program" ] || { echo "error: there is no hedgerow in '$archive'" >&2; exit 1; }
mkdir -p "$directory"
cp "$program" "$directory/hedgerow.new"
mv "$directory/hedgerow.new" "$directory/hedgerow"
"$directory/hedgerow" --quiet shim install "$directory/git-links"
echo "$directory/git-links"
