#!/usr/bin/env bash
# Builds the release binary and puts it into target/dist with its licences and its ingredients as a
# CycloneDX document (SBOM). cargo-cyclonedx, which writes that, is built into target/tools if it is
# missing.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/toolchain.sh

target=${CARGO_TARGET_DIR:-$PWD/target}
PATH=$target/tools/bin:$PATH
if ! command -v cargo-cyclonedx >/dev/null; then
    echo "installing: cargo-cyclonedx, into $target/tools"
    cargo install --locked --debug -q --root "$target/tools" cargo-cyclonedx
fi
cargo build --locked --release -p hedgerow-cli
rm -rf "$target/dist"
mkdir -p "$target/dist"
cp "$target/release/hedgerow" LICENSE-APACHE LICENSE-MIT THIRD-PARTY-NOTICES.md "$target/dist"
# It writes beside the manifest, and only there.
trap 'rm -f crates/*/hedgerow.cdx.json' EXIT
cargo cyclonedx -q --manifest-path crates/cli/Cargo.toml --format json --override-filename hedgerow.cdx
# Where it was built is nobody's business.
sed "s#file://$PWD#file://#g" crates/cli/hedgerow.cdx.json >"$target/dist/hedgerow.cdx.json"
(cd "$target/dist" && sha256sum hedgerow hedgerow.cdx.json >SHA256SUMS)
ls -l "$target/dist"
