# To be sourced: finds cargo, also where HOME is empty, as in a clean build environment.

if ! command -v cargo >/dev/null && [ -x "${CARGO_HOME:-${HOME:-}/.cargo}/bin/cargo" ]; then
    PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
fi
if ! command -v cargo >/dev/null; then
    echo "error: cargo is not installed" >&2
    echo >&2
    echo "hint: install Rust, for instance from https://rustup.rs" >&2
    exit 1
fi
# rustup looks for its toolchains in HOME; they are beside the directory its cargo is in.
if [ -z "${RUSTUP_HOME:-}" ] && ! cargo --version >/dev/null 2>&1; then
    beside=$(dirname "$(dirname "$(dirname "$(command -v cargo)")")")/.rustup
    if [ -d "$beside/toolchains" ]; then
        export RUSTUP_HOME="$beside"
    fi
    unset beside
fi
if ! cargo --version >/dev/null; then
    echo "error: cargo is there but does not run" >&2
    exit 1
fi
if ! command -v cc >/dev/null && ! command -v gcc >/dev/null && ! command -v clang >/dev/null; then
    echo "error: there is no C compiler" >&2
    echo >&2
    echo "hint: on Debian: apt-get install gcc libc6-dev" >&2
    exit 1
fi
export PATH
