# Sourced: the names of functions, for the scripts that link them in an order.

# symbols FILE...: the functions that objects, archives or programs define: as the linker knows them, a
# tab, and as people read them, without what changes from build to build; of the longest, the beginning.
symbols() {
    paste <(functions "$@") <(functions --demangle "$@" | without_hashes | cut -c-160)
}

without_hashes() {
    LC_ALL=C sed -E 's/\[[0-9a-f]+\]//g; s/ \(\.llvm\.[0-9]+\)$//; s/::h[0-9a-f]{16}$//'
}

# What is no object in an archive of Rust's is passed over.
functions() {
    { nm --defined-only --no-sort "$@" 2>/dev/null || true; } |
        LC_ALL=C sed -nE 's/^[0-9a-f]+ [tTwW] //p'
}
