# To be sourced after toolchain.sh: builds hedgerow for one target, linked statically, the same bytes
# in any directory.

# The targets that can be built here: musl where rustup or the distribution has its standard library,
# and glibc, linked statically, where only that is there.
static_targets() {
    local machine libc
    for machine in x86_64 aarch64; do
        for libc in musl gnu; do
            if has_standard_library "$machine-unknown-linux-$libc" && linker "$machine" "$libc" >/dev/null
            then
                echo "$machine-unknown-linux-$libc"
                break
            fi
        done
    done
}

has_standard_library() {
    local directory
    directory=$("${RUSTC:-rustc}" --print target-libdir --target "$1") &&
        compgen -G "$directory/libstd-*.rlib" >/dev/null
}

# The C compiler for a machine and a C library; none if it is not installed.
linker() {
    local candidates candidate own=gcc
    [ "$1" = "$(uname -m)" ] || own=$1-linux-gnu-gcc
    candidates="$own"
    if [ "$2" = musl ]; then
        candidates="$1-linux-musl-gcc"
        [ "$1" != "$(uname -m)" ] || candidates="$candidates musl-gcc"
    fi
    for candidate in $candidates; do
        command -v "$candidate" && return
    done
    return 1
}

# build_static TARGET: leaves the binary, with its debugging information, in
# $target/TARGET/dist/hedgerow.
build_static() {
    local triple=$1 name cc home sysroot maps flags
    name=${triple//-/_}
    cc=$(linker "${triple%%-*}" "${triple##*-}")
    home=${CARGO_HOME:-$HOME/.cargo}
    sysroot=$("${RUSTC:-rustc}" --print sysroot)
    # Where it was built is nobody's business, and changes no byte.
    maps="--remap-path-prefix=$PWD=. --remap-path-prefix=$home=/cargo"
    maps="$maps --remap-path-prefix=$sysroot=/rust --remap-path-prefix=$target=/target"
    flags="-ffile-prefix-map=$PWD=. -ffile-prefix-map=$home=/cargo -ffile-prefix-map=$target=/target"
    env "CC_$name=$cc" "CARGO_TARGET_${name^^}_LINKER=$cc" \
        "CFLAGS_$name=-DTUKLIB_FAST_UNALIGNED_ACCESS $flags" \
        RUSTFLAGS="-C target-feature=+crt-static -C link-arg=-Wl,--build-id=none $maps ${RUSTFLAGS:-}" \
        cargo build --locked --profile dist --target "$triple" -p hedgerow-cli
}
