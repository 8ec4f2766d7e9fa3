#!/usr/bin/env bash
# Whether the oldest Rust that Cargo.toml promises is enough: no dependency asks for a newer one, and
# if rustup has that Rust, everything is checked with it. That our own code calls nothing newer is
# held by `make lint` (clippy's incompatible_msrv).
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/toolchain.sh

promised=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
name=
newer=0
while IFS= read -r field; do
    case $field in
        '"name"'*) name=$(cut -d'"' -f4,8 --output-delimiter=' ' <<<"$field") ;;
        '"rust_version":"'*)
            asked=$(cut -d'"' -f4 <<<"$field")
            latest=$(printf '%s\n%s\n' "$asked" "$promised" | sort -V | tail -n 1)
            case $latest in
                "$promised" | "$promised".0) ;;
                *)
                    echo "error: $name asks for Rust $asked, and Cargo.toml promises $promised" >&2
                    newer=$((newer + 1))
                    ;;
            esac
            ;;
    esac
done < <(cargo metadata --locked --format-version 1 --filter-platform x86_64-unknown-linux-gnu |
    grep -oE '"name":"[^"]*","version":"[^"]*","id"|"rust_version":("[^"]*"|null)')
[ "$newer" = 0 ]
[ -n "$name" ]

if command -v rustup >/dev/null && rustup toolchain list | grep -q "^${promised}[.-]"; then
    CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/msrv" \
        cargo "+$promised" check --locked -q --workspace --all-targets
    echo "msrv: everything was checked with Rust $promised"
else
    echo "msrv: no dependency asks for more than Rust $promised"
    echo "skipped: rustup has no Rust $promised to check with"
fi
