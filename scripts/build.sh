#!/usr/bin/env bash
# Builds the release binary, target/release/hedgerow; arguments are passed to cargo. It is linked
# statically where the C library can be: such a program starts in two thirds of the time, which is most
# of what a short command takes. It still loads the modules of the C library that it was built with, for
# names of users and for encodings.
#
#   DYNAMIC=1  link with the shared libraries
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/toolchain.sh

# starts OPTION...: whether a program that is linked so starts.
starts() {
    local program started=1
    program=$(mktemp)
    echo 'int main(void) { return 0; }' | cc -x c "$@" -o "$program" - 2>/dev/null &&
        "$program" && started=0
    rm -f "$program"
    return "$started"
}

# The functions of short commands side by side.
link=(-C "linker=$PWD/scripts/link-in-order.sh")
if [ -z "${DYNAMIC:-}" ] && [ "$(uname -s)" = Linux ] && starts -static-pie; then
    link+=(-C target-feature=+crt-static)
    # Half a megabyte less to read at each start.
    packed=-Wl,-z,pack-relative-relocs
    ! starts -static-pie "$packed" || link+=(-C "link-arg=$packed")
fi
"${CARGO:-cargo}" rustc --locked --release "$@" -p hedgerow-cli --bin hedgerow -- "${link[@]}"
