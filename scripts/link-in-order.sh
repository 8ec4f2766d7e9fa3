#!/usr/bin/env bash
# A linker for rustc: puts the functions that every short command calls side by side, so that a start
# touches fewer pages, and makes one of equal functions. packaging/start-order.txt lists them; names that
# are not there any more do no harm. Where the linker is not lld, or nm or the list is missing, it links
# as usual.
#
#   HEDGEROW_LINKER       the linker; the default is cc
#   HEDGEROW_START_ORDER  another list
set -euo pipefail
linker=${HEDGEROW_LINKER:-cc}
list=${HEDGEROW_START_ORDER:-$(dirname "$0")/../packaging/start-order.txt}

if [[ " $* " != *" -fuse-ld=lld "* ]] || ! [ -r "$list" ] || ! command -v nm >/dev/null; then
    exec "$linker" "$@"
fi
. "$(dirname "$0")/symbols.sh"
objects=()
for argument; do
    [[ $argument != *.o && $argument != *.rlib ]] || objects+=("$argument")
done
order=$(mktemp)
trap 'rm -f "$order"' EXIT
# A name of C is the same for both; the C library is not among the objects.
symbols "${objects[@]}" | LC_ALL=C awk -F '\t' -v list="$list" '
    FILENAME == list { rank[$0] = FNR; if ($0 !~ /[^A-Za-z0-9_]/) print FNR "\t" $0; next }
    $2 in rank { print rank[$2] "\t" $1 }' "$list" - | sort -n | cut -f2 | uniq >"$order"
"$linker" "$@" -Wl,--icf=all "-Wl,--symbol-ordering-file=$order" -Wl,--no-warn-symbol-ordering
