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

can_be_static() {
    [ "$(uname -s)" = Linux ] &&
        echo 'int main(void) { return 0; }' | cc -x c -static-pie -o /dev/null - 2>/dev/null
}

link=()
if [ -z "${DYNAMIC:-}" ] && can_be_static; then
    link=(-C target-feature=+crt-static)
fi
"${CARGO:-cargo}" rustc --locked --release "$@" -p hedgerow-cli --bin hedgerow -- ${link[@]+"${link[@]}"}
