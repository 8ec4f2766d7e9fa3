# To be sourced after toolchain.sh: builds hedgerow for one target, linked statically, the same bytes
# in any directory. Needs $target, the directory that cargo builds in.

# The targets that can be built here: musl where rustup or the distribution has its standard library,
# and glibc, linked statically, where only that is there.
static_targets() {
    local machine libc
    for machine in x86_64 aarch64; do
        for libc in musl gnu; do
            if has_standard_library "$machine-unknown-linux-$libc" && compiler "$machine" "$libc" >/dev/null &&
                compiler "$machine" gnu >/dev/null
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
compiler() {
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
# $target/TARGET/release/hedgerow.
build_static() {
    local triple=$1 name cc linker home sysroot maps flags named lld link
    name=${triple//-/_}
    cc=$(compiler "${triple%%-*}" "${triple##*-}")
    # The ordinary compiler links musl, too: Rust brings the library along, and a wrapper for musl
    # would ask for a dynamic loader.
    linker=$(compiler "${triple%%-*}" gnu)
    home=${CARGO_HOME:-$HOME/.cargo}
    sysroot=$("${RUSTC:-rustc}" --print sysroot)
    # Where it was built is nobody's business, and changes no byte.
    # shellcheck disable=SC2154 # it comes from the script that reads this one
    local target=$target
    maps="--remap-path-prefix=$PWD=. --remap-path-prefix=$home=/cargo"
    maps="$maps --remap-path-prefix=$sysroot=/rust --remap-path-prefix=$target=/target"
    flags="-ffile-prefix-map=$PWD=. -ffile-prefix-map=$home=/cargo -ffile-prefix-map=$target=/target"
    # Rust's own linker makes one of equal functions, and stores relocations in a bit each.
    link=()
    lld=$(compgen -G "$sysroot/lib/rustlib/*/bin/gcc-ld" | head -n 1)
    if [ -n "$lld" ]; then
        link=("-B$lld" -fuse-ld=lld "-Wl,--pack-dyn-relocs=relr")
    else
        echo "note: the compiler has no rust-lld: the binary becomes larger"
    fi
    # As in .cargo/config.toml, whose flags these replace.
    named="-C symbol-mangling-version=v0"
    env "CC_$name=$cc" "CARGO_TARGET_${name^^}_LINKER=$linker" "HEDGEROW_LINKER=$linker" \
        "CFLAGS_$name=-DTUKLIB_FAST_UNALIGNED_ACCESS $flags" \
        RUSTFLAGS="-C target-feature=+crt-static -C link-arg=-Wl,--build-id=none $named $maps ${RUSTFLAGS:-}" \
        cargo rustc --locked --release --target "$triple" -p hedgerow-cli --bin hedgerow -- \
        "-Clinker=$PWD/scripts/link-in-order.sh" "${link[@]/#/-Clink-arg=}"
}
